//! The chart: install, upgrade and uninstall with helm.

use std::process::Command;

use lab::wait::until;
use serde_json::json;

use crate::cluster::{
    CLUSTERS, Cluster, DONE_WITHIN, INSTALLED, RUNNER, SERVER, SYSTEM, TAG, TIMEOUT, said, workspace,
};
use crate::console::Console;
use crate::person;

/// What stays when the chart is uninstalled.
const KEPT: [&str; 2] = [
    "customresourcedefinition.apiextensions.k8s.io/clusteroperations.kubeonkube.clay.io",
    "customresourcedefinition.apiextensions.k8s.io/clusters.kubeonkube.clay.io",
];
/// The node with the volume.
const NODE: &str = "n1";
const VOLUME: &str = "/var/lib/kubeonkube-volume";

struct Helm<'a> {
    cluster: &'a Cluster,
    folder: tempfile::TempDir,
}

impl Helm<'_> {
    /// Runs helm inside the lab. It must succeed.
    fn run(&self, words: &[&str]) -> String {
        let program = std::env::var("KUBEONKUBE_TEST_HELM").expect("KUBEONKUBE_TEST_HELM names a helm");
        let mut helm: Command = self.cluster.0.command(&program);
        for folder in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            helm.env(folder, self.folder.path());
        }
        said(helm.args(words).arg(SYSTEM)).unwrap_or_else(|why| {
            let pods = self.cluster.try_kubectl(&["describe", "pods,pvc", SYSTEM]).unwrap_or_default();
            panic!("helm {words:?}: {why}\n{pods}\n{}", self.cluster.server_log())
        })
    }

    /// Installs or upgrades the chart, with these further values.
    fn apply(&self, verb: &[&str], values: &[&str]) {
        let chart = workspace().join("deploy/helm/kubeonkube");
        let image = format!("--set=image.repository={SERVER},image.tag={TAG},image.pullPolicy=Never");
        let runner = format!("--set=runnerImage={RUNNER}");
        let always = ["--wait", TIMEOUT, &image, &runner, "--set=persistence.enabled=true,persistence.size=1Gi"];
        let protected = ["--set=networkPolicy.enabled=true,podDisruptionBudget.enabled=true"];
        self.run(&[verb, &["kubeonkube", chart.to_str().unwrap()], &always, &protected, values].concat());
    }
}

/// A volume on one node, which a claim without a class gets.
fn make_volume(cluster: &Cluster) {
    cluster.0.machine(NODE).unwrap().run(&format!("rm -rf {VOLUME} && mkdir {VOLUME}")).unwrap();
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "kubeonkube"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "local": {"path": VOLUME},
            "persistentVolumeReclaimPolicy": "Retain",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}]}]}}}});
    cluster.feed(&["apply", "-f", "-"], &volume.to_string());
}

/// Whether the API server has the optional objects of the chart, and they are in effect.
fn optional_objects_are_in_effect(cluster: &Cluster) {
    let claim = cluster.json(&["get", "persistentvolumeclaim", "kubeonkube", SYSTEM]);
    assert_eq!(claim["status"]["phase"], "Bound", "{claim}");
    until("the budget to count the pod", DONE_WITHIN, || {
        let budget = cluster.json(&["get", "poddisruptionbudget", "kubeonkube", SYSTEM]);
        let status = &budget["status"];
        // One pod that must stay: the budget allows no eviction.
        let counts = (status["currentHealthy"].as_i64(), status["disruptionsAllowed"].as_i64());
        if counts == (Some(1), Some(0)) { Ok(()) } else { Err(budget.to_string()) }
    })
    .unwrap();
    let policy = cluster.json(&["get", "networkpolicy", "kubeonkube", SYSTEM]);
    assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress"]), "{policy}");
    let pods = cluster.json(&["get", "pods", SYSTEM, "-l", "app.kubernetes.io/name=kubeonkube"]);
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(1), "{pods}");
    assert_eq!(pods["items"][0]["status"]["containerStatuses"][0]["ready"], true, "{pods}");
}

fn open(cluster: &Cluster) -> Console {
    Console::open(&cluster.0, cluster.command(&["port-forward", SYSTEM, "deployment/kubeonkube"]))
}

