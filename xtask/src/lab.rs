//! `cargo xtask lab`: the lab's own program (end2end/lab), built and started. It is a crate of its own, so that nothing
//! else of xtask waits for a Kubernetes client to compile.

use std::process::Command;

use anyhow::bail;

use crate::{
    clean_command::{check, command, root},
    doctor,
    skipped::Skipped,
    stage::Stages,
};

pub(crate) fn lab(words: &[String]) -> anyhow::Result<()> {
    // The program takes this process's place: shells inside the lab get the terminal and its signals.
    let error = std::os::unix::process::CommandExt::exec(&mut typed(&program()?, words)?);
    Err(error.into())
}

/// What was typed, in the folder where it was: words may name files.
fn typed(program: &str, words: &[String]) -> anyhow::Result<Command> {
    let mut command = command(program);
    command.current_dir(std::env::current_dir()?).args(words);
    Ok(command)
}

/// The lab's program, built with the features that its tests need (see `test::build_program`).
fn program() -> anyhow::Result<String> {
    check(command("cargo").args(["build", "--quiet", "--package", "kubeonkube-lab", "--bins", "--examples"]))?;
    Ok(root().join("target/debug/kubeonkube-lab").to_string_lossy().into_owned())
}

/// The `lab` stage: boots a lab, runs its self-tests in it, ends it; then boots and ends labs and looks what they leave.
pub(crate) fn test(skipped: &Skipped) -> anyhow::Result<()> {
    // Whoever can't boot one at all needs no program that says so.
    if !cfg!(target_os = "linux") {
        return skipped.note(LAB_TESTS, "it needs Linux");
    }
    if !doctor::is_root() {
        return skipped.note(LAB_TESTS, "it needs root");
    }
    let program = program()?;
    let lab = |words: &[&str]| check(lab_command(&program).args(words));
    let mut stages = Stages::begin();
    if let Some(lack) = lack(&program)? {
        return skipped.note(LAB_TESTS, &lack);
    }
    stages.stage("lab build", || lab(PARTS))?;
    // What only built parts can try.
    if let Some(lack) = lack(&program)? {
        return skipped.note(LAB_TESTS, &lack);
    }
    stages.stage("lab up", || boot(&program))?;
    let tested = stages.stage("lab tests", || check(lab_command("cargo").args(CLAIMS)));
    if tested.is_err() {
        tell(&program);
    }
    let ended = stages.stage("lab down", || lab(&["down", "--force"]));
    tested.and(ended)?;
    stages.stage("lab life", || check(lab_command("cargo").args(LIFE)))?;
    stages.print();
    Ok(())
}

/// What this computer lacks for the lab, in the lab's words. A lab that is there already is an error: the stage ends what it
/// boots, and nobody else's.
fn lack(program: &str) -> anyhow::Result<Option<String>> {
    let asked = lab_command(program).args(LAB).arg("--check").output()?;
    let said = String::from_utf8_lossy(&asked.stderr).trim().to_owned();
    match asked.status.code() {
        Some(0) => Ok(None),
        Some(LACKS) => Ok(Some(said)),
        Some(IN_THE_WAY) => bail!("the stage boots a lab of its own, but {said}"),
        _ => bail!("{program} up --check: {} {said}", asked.status),
    }
}

/// A failed boot is told and cleared away; one that was refused has left nothing, and what is there is somebody else's.
fn boot(program: &str) -> anyhow::Result<()> {
    let status = lab_command(program).args(LAB).status()?;
    if status.success() {
        return Ok(());
    }
    // Of one that was killed nobody knows how far it came; the next `up` tells what it left.
    if ![None, Some(LACKS), Some(IN_THE_WAY)].contains(&status.code()) {
        tell(program);
        check(lab_command(program).args(["down", "--force"]))?;
    }
    bail!("{program} {}: {status}", LAB.join(" "))
}

/// What the log of a CI run has to tell of a lab that is gone afterwards.
fn tell(program: &str) {
    for of in [&["status"] as &[_], &["logs", "kube-apiserver"], &["logs", "kubelet"]] {
        let _told = lab_command(program).args(of).status();
    }
}

/// What is skipped where the lab can't boot.
const LAB_TESTS: &str = "all of end2end/lab/tests";
/// Exit codes of the lab's program (`lab::Error::exit_code`).
const LACKS: i32 = 69;
const IN_THE_WAY: i32 = 75;

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

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    /// A lab whose `up` ends with this code; gives what becomes of a boot, and what was asked of the lab.
    fn booted(code: i32) -> (anyhow::Result<()>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("lab");
        let script = format!("#!/bin/sh\necho \"$1\" >> \"$0.asked\"\n[ \"$1\" != up ] || exit {code}\n");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let done = boot(&program.to_string_lossy());
        let asked = fs::read_to_string(program.with_added_extension("asked")).unwrap();
        (done, asked.lines().map(str::to_owned).collect())
    }

    #[test]
    fn a_lab_of_somebody_else_is_not_ended_and_an_own_boot_that_fails_is_told_and_cleared_away() {
        for code in [LACKS, IN_THE_WAY] {
            let (done, asked) = booted(code);
            assert!(done.is_err());
            assert_eq!(asked, ["up"]);
        }
        let (done, asked) = booted(1);
        assert!(done.is_err());
        assert_eq!(asked, ["up", "status", "logs", "logs", "down"]);
        let (done, asked) = booted(0);
        done.unwrap();
        assert_eq!(asked, ["up"]);
    }

    #[test]
    fn what_is_typed_works_in_the_folder_where_it_was_typed() {
        let typed = typed("lab", &["kubectl".to_owned()]).unwrap();
        assert_eq!(typed.get_current_dir(), Some(std::env::current_dir().unwrap().as_path()));
        assert_ne!(typed.get_current_dir(), Some(root().as_path()));
    }
}
