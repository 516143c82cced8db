//! What evicting the pods of a node would meet: the pods, PodDisruptionBudgets that allow no eviction, and data that is lost. The rules are
//! those of `kubectl drain --force --ignore-daemonsets --delete-emptydir-data`.

use std::collections::BTreeMap;

use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::core::{Selector, SelectorExt};
use serde::Deserialize;

use crate::connect::{Failed, connect};
use crate::kubeconfig::Target;
use crate::read::cut;

/// The pods of a node, as `namespace/name`, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evictions {
    /// All that are evicted. Static pods and those of DaemonSets are not.
    pub pods: Vec<String>,
    /// Those that no controller starts again.
    pub lost: Vec<String>,
    /// Those with an emptyDir volume, whose data is lost.
    pub local: Vec<String>,
    /// PodDisruptionBudgets of these pods that allow no eviction now.
    pub blocking: Vec<Budget>,
    /// Those that are being deleted already.
    pub ending: Vec<String>,
}

/// A PodDisruptionBudget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// `namespace/name`.
    pub name: String,
    /// How many of its pods are healthy.
    pub healthy: i32,
    /// How many of them must stay healthy.
    pub needed: i32,
    /// The pods of the node that it protects, as `namespace/name`: sorted, the first 20.
    pub pods: Vec<String>,
}

/// The most pods of a budget that are named.
const BUDGET_PODS: usize = 20;

