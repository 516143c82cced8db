//! Which version a cluster runs, and how that is known.

use api::cluster::{Version, VersionSource};
use inventory::Vars;
use managed::Reading;
use operation::versions::Span;

use super::members::Member;
use super::newest::version_parameter;

/// What a cluster runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) span: Option<Span>,
    pub(super) source: VersionSource,
}

impl Running {
    /// From the cluster itself, if it was read; otherwise what the user typed, otherwise the variables. `unfinished` is the version of
    /// an upgrade that ended without success: variables with this version don't tell what runs.
    pub(super) fn find(
        reading: &Reading,
        members: &[Member],
        vars: &Vars,
        typed: Option<Version>,
        unfinished: Option<Version>,
    ) -> Self {
        let of_nodes = members.iter().filter_map(|member| Some(member.live.as_ref()?.version.as_str()));
        let read = of_nodes.chain([reading.cluster.version.as_str()]);
        if let Some(span) = Span::of(read.filter_map(release)) {
            return Self { span: Some(span), source: VersionSource::Cluster };
        }
        if let Some(typed) = typed {
            return Self { span: Span::of([typed]), source: VersionSource::Typed };
        }
        match variable(vars).filter(|version| unfinished != Some(*version)) {
            Some(version) => Self { span: Span::of([version]), source: VersionSource::Variables },
            None => Self { span: None, source: VersionSource::Unknown },
        }
    }

    pub(super) fn is_mixed(&self) -> bool {
        self.span.is_some_and(|span| span.lowest != span.highest)
    }

    /// `1.33.13`, or `1.33.13 and 1.34.4`; empty if it is unknown.
    pub(super) fn words(&self) -> String {
        match self.span {
            Some(span) if self.is_mixed() => format!("{} and {}", span.lowest, span.highest),
            Some(span) => span.lowest.to_string(),
            None => String::new(),
        }
    }
}

/// The version in the variables; `None` if there is none, or if it is no plain version.
pub(super) fn variable(vars: &Vars) -> Option<Version> {
    vars.get(version_parameter()?.variable)?.as_str()?.parse().ok()
}

/// The version that an API server or a kubelet reports, without what its builder added: `v1.34.4+k3s1`.
pub(super) fn release(reported: &str) -> Option<Version> {
    reported.split(['+', '-']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use api::cluster::{LiveCluster, LiveNode};
    use serde_json::json;

    use super::super::members::members;
    use super::*;

    fn node(name: &str, version: &str) -> LiveNode {
        LiveNode {
            name: name.into(),
            roles: vec![],
            version: version.into(),
            ready: true,
            note: String::new(),
            address: String::new(),
            created: api::Time(0),
        }
    }

    fn running(
        nodes: &[(&str, &str)],
        vars: &str,
        typed: Option<&str>,
        unfinished: Option<&str>,
    ) -> (String, VersionSource) {
        let cluster = LiveCluster {
            version: nodes.first().map(|(_, v)| (*v).to_owned()).unwrap_or_default(),
            ..LiveCluster::default()
        };
        let nodes = nodes.iter().map(|(name, version)| node(name, version)).collect();
        let reading = Reading { cluster, nodes, ..Reading::default() };
        let vars = json!({"kube_version": vars}).as_object().unwrap().clone();
        let inventory = inventory::parse("kube_control_plane: {hosts: {m1: }}\nkube_node: {hosts: {w1: }}\n").unwrap();
        let (members, _) = members(&inventory, &vars, &reading);
        let version = |text: &str| text.parse().unwrap();
        let found = Running::find(&reading, &members, &vars, typed.map(version), unfinished.map(version));
        (found.words(), found.source)
    }

    #[test]
    fn the_cluster_itself_decides_which_version_runs() {
        let nodes = [("m1", "v1.34.4+k3s1"), ("w1", "v1.33.13"), ("other", "v1.20.0")];
        assert_eq!(
            running(&nodes, "1.30.0", Some("1.31.0"), None),
            ("1.33.13 and 1.34.4".into(), VersionSource::Cluster)
        );
        assert_eq!(running(&[], "v1.33.4", Some("1.31.0"), None), ("1.31.0".into(), VersionSource::Typed));
        assert_eq!(running(&[], "v1.33.4", None, None), ("1.33.4".into(), VersionSource::Variables));
        assert_eq!(running(&[], "{{ wanted }}", None, None), (String::new(), VersionSource::Unknown));
    }

    #[test]
    fn variables_of_a_failed_upgrade_do_not_tell_what_runs() {
        assert_eq!(running(&[], "1.34.4", None, Some("1.34.4")).1, VersionSource::Unknown);
        assert_eq!(running(&[], "1.33.4", None, Some("1.34.4")).1, VersionSource::Variables);
    }
}
