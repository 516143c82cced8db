//! Boots that are killed, or end with their test run, leave nothing behind. Each test boots labs, so no other lab may be
//! running: `cargo test -p kubeonkube-lab --test starting -- --ignored --test-threads=1`. The `lab` stage of `cargo xtask test`
//! runs them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use lab::wait::{PATIENCE, until};
use lab::{Error, Lab, Layout};

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubeonkube-lab"));
    command.args(words).env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS");
    command
}

/// Starts the boot of a lab with one machine. Returns when the boot has stopped, at the moment when it starts this program: a boot
/// takes half a second, so a signal could come too late. The lab has no processes yet when it starts `setsid`, and some when it
/// starts `nsenter`.
fn boot_stopped_at(program: &str) -> Child {
    assert!(matches!(Lab::attach(), Err(Error::NoLab)));
    // Found instead of the real program, which it starts, too.
    let folder = tempfile::tempdir().unwrap();
    let (file, path) = (folder.path().join(program), std::env::var("PATH").unwrap());
    fs::write(&file, format!("#!/bin/sh\nkill -STOP $PPID\nPATH='{path}' exec {program} \"$@\"\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let booter = command(&["up", "--machines-only", "--machines", "1"])
        .env("PATH", format!("{}:{path}", folder.path().display()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the boot to stop", PATIENCE, || {
        let state = fs::read_to_string(format!("/proc/{}/status", booter.id())).map_err(|error| error.to_string())?;
        if state.contains("\nState:\tT") { Ok(()) } else { Err(state) }
    })
    .unwrap();
    booter
}

fn no_holder_of_namespaces_is_left() {
    until("the end of all processes that hold namespaces", PATIENCE, || {
        let left = holders();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
}

/// Runs the command line. Returns whether it succeeded, and its output.
fn lab(words: &[&str]) -> (bool, String) {
    let done = command(words).output().unwrap();
    (done.status.success(), [done.stdout, done.stderr].iter().map(|said| String::from_utf8_lossy(said)).collect())
}

/// The processes that hold namespaces of labs with this checkout's parts: they run `pause` from them.
fn holders() -> Vec<String> {
    let parts = Layout::of_this_checkout().parts();
    let is_holder = |exe: &Path| exe.starts_with(&parts) && exe.ends_with("pause");
    let all = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path().join("exe"));
    all.filter(|exe| fs::read_link(exe).is_ok_and(|exe| is_holder(&exe))).map(|exe| exe.display().to_string()).collect()
}

#[test]
#[ignore = "it needs the computer for itself"]
fn a_killed_boot_leaves_nothing_that_down_can_not_remove() {
    for program in ["setsid", "nsenter"] {
        let mut booter = boot_stopped_at(program);
        let booter_named = format!("by process {}", booter.id());
        let (_, status) = lab(&["status"]);
        let (up, refused) = lab(&["up", "--machines-only"]);
        assert!(status.contains(&booter_named) && !up && !refused.contains("crashed"), "{status}\n{refused}");
        booter.kill().unwrap();
        booter.wait().unwrap();
        assert!(!matches!(Lab::attach(), Err(Error::Starting { .. })));
        let (down, said) = lab(&["down", "--force"]);
        assert!(down, "{said}");
        assert!(matches!(Lab::attach(), Err(Error::NoLab)));
        no_holder_of_namespaces_is_left();
    }
}

#[test]
#[ignore = "it needs the computer for itself"]
fn down_also_ends_a_boot_that_is_still_running() {
    let mut booter = boot_stopped_at("nsenter");
    let (down, said) = lab(&["down"]);
    assert!(down, "{said}");
    // `down` waits for the end of the boot, so the boot can't write anything afterwards.
    let ended = booter.try_wait().unwrap().expect("the boot has ended");
    assert!(!ended.success());
    assert!(matches!(Lab::attach(), Err(Error::NoLab)));
    assert!(!Layout::of_this_checkout().folder.join("run").exists());
    no_holder_of_namespaces_is_left();
}

/// Set if this process is the test run that shares a lab.
const IS_TEST_RUN: &str = "KUBEONKUBE_LAB_IS_TEST_RUN";

#[test]
#[ignore = "it needs the computer for itself"]
fn a_shared_lab_is_booted_if_none_runs_and_ends_with_its_run() {
    if std::env::var_os(IS_TEST_RUN).is_some() {
        let lab = Lab::shared(&["--machines-only", "--machines", "1"]).unwrap();
        lab.machine("m1").unwrap().run("true").unwrap();
        // A second caller gets the same lab.
        assert_eq!(Lab::shared(&["--machines", "2"]).unwrap().since(), lab.since());
        return;
    }
    assert!(matches!(Lab::attach(), Err(Error::NoLab)));
    let name = "a_shared_lab_is_booted_if_none_runs_and_ends_with_its_run";
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--ignored", "--exact", name]).env(IS_TEST_RUN, "yes");
    let run = run.env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS").output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
    until("the end of the lab", PATIENCE, || match Lab::attach() {
        Err(Error::NoLab) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    no_holder_of_namespaces_is_left();
}
