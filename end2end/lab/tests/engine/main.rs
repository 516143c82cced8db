//! The built-in engine creates a cluster on machines, adds and removes nodes, and leaves machines clean.
//!
//! The playbooks run as in production: in a pod of the lab's own Kubernetes, over SSH. All programs and images come from the lab.

#[path = "../shared/jobs.rs"]
mod jobs;
mod playbooks;
#[path = "../shared/mod.rs"]
mod shared;
#[path = "../shared/traces.rs"]
mod traces;

use std::time::Duration;

use lab::{Lab, Machine};

use crate::playbooks::Playbooks;
use crate::traces::{changes, traces};

const KUBECTL: &str = "kubectl --kubeconfig /etc/kubernetes/admin.conf --cache-dir /run/kubeonkube/kubectl";

/// Runs kubectl as the administrator of the new cluster.
fn kubectl(first: &Machine, words: &str) -> String {
    first.run(&format!("{KUBECTL} {words}")).unwrap_or_else(|error| panic!("kubectl {words}: {error}"))
}

/// Every pod of the workload gets answers from every other one by its address, and from the Service by its name.
fn pods_answer_each_other(first: &Machine) {
    let apply = format!("{KUBECTL} apply -f - <<'END'\n{}END\n", include_str!("workload.yaml"));
    first.run(&apply).unwrap();
    kubectl(first, "rollout status deployment/web --timeout=120s");
    let list = |field: &str| kubectl(first, &format!("get pods -l app=web -o jsonpath='{{.items[*].{field}}}'"));
    let (names, addresses) = (list("metadata.name"), list("status.podIP"));
    for name in names.split_whitespace() {
        for to in
            addresses.split_whitespace().map(|ip| format!("{ip}:8080")).chain(["web.default.svc.cluster.local".into()])
        {
            let said = kubectl(first, &format!("exec {name} -- probe get http://{to}/"));
            assert!(said.contains(" saw "), "{name} asked {to}: {said}");
        }
    }
}

/// These nodes are ready and take pods.
fn takes_pods(first: &Machine, nodes: &str) {
    kubectl(first, &format!("wait --for=condition=Ready --timeout=1s {nodes}"));
    let unschedulable = kubectl(first, &format!("get {nodes} -o jsonpath='{{..spec.unschedulable}}'"));
    assert_eq!(unschedulable, "", "one of {nodes} takes no pods");
}

fn fresh(lab: &Lab, name: &str) -> Machine {
    let machine = lab.machine(name).unwrap();
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    machine
}

/// The container runtime of all nodes, as they report it.
fn runtime() -> String {
    let catalogue = include_str!("../../../../deploy/runner/playbooks/versions.json");
    let catalogue: serde_json::Value = serde_json::from_str(catalogue).unwrap();
    format!("containerd://{}", catalogue["kubeonkube"]["containerd"]["version"].as_str().unwrap())
}

