//! `cargo xtask lab` builds and starts the lab's program (end2end/lab). The lab is a separate crate, so that no other xtask
//! command has to compile a Kubernetes client.

use std::process::Command;

use anyhow::{Context, bail};

use crate::ansible::ansible;
use crate::builds::Builds;
use crate::clean_command::{check, command, root};
use crate::skipped::Skipped;
use crate::stage::Stages;
use crate::{doctor, images, playwright, programs, site};

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

/// The lab's program, built with the features that its tests need (see `programs::build_program`).
pub(crate) fn program() -> anyhow::Result<String> {
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
    builds.start_at_lowest_priority(BUILD, &build)
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
    stages.stage("lab up", || boot(&program, LAB))?;
    let tested = stages
        .stage("lab tests", || check(lab_command("cargo").args(CLAIMS).env("KUBEONKUBE_TEST_ANSIBLE", ansible()?)));
    let tested = tested.and_then(|()| stages.stage("lab installed", || installed(skipped, &program, builds)));
    let tested = tested.and_then(|()| stages.stage("lab hosted", hosted));
    let tested = tested.and_then(|()| stages.stage("lab console", || console(skipped, &program, builds, &[])));
    if tested.is_err() {
        print_state(&program);
    }
    let ended = stages.stage("lab down", || lab(&["down", "--force"]));
    tested.and(ended)?;
    stages.stage("lab life", || check(lab_command("cargo").args(LIFE)))?;
    stages.print();
    Ok(())
}

/// The same with `--full`: then three control planes, and upgrades from the older Kubernetes, which takes long to build.
pub(crate) fn full_test(skipped: &Skipped, builds: &mut Builds) -> anyhow::Result<()> {
    test(skipped, builds)?;
    if unsupported().is_some() {
        return Ok(());
    }
    let program = program()?;
    if lack(&program)?.is_some() {
        return Ok(());
    }
    check(lab_command(&program).args(PARTS).arg("release-1.33"))?;
    // Each boots its own lab, which ends with cargo.
    for suite in [ENDPOINT, UPGRADE] {
        check(lab_command("cargo").args(suite))?;
    }
    // The console's test also upgrades if the lab serves two releases.
    boot(&program, LAB_WITH_BOTH)?;
    let tested = console(skipped, &program, builds, &[UPGRADES]);
    if tested.is_err() {
        print_state(&program);
    }
    tested.and(check(lab_command(&program).args(["down", "--force"])))
}

/// Measures the built-in engine in a lab that ends with the measurement.
pub(crate) fn bench() -> anyhow::Result<()> {
    with_both_releases()?;
    check(lab_command("cargo").args(FIGURES))
}

/// Takes the pictures of docs/images while the console's test runs.
pub(crate) fn pictures() -> anyhow::Result<()> {
    let program = with_both_releases()?;
    boot(&program, LAB_WITH_BOTH)?;
    let mut builds = Builds::default();
    if let Some(build) = programs::build_kubectl()? {
        builds.start(programs::KUBECTL, build)?;
    }
    let folder = root().join("docs/images").to_string_lossy().into_owned();
    let skipped = Skipped::none(&root().join("target/skipped"), "pictures")?;
    let taken = console(&skipped, &program, &mut builds, &[UPGRADES, ("KUBEONKUBE_PICTURES", &folder)]);
    let taken = taken.and_then(|()| skipped.print(true));
    taken.and(check(lab_command(&program).args(["down", "--force"])))
}

/// Builds both releases of Kubernetes for machines. Returns the lab's program.
fn with_both_releases() -> anyhow::Result<String> {
    let program = program()?;
    let lack = unsupported().map_or_else(|| lack(&program), |reason| Ok(Some(reason.to_owned())))?;
    if let Some(lack) = lack {
        bail!("the lab can't be booted: {lack}");
    }
    check(lab_command(&program).args(PARTS).arg("release-1.33"))?;
    Ok(program)
}

