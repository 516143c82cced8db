//! Machines join a hosted cluster and leave it: with a stock kubeadm, and with operations.

use std::fs;
use std::time::Instant;

use lab::RUNNER;
use lab::addresses::{self, ARTIFACTS};
use lab::wait::until;
use serde_json::{Map, Value, json};

use crate::{CLUSTERS, SHOP, WITHIN, World};

/// What lab machines need: they are containers. The rest the server says.
const VARIABLES: &str = include_str!("variables.yaml");
const PROOF: &str = include_str!("../engine/workload.yaml");

/// Runs kubectl as an administrator of the hosted cluster.
fn ask(world: &World, words: &[&str]) -> Result<String, String> {
    answer(world, words, "")
}

fn answer(world: &World, words: &[&str], input: &str) -> Result<String, String> {
    let file = world.kubeconfig("admin-config", "admin.conf");
    world.try_kubectl(&[&["--kubeconfig", file.to_str().unwrap()], words].concat(), input)
}

/// Gives the Cluster an inventory with these machines, as docs/hosted-clusters.md says.
pub(crate) fn register(world: &World, cluster: &mut Value, names: &[&str]) {
    let host = |name: &&str| {
        let machine = world.lab.machine(name).unwrap();
        machine.reset().unwrap();
        machine.wait_reachable().unwrap();
        ((*name).to_owned(), json!({"ansible_host": machine.address(), "ansible_user": "root"}))
    };
    let hosts: Map<String, Value> = names.iter().map(host).collect();
    let inventory = json!({"all": {"children": {"kube_node": {"hosts": hosts}}}}).to_string();
    let variables = VARIABLES.replace("ARTIFACTS", &ARTIFACTS.to_string());
    let config = |name: &str, key: &str, text: &str| {
        let metadata = json!({"name": format!("{SHOP}-{name}"), "namespace": CLUSTERS});
        world.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {key: text}}));
        json!({"namespace": CLUSTERS, "name": format!("{SHOP}-{name}")})
    };
    config("known-hosts", "known_hosts", &fs::read_to_string(world.lab.known_hosts()).unwrap());
    cluster["spec"]["hostsConfRef"] = config("hosts", "hosts.yml", &inventory);
    cluster["spec"]["varsConfRef"] = config("vars", "group_vars.yml", &variables);
    let key = json!({"ssh-privatekey": fs::read_to_string(world.lab.key()).unwrap()});
    let metadata = json!({"name": format!("{SHOP}-ssh"), "namespace": CLUSTERS});
    world.apply(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "kubernetes.io/ssh-auth", "stringData": key}));
    cluster["spec"]["sshAuthRef"] = json!({"namespace": CLUSTERS, "name": format!("{SHOP}-ssh")});
}

pub(crate) fn submit(world: &World, name: &str, playbook: &str, arguments: Option<&str>) {
    let mut spec = json!({"cluster": SHOP, "actionType": "playbook", "action": playbook, "image": RUNNER});
    if let Some(arguments) = arguments {
        spec["extraArgs"] = json!(arguments);
    }
    world.apply(&json!({
        "apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "ClusterOperation", "metadata": {"name": name}, "spec": spec,
    }));
}

/// Waits for the end of an operation, which must succeed. Returns its output.
fn succeeds(world: &World, name: &str) -> String {
    let log = || world.try_kubectl(&["logs", "--namespace", CLUSTERS, &format!("job/kubeonkube-{name}-job")], "");
    until(&format!("the operation {name}"), 3 * WITHIN, || {
        let status = world.json(&["get", "clusteroperation", name])["status"].clone();
        match status["status"].as_str() {
            Some("Succeeded") => Ok(()),
            Some("Failed") => panic!("{name}: {status} {:?}", log()),
            _ => Err(status.to_string()),
        }
    })
    .unwrap();
    log().unwrap()
}

