//! The command line, on the lab that is booted once and shared.

mod shared;

use std::{
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use lab::{Lab, machine::Power};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubeonkube-lab");

/// What it says, in a folder, and whether it did as it was told.
fn typed(folder: &Path, words: &[&str]) -> (bool, String) {
    let done = Command::new(PROGRAM)
        .args(words)
        .current_dir(folder)
        .env_remove("KUBECONFIG")
        .env_remove("KUBEBUILDER_ASSETS")
        .output()
        .unwrap();
    (done.status.success(), told(&done))
}

fn told(done: &Output) -> String {
    [&done.stdout, &done.stderr].map(|said| String::from_utf8_lossy(said).into_owned()).concat()
}

/// What it says when it does as it was told.
fn says(words: &[&str]) -> String {
    let (done, said) = typed(Path::new("/"), words);
    assert!(done, "lab {words:?}: {said}");
    said
}

fn answers(lab: &Lab, machine: &str) -> bool {
    lab.connect((lab.machine(machine).unwrap().address(), 22).into(), Duration::from_secs(2)).is_ok()
}

#[test]
fn what_runs_is_told_and_entered() {
    let _lab = shared::lab();
    let status = says(&["status"]);
    let machine = status.lines().find(|line| line.starts_with("m1 ")).expect("a line of m1");
    assert!(status.contains(" is up\n") && machine.contains(" on "), "{status}");
    assert!(status.lines().any(|line| line.starts_with("n1") && line.contains(" Ready ")), "{status}");
    assert_eq!(says(&["ssh", "m1", "true"]), "");
    assert_eq!(says(&["ssh", "m1", "--", "cat", "/etc/hostname"]), "m1\n");
    assert!(says(&["shell", "ip", "address", "show", "lab0"]).contains("10.77.0.1/24"));
    assert!(says(&["logs"]).contains("kube-apiserver"));
    assert!(says(&["logs", "m1/ssh"]).contains("sshd"));
    assert!(says(&["logs", "n2/kubelet"]).contains("kubelet"));
    let (done, said) = typed(Path::new("/"), &["ssh", "m9"]);
    assert!(!done && said.contains("there is no machine `m9`"), "{said}");
}

#[test]
fn relative_paths_are_those_of_the_folder_where_they_were_typed() {
    let _lab = shared::lab();
    let folder = tempfile::tempdir().unwrap();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: typed}, data: {a: b}}";
    std::fs::write(folder.path().join("map.yaml"), map).unwrap();
    for words in [
        &["kubectl", "apply", "--request-timeout=30s", "-f", "map.yaml"] as &[_],
        &["shell", "--", "sh", "-c", "cat map.yaml"],
    ] {
        let (done, said) = typed(folder.path(), words);
        assert!(done && (said.contains("configmap/typed") || said == map), "{said}");
    }
}

#[test]
fn faults_are_made_and_mended() {
    let lab = shared::lab();
    let power = || lab.machine("m3").unwrap().state().unwrap().power;
    says(&["machine", "stop", "m3"]);
    assert_eq!(power(), Power::Off);
    says(&["machine", "start", "m3"]);
    assert_eq!(power(), Power::On);
    assert!(answers(&lab, "m3"));
    says(&["network", "cut", "m3"]);
    assert!(!answers(&lab, "m3"));
    // Nobody waits for what can't answer.
    let begun = Instant::now();
    let said = says(&["machine", "reset", "m3"]);
    assert!(said.contains("its network is cut") && begun.elapsed() < Duration::from_secs(50), "{said}");
    assert_eq!(lab.machine("m3").unwrap().state().unwrap().boots, 1);
    says(&["network", "heal", "m3"]);
    lab.machine("m3").unwrap().wait_reachable().unwrap();
    says(&["machine", "stop", "--hard", "m3"]);
    says(&["machine", "start", "m3"]);
    let (done, said) = typed(Path::new("/"), &["machine", "reset", "n1"]);
    assert!(!done && said.contains("n1 is a node"), "{said}");
}

#[test]
fn a_second_lab_is_told_apart_from_a_computer_that_can_not_run_one() {
    let _lab = shared::lab();
    for words in [&["up", "--machines-only"] as &[_], &["up", "--check"]] {
        let done = Command::new(PROGRAM).args(words).output().unwrap();
        assert_eq!(done.status.code(), Some(75));
        assert!(told(&done).contains("a lab is running already"), "{}", told(&done));
    }
}

#[test]
fn who_is_not_root_is_told_what_runs_and_what_needs_root() {
    let _lab = shared::lab();
    let folder = tempfile::tempdir().unwrap();
    let everyone = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everyone).unwrap();
    // The checkout may be root's alone.
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
        let said = told(&done);
        assert_eq!(done.status.code(), Some(69), "{words:?}: {said}");
        assert!(said.contains("it needs root") && !said.contains("crashed"), "{words:?}: {said}");
        assert_eq!(said.contains(" is up\n"), words == ["status"], "{words:?}: {said}");
    }
}
