//! Many clusters and operations.

use crd::{Cluster, ClusterOperation, ClusterSpec, DataRef};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;

/// Concurrent requests while objects are created.
const AT_ONCE: usize = 64;

/// Clusters `c-<n>` for every `n`, one machine each, all with the same inventory.
pub(crate) async fn clusters(client: &Client, numbers: std::ops::Range<usize>) {
    shared_inputs(client).await;
    let api: Api<Cluster> = Api::all(client.clone());
    each(numbers, async |n| {
        let (hosts_conf_ref, vars_conf_ref) =
            (DataRef::new("default", "bench-hosts"), DataRef::new("default", "bench-vars"));
        let spec = ClusterSpec { hosts_conf_ref, vars_conf_ref, ..ClusterSpec::default() };
        drop(api.create(&PostParams::default(), &Cluster::new(&format!("c-{n}"), spec)).await.expect("a cluster"));
    })
    .await;
}

/// An operation that runs a script.
pub(crate) fn operation(name: &str, cluster: &str, script: &str) -> ClusterOperation {
    let spec = json!({"cluster": cluster, "image": "none", "actionType": "shell", "action": script});
    ClusterOperation::new(name, serde_json::from_value(spec).expect("a specification"))
}

/// Ended operations `op-<n>` with a complete status. `cluster` maps n to the number of the cluster.
pub(crate) async fn ended(client: &Client, numbers: std::ops::Range<usize>, cluster: impl Fn(usize) -> usize) {
    let api: Api<ClusterOperation> = Api::all(client.clone());
    each(numbers, async |n| {
        let (name, cluster) = (format!("op-{n}"), format!("c-{}", cluster(n)));
        let mut operation = operation(&name, &cluster, "true");
        // The label prevents the controller from starting it.
        operation.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.into(), crd::DONE.into())].into());
        api.create(&PostParams::default(), &operation).await.expect("an operation");
        api.patch_status(&name, &PatchParams::default(), &Patch::Merge(status(&name))).await.expect("a status");
    })
    .await;
}

fn status(name: &str) -> serde_json::Value {
    let condition = |kind: &str, status: &str, reason: &str, message: &str| json!({"type": kind, "status": status, "reason": reason, "message": message, "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    json!({"status": {
        "action": "true", "status": "Succeeded", "reason": "Succeeded", "message": "It ran for 12 s on 1 machine.",
        "jobRef": {"namespace": "default", "name": format!("kubeonkube-{name}-job"), "uid": "00000000-0000-4000-8000-000000000000"},
        "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:12Z", "digest": "0".repeat(64), "hasModified": false,
        "submittedBy": "ann", "submittedAt": "2026-01-01T00:00:00Z", "engine": "kubeonkube",
        "inputs": {"secret": {"namespace": "default", "name": format!("{name}-inputs")}, "sha256": "0".repeat(64), "hostCount": 1, "hosts": ["here"]},
        "conditions": [
            condition("Queued", "False", "Started", "The operation has its turn."),
            condition("Running", "False", "Ended", "Its Job has ended."),
            condition("Complete", "True", "Succeeded", "It ran for 12 s on 1 machine."),
        ],
    }})
}

/// Calls `work` for each number, many at a time.
pub(crate) async fn each<T>(numbers: std::ops::Range<usize>, work: impl AsyncFn(usize) -> T) {
    stream::iter(numbers).map(|n| work(n)).buffer_unordered(AT_ONCE).for_each(async |_| {}).await;
}

async fn shared_inputs(client: &Client) {
    let hosts = "all: {hosts: {here: {ansible_connection: local, ansible_become: false}}}\n";
    for (name, key, text) in
        [("bench-hosts", crd::KEY_HOSTS, hosts), ("bench-vars", crd::KEY_VARS, "kube_version: v1.33.4\n")]
    {
        let map = json!({"metadata": {"name": name}, "data": {key: text}});
        let map: ConfigMap = serde_json::from_value(map).expect("a ConfigMap");
        // An earlier call may have created it.
        let _ = Api::default_namespaced(client.clone()).create(&PostParams::default(), &map).await;
    }
}
