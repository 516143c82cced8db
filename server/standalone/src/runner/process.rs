//! Which process is it? A number alone may belong to somebody else tomorrow.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// By this variable in their environment all processes of a run are known, also those that left its process group.
pub(crate) const MARK: &str = "KUBEONKUBE_RUN";

/// A process, whatever happens to its number: numbers are reused, and start again after a boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Identity {
    pid: u32,
    /// Field 22 of `/proc/<pid>/stat`: clock ticks from boot to its start.
    start: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    boot: String,
}

impl Identity {
    /// The process that has this number now.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        Ok(Self { pid, start: stat(pid)?.start, boot: boot()? })
    }

    /// A descriptor of the process, or None when it is gone. Signals through it can't reach another one.
    pub(crate) fn open(&self) -> Option<OwnedFd> {
        let pid = Pid::from_raw(i32::try_from(self.pid).ok()?)?;
        let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Judged after opening: whoever has the number now is the one the descriptor holds.
        let now = stat(self.pid).ok()?;
        (now.start == self.start && !now.ended && boot().ok()? == self.boot).then_some(descriptor)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.open().is_some()
    }

    /// Whether there was somebody to signal.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        self.open().is_some_and(|descriptor| pidfd_send_signal(descriptor, signal).is_ok())
    }
}

struct Stat {
    start: u64,
    /// A zombie has ended; only its parent hasn't asked yet.
    ended: bool,
}

fn stat(pid: u32) -> io::Result<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat"))?)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X" | "x");
    Some(Stat { start: fields.nth(18)?.parse().ok()?, ended })
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Kills what is left of a run, including what is started meanwhile. Gives up after `patience`: a process in an
/// uninterruptible sleep, or of another user, can't be helped. Blocks.
pub(crate) fn kill_marked(run: &str, patience: Duration) {
    let begun = Instant::now();
    loop {
        let left = marked(run);
        if left.is_empty() || begun.elapsed() > patience {
            return;
        }
        for process in left {
            process.signal(Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The living processes with this run's mark that we may look at.
fn marked(run: &str) -> Vec<Identity> {
    let wanted = format!("{MARK}={run}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_marked = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    numbers.filter(is_marked).filter_map(|pid| Identity::of(pid).ok()).filter(Identity::is_alive).collect()
}

/// Whether a name may be used as a mark and as the name of a folder: Kubernetes' uids are such.
pub(crate) fn is_plain(uid: &OsStr) -> bool {
    uid.to_str()
        .is_some_and(|uid| !uid.is_empty() && uid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_whose_name_holds_a_parenthesis_is_read_right() {
        let text = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 10 20";
        assert_eq!(parse_stat(text).map(|stat| (stat.start, stat.ended)), Some((98765, false)));
    }

    #[test]
    fn the_same_number_with_another_start_is_another_process() {
        let me = Identity::of(std::process::id()).unwrap();
        assert!(me.is_alive());
        assert!(!Identity { start: me.start + 1, ..me.clone() }.is_alive());
        assert!(!Identity { boot: "another".into(), ..me }.is_alive());
    }

    #[test]
    fn a_zombie_is_gone() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let identity = Identity::of(child.id()).unwrap();
        let begun = Instant::now();
        while identity.is_alive() {
            assert!(begun.elapsed() < Duration::from_secs(10));
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn processes_are_found_by_their_mark_and_killed() {
        let run = uuid::Uuid::new_v4().to_string();
        let mut child = std::process::Command::new("sleep").arg("600").env(MARK, &run).spawn().unwrap();
        kill_marked(&run, Duration::from_secs(10));
        assert!(!child.wait().unwrap().success());
    }
}
