//! The admission policies that are installed.

use lab::wait::until;
use serde_json::{Value, json};

use crate::cluster::{Cluster, DONE_WITHIN, RUNNER};

/// A Cluster with these fields beside its inventory and variables, all in this namespace.
fn cluster_in(namespace: &str, fields: &[(&str, Value)]) -> String {
    let refer = |name: &str| json!({"namespace": namespace, "name": name});
    let mut spec = json!({"hostsConfRef": refer("hosts"), "varsConfRef": refer("vars")});
    for (field, value) in fields {
        spec[*field] = if value.is_string() { refer(value.as_str().unwrap_or_default()) } else { value.clone() };
    }
    json!({"apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "thief"}, "spec": spec})
        .to_string()
}

/// An operation on the Cluster `prod` with these fields. `author` is who it says has submitted it.
fn operation_by(author: &str, fields: &[(&str, Value)]) -> String {
    let mut spec = json!({"cluster": "prod", "actionType": "playbook", "action": "ping.yml", "image": RUNNER});
    for (field, value) in fields {
        spec[*field] = value.clone();
    }
    let annotations = json!({"kubeonkube.clay.io/submitted-by": author});
    json!({"apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "ClusterOperation",
        "metadata": {"name": "forged", "annotations": annotations}, "spec": spec})
    .to_string()
}

/// The policies of deploy/kubernetes/admission.yaml, with the rights of ann (see `person::signs_in`), who may also read ConfigMaps in `default`, and
/// of bob, who may create operations but not operate a cluster.
pub(crate) fn check_the_rights_of_persons(cluster: &Cluster) {
    let [ann, bob] = ["ann", "bob"].map(|name| format!("system:serviceaccount:kubeonkube-clusters:{name}"));
    let default = "--namespace=default";
    let bob_may = ["--verb=create,get,patch", "--resource=clusteroperations.kubeonkube.clay.io"];
    cluster.kubectl(&[&["create", "clusterrole", "bob"], &bob_may[..]].concat());
    cluster.kubectl(&["create", "clusterrolebinding", "bob", "--clusterrole=bob", &format!("--user={bob}")]);
    cluster.kubectl(&["create", "role", "reader", default, "--verb=get", "--resource=configmaps"]);
    cluster.kubectl(&["create", "rolebinding", "reader", default, "--role=reader", &format!("--user={ann}")]);
    let refused = |object: &str, user: &str, why: &str| {
        // A new policy takes effect after a moment.
        until(why, DONE_WITHIN, || {
            let words = ["create", "--dry-run=server", "-f", "-", &format!("--as={user}")];
            match cluster.try_feed(&words, object) {
                Err(said) if said.contains(why) => Ok(()),
                said => Err(format!("{said:?}")),
            }
        })
        .unwrap();
    };
    let of_kube_system = |field: &str| format!("spec.{field} names the ConfigMap kube-system/");
    refused(&cluster_in("kube-system", &[]), &ann, &of_kube_system("hostsConfRef"));
    for (field, name, why) in [
        ("sshAuthRef", json!("key"), "names the Secret default/key, which you may not read."),
        ("secretVarsRef", json!("words"), "names the Secret default/words, which you may not read."),
        ("kubeConfRef", json!("admin"), "names the kubeconfig default/admin, which you may not read."),
        ("adoptInputs", json!(true), "names the ConfigMap default/hosts, which you may not read and delete."),
        ("preCheckRef", Value::Null, "is the Secret default/thief-kubeconfig, which you may not read."),
    ] {
        refused(&cluster_in("default", &[(field, name)]), &ann, why);
    }
    refused(&operation_by(&bob, &[]), &bob, "You may not operate the cluster prod");
    refused(&operation_by("eve", &[]), &ann, &format!("submitted-by says eve, but you are {ann}"));
    let own = json!({"namespace": "kube-system", "name": "own"});
    let source = [("actionSource", json!("configmap")), ("actionSourceRef", own.clone())];
    refused(&operation_by(&ann, &source), &ann, "names the ConfigMap kube-system/own, which you may not read.");
    let hook =
        json!([{"actionType": "playbook", "action": "own.yml", "actionSource": "configmap", "actionSourceRef": own}]);
    refused(&operation_by(&ann, &[("preHook", hook)]), &ann, "The hooks name ConfigMaps.");

    let as_ann = format!("--as={ann}");
    let allowed = cluster_in("kubeonkube-clusters", &[("sshAuthRef", json!("key")), ("adoptInputs", json!(true))]);
    for allowed in [allowed, operation_by(&ann, &[])] {
        cluster.try_feed(&["create", "--dry-run=server", "-f", "-", &as_ann], &allowed).unwrap();
    }
    cluster.kubectl(&["delete", "clusterrole/bob", "clusterrolebinding/bob"]);
    cluster.kubectl(&["delete", "role/reader", "rolebinding/reader", default]);
}
