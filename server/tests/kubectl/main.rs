//! The real program and the official kubectl, with the kubeconfig that the program writes. The commands are those of README.md,
//! the objects those of `deploy/samples/` and of the reference controller.

#[path = "../ansible/mod.rs"]
mod ansible;
#[path = "../panics/mod.rs"]
mod panics;
mod session;
#[path = "../skipped/mod.rs"]
mod skipped;
#[path = "../start/mod.rs"]
mod start;
#[path = "../tool/mod.rs"]
mod tool;

use std::fs;
use std::path::Path;

use crate::session::{Session, exits_successfully, in_repository, next_line};

const KEY: &str = "-----BEGIN EC PRIVATE KEY-----\n\
    MDECAQEEIESUEDE6uEOQ3+bCT37LqaBfRq7QZ4ZzwIefNjszoNxLoAoGCCqGSM49\n\
    AwEH\n\
    -----END EC PRIVATE KEY-----\n";

/// Writes the samples, completed as their README says: with machines (this one, twice) and a key.
fn put_samples(session: &Session) {
    let machine = "ansible_connection: local\n          ansible_become: false\n          ansible_python_interpreter: \"{{ ansible_playbook_python }}\"";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/samples");
    for entry in fs::read_dir(folder).expect("samples") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let mut text = in_repository(&format!("deploy/samples/{name}"));
        if name == "cluster.yaml" {
            for address in ["ansible_host: 192.0.2.11", "ansible_host: 192.0.2.21"] {
                assert!(text.contains(address), "the sample's machines: {text}");
                text = text.replace(address, machine);
            }
            let placeholder = "replace this with the private key that opens your machines";
            assert!(text.contains(placeholder), "the sample's key: {text}");
            text = text.replace(placeholder, &KEY.trim_end().replace('\n', "\n    "));
        }
        session.write(&format!("deploy/samples/{name}"), &text);
    }
}

