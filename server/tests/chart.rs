//! The Helm chart agrees with deploy/kubernetes, and refuses wrong values.
//!
//! helm comes from `KUBEONKUBE_TEST_HELM`, or is on the PATH.

#[path = "skipped/mod.rs"]
mod skipped;
#[path = "tool/mod.rs"]
mod tool;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

/// `None` if there is no helm: then the test is recorded as skipped, or fails where `CI` is set.
fn helm(test: &str) -> Option<PathBuf> {
    let found = tool::tool("helm", "KUBEONKUBE_TEST_HELM");
    if found.is_none() {
        skipped::skip(test, "a helm on PATH or in KUBEONKUBE_TEST_HELM");
    }
    found
}

fn run(helm: &Path, words: &[&str]) -> Output {
    Command::new(helm).args(words).output().expect("helm runs")
}

/// The objects of the chart with these further arguments, by kind, namespace and name; or what helm says.
fn rendered(helm: &Path, arguments: &[&str]) -> Result<Objects, String> {
    let chart = deploy().join("helm/kubeonkube");
    let words = ["template", "kubeonkube", chart.to_str().expect("text"), "--namespace=kubeonkube-system"];
    let output = run(helm, &[&words[..], &["--kube-version=1.36.4"], arguments].concat());
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(objects(&String::from_utf8_lossy(&output.stdout)))
}

type Objects = BTreeMap<(String, String, String), Value>;

fn objects(yaml: &str) -> Objects {
    let documents: Vec<Value> = serde_saphyr::from_multiple(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let key = |object: &Value| {
        let metadata = &object["metadata"];
        (text(&object["kind"]), text(&metadata["namespace"]), text(&metadata["name"]))
    };
    documents.into_iter().filter(|object| !object.is_null()).map(|object| (key(&object), object)).collect()
}

/// The objects of deploy/kubernetes and deploy/crd.
fn plain() -> Objects {
    let folders = [deploy().join("kubernetes"), deploy().join("crd")];
    let files = folders.iter().flat_map(|folder| folder.read_dir().expect("a folder").flatten());
    let mut all = Objects::new();
    for file in files.filter(|file| {
        !file.file_name().eq_ignore_ascii_case("kustomization.yaml") && file.file_name() != "Kustomization"
    }) {
        all.extend(objects(&std::fs::read_to_string(file.path()).expect("a manifest")));
    }
    all
}

/// What may differ: annotations, labels that name the release, and what the chart says beyond the plain file.
fn comparable(mut object: Value) -> Value {
    for path in ["/metadata", "/spec/template/metadata", "/spec/selector/matchLabels"] {
        if let Some(part) = object.pointer_mut(path).and_then(Value::as_object_mut) {
            part.remove("annotations");
            let is_other = |label: &str| !label.starts_with("helm.sh/") && !label.starts_with("app.kubernetes.io/");
            if path.ends_with("matchLabels") {
                part.retain(|label, _| is_other(label));
            } else if let Some(labels) = part.get_mut("labels").and_then(Value::as_object_mut) {
                labels.retain(|label, _| is_other(label));
                if labels.is_empty() {
                    part.remove("labels");
                }
            }
        }
    }
    if let Some(container) = object.pointer_mut("/spec/template/spec/containers/0").and_then(Value::as_object_mut) {
        container.remove("imagePullPolicy");
        let env = container.get_mut("env").and_then(Value::as_array_mut).expect("variables");
        env.retain(|variable| variable["name"] != "KUBEONKUBE_MAX_RUNNING");
    }
    object
}

#[test]
fn the_chart_installs_what_the_plain_files_install() {
    let Some(helm) = helm("the_chart_installs_what_the_plain_files_install") else { return };
    let (mut chart, mut plain) = (rendered(&helm, &["--include-crds"]).expect("rendered"), plain());
    // `helm install --create-namespace` makes the release's own namespace.
    let own = ("Namespace".to_owned(), String::new(), "kubeonkube-system".to_owned());
    assert!(plain.remove(&own).is_some() && !chart.contains_key(&own));
    let keys = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&chart), keys(&plain));
    for (key, object) in plain {
        let of_chart = chart.remove(&key).expect("the same keys");
        assert_eq!(comparable(of_chart), comparable(object), "{key:?}");
    }
}

