//! The session of `server/tests/parity` against the lab's API server: the recorded answers, with which the embedded API is
//! compared, are still those of a real one. `UPDATE_SESSION=1` records them.

#[path = "../../../server/tests/parity/mod.rs"]
mod parity;
mod shared;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use lab::wait;
use shared::lab;

const LAB: &str = env!("CARGO_BIN_EXE_kubeonkube-lab");

fn kubectl(words: &[&str]) {
    let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let status = Command::new(LAB).arg("kubectl").args(words).current_dir(crds).status().expect("kubectl starts");
    assert!(status.success(), "kubectl {}: {status}", words.join(" "));
}

/// Waits until `kubectl explain` knows a new resource: an API server publishes its schema a little after it is established.
fn documented(resource: &str) {
    let explained = || {
        let output = Command::new(LAB).args(["kubectl", "explain", resource]).output().expect("kubectl starts");
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    };
    wait::until(&format!("kubectl explain {resource}"), wait::PATIENCE, explained)
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_real_api_server_answers_as_recorded() {
    let _running = lab();
    kubectl(&["delete", "namespace", "parity", "--ignore-not-found"]);
    kubectl(&["apply", "-f", "crd"]);
    kubectl(&["wait", "-f", "crd", "--for=condition=Established", "--timeout=120s"]);
    documented("clusteroperations");
    documented("clusters");
    kubectl(&["delete", "clusters,clusteroperations", "--all"]);
    let recorded = parity::session();
    let home = tempfile::tempdir().unwrap();
    let answers = parity::answers(&recorded, &[LAB, "kubectl"], home.path());
    if env::var_os("UPDATE_SESSION").is_some() {
        return record(&answers);
    }
    for (step, answer) in recorded.iter().zip(&answers) {
        assert_eq!(*answer, step.answer, "$ {}", step.command);
    }
}

/// Writes these answers into the session.
fn record(answers: &[String]) {
    let text = fs::read_to_string(parity::file()).expect("the session");
    let kept = text.lines().filter(|line| line.is_empty() || line.starts_with("##") || line.starts_with("$ "));
    let mut answers = answers.iter();
    let lines = kept.map(|line| {
        let answer = if line.starts_with("$ ") { answers.next().map(String::as_str) } else { None };
        format!("{line}\n{}", answer.unwrap_or_default())
    });
    fs::write(parity::file(), lines.collect::<String>()).expect("the session is written");
}
