//! A lab that is just starting is no crashed one, and one whose booter is killed leaves nothing that nobody knows of. It
//! needs the computer for itself: run it when no lab is up, `cargo test -p kubeonkube-lab --test starting -- --ignored`; the
//! `lab` stage of `cargo xtask test` does.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use lab::{Error, Lab, Layout};

const PATIENCE: Duration = Duration::from_secs(30);

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubeonkube-lab"));
    command.args(words).env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS");
    command
}

/// A boot of one machine that goes on, claimed.
fn booting() -> Child {
    // Nobody else's is taken for it.
    assert!(matches!(Lab::attach(), Err(Error::NoLab)));
    let booter = command(&["up", "--machines-only", "--machines", "1"]).stderr(Stdio::null()).spawn().unwrap();
    lab::wait::until("the claim", PATIENCE, || {
        if Path::new("/run/kubeonkube-lab").exists() { Ok(()) } else { Err("there is none".to_owned()) }
    })
    .unwrap();
    booter
}

fn no_holder_of_namespaces_is_left() {
    lab::wait::until("no holder of namespaces", PATIENCE, || {
        let left = holders();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
}

/// What the command line says, and whether it did as it was told.
fn lab(words: &[&str]) -> (bool, String) {
    let done = command(words).output().unwrap();
    (done.status.success(), [done.stdout, done.stderr].iter().map(|said| String::from_utf8_lossy(said)).collect())
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// Processes that hold a lab's namespaces, of this checkout's parts.
fn holders() -> Vec<String> {
    let parts = Layout::of_this_checkout().folder.join("cache");
    let is_holder = |exe: &Path| exe.starts_with(&parts) && exe.ends_with("pause");
    let all = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path().join("exe"));
    all.filter(|exe| fs::read_link(exe).is_ok_and(|exe| is_holder(&exe))).map(|exe| exe.display().to_string()).collect()
}

#[test]
#[ignore = "it needs the computer for itself"]
fn a_lab_that_starts_is_told_as_such_and_nothing_is_left_when_its_booter_is_killed() {
    let mut booter = booting();
    // It stays where it is: claimed, with or without processes of its own.
    signal("-STOP", booter.id());
    let told = format!("by process {}", booter.id());
    let (_, status) = lab(&["status"]);
    let (up, refused) = lab(&["up", "--machines-only"]);
    assert!(status.contains(&told) && !up && !refused.contains("crashed"), "{status}\n{refused}");
    signal("-KILL", booter.id());
    booter.wait().unwrap();
    assert!(!matches!(Lab::attach(), Err(Error::Starting { .. })));
    let (down, said) = lab(&["down", "--force"]);
    assert!(down, "{said}");
    assert!(matches!(Lab::attach(), Err(Error::NoLab)));
    no_holder_of_namespaces_is_left();
}

#[test]
#[ignore = "it needs the computer for itself"]
fn a_lab_that_is_ended_while_it_boots_stays_ended_and_so_does_its_boot() {
    let mut booter = booting();
    let (down, said) = lab(&["down"]);
    assert!(down, "{said}");
    // It was ended before: nothing could be written after.
    let ended = booter.try_wait().unwrap().expect("the boot has ended");
    assert!(!ended.success());
    assert!(matches!(Lab::attach(), Err(Error::NoLab)));
    assert!(!Layout::of_this_checkout().folder.join("run").exists());
    no_holder_of_namespaces_is_left();
}

/// Set where this test plays the test run that shares a lab.
const PLAYS_TEST_RUN: &str = "KUBEONKUBE_LAB_PLAYS_TEST_RUN";

#[test]
#[ignore = "it needs the computer for itself"]
fn a_lab_that_is_shared_is_booted_where_none_runs_and_ends_with_its_test_run() {
    if std::env::var_os(PLAYS_TEST_RUN).is_some() {
        let lab = Lab::shared(&["--machines-only", "--machines", "1"]).unwrap();
        lab.machine("m1").unwrap().run("true").unwrap();
        // Whoever comes next shares it.
        assert_eq!(Lab::shared(&["--machines", "2"]).unwrap().since(), lab.since());
        return;
    }
    assert!(matches!(Lab::attach(), Err(Error::NoLab)));
    let name = "a_lab_that_is_shared_is_booted_where_none_runs_and_ends_with_its_test_run";
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--ignored", "--exact", name]).env(PLAYS_TEST_RUN, "yes");
    let run = run.env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS").output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
    lab::wait::until("the end of the lab", PATIENCE, || match Lab::attach() {
        Err(Error::NoLab) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    no_holder_of_namespaces_is_left();
}
