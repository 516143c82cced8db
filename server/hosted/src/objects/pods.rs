//! What all pods of a control plane have in common. They pass the Pod Security level `restricted`.

use serde_json::{Value, json};

use super::{APP, metadata, selector};
use crate::check::Plan;

/// An unprivileged user. The images' own user may be root.
const USER: u32 = 65532;

/// A container, and what its pod needs for it.
pub(super) struct Container<'a> {
    /// Of the container, the label of its pod, and the workload.
    pub(super) name: &'a str,
    pub(super) image: &'a str,
    pub(super) command: Vec<String>,
    pub(super) port: u16,
    pub(super) cpu: &'a str,
    pub(super) memory: &'a str,
    /// Names of Secrets, and where they are mounted.
    pub(super) secrets: Vec<(&'a str, &'a str)>,
    /// Of the mounted Secrets. A change restarts the pods, one after the other.
    pub(super) checksum: &'a str,
    pub(super) probes: Probes<'a>,
    pub(super) grace_seconds: u16,
}

/// Where the kubelet asks.
pub(super) struct Probes<'a> {
    pub(super) scheme: &'a str,
    pub(super) live: &'a str,
    pub(super) ready: &'a str,
}

/// A pod template. The caller adds what only one program needs.
pub(super) fn template(plan: &Plan, container: &Container<'_>) -> Value {
    let probe = |path: &str, period: u16, failures: u16| {
        json!({"httpGet": {"port": container.port, "path": path, "scheme": container.probes.scheme},
            "periodSeconds": period, "failureThreshold": failures, "timeoutSeconds": 5})
    };
    let mut labels = selector(plan, container.name);
    labels[crd::LABEL_MANAGED_BY] = json!(crd::PRODUCT);
    let mounts =
        container.secrets.iter().map(|(name, path)| json!({"name": name, "mountPath": path, "readOnly": true}));
    let volumes = container
        .secrets
        .iter()
        .map(|(name, _)| json!({"name": name, "secret": {"secretName": name, "defaultMode": 0o440}}));
    json!({
        "metadata": {"labels": labels, "annotations": {"kubeonkube.clay.io/checksum": container.checksum}},
        "spec": {
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "terminationGracePeriodSeconds": container.grace_seconds,
            "securityContext": {
                "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            // Several replicas on different nodes, where there are enough.
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 1,
                "podAffinityTerm": {
                    "topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": selector(plan, container.name)}},
            }]}},
            "containers": [{
                "name": container.name,
                "image": container.image,
                "imagePullPolicy": "IfNotPresent",
                "command": container.command,
                "ports": [{"containerPort": container.port}],
                "resources": {"requests": {"cpu": container.cpu, "memory": container.memory}},
                "securityContext": {
                    "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": mounts.collect::<Vec<_>>(),
                // The default period of ten seconds would be a large part of the time until a new cluster answers.
                "startupProbe": probe(container.probes.live, 1, 120),
                "livenessProbe": probe(container.probes.live, 10, 8),
                "readinessProbe": probe(container.probes.ready, 2, 3),
            }],
            "volumes": volumes.collect::<Vec<_>>(),
        },
    })
}

/// A Deployment or StatefulSet around a pod template.
pub(super) fn workload(plan: &Plan, name: &str, replicas: i32, template: &Value) -> Value {
    let mut object = json!({
        "metadata": metadata(plan, name),
        "spec": {"replicas": replicas, "selector": {"matchLabels": selector(plan, name)}, "template": template},
    });
    object["metadata"]["labels"][APP] = json!(name);
    object
}
