//! A lab leaves nothing. It needs the computer for itself: run it when no lab is up,
//! `cargo test -p kubeonkube-lab --test life -- --ignored`; the `lab` stage of `cargo xtask test` does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use lab::Lab;

/// Everything that a lab could leave on a computer.
#[derive(Debug, PartialEq)]
struct Traces {
    mounts: BTreeSet<String>,
    interfaces: BTreeSet<String>,
    cgroups: BTreeSet<PathBuf>,
    kernel_parameters: BTreeMap<PathBuf, String>,
    run: BTreeSet<PathBuf>,
}

/// Kernel parameters that are counters, or random.
const CHANGE_BY_THEMSELVES: &[&str] = &[
    "random",
    "nr_threads",
    "ns_last_pid",
    "count",
    "pty/nr",
    "inode-nr",
    "inode-state",
    "dentry-state",
    "file-nr",
    "nf_log",
    "cached_setup",
];

impl Traces {
    fn now() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut cgroups = BTreeSet::new();
        folders(Path::new("/sys/fs/cgroup"), &mut cgroups);
        let mut kernel_parameters = BTreeMap::new();
        for area in ["kernel", "vm", "net"] {
            parameters(&Path::new("/proc/sys").join(area), &mut kernel_parameters);
        }
        Self {
            // Of each mount what is mounted where, not its number.
            mounts: mounts.lines().filter_map(|line| Some(line.splitn(5, ' ').nth(4)?.to_owned())).collect(),
            interfaces: names("/sys/class/net"),
            cgroups,
            kernel_parameters,
            run: names("/run").into_iter().map(PathBuf::from).collect(),
        }
    }
}

fn names(folder: &str) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn folders(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.is_symlink() {
            folders(&path, found);
            found.insert(path);
        }
    }
}

fn parameters(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            parameters(&path, found);
        } else if !CHANGE_BY_THEMSELVES.iter().any(|word| path.to_string_lossy().contains(word)) {
            // Some can only be written.
            if let Ok(value) = fs::read_to_string(&path) {
                found.insert(path, value);
            }
        }
    }
}

/// The lab's processes have ended. A new cgroup with processes belongs to someone else on this computer, and one of theirs
/// that is just ending goes by itself.
fn no_cgroups_left(before: &Traces) {
    lab::wait::until("no empty cgroups", std::time::Duration::from_secs(10), || {
        let now = Traces::now().cgroups;
        let left: Vec<_> = now.difference(&before.cgroups).filter(|cgroup| !is_used(cgroup)).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
}

fn is_used(cgroup: &Path) -> bool {
    let mut all = BTreeSet::from([cgroup.to_owned()]);
    folders(cgroup, &mut all);
    all.iter().any(|one| fs::read_to_string(one.join("cgroup.procs")).is_ok_and(|processes| !processes.is_empty()))
}

/// Processes in a namespace of this kind with this number.
fn held_by(kind: &str, namespace: &Path) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|process| fs::read_link(process.path().join("ns").join(kind)).is_ok_and(|found| found == namespace))
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .collect()
}

fn lab(words: &[&str]) {
    let done = Command::new(env!("CARGO_BIN_EXE_kubeonkube-lab")).args(words).output().unwrap();
    assert!(done.status.success(), "lab {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    eprintln!("{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
#[ignore = "it needs the computer for itself"]
fn three_labs_in_a_row_leave_nothing() {
    for _ in 0..3 {
        let before = Traces::now();
        lab(&["up", "--machines", "2"]);
        let running = Lab::attach().unwrap();
        let inside: Vec<_> = ["pid", "net", "mnt"]
            .map(|kind| {
                let told = running.command("readlink").arg(format!("/proc/self/ns/{kind}")).output().unwrap();
                (kind, PathBuf::from(String::from_utf8_lossy(&told.stdout).trim()))
            })
            .into_iter()
            .collect();
        assert!(!held_by("pid", &inside[0].1).is_empty());
        lab(&["down"]);
        for (kind, namespace) in &inside {
            assert_eq!(held_by(kind, namespace), Vec::<String>::new(), "{kind}");
        }
        assert!(!running.folder().join("run").exists());
        let after = Traces::now();
        assert_eq!(before.mounts, after.mounts);
        assert_eq!(before.interfaces, after.interfaces);
        no_cgroups_left(&before);
        assert_eq!(before.kernel_parameters, after.kernel_parameters);
        assert_eq!(before.run, after.run);
    }
}

#[test]
#[ignore = "it needs the computer for itself"]
fn what_a_crashed_lab_left_is_told_and_cleared_by_force() {
    let before = Traces::now();
    lab(&["up", "--machines-only", "--machines", "1"]);
    // Process 1 of the lab ends as if the kernel had taken it for its memory.
    let lab_json = fs::read_to_string("/run/kubeonkube-lab/lab.json").unwrap();
    let record: serde_json::Value = serde_json::from_str(&lab_json).unwrap();
    let outside = record["namespaces"]["outside"]["pid"].to_string();
    assert!(Command::new("kill").args(["-KILL", &outside]).status().unwrap().success());
    let program = env!("CARGO_BIN_EXE_kubeonkube-lab");
    let said = lab::wait::until("the crash to be noticed", std::time::Duration::from_secs(20), || {
        let up = Command::new(program).args(["up", "--machines-only"]).output().unwrap();
        let said = String::from_utf8_lossy(&up.stderr).into_owned();
        if said.contains("crashed lab") { Ok(said) } else { Err(said) }
    });
    assert!(said.unwrap().contains("lab down --force"));
    lab(&["down", "--force"]);
    let after = Traces::now();
    no_cgroups_left(&before);
    assert_eq!(before.mounts, after.mounts);
    assert_eq!(before.run, after.run);
}

#[test]
#[ignore = "it needs the computer for itself"]
fn a_lab_ends_with_the_process_it_was_booted_for() {
    let mut process = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    lab(&["up", "--machines-only", "--machines", "1", "--until-exit-of", &process.id().to_string()]);
    Lab::attach().unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    lab::wait::until("the end of the lab", std::time::Duration::from_secs(30), || match Lab::attach() {
        Err(lab::Error::NoLab) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
}
