//! `cargo xtask lab` builds and starts the lab's program (end2end/lab). The lab is a separate crate, so that no other xtask
//! command has to compile a Kubernetes client.

use std::process::Command;

use anyhow::bail;

use crate::builds::Builds;
use crate::clean_command::{check, command, root};
use crate::doctor;
use crate::skipped::Skipped;
use crate::stage::Stages;

pub(crate) fn lab(words: &[String]) -> anyhow::Result<()> {
    // The program replaces this process, so that shells inside the lab get the terminal and its signals.
    let error = std::os::unix::process::CommandExt::exec(&mut in_callers_folder(&program()?, words)?);
    Err(error.into())
}

/// The lab's program with the user's arguments, in the user's current folder: arguments may be relative file names.
fn in_callers_folder(program: &str, words: &[String]) -> anyhow::Result<Command> {
    let mut command = command(program);
    command.current_dir(std::env::current_dir()?).args(words);
    Ok(command)
}

/// The lab's program, built with the features that its tests need (see `test::build_program`).
fn program() -> anyhow::Result<String> {
    check(command("cargo").args(["build", "--quiet", "--package", "kubeonkube-lab", "--bins", "--examples"]))?;
    Ok(root().join("target/debug/kubeonkube-lab").to_string_lossy().into_owned())
}

/// Name of the background build.
const BUILD: &str = "lab-parts";

/// Starts building the parts of the lab (Kubernetes, etcd, machine images). Without Go's caches this takes eight minutes.
pub(crate) fn start_build(builds: &mut Builds) -> anyhow::Result<()> {
    if unsupported().is_some() {
        return Ok(());
    }
    let program = program()?;
    // The stage reports what this computer lacks.
    if lack(&program)?.is_some() {
        return Ok(());
    }
    let mut build = lab_command(&program);
    build.args(PARTS);
    builds.start(BUILD, &build)
}

/// Why this computer can never boot a lab.
fn unsupported() -> Option<&'static str> {
    if !cfg!(target_os = "linux") {
        return Some("it needs Linux");
    }
    (!doctor::is_root()).then_some("it needs root")
}

/// The `lab` stage: boots a lab, runs its self-tests, ends it. Then boots and ends labs and checks that they leave nothing behind.
pub(crate) fn test(skipped: &Skipped, builds: &mut Builds) -> anyhow::Result<()> {
    if let Some(reason) = unsupported() {
        return skipped.note(LAB_TESTS, reason);
    }
    let program = program()?;
    let lab = |words: &[&str]| check(lab_command(&program).args(words));
    let mut stages = Stages::begin();
    if let Some(lack) = lack(&program)? {
        return skipped.note(LAB_TESTS, &lack);
    }
    stages.stage("lab build", || builds.wait(BUILD).and_then(|()| lab(PARTS)))?;
    // Some requirements can only be checked with the built parts.
    if let Some(lack) = lack(&program)? {
        return skipped.note(LAB_TESTS, &lack);
    }
    stages.stage("lab up", || boot(&program))?;
    let tested = stages.stage("lab tests", || check(lab_command("cargo").args(CLAIMS)));
    if tested.is_err() {
        print_state(&program);
    }
    let ended = stages.stage("lab down", || lab(&["down", "--force"]));
    tested.and(ended)?;
    stages.stage("lab life", || check(lab_command("cargo").args(LIFE)))?;
    stages.print();
    Ok(())
}

/// What this computer lacks for the lab, in the lab's words.
///
/// # Errors
/// If a lab is already running. The stage ends only a lab that it booted itself.
fn lack(program: &str) -> anyhow::Result<Option<String>> {
    let checked = lab_command(program).args(LAB).arg("--check").output()?;
    let message = String::from_utf8_lossy(&checked.stderr).trim().to_owned();
    match checked.status.code() {
        Some(0) => Ok(None),
        Some(LACKS) => Ok(Some(message)),
        Some(IN_THE_WAY) => bail!("the stage has to boot a new lab, but {message}"),
        _ => bail!("{program} up --check: {} {message}", checked.status),
    }
}

/// Boots the lab. After a failed boot, prints its state and ends it. A refused boot has left nothing; a lab that runs then
/// belongs to another user.
fn boot(program: &str) -> anyhow::Result<()> {
    let status = lab_command(program).args(LAB).status()?;
    if status.success() {
        return Ok(());
    }
    // No exit code: the boot was killed. The next `up` reports what it left.
    if ![None, Some(LACKS), Some(IN_THE_WAY)].contains(&status.code()) {
        print_state(program);
        check(lab_command(program).args(["down", "--force"]))?;
    }
    bail!("{program} {}: {status}", LAB.join(" "))
}

/// Prints what a CI log needs to explain a failure: the lab is gone afterwards.
fn print_state(program: &str) {
    for words in [&["status"] as &[_], &["logs", "kube-apiserver"], &["logs", "kubelet"]] {
        let _printed = lab_command(program).args(words).status();
    }
}

/// The tests that are skipped where the lab can't boot.
const LAB_TESTS: &str = "all of end2end/lab/tests";
/// Exit codes of the lab's program (`lab::Error::exit_code`).
const LACKS: i32 = 69;
const IN_THE_WAY: i32 = 75;

/// The parts that [`LAB`] needs. The older Kubernetes isn't among them: no test needs it yet, and it doubles a cold build.
const PARTS: &[&str] = &["build", "machine-root", "images", "kubernetes-1.34", "etcd-3.6", "runc", "release-1.34"];
/// The lab that its tests share (`end2end/lab/tests/shared`).
const LAB: &[&str] = &["up", "--machines", "3", "--meta-nodes", "2", "--releases=1.34"];
const CLAIMS: &[&str] = &["test", "--package", "kubeonkube-lab"];
/// One at a time: each test needs the whole computer.
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

/// `program` without the caller's kubeconfig: the stage must test the lab's cluster.
fn lab_command(program: &str) -> Command {
    let mut command = command(program);
    command.env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS");
    command
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    /// Boots with a fake lab whose `up` ends with `code`. Returns the result and the verbs that the fake was called with.
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
    fn only_a_lab_of_our_own_is_ended() {
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
    fn the_lab_runs_in_the_callers_folder() {
        let typed = in_callers_folder("lab", &["kubectl".to_owned()]).unwrap();
        assert_eq!(typed.get_current_dir(), Some(std::env::current_dir().unwrap().as_path()));
        assert_ne!(typed.get_current_dir(), Some(root().as_path()));
    }
}
