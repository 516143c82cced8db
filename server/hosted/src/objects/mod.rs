//! The objects of a control plane: pure functions of its plan.

pub(crate) mod api_server;
pub(crate) mod controllers;
pub(crate) mod etcd;
mod pods;

use k8s_openapi::api::core::v1::Service;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::address::PORT;
use crate::check::Plan;

/// The label that says which program a pod runs.
pub(crate) const APP: &str = "app";
pub(crate) const ETCD: &str = "etcd";
pub(crate) const API_SERVER: &str = "apiserver";
pub(crate) const CONTROLLER_MANAGER: &str = "controller-manager";
pub(crate) const SCHEDULER: &str = "scheduler";
/// The Service of etcd for its clients, and the ConfigMap with its settings.
pub(crate) const ETCD_CLIENT: &str = "etcd-client";
pub(crate) const ETCD_CONFIG: &str = "etcd-config";

/// The metadata of an object in the namespace of the control plane. Its owner is the Cluster.
pub(crate) fn metadata(plan: &Plan, name: &str) -> Value {
    json!({
        "name": name,
        "namespace": plan.spec.namespace,
        "labels": {crd::LABEL_MANAGED_BY: crd::PRODUCT, crd::LABEL_CLUSTER: plan.cluster},
        "ownerReferences": [{
            "apiVersion": format!("{}/{}", crd::GROUP, crd::VERSION), "kind": "Cluster", "name": plan.cluster, "uid": plan.uid,
            "controller": true,
        }],
    })
}

/// The labels by which the pods of `app` are found.
fn selector(plan: &Plan, app: &str) -> Value {
    json!({APP: app, crd::LABEL_CLUSTER: plan.cluster})
}

/// The Service of the API server.
pub(crate) fn service(plan: &Plan) -> Service {
    let mut port = json!({"name": "https", "port": PORT, "targetPort": PORT});
    if let Some(node_port) = plan.spec.endpoint.port {
        port["nodePort"] = json!(node_port);
    }
    typed(json!({
        "metadata": metadata(plan, API_SERVER),
        "spec": {"type": plan.spec.endpoint.kind, "selector": selector(plan, API_SERVER), "ports": [port]},
    }))
}

/// The typed object. All values come from this program, and a test checks that each field is one of the type.
fn typed<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).expect("the object has the fields of its type")
}

#[cfg(test)]
pub(crate) mod tests;
