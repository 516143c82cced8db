//! What is read over one connection: version, checks of the control plane, and nodes.

use std::collections::BTreeMap;

use api::Time;
use api::cluster::{Expiry, LiveCheck, LiveNode};
use k8s_openapi::api::core::v1::Node;
use serde::Deserialize;

use crate::connect::{Failed, connect};
use crate::kubeconfig::Target;

/// No text of a managed cluster is shown at full length.
const TEXT: usize = 200;

/// The values of one reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) version: String,
    pub(crate) checks: Vec<LiveCheck>,
    pub(crate) certificates: Vec<Expiry>,
    pub(crate) nodes: Vec<LiveNode>,
    pub(crate) machine_ids: BTreeMap<String, String>,
}

/// Reads everything. The first request that fails ends it.
pub(crate) async fn read(target: Target, loopback: bool) -> Result<Values, Failed> {
    let mut api = connect(target, loopback).await?;
    let version: Version = api.json("/version", "/version").await?;
    // 200, or 500 if a check fails; both list the checks.
    let (status, ready) = api.get("/readyz", "/readyz?verbose").await?;
    let ready = String::from_utf8_lossy(&ready).into_owned();
    if !status.is_success() && !ready.contains("[-]") {
        return Err(Failed::Status(status.as_u16(), "/readyz"));
    }
    let nodes: Vec<Node> = api.pages("the list of nodes", "/api/v1/nodes").await?;
    let machine_ids = nodes.iter().filter_map(machine_id).collect();
    let mut nodes: Vec<LiveNode> = nodes.into_iter().map(node).collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    let named = [("API certificate", api.serving), ("Client certificate", api.client)];
    let mut certificates: Vec<Expiry> =
        named.into_iter().filter_map(|(name, at)| Some(Expiry { name: name.into(), at: at? })).collect();
    certificates.sort_by_key(|certificate| certificate.at);
    let checks = checks(status.is_success(), &ready);
    Ok(Values { version: cut(&version.git_version), checks, certificates, nodes, machine_ids })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

/// The checks of `/readyz` that fail, in words: `etcd, etcd-readiness`. Empty if it names none.
pub(crate) fn failing_checks(ready: &str) -> String {
    let failing = ready.lines().filter_map(|line| line.strip_prefix("[-]"));
    let names: Vec<&str> = failing.map(|line| line.split(' ').next().unwrap_or_default()).collect();
    cut(&names.join(", "))
}

/// The checks of `/readyz?verbose`: one line each, `[+]etcd ok` or `[-]etcd failed: reason withheld`. etcd's checks form a row of their own.
fn checks(ok: bool, ready: &str) -> Vec<LiveCheck> {
    let lines = ready.lines().filter_map(|line| {
        let passed = line.strip_prefix("[+]").map(|rest| (true, rest));
        let (ok, rest) = passed.or_else(|| line.strip_prefix("[-]").map(|rest| (false, rest)))?;
        Some((rest.split(' ').next().unwrap_or_default(), ok))
    });
    let (etcd, others): (Vec<_>, Vec<_>) = lines.partition(|(name, _)| name.starts_with("etcd"));
    let check = |name: &str, ok: bool, of: &[(&str, bool)]| {
        let failed: Vec<_> = of.iter().filter(|(_, ok)| !ok).map(|(name, _)| *name).collect();
        let message = if failed.is_empty() {
            "All checks pass".into()
        } else {
            cut(&format!("Failing checks: {}", failed.join(", ")))
        };
        LiveCheck { name: name.into(), ok: ok && failed.is_empty(), message }
    };
    // An answer without lines says nothing about etcd.
    let control_plane = check("Control plane", ok || etcd.iter().any(|(_, ok)| !ok), &others);
    let etcd = (!etcd.is_empty()).then(|| check("etcd", true, &etcd));
    [control_plane].into_iter().chain(etcd).collect()
}

/// The node's name and machine-id.
fn machine_id(node: &Node) -> Option<(String, String)> {
    let id = cut(&node.status.as_ref()?.node_info.as_ref()?.machine_id);
    (!id.is_empty()).then(|| (cut(node.metadata.name.as_deref().unwrap_or_default()), id))
}

fn node(node: Node) -> LiveNode {
    const ROLE: &str = "node-role.kubernetes.io/";
    let role = |key: &String| match key.strip_prefix(ROLE)? {
        "control-plane" | "master" => Some("control plane".to_owned()),
        "" => None,
        other => Some(cut(other)),
    };
    let mut roles: Vec<String> = node.metadata.labels.iter().flatten().filter_map(|(key, _)| role(key)).collect();
    roles.dedup();
    if roles.is_empty() {
        roles.push("node".into());
    }
    let status = node.status.unwrap_or_default();
    let ready = status.conditions.iter().flatten().find(|condition| condition.type_ == "Ready");
    let is_ready = ready.is_some_and(|condition| condition.status == "True");
    let cordoned = node.spec.is_some_and(|spec| spec.unschedulable == Some(true));
    let why = ready.and_then(|condition| condition.message.clone()).unwrap_or_default();
    let note = match (is_ready, cordoned) {
        (true, false) => String::new(),
        (true, true) => "Cordoned: it gets no new pods".into(),
        (false, _) if why.is_empty() => "The kubelet reports nothing".into(),
        (false, _) => cut(&why),
    };
    let address = status.addresses.iter().flatten().find(|address| address.type_ == "InternalIP");
    let created = node.metadata.creation_timestamp.map_or(0, |time| time.0.as_millisecond());
    LiveNode {
        name: cut(&node.metadata.name.unwrap_or_default()),
        roles,
        version: cut(&status.node_info.map(|info| info.kubelet_version).unwrap_or_default()),
        ready: is_ready,
        note,
        address: address.map(|address| cut(&address.address)).unwrap_or_default(),
        created: Time(created),
    }
}

/// `text` without control characters, and with an ellipsis in place of what is too long.
pub(crate) fn cut(text: &str) -> String {
    let mut text: String = text.chars().filter(|c| !c.is_control()).take(TEXT + 1).collect();
    if let Some((last, _)) = text.char_indices().nth(TEXT - 1).filter(|_| text.chars().count() > TEXT) {
        text.truncate(last);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_with_an_ellipsis() {
        assert_eq!(cut("fine\u{7}"), "fine");
        assert_eq!(cut(&"ä".repeat(TEXT)), "ä".repeat(TEXT));
        assert_eq!(cut(&"ä".repeat(TEXT + 5)), format!("{}…", "ä".repeat(TEXT - 1)));
    }

    #[test]
    fn etcd_is_told_apart_from_the_control_plane() {
        let told = |ok, text| {
            checks(ok, text).into_iter().map(|check| (check.name, check.ok, check.message)).collect::<Vec<_>>()
        };
        let good = told(true, "[+]ping ok\n[+]etcd ok\n[+]etcd-readiness ok\nreadyz check passed\n");
        assert_eq!(
            good.iter().map(|(name, ok, _)| (name.as_str(), *ok)).collect::<Vec<_>>(),
            [("Control plane", true), ("etcd", true)]
        );
        let bad = told(false, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n");
        assert_eq!((bad[0].1, bad[1].1, bad[1].2.as_str()), (true, false, "Failing checks: etcd"));
        let half = told(false, "[-]informer-sync failed\n[+]etcd ok\n");
        assert_eq!((half[0].1, half[1].1), (false, true));
        assert_eq!(told(true, "ok").len(), 1, "nothing is known about etcd");
    }

    #[test]
    fn a_node_says_why_it_is_not_ready() {
        let read = |value| node(serde_json::from_value(value).unwrap());
        let sick = read(serde_json::json!({"metadata": {"name": "w1", "labels": {"node-role.kubernetes.io/gpu": ""}},
            "status": {"conditions": [{"type": "Ready", "status": "False", "message": "container runtime is down"}]}}));
        assert_eq!(
            (sick.ready, sick.note.as_str(), sick.roles),
            (false, "container runtime is down", vec!["gpu".to_owned()])
        );
        let plain = read(serde_json::json!({"metadata": {"name": "w2"}, "spec": {"unschedulable": true}}));
        assert_eq!(
            (plain.ready, plain.note.as_str(), plain.roles[0].as_str()),
            (false, "The kubelet reports nothing", "node")
        );
    }
}