#[tokio::test]
async fn a_cluster_is_created_grown_shrunk_and_removed() {
    let lab = shared::lab();
    let [first, second, third] = ["m1", "m2", "m3"].map(|name| fresh(&lab, name));
    // On the first, the system's containerd is installed but not running. The second runs one that was installed by hand, the third has none.
    second.run(include_str!("own_containerd.sh")).unwrap();
    third.run("dpkg --purge --force-depends containerd runc && ! command -v containerd").unwrap();
    let before = [&first, &second, &third].map(traces);
    let version = lab.releases().first().expect("this lab serves no release: boot it with --releases=1.36");
    let mut playbooks = Playbooks::at(&lab, version).await;

    playbooks.workers(&["m2"]).await;
    playbooks.succeeds("cluster.yml", &["--check"]).await;
    for (before, machine) in before.iter().zip([&first, &second]) {
        assert_eq!(changes(before, machine), [""; 0], "a check has changed {}", machine.name());
    }
    playbooks.succeeds("cluster.yml", &[]).await;
    // 997 of the 1,000 machines don't exist: only the new one and a control plane get tasks.
    playbooks.workers_beside(&["m2", "m3"], 997).await;
    playbooks.succeeds("scale.yml", &["--limit=m3", "--check"]).await;
    assert_eq!(changes(&before[2], &third), [""; 0], "a check has changed m3");
    let added = playbooks.output("scale.yml", &["--limit=m3"]).await;
    assert!(!added.contains("gone-"), "machines that don't exist have tasks: {added}");
    playbooks.workers(&["m2", "m3"]).await;
    kubectl(&first, "wait --for=condition=Ready --timeout=1s node/m1 node/m2 node/m3");
    pods_answer_each_other(&first);
    let runtimes = kubectl(&first, "get nodes -o jsonpath='{.items[*].status.nodeInfo.containerRuntimeVersion}'");
    assert_eq!(runtimes, [runtime(), runtime(), runtime()].join(" "));

    let recap = playbooks.succeeds("cluster.yml", &[]).await;
    assert!(recap.iter().all(|line| line.contains(" changed=0 ")), "the second run has changed something: {recap:#?}");

    let audited =
        "grep -c '\"objectRef\":{\"resource\":\"services\"' /var/log/kubernetes/audit/kube-apiserver-audit.log";
    assert_ne!(first.run(audited).unwrap().trim(), "0", "the workload's Service isn't in the audit log");
    let made = kubectl(&first, "create secret generic canary --from-literal=word=VOLVOX-7731");
    assert!(made.contains("created"), "{made}");
    first.run("cat /var/lib/etcd/member/wal/* > /root/etcd && grep -q secrets/default/canary /root/etcd").unwrap();
    let found = first.run("grep -c VOLVOX-7731 /root/etcd; rm /root/etcd").unwrap();
    assert_eq!(found.trim(), "0", "etcd has the Secret in plain text");
    let reserved = kubectl(&first, "get --raw /api/v1/nodes/m2/proxy/configz");
    assert!(reserved.contains(r#""kubeReserved":{"cpu":"100m","memory":"256Mi"}"#), "{reserved}");

    let state = playbooks.output("cluster-info.yml", &[]).await;
    for expected in
        ["Node m3: v", "API server m1: healthy", "etcd m1: 3.6.11, healthy, leader", "Certificates of m1: the first, "]
    {
        assert!(state.contains(expected), "cluster-info.yml doesn't say “{expected}”: {state}");
    }
    let delivered = playbooks.secret_result("kubeconfig.yml", "kubeconfig").await;
    for expected in ["mode 600", "field client-certificate-data", "field client-key-data"] {
        assert!(delivered.iter().any(|line| line == expected), "the kubeconfig has no {expected}: {delivered:#?}");
    }
    // The base64 of every PEM file begins like this.
    assert!(
        !delivered.iter().any(|line| line.contains("LS0tLS1CRUdJTi")),
        "the log contains the kubeconfig: {delivered:#?}"
    );
    let serial = || first.run("md5sum /etc/kubernetes/pki/apiserver.crt").unwrap();
    let old = serial();
    playbooks.succeeds("renew-certs.yml", &["--check"]).await;
    assert_eq!(serial(), old, "a check has renewed the certificates");
    playbooks.succeeds("renew-certs.yml", &[]).await;
    assert_ne!(serial(), old, "the certificates weren't renewed");
    playbooks.succeeds("etcd-backup.yml", &[]).await;
    first.run("cd /var/backups/kubeonkube && sha256sum --check *.sha256").unwrap();
    first.run("rm -r /var/backups/kubeonkube").unwrap();

    let blocked = playbooks.fails("remove-node.yml", &["-e", "node=m3", "-e", "drain_timeout=5s"]).await;
    assert!(blocked.contains("PodDisruptionBudget default/web blocks it"), "{blocked}");
    let refused = playbooks.fails("remove-node.yml", &["-e", "node=m1"]).await;
    assert!(refused.contains("m1 is the only control plane"), "{refused}");
    kubectl(&first, "delete deployment/web poddisruptionbudget/web");
    kubectl(&first, "uncordon m3");
    playbooks.succeeds("remove-node.yml", &["-e", "node=m3", "--check"]).await;
    takes_pods(&first, "node/m3");
    playbooks.succeeds("remove-node.yml", &["-e", "node=m3"]).await;
    assert_eq!(kubectl(&first, "get nodes -o name"), "node/m1\nnode/m2\n");
    assert_eq!(changes(&before[2], &third), [""; 0], "m3 isn't clean");

    // An upgrade to the same version renews only the container runtime, and only where it differs.
    playbooks.workers(&["m2"]).await;
    second.run("install /usr/bin/runc /usr/local/bin/runc").unwrap();
    playbooks.succeeds("upgrade-cluster.yml", &["--check"]).await;
    second.run("cmp /usr/local/bin/runc /usr/bin/runc").unwrap();
    let renewed = playbooks.output("upgrade-cluster.yml", &[]).await;
    assert!(renewed.contains("will be installed on m2."), "{renewed}");
    second.run("cmp /usr/local/bin/runc /usr/bin/runc; test $? = 1").unwrap();
    kubectl(&first, "wait --for=condition=Ready --timeout=1s node/m1 node/m2");
    first.run("rm -r /var/backups/kubeonkube").unwrap();

    let unconfirmed = playbooks.fails("reset.yml", &[]).await;
    assert!(unconfirmed.contains("Confirm it with -e reset_confirmation=yes"), "{unconfirmed}");
    playbooks.succeeds("reset.yml", &["-e", "reset_confirmation=yes", "--check"]).await;
    takes_pods(&first, "node/m1 node/m2");
    playbooks.succeeds("reset.yml", &["-e", "reset_confirmation=yes"]).await;
    assert_eq!(changes(&before[0], &first), [""; 0], "m1 isn't clean");
    assert_eq!(changes(&before[1], &second), [""; 0], "m2 isn't clean");
}

/// How long one playbook may take on a busy computer.
const PLAYBOOK_WITHIN: Duration = Duration::from_secs(600);
