//! The built-in engine upgrades a cluster by a minor version, step by step, and restores etcd.
//!
//! Needs both releases and several minutes, so it runs with `cargo xtask test --full` and by hand:
//! `cargo test --package kubeonkube-lab --test upgrade -- --ignored --nocapture --test-threads=1`.

#[path = "engine/asking.rs"]
mod asking;
#[path = "shared/jobs.rs"]
mod jobs;
#[expect(dead_code, reason = "the suite `engine` uses the rest")]
#[path = "engine/playbooks.rs"]
mod playbooks;

use std::time::{Duration, Instant};

use lab::{Lab, Machine, addresses};

use crate::asking::{Answers, start_asking, stop_asking};
use crate::playbooks::Playbooks;

/// How long one playbook may take on a busy computer.
const PLAYBOOK_WITHIN: Duration = Duration::from_secs(1800);
const KUBECTL: &str = "kubectl --kubeconfig /etc/kubernetes/admin.conf --cache-dir /run/kubeonkube/kubectl";

fn kubectl(first: &Machine, words: &str) -> String {
    first.run(&format!("{KUBECTL} {words}")).unwrap_or_else(|error| panic!("kubectl {words}: {error}"))
}

/// The name, version and schedulability of all nodes, in one line each.
fn nodes(first: &Machine) -> String {
    let row = "{.metadata.name} {.status.nodeInfo.kubeletVersion} {.spec.unschedulable}";
    kubectl(first, &format!("get nodes -o jsonpath='{{range .items[*]}}{row}{{\"\\n\"}}{{end}}'"))
}

/// Three fresh machines, the playbooks of a cluster on them with the older release, and both releases.
async fn three_machines() -> (Lab, Machine, Playbooks, [String; 2]) {
    let lab = Lab::shared(&["--machines", "3", "--releases=1.36,1.37"]).unwrap_or_else(|error| panic!("{error}"));
    let mut releases = lab.releases().to_vec();
    releases.sort();
    let releases: [String; 2] = releases.try_into().expect("the lab serves two releases");
    for name in ["m1", "m2", "m3"] {
        let machine = lab.machine(name).unwrap();
        machine.reset().unwrap();
        machine.wait_reachable().unwrap();
    }
    let playbooks = Playbooks::at(&lab, &releases[0]).await;
    playbooks.workers(&["m2", "m3"]).await;
    let first = lab.machine("m1").unwrap();
    (lab, first, playbooks, releases)
}

/// Stops asking, after this time. Fails if more than `allowed` of 1,000 requests failed. `output` is what the playbook printed meanwhile,
/// with timestamps.
fn answered(machine: &Machine, asking: Duration, allowed: usize, output: &str) {
    let Answers { good, bad } = stop_asking(machine);
    let (asked, seconds) = (good + bad.len(), asking.as_secs());
    eprintln!("{good} of {asked} requests were answered in {seconds} s");
    assert!(asked as u64 > seconds * 9 / 2, "only {asked} requests in {seconds} s, five a second were to be sent");
    if bad.len() * 1000 > asked * allowed {
        let tasks: Vec<&str> = output.lines().filter(|line| line.contains(" TASK [")).collect();
        eprintln!("{}\n{}", tasks.join("\n"), happened(machine));
        panic!("more than {allowed} of 1,000 requests failed: {bad:#?}");
    }
}

/// What pods, controllers and kube-proxy did, for people who look for the cause of failed requests.
fn happened(machine: &Machine) -> String {
    let row = "{.metadata.creationTimestamp} {.reason} {.involvedObject.name} {.message}";
    [
        format!("get events -A --sort-by=.metadata.creationTimestamp -o jsonpath='{{range .items[*]}}{row}{{\"\\n\"}}{{end}}'"),
        "get pods -A -o wide".to_owned(),
        "get leases -n kube-system".to_owned(),
        "logs -n kube-system -l component=kube-controller-manager --prefix --timestamps --tail=40".to_owned(),
        "logs -n kube-system -l k8s-app=kube-proxy --prefix --timestamps --tail=40".to_owned(),
    ]
    .map(|words| machine.run(&format!("{KUBECTL} {words}")).unwrap_or_else(|error| error.to_string()))
    .join("\n")
}

