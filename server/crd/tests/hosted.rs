//! The rules for hosted control planes, evaluated as in the API server.

use kube_cel::Validator;
use kubeonkube_crd as crd;
use serde_json::{Value, json};

fn schema() -> Value {
    let cluster = crd::all().swap_remove(0);
    serde_json::to_value(cluster.spec.versions[0].schema.as_ref().and_then(|s| s.open_api_v3_schema.as_ref())).unwrap()
}

/// As an API server stores it, with all defaults.
fn hosted() -> Value {
    json!({
        "namespace": "shop", "version": "v1.36.4", "replicas": 1, "imageRepository": "registry.k8s.io",
        "etcd": {"members": 1, "storageSize": "2Gi"}, "endpoint": {"type": "ClusterIP"},
        "networking": {"serviceCidr": "10.96.0.0/16", "podCidr": "10.244.0.0/16", "dnsDomain": "cluster.local"},
        "addons": {"coreDNS": {"enabled": true, "replicas": 2}, "kubeProxy": {"enabled": true, "conntrackMaxPerCore": 32768}}
    })
}

fn cluster(spec: &Value) -> Value {
    json!({"apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "shop"}, "spec": spec})
}

fn checked(spec: &Value, old: Option<&Value>) -> Result<(), String> {
    let old = old.map(cluster);
    Validator::new().validate(&schema(), &cluster(spec), old.as_ref()).map_err(|errors| errors.to_string())
}

fn changed(at: &str, value: Value) -> Value {
    let mut spec = json!({"hosted": hosted()});
    let (parent, field) = at.rsplit_once('/').unwrap();
    spec.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(field.to_owned(), value);
    spec
}

#[test]
fn only_a_hosted_cluster_may_lack_an_inventory() {
    let at = |name: &str| json!({"namespace": "a", "name": name});
    assert_eq!(checked(&json!({"hostsConfRef": at("h"), "varsConfRef": at("v")}), None), Ok(()));
    assert_eq!(checked(&json!({"hosted": hosted()}), None), Ok(()));
    let refused = checked(&json!({}), None).unwrap_err();
    assert!(refused.contains("only a hosted cluster may lack them"), "{refused}");
    let refused = checked(&json!({"hosted": hosted(), "hostsConfRef": at("h")}), None).unwrap_err();
    assert!(refused.contains("belong together"), "{refused}");
}

#[test]
fn what_is_not_built_yet_is_refused_with_a_sentence() {
    for (at, value, says) in [
        ("/hosted/etcd/members", json!(3), "not supported yet"),
        ("/hosted/endpoint/type", json!("NodePort"), "endpoint.host is required for NodePort"),
        ("/hosted/endpoint/host", json!("10.0.0.1"), "only there host and port can be set"),
    ] {
        let refused = checked(&changed(at, value), None).expect_err(at);
        assert!(refused.contains(says), "{at}: {refused}");
    }
    let both =
        changed("/hosted/etcd", json!({"members": 1, "storageSize": "2Gi", "ephemeral": true, "storageClass": "a"}));
    assert!(checked(&both, None).unwrap_err().contains("exclude each other"));
}

#[test]
fn a_hosted_cluster_keeps_what_can_not_be_changed() {
    let old = json!({"hosted": hosted()});
    for (at, value) in
        [("/hosted/replicas", json!(2)), ("/hosted/paused", json!(true)), ("/hosted/imageRepository", json!("a"))]
    {
        assert_eq!(checked(&changed(at, value), Some(&old)), Ok(()), "{at}");
    }
    for (at, value) in [
        ("/hosted/version", json!("v1.36.5")),
        ("/hosted/namespace", json!("other")),
        ("/hosted/networking/podCidr", json!("10.1.0.0/16")),
        ("/hosted/etcd/storageSize", json!("4Gi")),
        ("/hosted/endpoint/certSANs", json!(["a.example"])),
    ] {
        let refused = checked(&changed(at, value), Some(&old)).expect_err(at);
        assert!(refused.contains("can't be changed yet"), "{at}: {refused}");
    }
    let refs = json!({"hostsConfRef": {"namespace": "a", "name": "h"}, "varsConfRef": {"namespace": "a", "name": "v"}});
    for (new, old) in [(&refs, &old), (&old, &refs)] {
        assert!(checked(new, Some(old)).unwrap_err().contains("create another cluster"));
    }
}

#[test]
fn a_short_manifest_gets_the_defaults() {
    let spec: crd::ClusterSpec = serde_json::from_value(json!({"hosted": {
        "namespace": "shop", "version": "v1.36.4", "networking": {"podCidr": "10.244.0.0/16"}}}))
    .unwrap();
    assert!(!spec.has_inventory());
    assert_eq!(serde_json::to_value(&spec).unwrap(), json!({"hosted": hosted()}));
}
