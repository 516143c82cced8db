//! Three control planes share an address. When the machine that has it fails, the Kubernetes API still answers there.
//!
//! Takes several minutes, so it runs with `cargo xtask test --full` and by hand:
//! `cargo test --package kubeonkube-lab --test endpoint -- --ignored --nocapture`.

#[path = "engine/asking.rs"]
mod asking;
#[path = "shared/jobs.rs"]
mod jobs;
#[expect(dead_code, reason = "the suite `engine` uses the rest")]
#[path = "engine/playbooks.rs"]
mod playbooks;

use std::time::{Duration, Instant};

use lab::addresses::COMMON;
use lab::wait::{PATIENCE, until};
use lab::{Lab, Machine, addresses};

use crate::asking::{start_asking, stop_asking};
use crate::playbooks::Playbooks;

/// How long one playbook may take on a busy computer.
const PLAYBOOK_WITHIN: Duration = Duration::from_secs(1800);
/// How long the API may be away after a machine failed.
const MOVES_WITHIN: Duration = Duration::from_secs(120);

/// Whether this machine has the address.
fn has_it(machine: &Machine) -> bool {
    machine
        .run_within("ip -o address", Duration::from_secs(10))
        .is_ok_and(|said| said.contains(&format!(" {COMMON}/32 ")))
}

/// Waits until the Kubernetes API answers `machine` at the common address. Returns how many seconds it took.
fn wait_answered(machine: &Machine) -> f64 {
    let started = Instant::now();
    let ask = format!(
        "kubectl --kubeconfig /etc/kubernetes/admin.conf --server https://{COMMON}:6443 --request-timeout=2s get --raw /readyz"
    );
    until("the Kubernetes API to answer at the common address", MOVES_WITHIN, || {
        machine.run_within(&ask, Duration::from_secs(10)).map_err(|error| error.to_string())
    })
    .unwrap();
    started.elapsed().as_secs_f64()
}

/// Waits until only this machine has the address.
fn wait_held_by(holder: &Machine, machines: &[Machine]) {
    until(&format!("only {} to have the address", holder.name()), MOVES_WITHIN, || {
        let holders: Vec<&str> = machines.iter().filter(|machine| has_it(machine)).map(Machine::name).collect();
        if holders == [holder.name()] { Ok(()) } else { Err(format!("these have it: {holders:?}")) }
    })
    .unwrap();
}

/// Waits until the machine's own API server is ready.
fn wait_ready(machine: &Machine) {
    let ask = "kubectl --kubeconfig /etc/kubernetes/admin.conf --server https://127.0.0.1:6443 --tls-server-name=kubernetes get --raw /readyz";
    until("its API server to be ready", PATIENCE, || {
        machine.run_within(ask, Duration::from_secs(10)).map_err(|error| error.to_string())
    })
    .unwrap();
}

#[tokio::test]
#[ignore = "needs several minutes"]
async fn the_api_answers_when_a_control_plane_fails() {
    let lab = Lab::shared(&["--machines", "3", "--releases=1.36"]).unwrap_or_else(|error| panic!("{error}"));
    let names = ["m1", "m2", "m3"];
    let machines = names.map(|name| lab.machine(name).unwrap());
    for machine in &machines {
        machine.reset().unwrap();
        machine.wait_reachable().unwrap();
    }
    let version = lab.releases().first().expect("the lab serves a release").clone();
    let mut playbooks = Playbooks::at(&lab, &version).await;
    let on = format!(r#"{{"kube_vip_enabled": true, "kube_vip_address": "{COMMON}"}}"#);
    playbooks.machines(&names, &names).await;

    let used = format!("kube_vip_address={}", addresses::BRIDGE);
    let refused = playbooks.fails("cluster.yml", &["-e", &on, "-e", &used]).await;
    assert!(refused.contains("is already used by a machine with the hardware address"), "{refused}");
    let refused = playbooks.fails("cluster.yml", &["-e", &on, "-e", "kube_vip_address=192.0.2.10"]).await;
    assert!(refused.contains("is not in the machine's network 10.77.0.0/24"), "{refused}");

    playbooks.succeeds("cluster.yml", &["-e", &on]).await;
    let recap = playbooks.succeeds("cluster.yml", &["-e", &on]).await;
    assert!(recap.iter().all(|line| line.contains(" changed=0 ")), "the second run has changed something: {recap:#?}");

    let [first, second, third] = &machines;
    wait_held_by(first, &machines);
    first.cut_power().unwrap();
    let seconds = wait_answered(second);
    eprintln!("m1 has lost its power; the API answered again after {seconds:.1} s");
    wait_held_by(second, &machines);
    first.start().unwrap();
    first.wait_reachable().unwrap();
    wait_ready(first);
    let nodes = format!(
        "kubectl --kubeconfig /etc/kubernetes/admin.conf wait --for=condition=Ready --timeout=5s {}",
        names.map(|name| format!("node/{name}")).join(" ")
    );
    until("all nodes to be ready", Duration::from_secs(180), || {
        second.run_within(&nodes, Duration::from_secs(20)).map_err(|error| error.to_string())
    })
    .unwrap();

    // It doesn't move back. A control plane that is removed gives it away before its API server stops.
    wait_held_by(second, &machines);
    start_asking(third, &format!("https://{COMMON}:6443/readyz"));
    playbooks.succeeds("remove-node.yml", &["-e", &on, "-e", "node=m2"]).await;
    let answers = stop_asking(third);
    eprintln!("{} requests were answered while m2 was removed, {} weren't", answers.good, answers.bad.len());
    // The removal takes some 20 seconds, that is 100 requests. The address moves within a second, and etcd may need two for a new leader.
    assert!(answers.bad.len() <= 15, "these requests failed: {:#?}", answers.bad);
    wait_held_by(first, &machines);

    playbooks.machines(&["m1", "m3"], &["m1", "m3"]).await;
    first.run("mv /etc/kubernetes/manifests/kube-apiserver.yaml /root/").unwrap();
    wait_held_by(third, &machines);
    wait_answered(third);
    first.run("mv /root/kube-apiserver.yaml /etc/kubernetes/manifests/").unwrap();
    wait_ready(first);

    playbooks.succeeds("reset.yml", &["-e", &on, "-e", "reset_confirmation=yes"]).await;
    for machine in &machines {
        assert!(!has_it(machine), "{} still has the address", machine.name());
        assert!(machine.run("systemctl cat kubeonkube-address").is_err(), "{} still has the service", machine.name());
    }
}