/// The parts of a pod that matter here.
#[derive(Debug, Deserialize)]
pub(crate) struct Pod {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    #[serde(default)]
    owner_references: Vec<Owner>,
    /// The pod is being deleted, so no budget counts it.
    deletion_timestamp: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Owner {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    controller: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Spec {
    #[serde(default)]
    volumes: Vec<Volume>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Volume {
    empty_dir: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
struct Status {
    #[serde(default)]
    phase: String,
}

/// Reads them from the cluster, at most 500 pods and 500 budgets. `node` must be the name of a node.
pub(crate) async fn read(target: Target, loopback: bool, node: &str) -> Result<Evictions, Failed> {
    let mut api = connect(target, loopback).await?;
    let of_node = format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}");
    let pods: Vec<Pod> = api.first_page("the pods of the node", &of_node).await?;
    let budgets = api.first_page("the PodDisruptionBudgets", "/apis/policy/v1/poddisruptionbudgets").await?;
    Ok(of(&pods, budgets))
}

fn of(pods: &[Pod], budgets: Vec<PodDisruptionBudget>) -> Evictions {
    let evicted: Vec<&Pod> = pods.iter().filter(|pod| pod.is_evicted()).collect();
    let names = |which: &dyn Fn(&Pod) -> bool| {
        let mut names: Vec<String> = evicted.iter().filter(|pod| which(pod)).map(|pod| pod.name()).collect();
        names.sort_unstable();
        names
    };
    let mut blocking: Vec<Budget> = budgets.into_iter().filter_map(|budget| blocks(budget, &evicted)).collect();
    blocking.sort_by(|a, b| a.name.cmp(&b.name));
    Evictions {
        pods: names(&|_| true),
        lost: names(&|pod| pod.controller().is_none()),
        local: names(&|pod| pod.spec.volumes.iter().any(|volume| volume.empty_dir.is_some())),
        blocking,
        ending: names(&Pod::is_ending),
    }
}

impl Pod {
    fn name(&self) -> String {
        cut(&format!("{}/{}", self.metadata.namespace, self.metadata.name))
    }

    fn is_ending(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    fn controller(&self) -> Option<&Owner> {
        self.metadata.owner_references.iter().find(|owner| owner.controller)
    }

    fn is_evicted(&self) -> bool {
        // The kubelet runs a static pod from a file, and marks its copy in the API with this annotation.
        let is_static = self.metadata.annotations.contains_key("kubernetes.io/config.mirror");
        let has_ended = matches!(self.status.phase.as_str(), "Succeeded" | "Failed");
        !is_static && !has_ended && self.controller().is_none_or(|owner| owner.kind != "DaemonSet")
    }
}

/// The budget, if it selects one of `pods` and allows no eviction now.
fn blocks(budget: PodDisruptionBudget, pods: &[&Pod]) -> Option<Budget> {
    let status = budget.status.unwrap_or_default();
    // A budget without a selector selects no pod.
    let selector: Selector = budget.spec?.selector?.try_into().ok()?;
    let namespace = budget.metadata.namespace.unwrap_or_default();
    // The API server evicts pods that don't run yet, or end already, whatever a budget says.
    let counts = |pod: &Pod| pod.status.phase != "Pending" && !pod.is_ending();
    let selects = |pod: &Pod| pod.metadata.namespace == namespace && selector.matches(&pod.metadata.labels);
    let selected = pods.iter().filter(|pod| counts(pod) && selects(pod));
    let mut pods: Vec<String> = selected.map(|pod| pod.name()).collect();
    pods.sort_unstable();
    pods.truncate(BUDGET_PODS);
    (status.disruptions_allowed <= 0 && !pods.is_empty()).then(|| Budget {
        name: cut(&format!("{namespace}/{}", budget.metadata.name.unwrap_or_default())),
        healthy: status.current_healthy,
        needed: status.desired_healthy,
        pods,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, kind: Option<&str>, more: &Value) -> Pod {
        let owners = kind
            .map(|kind| json!([{"apiVersion": "apps/v1", "kind": kind, "name": "x", "uid": "1", "controller": true}]));
        let mut pod = json!({"metadata": {"namespace": "shop", "name": name, "labels": {"app": "web"},
            "ownerReferences": owners.unwrap_or_else(|| json!([]))}});
        pod.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(pod).unwrap()
    }

    fn budget(selector: &Value, allowed: i32) -> PodDisruptionBudget {
        serde_json::from_value(json!({"metadata": {"namespace": "shop", "name": "web"}, "spec": {"selector": selector},
            "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}))
        .unwrap()
    }

    #[test]
    fn pods_that_a_drain_leaves_are_not_counted() {
        let mirror = json!({"metadata": {"namespace": "kube-system", "name": "etcd-m1", "annotations": {"kubernetes.io/config.mirror": "1"}}});
        let local = json!({"spec": {"volumes": [{"name": "a", "configMap": {}}, {"name": "b", "emptyDir": {}}]}});
        let pods = [
            pod("web-2", Some("ReplicaSet"), &local),
            pod("web-1", Some("ReplicaSet"), &json!({})),
            pod("log", Some("DaemonSet"), &json!({})),
            pod("done", Some("Job"), &json!({"status": {"phase": "Succeeded"}})),
            pod("alone", None, &json!({})),
            pod("etcd", None, &mirror),
        ];
        let found = of(&pods, vec![]);
        assert_eq!(found.pods, ["shop/alone", "shop/web-1", "shop/web-2"]);
        assert_eq!((found.lost, found.local), (vec!["shop/alone".to_owned()], vec!["shop/web-2".to_owned()]));
    }

    #[test]
    fn only_a_budget_of_these_pods_without_room_blocks() {
        let pods = [pod("web-1", Some("ReplicaSet"), &json!({}))];
        let blocking = |selector: Value, allowed| of(&pods, vec![budget(&selector, allowed)]).blocking;
        let web = || json!({"matchLabels": {"app": "web"}});
        let expected = Budget { name: "shop/web".into(), healthy: 1, needed: 1, pods: vec!["shop/web-1".into()] };
        assert_eq!(blocking(web(), 0), [expected]);
        assert_eq!(blocking(json!({}), 0).len(), 1, "an empty selector selects all pods of the namespace");
        let pending = [pod("web-1", Some("ReplicaSet"), &json!({"status": {"phase": "Pending"}}))];
        assert_eq!(of(&pending, vec![budget(&web(), 0)]).blocking, []);
        assert_eq!(blocking(web(), 1), []);
        assert_eq!(blocking(json!({"matchLabels": {"app": "db"}}), 0), []);
        let other = json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]});
        assert_eq!(blocking(other, 0), []);
    }

    #[test]
    fn pods_that_are_being_deleted_are_told_apart() {
        let deleted = |name| {
            json!({"metadata": {"namespace": "shop", "name": name, "labels": {"app": "web"},
                "deletionTimestamp": "2026-11-20T10:00:00Z"}})
        };
        let pods = [
            pod("web-2", Some("ReplicaSet"), &deleted("web-2")),
            pod("web-1", Some("ReplicaSet"), &json!({})),
            pod("log-1", Some("DaemonSet"), &deleted("log-1")),
        ];
        let found = of(&pods[..2], vec![budget(&json!({}), 0)]);
        assert_eq!(found.ending, ["shop/web-2"]);
        assert_eq!(found.blocking[0].pods, ["shop/web-1"], "no budget protects a pod that is being deleted");
        assert_eq!(of(&pods[..1], vec![budget(&json!({}), 0)]).blocking, []);
    }

    #[test]
    fn a_budget_names_at_most_twenty_pods() {
        let pods: Vec<Pod> =
            (0..30).rev().map(|number| pod(&format!("web-{number:02}"), Some("ReplicaSet"), &json!({}))).collect();
        let names = &of(&pods, vec![budget(&json!({}), 0)]).blocking[0].pods;
        assert_eq!((names.len(), names[0].as_str(), names[19].as_str()), (20, "shop/web-00", "shop/web-19"));
    }
}