/// A machine becomes a node with a stock kubeadm, and leaves. Only its kubelet has settings of its own, which lab machines need.
pub(crate) fn joins_with_kubeadm(world: &World) {
    const KUBELET: &str = r#"{"cgroupDriver": "cgroupfs", "failCgroupV1": false, "failSwapOn": false, "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"}}"#;
    let file = world.kubeconfig("admin-config", "admin.conf");
    let ask = |words: &[&str]| ask(world, words);
    let machine = world.lab.machine("m1").unwrap();
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    let prepare = include_str!("../kubeadm/prepare.sh");
    machine.run(&format!("RELEASE=http://{ARTIFACTS}/release/{}\n{prepare}", world.version())).unwrap();
    let files =
        [("admin.conf", fs::read_to_string(&file).unwrap()), ("kubeletconfiguration+merge.json", KUBELET.to_owned())];
    for (name, content) in files {
        machine.run(&format!("cat > /root/{name} <<'END'\n{content}\nEND\n")).unwrap();
    }
    let token = "kubeadm token create --print-join-command --kubeconfig /root/admin.conf && rm /root/admin.conf";
    let join = machine.run(token).unwrap();
    let started = Instant::now();
    machine.run(&format!("{} --patches /root --ignore-preflight-errors=SystemVerification 2>&1", join.trim())).unwrap();
    let pods =
        until("the pods of m1", WITHIN, || match ask(&["get", "node", "m1", "-o", "jsonpath={.spec.podCIDR}"]) {
            Ok(pods) if !pods.is_empty() => Ok(pods),
            other => Err(format!("{other:?}")),
        })
        .unwrap();
    assert!(pods.starts_with("10.244."), "{pods}");
    let network = include_str!("../kubeadm/network.sh");
    machine.run(&format!("OWN={pods} OTHER=10.244.255.0/24 BY={}\n{network}", addresses::BRIDGE)).unwrap();
    until("m1 to be ready", WITHIN, || ask(&["wait", "--for=condition=Ready", "--timeout=5s", "node/m1"])).unwrap();
    eprintln!("{:>5.1} s  a machine has joined and is ready", started.elapsed().as_secs_f64());
    // The kubelet's own certificate was approved, and the API server may ask kubelets.
    let ready = ask(&["get", "--raw", "/api/v1/nodes/m1/proxy/healthz"]).unwrap();
    assert_eq!(ready, "ok");
    ask(&["delete", "node", "m1"]).unwrap();
    machine.reset().unwrap();
}

/// The operation that was submitted with the Cluster has joined two machines, with the add-ons, and a workload answers on both.
pub(crate) fn join_by_operation(world: &World) {
    let log = succeeds(world, "join");
    // The token is deleted at the end, and it is in no output.
    let of_type = "--field-selector=type=bootstrap.kubernetes.io/token";
    let tokens = || ask(world, &["get", "secrets", "--namespace", "kube-system", of_type, "-o", "name"]);
    until("the token to be deleted", WITHIN, || match tokens() {
        Ok(tokens) if !tokens.contains(&token_id(world)) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    assert!(!log.contains(&token_id(world)), "{log}");

    for name in ["m2", "m3"] {
        ask(world, &["wait", "--for=condition=Ready", "--timeout=1s", &format!("node/{name}")]).unwrap();
    }
    for what in ["deployment/coredns", "daemonset/kube-proxy"] {
        ask(world, &["rollout", "status", what, "--namespace", "kube-system", "--timeout=180s"]).unwrap();
    }
    answer(world, &["apply", "-f", "-"], PROOF).unwrap();
    ask(world, &["rollout", "status", "deployment/web", "--timeout=180s"]).unwrap();
    let list = |field: &str| {
        ask(world, &["get", "pods", "-l", "app=web", "-o", &format!("jsonpath={{.items[*].{field}}}")]).unwrap()
    };
    assert!(list("spec.nodeName").contains("m2") && list("spec.nodeName").contains("m3"));
    let (names, addresses) = (list("metadata.name"), list("status.podIP"));
    for name in names.split_whitespace() {
        let by_address = addresses.split_whitespace().map(|ip| format!("{ip}:8080"));
        for to in by_address.chain(["web.default.svc.cluster.local".into()]) {
            let said = ask(world, &["exec", name, "--", "probe", "get", &format!("http://{to}/")]);
            assert!(said.as_ref().is_ok_and(|said| said.contains(" saw ")), "{name} asked {to}: {said:?}");
        }
    }

    submit(world, "join-again", "join.yml", None);
    let log = succeeds(world, "join-again");
    let recap: Vec<&str> = log.lines().filter(|line| line.contains(" unreachable=")).collect();
    assert!(recap.len() == 2 && recap.iter().all(|line| line.contains(" changed=0 ")), "{recap:?} {log}");
}

/// The id of the token that the operation got.
fn token_id(world: &World) -> String {
    let template = "go-template={{index .data \"secret_vars.json\" | base64decode}}";
    let said = world.kubectl(&["get", "secret", "join-inputs", "--namespace", CLUSTERS, "-o", template]);
    let variables: Value = serde_json::from_str(&said).unwrap();
    let token = variables["hosted_token"].as_str().expect("the run has a token");
    token.split_once('.').expect("a token has an id and a secret").0.to_owned()
}

/// An add-on can be switched off, and machines are cleaned.
pub(crate) fn leave_by_operation(world: &World) {
    let off = json!({"spec": {"hosted": {"addons": {"coreDNS": {"enabled": false}}}}}).to_string();
    world.kubectl(&["patch", "cluster", SHOP, "--type=merge", "--patch", &off]);
    let gone = [
        "wait",
        "--for=delete",
        "deployment/coredns",
        "service/kube-dns",
        "--namespace",
        "kube-system",
        "--timeout=180s",
    ];
    ask(world, &gone).unwrap();
    submit(world, "reset", "reset.yml", Some("-e reset_confirmation=yes"));
    succeeds(world, "reset");
    for name in ["m2", "m3"] {
        let left =
            world.lab.machine(name).unwrap().run("ls -d /etc/kubernetes /var/lib/kubelet/pki 2>/dev/null || true");
        assert_eq!(left.unwrap().trim(), "");
        ask(world, &["delete", "node", name]).unwrap();
    }
}
