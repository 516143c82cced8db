//! Tests of the command line. They share one lab.

mod shared;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use lab::Lab;
use lab::machine::Power;

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubeonkube-lab");

/// Runs the command line in `folder`. Returns whether it succeeded, and its output.
fn run_in(folder: &Path, words: &[&str]) -> (bool, String) {
    let done = Command::new(PROGRAM)
        .args(words)
        .current_dir(folder)
        .env_remove("KUBECONFIG")
        .env_remove("KUBEBUILDER_ASSETS")
        .output()
        .unwrap();
    (done.status.success(), output(&done))
}

fn output(done: &Output) -> String {
    [&done.stdout, &done.stderr].map(|said| String::from_utf8_lossy(said).into_owned()).concat()
}

/// The output of a command line that must succeed.
fn succeeds(words: &[&str]) -> String {
    let (done, said) = run_in(Path::new("/"), words);
    assert!(done, "lab {words:?}: {said}");
    said
}

fn answers(lab: &Lab, machine: &str) -> bool {
    lab.connect((lab.machine(machine).unwrap().address(), 22).into(), Duration::from_secs(2)).is_ok()
}

#[test]
fn a_running_lab_is_shown_and_entered() {
    let _lab = shared::lab();
    let status = succeeds(&["status"]);
    let machine = status.lines().find(|line| line.starts_with("m1 ")).expect("a line of m1");
    assert!(status.contains(" is up\n") && machine.contains(" on "), "{status}");
    assert!(status.lines().any(|line| line.starts_with("n1") && line.contains(" Ready ")), "{status}");
    assert_eq!(succeeds(&["ssh", "m1", "true"]), "");
    assert_eq!(succeeds(&["ssh", "m1", "--", "cat", "/etc/hostname"]), "m1\n");
    assert!(succeeds(&["shell", "ip", "address", "show", "lab0"]).contains("10.77.0.1/24"));
    assert!(succeeds(&["logs"]).contains("kube-apiserver"));
    assert!(succeeds(&["logs", "m1/ssh"]).contains("sshd"));
    assert!(succeeds(&["logs", "n2/kubelet"]).contains("kubelet"));
    let (done, said) = run_in(Path::new("/"), &["ssh", "m9"]);
    assert!(!done && said.contains("there is no machine `m9`"), "{said}");
}

#[test]
fn paths_are_relative_to_the_callers_folder() {
    let _lab = shared::lab();
    let folder = tempfile::tempdir().unwrap();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: typed}, data: {a: b}}";
    std::fs::write(folder.path().join("map.yaml"), map).unwrap();
    for words in [
        &["kubectl", "apply", "--request-timeout=30s", "-f", "map.yaml"] as &[_],
        &["shell", "--", "sh", "-c", "cat map.yaml"],
    ] {
        let (done, said) = run_in(folder.path(), words);
        assert!(done && (said.contains("configmap/typed") || said == map), "{said}");
    }
}

#[test]
fn faults_are_injected_and_repaired() {
    let lab = shared::lab();
    let power = || lab.machine("m3").unwrap().state().unwrap().power;
    succeeds(&["machine", "stop", "m3"]);
    assert_eq!(power(), Power::Off);
    succeeds(&["machine", "start", "m3"]);
    assert_eq!(power(), Power::On);
    assert!(answers(&lab, "m3"));
    succeeds(&["network", "cut", "m3"]);
    assert!(!answers(&lab, "m3"));
    // The reset doesn't wait for a machine that can't answer: that wait would fail.
    let said = succeeds(&["machine", "reset", "m3"]);
    assert!(said.contains("its network is cut"), "{said}");
    assert_eq!(lab.machine("m3").unwrap().state().unwrap().boots, 1);
    succeeds(&["network", "heal", "m3"]);
    lab.machine("m3").unwrap().wait_reachable().unwrap();
    succeeds(&["machine", "stop", "--hard", "m3"]);
    succeeds(&["machine", "start", "m3"]);
    let (done, said) = run_in(Path::new("/"), &["machine", "reset", "n1"]);
    assert!(!done && said.contains("n1 is a node"), "{said}");
}

#[test]
fn a_second_lab_is_refused_with_its_own_exit_code() {
    let _lab = shared::lab();
    for words in [&["up", "--machines-only"] as &[_], &["up", "--check"]] {
        let done = Command::new(PROGRAM).args(words).output().unwrap();
        assert_eq!(done.status.code(), Some(75));
        assert!(output(&done).contains("a lab is running already"), "{}", output(&done));
    }
}

#[test]
fn without_root_only_the_labs_existence_is_shown() {
    let _lab = shared::lab();
    let folder = tempfile::tempdir().unwrap();
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), readable).unwrap();
    // Other users may not be able to read the checkout.
    let program = folder.path().join("kubeonkube-lab");
    std::fs::copy(PROGRAM, &program).unwrap();
    for words in [&["status"] as &[_], &["up"], &["down"], &["down", "--force"], &["build"], &["logs"], &["kubectl"]] {
        let done = Command::new("setpriv")
            .args(["--reuid", "nobody", "--clear-groups", "--"])
            .arg(&program)
            .args(words)
            .current_dir("/")
            .output()
            .unwrap();
        let said = output(&done);
        assert_eq!(done.status.code(), Some(69), "{words:?}: {said}");
        assert!(said.contains("it needs root") && !said.contains("crashed"), "{words:?}: {said}");
        assert_eq!(said.contains(" is up\n"), words == ["status"], "{words:?}: {said}");
    }
}
