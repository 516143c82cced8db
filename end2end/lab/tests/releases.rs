//! The releases that the lab serves are enough for kubeadm to make a cluster of machines.

mod shared;

use std::thread;
use std::time::{Duration, Instant};

use lab::Machine;
use lab::addresses::ARTIFACTS;
use lab::wait::until;

/// How long a new node may wait for the addresses of its pods.
const NETWORK_WITHIN: Duration = Duration::from_secs(120);
const KUBECTL: &str = "kubectl --kubeconfig /etc/kubernetes/admin.conf";

/// Runs a script on a machine and prints how long it took.
fn run(machine: &Machine, what: &str, script: &str) -> String {
    let started = Instant::now();
    let said = machine.run(script).unwrap_or_else(|error| panic!("{what} on {}: {error}", machine.name()));
    eprintln!("{:>5.1} s  {what} on {}", started.elapsed().as_secs_f64(), machine.name());
    said
}

fn prepare(machine: &Machine, version: &str) {
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    let script = include_str!("kubeadm/prepare.sh");
    run(machine, "prepare", &format!("RELEASE=http://{ARTIFACTS}/release/{version}\n{script}"));
}

/// The addresses of a node's pods. Waits until the controller manager has assigned them.
fn pods_of(first: &Machine, node: &str) -> String {
    let ask = format!("{KUBECTL} get node {node} -o jsonpath='{{.spec.podCIDR}}'");
    until(&format!("the pods of {node}"), NETWORK_WITHIN, || match first.run_within(&ask, Duration::from_secs(10)) {
        Ok(found) if !found.is_empty() => Ok(found),
        other => Err(format!("{other:?}")),
    })
    .unwrap()
}

fn connect(machine: &Machine, own: &str, other: &str, by: &Machine) {
    let script = include_str!("kubeadm/network.sh");
    run(machine, "network", &format!("OWN={own} OTHER={other} BY={}\n{script}", by.address()));
}

#[test]
fn kubeadm_makes_a_cluster_of_two_machines() {
    let lab = shared::lab();
    let version = lab.releases().first().expect("this lab serves no release: boot it with --releases=1.36");
    let (first, second) = (lab.machine("m1").unwrap(), lab.machine("m2").unwrap());
    thread::scope(|scope| {
        for machine in [&first, &second] {
            scope.spawn(move || prepare(machine, version));
        }
    });
    let configuration = include_str!("kubeadm/cluster.yaml").replace("VERSION", version);
    let write = format!("cat > /root/cluster.yaml <<'END'\n{configuration}\nEND\n");
    run(&first, "kubeadm init", &format!("{write}kubeadm init --config /root/cluster.yaml 2>&1"));
    let join = run(&first, "token", "kubeadm token create --print-join-command");
    run(&second, "kubeadm join", &format!("{} --ignore-preflight-errors=SystemVerification 2>&1", join.trim()));

    let (ours, theirs) = (pods_of(&first, "m1"), pods_of(&first, "m2"));
    connect(&first, &ours, &theirs, &second);
    connect(&second, &theirs, &ours, &first);
    run(&first, "all nodes Ready", &format!("{KUBECTL} wait --for=condition=Ready node/m1 node/m2 --timeout=120s"));
    // CoreDNS is ready when it has reached the API server through its Service. So this also tests kube-proxy.
    run(&first, "cluster DNS", &format!("{KUBECTL} -n kube-system rollout status deployment/coredns --timeout=120s"));
    let nodes = first.run(&format!("{KUBECTL} get nodes -o jsonpath='{{.items[*].status.nodeInfo.kubeletVersion}}'"));
    assert_eq!(nodes.unwrap(), format!("{version} {version}"));
    for machine in [&first, &second] {
        machine.reset().unwrap();
    }
}