#[tokio::test]
#[ignore = "needs both releases and several minutes"]
async fn the_api_answers_while_three_control_planes_are_upgraded() {
    let (_lab, first, mut playbooks, [_, new]) = three_machines().await;
    let names = ["m1", "m2", "m3"];
    playbooks.machines(&names, &names).await;
    let common = addresses::COMMON;
    let on = format!(r#"{{"kube_vip_enabled": true, "kube_vip_address": "{common}"}}"#);
    playbooks.succeeds("cluster.yml", &["-e", &on]).await;
    start_asking(&first, &format!("https://{common}:6443/readyz"));
    playbooks.timestamps = true;
    let started = Instant::now();
    let output = playbooks.output("upgrade-cluster.yml", &["-e", &on, "-e", &format!("kube_version={new}")]).await;
    answered(&first, started.elapsed(), 5, &output);
    assert_eq!(nodes(&first), format!("m1 {new} \nm2 {new} \nm3 {new} \n"));
    // Remove the shared address, or the next test finds it.
    playbooks.succeeds("reset.yml", &["-e", &on, "-e", "reset_confirmation=yes"]).await;
}

#[tokio::test]
#[ignore = "needs both releases and several minutes"]
async fn a_workload_answers_during_a_whole_upgrade() {
    let (_lab, first, mut playbooks, [_, new]) = three_machines().await;
    playbooks.succeeds("cluster.yml", &[]).await;
    first.run(&format!("{KUBECTL} apply -f - <<'END'\n{}END\n", include_str!("engine/steady.yaml"))).unwrap();
    kubectl(&first, "rollout status deployment/steady --timeout=120s");
    let address = kubectl(&first, "get service steady -o jsonpath='{.spec.clusterIP}'");
    start_asking(&first, &format!("http://{address}/"));
    playbooks.timestamps = true;
    let started = Instant::now();
    let output = playbooks.output("upgrade-cluster.yml", &["-e", &format!("kube_version={new}")]).await;
    answered(&first, started.elapsed(), 1, &output);
    assert_eq!(nodes(&first), format!("m1 {new} \nm2 {new} \nm3 {new} \n"));
}

#[tokio::test]
#[ignore = "needs both releases and several minutes"]
async fn a_cluster_is_upgraded_by_a_minor_and_restored() {
    let (_lab, first, mut playbooks, [old, new]) = three_machines().await;
    playbooks.succeeds("cluster.yml", &[]).await;
    first.run(&format!("{KUBECTL} apply -f - <<'END'\n{}END\n", include_str!("engine/workload.yaml"))).unwrap();
    kubectl(&first, "rollout status deployment/web --timeout=120s");
    kubectl(&first, "cordon m3");

    let to = format!("kube_version={new}");
    for (version, expected) in [("1.38.0", "more than one minor version newer"), ("1.35.0", "can't be downgraded")] {
        let refused = playbooks.fails("upgrade-cluster.yml", &["-e", &format!("kube_version={version}")]).await;
        assert!(refused.contains(expected), "{refused}");
    }
    // CoreDNS needs some seconds to end.
    let blocked = playbooks.fails("upgrade-cluster.yml", &["-e", &to, "-e", "drain_timeout=30s"]).await;
    assert!(blocked.contains("PodDisruptionBudget default/web blocks it"), "{blocked}");
    assert!(
        blocked.contains(&format!("m1: {new}; m2, m3: {old}")),
        "it doesn't say which node has which version: {blocked}"
    );
    assert_eq!(nodes(&first), format!("m1 {new} \nm2 {old} \nm3 {old} true\n"));

    kubectl(&first, "delete poddisruptionbudget web");
    playbooks.succeeds("upgrade-cluster.yml", &["-e", &to]).await;
    assert_eq!(
        nodes(&first),
        format!("m1 {new} \nm2 {new} \nm3 {new} true\n"),
        "the node that took no pods takes some now"
    );
    let recap = playbooks.succeeds("upgrade-cluster.yml", &["-e", &to]).await;
    assert!(recap.iter().all(|line| line.contains(" changed=0 ")), "the second run has changed something: {recap:#?}");

    playbooks.succeeds("etcd-backup.yml", &[]).await;
    let snapshot = first.run("ls -t /var/backups/kubeonkube/*.db | head -n 1").unwrap();
    kubectl(&first, "create configmap after-the-snapshot");
    let restore = format!("etcd_restore_file={}", snapshot.trim());
    let started = first.run("date --utc +%FT%TZ").unwrap();
    playbooks.succeeds("etcd-restore.yml", &["-e", &restore, "-e", "etcd_restore_confirmation=yes"]).await;
    let renewed = kubectl(&first, "get lease -n kube-system kube-controller-manager -o jsonpath={.spec.renewTime}");
    assert!(renewed > started, "no controller manager has led since {started}: {renewed}");
    assert_eq!(kubectl(&first, "get configmap after-the-snapshot --ignore-not-found"), "");
    kubectl(&first, "wait --for=condition=Ready --timeout=120s node/m1 node/m2 node/m3");
}
