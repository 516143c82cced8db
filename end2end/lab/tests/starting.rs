//! A lab that is just starting is no crashed one, and one whose booter is killed leaves nothing that nobody knows of. It
//! needs the computer for itself: run it when no lab is up, `cargo test -p kubeonkube-lab --test starting -- --ignored`; the
//! `lab` stage of `cargo xtask test` does.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use lab::{Error, Lab, Layout};

const PATIENCE: Duration = Duration::from_secs(30);

/// What the command line says, and whether it did as it was told.
fn lab(words: &[&str]) -> (bool, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_kubeonkube-lab")).args(words).output().unwrap();
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
    let mut booter = Command::new(env!("CARGO_BIN_EXE_kubeonkube-lab"))
        .args(["up", "--machines-only", "--machines", "1"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    lab::wait::until("the claim", PATIENCE, || {
        if Path::new("/run/kubeonkube-lab").exists() { Ok(()) } else { Err("there is none".to_owned()) }
    })
    .unwrap();
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
    lab::wait::until("no holder of namespaces", PATIENCE, || {
        let left = holders();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
}
