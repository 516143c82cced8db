//! `cargo xtask lab`: the lab's own program (end2end/lab), built and started. It is a crate of its own, so that nothing
//! else of xtask waits for a Kubernetes client to compile.

use std::process::Command;

use anyhow::bail;

use crate::{
    clean_command::{check, command, root},
    doctor,
    stage::Stages,
};

pub(crate) fn lab(words: &[String]) -> anyhow::Result<()> {
    let mut program = command(&program()?);
    // The program takes this process's place: shells inside the lab get the terminal and its signals.
    let error = std::os::unix::process::CommandExt::exec(program.args(words));
    Err(error.into())
}

/// The lab's program, built.
fn program() -> anyhow::Result<String> {
    check(command("cargo").args(["build", "--quiet", "--package", "kubeonkube-lab"]))?;
    Ok(root().join("target/debug/kubeonkube-lab").to_string_lossy().into_owned())
}

/// The `lab` stage: boots a lab, runs its self-tests in it, ends it; then boots and ends labs and looks what they leave.
pub(crate) fn test() -> anyhow::Result<()> {
    if let Some(reason) = unable() {
        if std::env::var_os("CI").is_some() {
            bail!("the lab can't boot here: {reason}");
        }
        eprintln!("skipped: lab ({reason})");
        return Ok(());
    }
    let program = program()?;
    let lab = |words: &[&str]| check(lab_command(&program).args(words));
    let mut stages = Stages::begin();
    stages.stage("lab build", || lab(PARTS))?;
    let booted = stages.stage("lab up", || lab(LAB));
    let tested = booted.and_then(|()| stages.stage("lab tests", || check(lab_command("cargo").args(CLAIMS))));
    if tested.is_err() {
        // What the log of a CI run has to tell; the lab is gone afterwards.
        for of in [&["status"] as &[&str], &["logs", "kube-apiserver"], &["logs", "kubelet"]] {
            let _told = lab(of);
        }
    }
    let ended = stages.stage("lab down", || lab(&["down", "--force"]));
    tested.and(ended)?;
    stages.stage("lab life", || check(lab_command("cargo").args(LIFE)))?;
    stages.print();
    Ok(())
}

/// What the lab of [`LAB`] is made of; not the older Kubernetes, which no test needs yet and which doubles a cold build.
const PARTS: &[&str] = &["build", "machine-root", "images", "kubernetes-1.34", "etcd-3.6", "runc", "release-1.34"];
/// The lab that its tests share (`end2end/lab/tests/shared`).
const LAB: &[&str] = &["up", "--machines", "3", "--meta-nodes", "2", "--releases=1.34"];
const CLAIMS: &[&str] = &["test", "--package", "kubeonkube-lab"];
/// One after the other: each needs the computer for itself.
const LIFE: &[&str] = &[
    "test",
    "--package",
    "kubeonkube-lab",
    "--test",
    "life",
    "--test",
    "given",
    "--test",
    "starting",
    "--",
    "--ignored",
    "--test-threads=1",
    "--nocapture",
];

/// The stage tests the lab's own cluster, whatever cluster its caller works with.
fn lab_command(program: &str) -> Command {
    let mut command = command(program);
    command.env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS");
    command
}

/// Why no lab can be booted by whoever runs this.
fn unable() -> Option<&'static str> {
    if !cfg!(target_os = "linux") {
        return Some("it needs Linux");
    }
    (!doctor::is_root()).then_some("it needs root")
}
