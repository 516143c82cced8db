//! What a person does in the console: signs in, registers a cluster and runs a playbook on its machine.

use lab::wait::until;

use crate::cluster::{CLUSTERS, Cluster, DONE_WITHIN};
use crate::console::Console;

/// Signs in as a service account that has only the roles that are shipped for people.
pub(crate) fn signs_in(cluster: &Cluster, console: &mut Console) {
    cluster.kubectl(&["create", "serviceaccount", "ann", CLUSTERS]);
    let ann = "--serviceaccount=kubeonkube-clusters:ann";
    cluster.kubectl(&["create", "clusterrolebinding", "ann", "--clusterrole=kubeonkube-operator", ann]);
    let runs = "--clusterrole=kubeonkube-operator-all-clusters";
    cluster.kubectl(&["create", "clusterrolebinding", "ann-runs", runs, ann]);
    cluster.kubectl(&["create", "rolebinding", "ann", CLUSTERS, "--clusterrole=kubeonkube-operator-inputs", ann]);
    console.sign_in(cluster.kubectl(&["create", "token", "ann", CLUSTERS]).trim());
}

/// Registers a cluster of the lab's first machine.
pub(crate) fn registers(cluster: &Cluster, console: &Console, name: &str) {
    let machine = cluster.0.machine("m1").unwrap();
    let key = std::fs::read_to_string(cluster.0.key()).unwrap();
    let machines = format!("m1 root@{} master etcd\n", machine.address());
    let registered = console.post(
        "/clusters/_new",
        &[
            ("form", "register_cluster"),
            ("name", name),
            ("purpose", "existing"),
            ("pasted", &machines),
            ("ssh", "paste"),
            ("ssh_key", &key),
            ("variables", ""),
        ],
    );
    assert_eq!(registered.status, 303, "{} {}", registered.head, registered.body);
    // Its inputs are where the Deployment says.
    cluster.kubectl(&["get", "configmap", &format!("{name}-hosts-conf"), CLUSTERS]);
}

/// Runs `ping.yml` on it. The form names no image, so that of the server's settings is used.
pub(crate) fn pings(cluster: &Cluster, console: &Console, name: &str, operation: &str) {
    let fields = [("cluster", name), ("kind", "builtin"), ("action", "ping.yml"), ("name", operation)];
    let submitted = console.submit(&fields);
    assert_eq!(submitted.status, 303, "{} {}", submitted.head, submitted.body);
    let status = cluster.ended(operation);
    let log = || console.get(&format!("/operations/{operation}/log.txt")).body;
    assert_eq!(status["status"], "Succeeded", "{status}\n{}", log());
    until("the whole log", DONE_WITHIN, || Some(log()).filter(|log| log.contains("1 of 1 steps done")).ok_or_else(log))
        .unwrap();
    assert!(log().lines().any(|line| line.starts_with("m1 ") && line.contains(" ok=1 ")), "{}", log());
    let row = console.json(&format!("/api/load_operation?name={operation}"));
    assert_eq!(row["row"]["phase"], "succeeded", "{row}");
}
