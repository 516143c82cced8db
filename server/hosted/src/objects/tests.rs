use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use serde::Serialize;
use serde_json::Value;

use super::*;
use crate::check::{Plan, check};

pub(crate) fn plan(change: impl FnOnce(&mut crd::Hosted)) -> Plan {
    let mut hosted: crd::Hosted = serde_json::from_value(json!({
        "namespace": "shop", "version": "v1.36.4", "networking": {"podCidr": "10.244.0.0/16"}, "imageRepository": "lab.test"
    }))
    .unwrap();
    change(&mut hosted);
    let mut cluster =
        crd::Cluster::new("prod", crd::ClusterSpec { hosted: Some(hosted.clone()), ..Default::default() });
    cluster.metadata.uid = Some("u1".into());
    check(&cluster, &hosted, std::iter::empty()).unwrap()
}

/// All pod templates, by the name of their workload.
fn templates(plan: &Plan) -> Vec<(String, Value)> {
    let deployments =
        [api_server::deployment(plan, "c"), controllers::manager(plan, "c"), controllers::scheduler(plan, "c")];
    let mut all: Vec<Value> = deployments.iter().map(json).collect();
    all.push(json(&etcd::stateful_set(plan, "c")));
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    all.iter().map(|object| (name(object), object["spec"]["template"].clone())).collect()
}

fn json<K: Serialize>(object: &K) -> Value {
    serde_json::to_value(object).unwrap()
}

/// The flags of a workload, without the program's name.
fn flags(template: &Value) -> Vec<String> {
    let command = template["spec"]["containers"][0]["command"].as_array().unwrap();
    command[1..].iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_field_is_lost_in_the_types() {
    // `typed` reads JSON. A field that the type doesn't know would be dropped without an error, so some are looked for by their path.
    let plan = plan(|_| {});
    for (name, template) in templates(&plan) {
        for path in [
            "/metadata/annotations/kubeonkube.clay.io~1checksum",
            "/spec/automountServiceAccountToken",
            "/spec/enableServiceLinks",
            "/spec/terminationGracePeriodSeconds",
            "/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/0/podAffinityTerm/topologyKey",
            "/spec/containers/0/imagePullPolicy",
            "/spec/containers/0/startupProbe/httpGet/scheme",
            "/spec/containers/0/livenessProbe/failureThreshold",
            "/spec/containers/0/readinessProbe/periodSeconds",
            "/spec/containers/0/resources/requests/memory",
            "/spec/containers/0/volumeMounts/0/mountPath",
            "/spec/volumes/0/secret/defaultMode",
        ] {
            assert!(template.pointer(path).is_some(), "{name}: {path}");
        }
    }
    let api_server: Deployment = api_server::deployment(&plan, "c");
    let api_server = json(&api_server);
    assert_eq!(api_server["spec"]["strategy"]["rollingUpdate"], json!({"maxSurge": "100%", "maxUnavailable": 0}));
    assert_eq!(api_server["spec"]["template"]["spec"]["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"], 5);
    assert_eq!(api_server["metadata"]["ownerReferences"][0]["uid"], "u1");
}

/// <https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted>
#[test]
fn all_pods_pass_the_level_restricted() {
    for (name, template) in templates(&plan(|_| {})) {
        let spec = &template["spec"];
        assert_eq!(spec["securityContext"]["runAsNonRoot"], true, "{name}");
        assert_eq!(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        for field in ["hostNetwork", "hostPID", "hostIPC"] {
            assert!(spec.get(field).is_none(), "{name}: {field}");
        }
        let security = &spec["containers"][0]["securityContext"];
        assert_eq!(security["allowPrivilegeEscalation"], false, "{name}");
        assert_eq!(security["readOnlyRootFilesystem"], true, "{name}");
        assert_eq!(security["capabilities"]["drop"], json!(["ALL"]), "{name}");
        // Upstream's image of the API server has a file capability, without which the program doesn't start.
        let added = if name == "apiserver" { json!(["NET_BIND_SERVICE"]) } else { Value::Null };
        assert_eq!(security["capabilities"].get("add").cloned().unwrap_or_default(), added, "{name}");
        for volume in spec["volumes"].as_array().unwrap() {
            assert!(volume.get("hostPath").is_none(), "{name}: {volume}");
        }
    }
}

#[test]
fn every_mounted_secret_is_made() {
    for (name, template) in templates(&plan(|_| {})) {
        for volume in template["spec"]["volumes"].as_array().unwrap() {
            if let Some(secret) = volume["secret"]["secretName"].as_str() {
                assert!(crate::certificates::secrets::ALL.contains(&secret), "{name} mounts {secret}");
            }
        }
    }
}

#[test]
fn no_flag_is_set_twice_and_networks_agree() {
    let plan = plan(|hosted| hosted.networking.service_cidr = "10.111.0.0/16".into());
    for (name, template) in templates(&plan) {
        let flags = flags(&template);
        let mut names: Vec<&str> = flags.iter().map(|flag| flag.split_once('=').unwrap().0).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{name}");
        if ["apiserver", "controller-manager"].contains(&name.as_str()) {
            assert!(flags.contains(&"--service-cluster-ip-range=10.111.0.0/16".to_owned()), "{name}: {flags:?}");
        }
    }
}

#[test]
fn a_member_that_lost_its_volume_serves_no_empty_data() {
    let plan = plan(|_| {});
    let state = |initialized| {
        let config = etcd::config(&plan, initialized);
        let text = config.data.unwrap()["etcd-0.json"].clone();
        let settings: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(settings["initial-cluster"], "etcd-0=https://etcd-0.etcd.shop.svc:2380");
        assert_eq!(settings["quota-backend-bytes"], plan.quota);
        settings["initial-cluster-state"].as_str().unwrap().to_owned()
    };
    assert_eq!((state(false), state(true)), ("new".to_owned(), "existing".to_owned()));
}

#[test]
fn etcd_has_a_volume_unless_it_is_ephemeral() {
    let set: StatefulSet = etcd::stateful_set(&plan(|hosted| hosted.etcd.storage_class = Some("fast".into())), "c");
    let set = json(&set);
    let claim = &set["spec"]["volumeClaimTemplates"][0];
    assert_eq!(claim["spec"]["storageClassName"], "fast");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "2Gi");
    let ours = |labels: &Value| {
        let claim = serde_json::from_value(serde_json::json!({"metadata": {"labels": labels}})).unwrap();
        etcd::is_claim_of(&claim, &plan(|_| {}).uid)
    };
    assert!(ours(&claim["metadata"]["labels"]), "deletion must find it");
    assert!(!ours(&serde_json::json!({crd::LABEL_CLUSTER: "prod"})), "the claim of an earlier cluster of this name");
    let set = json(&etcd::stateful_set(&plan(|hosted| hosted.etcd.ephemeral = Some(true)), "c"));
    assert!(set["spec"].get("volumeClaimTemplates").is_none());
    let volumes = set["spec"]["template"]["spec"]["volumes"].as_array().unwrap();
    assert!(volumes.iter().any(|volume| volume["emptyDir"]["sizeLimit"] == "2Gi"));
}

#[test]
fn the_service_is_of_the_wanted_type() {
    let service = json(&service(&plan(|hosted| {
        hosted.endpoint.kind = crd::EndpointType::NodePort;
        hosted.endpoint.host = Some("10.77.0.201".into());
        hosted.endpoint.port = Some(30_443);
    })));
    assert_eq!(service["spec"]["type"], "NodePort");
    assert_eq!(service["spec"]["ports"][0]["nodePort"], 30_443);
    assert_eq!(service["spec"]["ports"][0]["port"], 6443);
}
