//! `kubectl apply -k`, over objects that were made with the first definitions.

use std::path::PathBuf;

use lab::wait::until;

use crate::cluster::{CLUSTERS, Cluster, DONE_WITHIN, INSTALLED, RUNNER, SERVER, SYSTEM, TAG, TIMEOUT, workspace};
use crate::console::Console;
use crate::{person, policies};

/// A folder as docs/install.md describes it: deploy/kubernetes with the user's images.
struct Overlay(PathBuf);

impl Overlay {
    /// It must be in the repository: kustomize allows only relative paths to other folders.
    fn new() -> Self {
        let folder = workspace().join("target/lab-overlay");
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../../deploy/kubernetes\nimages:\n\
             - name: ghcr.io/clay-wangzhi/kubeonkube\n  newName: {SERVER}\n  newTag: {TAG}\npatches:\n\
             - target:\n    kind: Deployment\n  patch: |-\n    - op: add\n      path: /spec/template/spec/containers/0/env/-\n      \
             value:\n        name: KUBEONKUBE_RUNNER_IMAGE\n        value: {RUNNER}\n"
        );
        std::fs::write(folder.join("kustomization.yaml"), text).unwrap();
        Self(folder)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes the definitions and objects of the first version.
fn first_version(cluster: &Cluster) {
    let folder = workspace().join("server/crd/tests/v0");
    for file in ["clusters.yaml", "clusteroperations.yaml"] {
        cluster.kubectl(&["apply", "-f", folder.join(file).to_str().unwrap()]);
    }
    let wait = ["wait", "--for=condition=Established", TIMEOUT, "crd/clusters.kubeonkube.clay.io"];
    cluster.kubectl(&[&wait[..], &["crd/clusteroperations.kubeonkube.clay.io"]].concat());
    cluster.kubectl(&["apply", "-f", folder.join("objects.yaml").to_str().unwrap()]);
}

/// They are still served and valid, and the controller works on them.
fn first_objects_are_reconciled(cluster: &Cluster, console: &Console) {
    let objects = workspace().join("server/crd/tests/v0/objects.yaml");
    let again = cluster.kubectl(&["apply", "-f", objects.to_str().unwrap()]);
    assert_eq!(again.matches(" unchanged").count(), again.lines().count(), "{again}");
    cluster.kubectl(&["label", "clusters,clusteroperations", "--all", "upgraded=yes"]);
    until("old-everything to wait for its cluster, which isn't registered", DONE_WITHIN, || {
        let status = cluster.json(&["get", "clusteroperation", "old-everything"])["status"].clone();
        // It waits five minutes, which a busy computer may have needed until here.
        if status["reason"] == "WaitsForInputs" || status["status"] == "Failed" {
            Ok(())
        } else {
            Err(status.to_string())
        }
    })
    .unwrap();
    let status = cluster.ended("old-script");
    assert_eq!(status["status"], "Succeeded", "{status}");
    let row = console.json("/api/load_operation?name=old-script");
    assert_eq!(row["row"]["phase"], "succeeded", "{row}");
    assert_eq!(console.json("/api/load_cluster?cluster=old")["row"]["name"], "old");
}

#[test]
#[ignore = "needs the images: cargo xtask test --stage lab"]
fn kubectl_installs_it_over_the_first_version() {
    let cluster = Cluster::with_images();
    first_version(&cluster);
    let overlay = Overlay::new();
    cluster.kubectl(&["apply", "-k", overlay.path()]);
    cluster.is_rolled_out();

    let ingress = cluster.kubectl(&["kustomize", workspace().join("deploy/ingress").to_str().unwrap()]);
    assert!(ingress.contains("[::]:7080") && !ingress.contains("127.0.0.1"), "{ingress}");
    cluster.feed(&["apply", "--dry-run=server", "-f", "-"], &ingress);

    let mut console = Console::open(&cluster.0, cluster.command(&["port-forward", SYSTEM, "deployment/kubeonkube"]));
    person::signs_in(&cluster, &mut console);
    first_objects_are_reconciled(&cluster, &console);
    person::registers(&cluster, &console, "prod");

    // The server's pod reaches the machine, too.
    let version = console.json("/api/load_configuration?cluster=prod")["ssh"]["host_keys"]["version"].clone();
    let fields = [("cluster", "prod"), ("version", version.as_str().unwrap_or_default()), ("text", "")];
    let scan = console.post("/api/scan_host_keys", &fields);
    assert!(scan.status == 200 && scan.body.contains("ssh-ed25519"), "{} {}", scan.head, scan.body);

    person::pings(&cluster, &console, "prod", "ping");
    policies::check_the_rights_of_persons(&cluster);

    // K19: Secrets only by name, and only in the namespace of clusters.
    for (verb, namespace, allowed) in
        [("get", "default", "no"), ("list", "kubeonkube-clusters", "no"), ("get", "kubeonkube-clusters", "yes")]
    {
        let namespace = format!("--namespace={namespace}");
        let server = "--as=system:serviceaccount:kubeonkube-system:kubeonkube";
        // kubectl exits with 1 for “no”.
        let said = cluster.command(&["auth", "can-i", verb, "secrets", &namespace, server]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), allowed, "{verb} in {namespace}");
    }

    // The API server has refused none of the server's requests.
    let log = cluster.server_log();
    assert!(log.contains("ping"), "the log doesn't name the run: {log}");
    let refused: Vec<&str> = log.lines().filter(|line| line.to_lowercase().contains("forbidden")).collect();
    assert!(refused.is_empty(), "{refused:#?}");

    drop(console);
    cluster.kubectl(&["delete", "--wait", TIMEOUT, "-k", overlay.path()]);
    assert!(cluster.ours(INSTALLED).is_empty());
    cluster.kubectl(&["delete", "clusterrolebinding", "ann", "ann-runs"]);
    assert!(cluster.try_kubectl(&["get", "configmap", "prod-hosts-conf", CLUSTERS]).is_err());
}
