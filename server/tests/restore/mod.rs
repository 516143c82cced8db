//! `kubeonkube restore`, and what a restored server does with the operations of the backup.

use std::fs;
use std::path::Path;

use crate::start::no_ansible;
use crate::{Server, apply, data, operation, run, text, wait_for};

fn start(data: &Path, tools: &Path) -> Server {
    Server::start_with(data, &["--demo"], &[("KUBEONKUBE_ANSIBLE", tools)])
}

#[test]
fn a_restore_starts_no_operation_that_was_queued() {
    let (data, notes) = (data(), self::data());
    let tools = no_ansible(&notes.path().join("ansible"));
    let [go, ran] = ["go", "ran"].map(|name| notes.path().join(name));
    let server = start(data.path(), &tools);
    let cookie = server.sign_in_to_demo();
    let phase = |server: &Server, name: &str| {
        server.json(&format!("/api/load_operation?name={name}"), &cookie)["row"]["phase"].clone()
    };
    let kubeconfig = data.path().join("kubeconfig");
    let waits = format!("while [ ! -e {} ]; do sleep 0.05; done; echo first >> {}", go.display(), ran.display());
    apply(&kubeconfig, &operation("first", &waits));
    wait_for("the first to run", || phase(&server, "first") == "running");
    apply(&kubeconfig, &operation("second", &format!("echo second >> {}", ran.display())));
    let waiting = |server: &Server| server.json("/api/load_operation?name=second", &cookie)["row"]["reason"].clone();
    wait_for("the second to wait", || waiting(&server) == "ClusterBusy");
    let backup = notes.path().join("backup.db").display().to_string();
    assert!(run(data.path(), &["backup", &backup]).status.success());
    fs::write(&go, "").expect("written");
    wait_for("the end of both", || phase(&server, "second") == "succeeded");
    assert_eq!(server.stop(), Some(0));

    let restored = run(data.path(), &["restore", &backup]);
    let printed = text(&restored.stdout);
    assert!(restored.status.success(), "{}", text(&restored.stderr));
    assert!(printed.contains("The server continues them: first\n"), "{printed}");
    assert!(printed.contains("They are not started; run them again if they are still needed: second\n"), "{printed}");
    let server = start(data.path(), &tools);
    server.wait_ready();
    let page = server.json("/api/load_operation?name=second", &cookie);
    assert_eq!(page["row"]["phase"], "restored", "{page}");
    assert!(page["row"]["message"].as_str().expect("text").contains("was queued when the backup was made"), "{page}");
    // The queue of the cluster is free: an operation after it runs.
    apply(&data.path().join("kubeconfig"), &operation("third", &format!("echo third >> {}", ran.display())));
    wait_for("the third", || phase(&server, "third") == "succeeded");
    assert_eq!(phase(&server, "second"), "restored");
    assert_eq!(fs::read_to_string(&ran).expect("written"), "first\nsecond\nthird\n");
    assert_eq!(server.stop(), Some(0));
    let again = text(&run(data.path(), &["restore", &data.path().join("state.db").display().to_string()]).stdout);
    assert!(!again.contains("second"), "a record is neither running nor queued: {again}");
}