#[test]
#[ignore = "needs the images and helm: cargo xtask test --stage lab"]
fn the_chart_is_installed_upgraded_and_uninstalled() {
    let cluster = Cluster::with_images();
    let helm = Helm { cluster: &cluster, folder: tempfile::tempdir().unwrap() };
    make_volume(&cluster);
    helm.apply(&["install", "--create-namespace"], &[]);
    cluster.kubectl(&["label", "namespace", "kubeonkube-system", "pod-security.kubernetes.io/enforce=restricted"]);
    optional_objects_are_in_effect(&cluster);
    let mut console = open(&cluster);
    person::signs_in(&cluster, &mut console);
    person::registers(&cluster, &console, "charted");
    person::pings(&cluster, &console, "charted", "ping-1");
    let session = console.session();
    drop(console);

    // An upgrade replaces the pod. The volume keeps sessions and logs.
    helm.apply(&["upgrade"], &["--set=maxRunning=7"]);
    let mut console = open(&cluster);
    console.resume(session);
    let log = console.get("/operations/ping-1/log.txt");
    assert!(log.body.contains("1 of 1 steps done"), "{} {}", log.head, log.body);
    person::pings(&cluster, &console, "charted", "ping-2");
    drop(console);

    // With an address for everybody. The API server checks both ways there; no controller serves them.
    define_routes(&cluster);
    let address = "--set=publicUrl=https://kok.example.com,ingress.enabled=true,ingress.className=nginx";
    let gateway = "--set=gateway.enabled=true,gateway.parentRefs[0].name=edge";
    helm.apply(&["upgrade"], &["--set=maxRunning=7", address, gateway]);
    optional_objects_are_in_effect(&cluster);
    let ingress = cluster.json(&["get", "ingress", "kubeonkube", SYSTEM]);
    assert_eq!(ingress["spec"]["rules"][0]["host"], "kok.example.com", "{ingress}");
    let route = cluster.json(&["get", "httproute", "kubeonkube", SYSTEM]);
    assert_eq!(route["spec"]["hostnames"], json!(["kok.example.com"]), "{route}");
    answers_through_its_service(&cluster);

    helm.run(&["uninstall", "kubeonkube", "--wait", TIMEOUT]);
    cluster.kubectl(&["delete", TIMEOUT, "crd/httproutes.gateway.networking.k8s.io"]);
    assert_eq!(
        cluster.ours("clusterrole,clusterrolebinding,crd,validatingadmissionpolicy,validatingadmissionpolicybinding"),
        KEPT
    );
    for kept in ["cluster/charted", "clusteroperation/ping-1", "clusteroperation/ping-2"] {
        cluster.kubectl(&["get", kept]);
    }
    cluster.kubectl(&["get", "configmap/charted-hosts-conf", "secret/charted-ssh-auth", CLUSTERS]);
    cluster.kubectl(&["get", "persistentvolumeclaim/kubeonkube", SYSTEM]);
    assert!(cluster.try_kubectl(&["get", "deployment/kubeonkube", SYSTEM]).is_err());

    // Installed again, it has everything that it had. The kept objects still have the labels of the release, so helm accepts them.
    helm.apply(&["install"], &[]);
    let mut console = open(&cluster);
    console.sign_in(cluster.kubectl(&["create", "token", "ann", CLUSTERS]).trim());
    person::pings(&cluster, &console, "charted", "ping-3");
    drop(console);

    helm.run(&["uninstall", "kubeonkube", "--wait", TIMEOUT]);
    cluster.kubectl(&["delete", "--wait", TIMEOUT, "namespace/kubeonkube-clusters", "namespace/kubeonkube-system"]);
    cluster.kubectl(
        &[
            &[
                "delete",
                TIMEOUT,
                "persistentvolume/kubeonkube",
                "clusterrolebinding/ann",
                "clusterrolebinding/ann-runs",
            ][..],
            &KEPT,
        ]
        .concat(),
    );
    assert!(cluster.ours(&format!("{INSTALLED},persistentvolume")).is_empty());
    cluster.0.machine(NODE).unwrap().run(&format!("rm -r {VOLUME}")).unwrap();
}

/// Makes HTTPRoute known to the API server.
fn define_routes(cluster: &Cluster) {
    let folder =
        std::env::var("KUBEONKUBE_TEST_GATEWAY").expect("KUBEONKUBE_TEST_GATEWAY names a folder of definitions");
    let file = format!("{folder}/gateway.networking.k8s.io_httproutes.yaml");
    // Too large for the annotation of a client-side apply.
    cluster.kubectl(&["apply", "--server-side", "-f", &file]);
    cluster.kubectl(&["wait", "--for=condition=Established", TIMEOUT, "crd/httproutes.gateway.networking.k8s.io"]);
}

/// Asks the Service as an Ingress controller does: from another pod, with the name that people open.
fn answers_through_its_service(cluster: &Cluster) {
    let service = cluster.json(&["get", "service", "kubeonkube", SYSTEM])["spec"]["clusterIP"].clone();
    let service = service.as_str().expect("an address");
    let ask = format!(
        "import http.client as h; c = h.HTTPConnection('{service}', timeout=20); \
         c.request('GET', '/login', headers={{'Host': 'kok.example.com'}}); print('status', c.getresponse().status)"
    );
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asks"}, "spec": {"restartPolicy": "Never",
        "containers": [{"name": "asks", "image": lab::RUNNER, "imagePullPolicy": "Never",
            "command": ["python3", "-c", ask]}]}});
    cluster.feed(&["apply", "-f", "-"], &pod.to_string());
    until("an answer of the Service", DONE_WITHIN, || {
        let log = cluster.try_kubectl(&["logs", "asks"])?;
        if log.trim() == "status 200" { Ok(()) } else { Err(log) }
    })
    .unwrap();
    cluster.kubectl(&["delete", "pod", "asks", TIMEOUT]);
}
