//! Finds processes by a path in their command line or environment. Paths in a test's temporary folder identify its processes.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// All processes that mention this folder. Threads and zombies are left out.
pub(crate) fn of(folder: &Path) -> Vec<Pid> {
    all().filter(|pid| mentions(*pid, "cmdline", folder) || mentions(*pid, "environ", folder)).collect()
}

/// The shim process of a run.
pub(crate) fn shim_of(folder: &Path) -> Pid {
    let is_shim = |pid: &Pid| mentions(*pid, "cmdline", Path::new("run-job")) && mentions(*pid, "cmdline", folder);
    all().find(is_shim).expect("a shim")
}

/// The process that the shim started.
pub(crate) fn command_of(folder: &Path) -> Pid {
    let shim = shim_of(folder);
    all().find(|pid| parent(*pid) == Some(shim)).expect("a command")
}

pub(crate) fn kill(pid: Pid) {
    // It may have ended already.
    let _ = kill_process(pid, Signal::KILL);
}

/// Kills the shim, the command and its children, including those that start meanwhile.
pub(crate) fn kill_all_of(folder: &Path) {
    loop {
        let left = of(folder);
        if left.is_empty() {
            return;
        }
        left.into_iter().for_each(kill);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process's command line, for messages.
pub(crate) fn describe(pid: Pid) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    format!("{pid}: {}", String::from_utf8_lossy(&line).replace('\0', " "))
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

fn mentions(pid: Pid, file: &str, what: &Path) -> bool {
    let what = what.as_os_str().as_encoded_bytes();
    let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    text.windows(what.len()).any(|window| window == what)
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name in parentheses: the state, then the parent.
    Pid::from_raw(stat.rsplit(')').next()?.split_ascii_whitespace().nth(1)?.parse().ok()?)
}