/// The images of the program in the lab's own Kubernetes, installed with kubectl and with helm.
fn installed(skipped: &Skipped, lab: &str, builds: &mut Builds) -> anyhow::Result<()> {
    site::build(site::Kind::Dev)?;
    let server = programs::build_program("")?;
    let mut tests = lab_command("cargo");
    tests.args(INSTALLED).env("KUBEONKUBE_IMAGES", images::for_lab(lab, &server)?);
    tests.env("KUBEONKUBE_TEST_GATEWAY", programs::gateway_definitions()?);
    match programs::built_helm(builds) {
        Ok(helm) => check(tests.env("KUBEONKUBE_TEST_HELM", helm)),
        Err(why) => {
            skipped.note("the_chart_is_installed_upgraded_and_uninstalled", &format!("{why:#}"))?;
            check(tests.args(["--skip", "the_chart_is_installed_upgraded_and_uninstalled"]))
        }
    }
}

/// A hosted cluster in the lab's own Kubernetes.
fn hosted() -> anyhow::Result<()> {
    site::build(site::Kind::Dev)?;
    let server = programs::build_program("")?;
    check(lab_command("cargo").args(HOSTED).env("KUBEONKUBE_SERVER", server))
}

/// The console on the lab's machines, in a browser. `env` goes to the tests.
fn console(skipped: &Skipped, program: &str, builds: &mut Builds, env: &[(&str, &str)]) -> anyhow::Result<()> {
    builds.wait(programs::KUBECTL)?;
    site::build(site::Kind::Dev)?;
    let server = programs::build_program("")?;
    let kubectl = programs::kubectl().context("there is no kubectl, and no Go to build it")?;
    playwright::run_in_lab(skipped, &server, program, &kubectl, env)
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
fn boot(program: &str, up: &[&str]) -> anyhow::Result<()> {
    let status = lab_command(program).args(up).status()?;
    if status.success() {
        return Ok(());
    }
    // No exit code: the boot was killed. The next `up` reports what it left.
    if ![None, Some(LACKS), Some(IN_THE_WAY)].contains(&status.code()) {
        print_state(program);
        check(lab_command(program).args(["down", "--force"]))?;
    }
    bail!("{program} {}: {status}", up.join(" "))
}

/// Prints what a CI log needs to explain a failure: the lab is gone afterwards. Few lines, because the failure stands before them.
fn print_state(program: &str) {
    for words in [&["status"] as &[_], &["logs", "--lines=15", "kube-apiserver"], &["logs", "--lines=15", "kubelet"]] {
        let _printed = lab_command(program).args(words).status();
    }
}

/// The tests that are skipped where the lab can't boot.
const LAB_TESTS: &str = "all of end2end/lab/tests";
/// Exit codes of the lab's program (`lab::Error::exit_code`).
const LACKS: i32 = 69;
const IN_THE_WAY: i32 = 75;

/// The parts that [`LAB`] needs. The older Kubernetes isn't among them: only `--full` needs it, and it doubles a cold build.
const PARTS: &[&str] =
    &["build", "machine-root", "server-root", "images", "kubernetes-1.34", "etcd-3.6", "runc", "release-1.34"];
/// The lab that its tests share (`end2end/lab/tests/shared`).
const LAB: &[&str] = &["up", "--machines", "3", "--meta-nodes", "2", "--releases=1.34"];
/// The lab of the console's test with `--full`.
const LAB_WITH_BOTH: &[&str] = &["up", "--machines", "3", "--releases=1.33,1.34"];
/// Tells the console's test that the lab serves two releases.
const UPGRADES: (&str, &str) = ("KUBEONKUBE_LAB_UPGRADES", "1");
const UPGRADE: &[&str] =
    &["test", "--package", "kubeonkube-lab", "--test", "upgrade", "--", "--ignored", "--nocapture", "--test-threads=1"];
const FIGURES: &[&str] =
    &["test", "--package", "kubeonkube-lab", "--test", "figures", "--", "--ignored", "--nocapture", "--test-threads=1"];
const CLAIMS: &[&str] = &["test", "--package", "kubeonkube-lab"];
const INSTALLED: &[&str] = &[
    "test",
    "--package",
    "kubeonkube-lab",
    "--test",
    "installed",
    "--",
    "--ignored",
    "--nocapture",
    "--test-threads=1",
];
const HOSTED: &[&str] = &["test", "--package", "kubeonkube-lab", "--test", "hosted", "--", "--ignored", "--nocapture"];
/// Three control planes that share an address.
const ENDPOINT: &[&str] =
    &["test", "--package", "kubeonkube-lab", "--test", "endpoint", "--", "--ignored", "--nocapture"];
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
        let done = boot(&program.to_string_lossy(), LAB);
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
