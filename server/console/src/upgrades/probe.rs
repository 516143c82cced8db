//! The address that is requested while operations run.

use api::{ClusterName, Problem, User};
use crd::Cluster;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::Console;
use crate::kube_problem::{Doing, answer};

/// The longest address. `spec.probeURL` of the definition has the same limit.
const LONGEST: usize = 1024;

impl Console {
    pub(super) async fn save_probe(&self, user: &User, name: &ClusterName, url: &str) -> Result<(), Problem> {
        let url = url.trim();
        if let Some(why) = refused(url) {
            return Err(Problem::field("url", why));
        }
        let cluster = self.cluster(user, name).await?;
        let wanted = Some(url.to_owned()).filter(|url| !url.is_empty());
        let clusters: Api<Cluster> = Api::all(self.shared.access.client(user)?);
        // With the uid, the request fails instead of changing a new cluster with the same name.
        let patch = json!({"metadata": {"uid": cluster.metadata.uid}, "spec": {"probeURL": wanted}});
        let doing = Doing::new("change", "Cluster", name);
        answer(&doing, clusters.patch(name.as_str(), &PatchParams::default(), &Patch::Merge(patch))).await?;
        self.until_cluster(name.as_str(), |found| found.is_none_or(|found| found.spec.probe_url == wanted)).await;
        Ok(())
    }
}

/// Why the address can't be used; `None` if it can, or is empty. The definition has the same rule.
fn refused(url: &str) -> Option<String> {
    if url.is_empty() {
        return None;
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?']).next()).unwrap_or_default();
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '#' | '@');
    if url.len() > LONGEST {
        Some(format!("An address has at most {LONGEST} characters."))
    } else if host.is_empty() || !url.chars().all(is_plain) {
        Some("An address begins with http:// or https://, as in https://shop.example.com/healthz. It has no user name, no “#” and no spaces.".into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_accepted() {
        for good in ["", "http://10.0.0.7:30080", "https://shop.example.com/healthz?full=1"] {
            assert_eq!(refused(good), None, "{good}");
        }
        let long = format!("http://a/{}", "b".repeat(LONGEST));
        for bad in [
            "shop.example.com",
            "ftp://a",
            "http://",
            "https:///path",
            "http://me:pw@a/",
            "http://a/ b",
            "http://a/#b",
            &long,
        ] {
            assert!(refused(bad).is_some(), "{bad}");
        }
    }
}