#[test]
fn crds_and_namespaces_of_clusters_survive_an_uninstall() {
    let Some(helm) = helm("crds_and_namespaces_of_clusters_survive_an_uninstall") else { return };
    let chart = rendered(&helm, &["--set=persistence.enabled=true"]).expect("rendered");
    let kept: Vec<_> = chart
        .iter()
        .filter(|(_, object)| object["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep")
        .map(|((kind, ..), _)| kind.as_str())
        .collect();
    let crd = "CustomResourceDefinition";
    assert_eq!(kept, [crd, crd, "Namespace", "PersistentVolumeClaim"]);
}

#[test]
fn each_namespace_of_clusters_has_a_role_binding() {
    let Some(helm) = helm("each_namespace_of_clusters_has_a_role_binding") else { return };
    let chart = rendered(&helm, &["--set=clusterNamespaces={team-a,team-b}"]).expect("rendered");
    let bound: Vec<_> = chart
        .iter()
        .filter(|((kind, ..), object)| kind == "RoleBinding" && object["roleRef"]["name"] == "kubeonkube-runs")
        .map(|((_, namespace, _), _)| namespace.as_str())
        .collect();
    assert_eq!(bound, ["team-a", "team-b"]);
    let own = rendered(&helm, &["--set=clusterNamespaces={kubeonkube-system}"]);
    assert!(own.is_err_and(|why| why.contains("signing key")), "the server's own namespace isn't one of clusters");
    let everywhere = chart.iter().filter(|((kind, ..), _)| kind == "ClusterRoleBinding");
    assert!(everywhere.into_iter().all(|(_, object)| object["roleRef"]["name"] == "kubeonkube"));
}

#[test]
fn a_public_address_opens_the_port_and_names_the_host() {
    let Some(helm) = helm("a_public_address_opens_the_port_and_names_the_host") else { return };
    let arguments = [
        "--set=publicUrl=https://kok.example.com",
        "--set=ingress.enabled=true",
        "--set=gateway.enabled=true",
        "--set=gateway.parentRefs[0].name=edge",
        "--set=networkPolicy.enabled=true",
        "--set=podDisruptionBudget.enabled=true",
        "--set=auditLog=true",
    ];
    let chart = rendered(&helm, &arguments).expect("rendered");
    let find = |kind: &str| {
        let key = (kind.to_owned(), "kubeonkube-system".to_owned(), "kubeonkube".to_owned());
        chart.get(&key).unwrap_or_else(|| panic!("no {kind}"))
    };
    let env = &find("Deployment")["spec"]["template"]["spec"]["containers"][0]["env"];
    let has =
        |name: &str, value: &str| env.as_array().expect("a list").contains(&json!({"name": name, "value": value}));
    assert!(has("KUBEONKUBE_AUDIT_LOG", "-"), "{env}");
    assert!(has("KUBEONKUBE_LISTEN", "[::]:7080") && has("KUBEONKUBE_PUBLIC_URL", "https://kok.example.com"), "{env}");
    let ingress = &find("Ingress")["spec"];
    assert_eq!(ingress["rules"][0]["host"], "kok.example.com");
    assert_eq!(ingress["tls"][0], json!({"hosts": ["kok.example.com"], "secretName": "kubeonkube-tls"}));
    let service = &ingress["rules"][0]["http"]["paths"][0]["backend"]["service"];
    assert_eq!(service, &json!({"name": "kubeonkube", "port": {"name": "console"}}));
    assert_eq!(find("Service")["spec"]["ports"][0]["targetPort"], "console");
    assert_eq!(find("HTTPRoute")["spec"]["hostnames"], json!(["kok.example.com"]));
    assert_eq!(find("NetworkPolicy")["spec"]["ingress"][0]["ports"], json!([{"port": "console"}, {"port": "probes"}]));
    assert_eq!(find("PodDisruptionBudget")["spec"]["minAvailable"], 1);
}

#[test]
fn sign_in_at_a_provider_mounts_its_secret_and_authorities() {
    let Some(helm) = helm("sign_in_at_a_provider_mounts_its_secret_and_authorities") else { return };
    let pod = |more: &[&str]| {
        let chart = rendered(&helm, &[&["--set=publicUrl=https://kok.example.com"], more].concat()).expect("rendered");
        let key = ("Deployment".to_owned(), "kubeonkube-system".to_owned(), "kubeonkube".to_owned());
        chart[&key]["spec"]["template"]["spec"].clone()
    };
    let env = |pod: &Value, name: &str| {
        let all = pod["containers"][0]["env"].as_array().expect("a list").clone();
        all.into_iter().find(|one| one["name"] == name).map(|one| one["value"].clone()).unwrap_or_default()
    };
    assert_eq!(env(&pod(&["--set=oidc.clientId=console"]), "KUBEONKUBE_OIDC_CLIENT_ID"), Value::Null, "no issuer");
    let client = ["--set=oidc.issuer=https://id.example.com/realm", "--set=oidc.clientId=console"];
    let public = pod(&client);
    assert_eq!(env(&public, "KUBEONKUBE_OIDC_ISSUER"), "https://id.example.com/realm");
    assert_eq!(public["volumes"].as_array().map(Vec::len), Some(1), "{public}");
    // `helm upgrade --reuse-values` from a release that had neither.
    let older = pod(&["--set-json=oidc=null", "--set-json=auditLog=null"]);
    assert_eq!(env(&older, "KUBEONKUBE_OIDC_ISSUER"), Value::Null);
    assert_eq!(env(&older, "KUBEONKUBE_AUDIT_LOG"), Value::Null);
    let more = [
        "--set=oidc.clientSecret=of-the-client",
        "--set=oidc.caConfigMap=authorities",
        "--set=oidc.scopes={openid,groups}",
    ];
    let whole = pod(&[&client[..], &more].concat());
    assert_eq!(env(&whole, "KUBEONKUBE_OIDC_SCOPES"), "openid,groups");
    for (variable, volume, path) in [
        ("KUBEONKUBE_OIDC_CLIENT_SECRET_FILE", "oidc", "client-secret"),
        ("KUBEONKUBE_OIDC_CA_FILE", "oidc-ca", "ca.crt"),
    ] {
        let mounts = whole["containers"][0]["volumeMounts"].as_array().expect("a list").clone();
        let mount = mounts.iter().find(|mount| mount["name"] == volume).expect("mounted");
        let folder = mount["mountPath"].as_str().expect("a path");
        assert_eq!(env(&whole, variable), format!("{folder}/{path}"));
        let volumes = whole["volumes"].as_array().expect("a list").clone();
        assert!(volumes.iter().any(|one| one["name"] == volume), "{whole}");
    }
}

#[test]
fn wrong_values_are_refused_with_the_reason() {
    let Some(helm) = helm("wrong_values_are_refused_with_the_reason") else { return };
    for (argument, why) in [
        ("--set=publicUrl=http://kok.example.com", "publicUrl"),
        ("--set=publicURL=https://kok.example.com", "publicURL"),
        ("--set=clusterNamespaces={Team}", "clusterNamespaces"),
        ("--set-json=clusterNamespaces=[]", "clusterNamespaces"),
        ("--set=maxRunning=0", "maxRunning"),
        ("--set=ingress.enabled=true", "Set publicUrl to the https address"),
        ("--set=oidc.issuer=http://id.example", "oidc"),
        ("--set=oidc.issuer=https://id.example,oidc.clientId=c", "Set publicUrl: the provider"),
        ("--set=oidc.issuer=https://id.example,publicUrl=https://a.example", "Set oidc.clientId"),
        ("--set=gateway.enabled=true,publicUrl=https://a.example", "Set gateway.parentRefs"),
    ] {
        let refused = rendered(&helm, &[argument]).expect_err(argument);
        assert!(refused.contains(why), "{argument}: {refused}");
    }
    let chart = deploy().join("helm/kubeonkube");
    let linted = run(&helm, &["lint", "--strict", chart.to_str().expect("text")]);
    assert!(linted.status.success(), "{}", String::from_utf8_lossy(&linted.stdout));
}