/// The words of the line that starts with `beginning`, in a table.
fn row<'a>(table: &'a str, beginning: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(beginning));
    line.unwrap_or_else(|| panic!("no {beginning} in\n{table}")).split_whitespace().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_readmes_first_steps_and_all_samples_work_with_kubectl() {
    let test = "the_readmes_first_steps_and_all_samples_work_with_kubectl";
    let Some(session) = Session::start(test).await else { return };
    let version = session.run("version --client").await;
    assert!(version.contains("Client Version: v1.36."), "the API is measured against 1.36, this is {version}");
    put_samples(&session);
    let readme = in_repository("README.md");
    let in_readme =
        |line: &str| assert!(readme.contains(&format!("kubectl {line}")), "README.md lacks: kubectl {line}");

    let create = "create namespace kubeonkube-clusters";
    in_readme(create);
    session.run(create).await;
    let apply = "apply -f deploy/samples/cluster.yaml -f deploy/samples/operation-ping.yaml";
    in_readme(apply);
    let applied = session.run(apply).await;
    assert!(applied.contains("cluster.kubeonkube.clay.io/prod created"), "{applied}");
    let get = "get clusteroperations";
    in_readme(get);
    let (watching, mut lines) = session.background(&format!("{get} -w"));
    loop {
        let line = next_line(&mut lines).await.expect("the watch continues");
        if line.split_whitespace().collect::<Vec<_>>().starts_with(&["prod-ping", "prod", "ping.yml", "Succeeded"]) {
            break;
        }
    }
    drop(watching);
    let wait = "wait --for=jsonpath='{.status.endTime}' --timeout=10m clusteroperation/prod-ping";
    in_readme(wait);
    assert!(session.run(&wait.replace('\'', "")).await.contains("condition met"));

    let applied = session.run("apply -f deploy/samples/").await;
    assert!(applied.contains("clusteroperation.kubeonkube.clay.io/prod-ping unchanged"), "{applied}");
    for operation in ["prod-uptime", "prod-inventory-graph"] {
        session.wait("Complete", operation).await;
    }
    // kubespray's playbooks are in its image, not on this machine.
    session.wait("Failed", "prod-add-w1").await;
    // kubectl patches these at every apply: one has stringData, the other a list whose items got defaults. The objects must
    // not change.
    let sent_again = ["secret/prod-ssh configured", "clusteroperation.kubeonkube.clay.io/prod-add-w1 configured"];
    let versions = "get secret/prod-ssh clusteroperation/prod-add-w1 -n kubeonkube-clusters -o jsonpath={.items[*].metadata.resourceVersion}";
    let before = session.run(versions).await;
    let again = session.run("apply -f deploy/samples/").await;
    assert!(again.lines().all(|line| line.ends_with(" unchanged") || sent_again.contains(&line)), "{again}");
    assert_eq!(session.run(versions).await, before, "applying the same objects again changed them");
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_the_reference_apply_and_kubectl_shows_their_state() {
    let test = "objects_of_the_reference_apply_and_kubectl_shows_their_state";
    let Some(session) = Session::start(test).await else { return };
    session.run("create namespace kubeonkube").await;
    session.write("id_rsa", KEY);
    let secret = session
        .run("-n kubeonkube create secret generic sample-ssh-auth --type=kubernetes.io/ssh-auth --from-file=ssh-privatekey=id_rsa --dry-run=client -o yaml")
        .await;
    assert!(session.with_input("apply -f -", &secret).await.contains("secret/sample-ssh-auth created"));
    let objects = include_str!("reference.yaml");
    let applied = session.with_input("apply -f -", objects).await;
    assert!(applied.lines().all(|line| line.ends_with(" created")), "{applied}");
    session.wait("Complete", "sample-check").await;
    session.wait("Failed", "sample-node-add").await;

    let clusters = session.run("get clusters").await;
    assert_eq!(row(&clusters, "NAME"), ["NAME", "INPUTS", "LAST", "STATUS", "AGE"]);
    let sample = row(&clusters, "sample");
    assert!(sample.contains(&"sample-node-add") && sample.contains(&"Failed"), "{clusters}");
    for name in ["cluster", "kcl"] {
        assert_eq!(row(&session.run(&format!("get {name}")).await, "sample")[..4], sample[..4]);
    }
    let operations = session.run("get clusteroperations").await;
    assert_eq!(row(&operations, "NAME"), ["NAME", "CLUSTER", "ACTION", "STATUS", "REASON", "AGE"]);
    let check = row(&operations, "sample-check");
    assert_eq!(check[..5], ["sample-check", "sample", "ping.yml", "Succeeded", "Succeeded"]);
    let add = row(&operations, "sample-node-add");
    assert_eq!(add[..4], ["sample-node-add", "sample", "scale.yml", "Failed"]);
    assert_eq!(row(&session.run("get kop").await, "sample-check")[..5], check[..5]);
    let wide = session.run("get kop sample-check -o wide").await;
    assert!(wide.contains("MESSAGE") && wide.contains("ping.yml: 2 hosts, 3 tasks ok"), "{wide}");
    let both = session.run("get kubeonkube -o name").await;
    assert!(both.contains("cluster.kubeonkube.clay.io/sample\n") && both.contains("/sample-check\n"), "{both}");

    let yaml = session.run("get clusteroperation sample-check -o yaml").await;
    for line in ["  cluster: sample\n", "    hasCompleted: done\n", "  status: Succeeded\n", "    hostCount: 2\n"] {
        assert!(yaml.contains(line), "{line:?} is not in\n{yaml}");
    }
    assert_eq!(session.run("get clusteroperation sample-check -o jsonpath={.metadata.namespace}").await, "");
    let described = session.run("describe clusteroperation sample-check").await;
    for word in ["Extra Args:", "--limit=worker01", "Events:", "Started", "Succeeded"] {
        assert!(described.contains(word), "{word} is not in\n{described}");
    }
    let events = session.run("events --for clusteroperation/sample-check").await;
    assert!(events.contains("was created. The inventory has 2 hosts."), "{events}");
    assert!(session.run("get events").await.contains("clusteroperation/sample-node-add"));
    let log = session.run("logs -n kubeonkube job/kubeonkube-sample-check-job").await;
    assert!(log.contains("PLAY RECAP") && log.contains("checked sample"), "{log}");
    let reached = |host: &str| log.matches(&format!("ok: [{host}]")).count();
    assert_eq!(
        (reached("master01"), reached("worker01")),
        (1, 2),
        "the hook runs on both, the action with its --limit: {log}"
    );

    assert!(session.run("delete clusteroperation sample-check").await.contains("deleted"));
    session.run("wait --for=delete -n kubeonkube job/kubeonkube-sample-check-job --timeout=60s").await;
    assert!(session.fails("get kop sample-check").await.contains("NotFound"));
    session.run("delete cluster sample").await;
    let left = session.run("get configmap,secret -n kubeonkube -o name").await;
    for own in ["configmap/sample-hosts-conf", "configmap/sample-vars-conf", "secret/sample-ssh-auth"] {
        assert!(left.contains(own), "the user's own {own} was deleted with the cluster: {left}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_follows_a_runs_log_and_deletes_all_its_objects() {
    let test = "kubectl_follows_a_runs_log_and_deletes_all_its_objects";
    let Some(session) = Session::start(test).await else { return };
    put_samples(&session);
    session.run("create namespace kubeonkube-clusters").await;
    session.run("apply -f deploy/samples/cluster.yaml").await;
    let go = session.path("go").display().to_string();
    // The script also ends when the test's folder is removed.
    let script = format!("echo before; while [ -d $(dirname {go}) ] && [ ! -e {go} ]; do sleep 0.05; done; echo after");
    let operation = format!(
        "apiVersion: kubeonkube.clay.io/v1alpha1\nkind: ClusterOperation\nmetadata: {{name: slow}}\nspec:\n  cluster: prod\n  image: any\n  actionType: shell\n  action: {script:?}\n"
    );
    session.with_input("apply -f -", &operation).await;
    session.wait("Running", "slow").await;
    // An operation is running from the moment its Job exists. kubectl logs fails until the Job's container has started.
    session
        .run("wait -n kubeonkube-clusters job/kubeonkube-slow-job --for=jsonpath={.status.ready}=1 --timeout=60s")
        .await;
    let (following, mut lines) = session.background("logs -f -n kubeonkube-clusters job/kubeonkube-slow-job");
    let mut log = Vec::new();
    while log.last().is_none_or(|line| line != "before") {
        log.push(next_line(&mut lines).await.expect("the log continues"));
    }
    assert_eq!(session.run("get kop slow -o jsonpath={.status.status}").await, "Running");
    assert_eq!(row(&session.run("get jobs -n kubeonkube-clusters").await, "kubeonkube-slow-job")[1], "Running");
    session.write("go", "");
    while let Some(line) = next_line(&mut lines).await {
        log.push(line);
    }
    assert!(exits_successfully(following).await);
    assert_eq!(log.iter().filter(|line| *line == "after").count(), 1, "{log:#?}");
    session.wait("Complete", "slow").await;
    let whole = session.run("logs -n kubeonkube-clusters job/kubeonkube-slow-job").await;
    assert_eq!(whole.lines().collect::<Vec<_>>(), log, "the followed log differs from the stored one");

    session.run("delete clusteroperation slow").await;
    for what in ["job/kubeonkube-slow-job", "secret/slow-inputs"] {
        session.run(&format!("wait --for=delete -n kubeonkube-clusters {what} --timeout=60s")).await;
    }
    let pods = session.run("get pods -n kubeonkube-clusters").await;
    assert!(!pods.contains("slow"), "{pods}");
}
