//! Identifies a process beyond its number, because the kernel reuses numbers.

use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::{fs, io};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process, identified by number, start time and boot. Numbers are reused, and start again after a boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Identity {
    pid: u32,
    /// Field 22 of `/proc/<pid>/stat`: clock ticks from the boot to the start of the process.
    start: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    boot: String,
}

impl Identity {
    /// The process that has this number now.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        Ok(Self { pid, start: stat(pid)?.start, boot: boot()? })
    }

    /// A descriptor of the process, or `None` if it has ended. Signals sent through it can't reach another process.
    pub(crate) fn open(&self) -> Option<OwnedFd> {
        let descriptor = open(self.pid)?;
        // Checked after opening: the process that has the number now is the one that the descriptor refers to.
        let now = stat(self.pid).ok()?;
        (now.start == self.start && !now.ended && boot().ok()? == self.boot).then_some(descriptor)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.open().is_some()
    }

    /// Returns whether the process was there to receive it.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        self.open().is_some_and(|descriptor| pidfd_send_signal(descriptor, signal).is_ok())
    }
}

/// A descriptor of the process that has this number now. It keeps referring to that process.
pub(crate) fn open(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// What we read of `/proc/<pid>/stat`, for a process or one of its threads.
pub(crate) struct Stat {
    start: u64,
    /// True for a zombie too: it has ended, and only waits for its parent to read the exit code.
    ended: bool,
    /// The process has no environment and won't get one.
    pub(crate) bare: bool,
}

/// `process` is `<pid>` or `<pid>/task/<tid>`.
pub(crate) fn stat(process: impl Display) -> io::Result<Stat> {
    // Lossy: the kernel cuts a name at 15 bytes, possibly within a character.
    parse_stat(&String::from_utf8_lossy(&fs::read(format!("/proc/{process}/stat"))?))
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// `PF_KTHREAD` and `PF_EXITING`: processes with one of these flags have no environment.
const WITHOUT_ENVIRONMENT: u64 = 0x20_0000 | 0x4;

/// The numbers of fields are those of proc_pid_stat(5).
fn parse_stat(text: &str) -> Option<Stat> {
    // The second field is the program's name in parentheses. The name may contain spaces and parentheses.
    let fields: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    // execve sets the address of the code (26) after those of the environment (50, 51), see the kernel's fs/binfmt_elf.c. So while
    // 26 is 0, the process may still get an environment.
    let started_without = number(26)? != 0 && number(50)? == number(51)?;
    let ended = matches!(*fields.first()?, "Z" | "X" | "x");
    Some(Stat { start: number(22)?, ended, bare: started_without || number(9)? & WITHOUT_ENVIRONMENT != 0 })
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A line of /proc/<pid>/stat.
    fn line(name: &str, flags: u64, start_code: u64, environment: (u64, u64)) -> String {
        let mut fields = ["0"; 52].map(str::to_owned);
        fields[1] = format!("({name})");
        fields[2] = "S".into();
        fields[8] = flags.to_string();
        fields[21] = "98765".into();
        fields[25] = start_code.to_string();
        fields[49] = environment.0.to_string();
        fields[50] = environment.1.to_string();
        fields.join(" ")
    }

    #[test]
    fn a_program_name_with_a_parenthesis_is_parsed() {
        let stat = parse_stat(&line("a) b", 0, 1, (2, 3))).unwrap();
        assert_eq!((stat.start, stat.ended), (98765, false));
    }

    #[test]
    fn a_program_that_is_being_loaded_is_not_bare() {
        let bare = |flags, code, environment| parse_stat(&line("sh", flags, code, environment)).unwrap().bare;
        assert!(!bare(0x40_0000, 0, (0, 0)));
        assert!(!bare(0x40_0000, 0, (8192, 8192)), "its arguments are being copied");
        assert!(!bare(0x40_0000, 4096, (8192, 9000)), "loaded since its environment was read");
        assert!(bare(0x40_0000, 4096, (8192, 8192)), "started with an empty environment");
        assert!(bare(0x20_0040, 0, (0, 0)), "a kernel thread");
        assert!(bare(0x40_0004, 0, (0, 0)), "exiting");
    }

    #[test]
    fn the_same_number_with_another_start_is_another_process() {
        let me = Identity::of(std::process::id()).unwrap();
        assert!(me.is_alive());
        assert!(!Identity { start: me.start + 1, ..me.clone() }.is_alive());
        assert!(!Identity { boot: "another".into(), ..me }.is_alive());
    }

    #[test]
    fn a_zombie_is_not_alive() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let identity = Identity::of(child.id()).unwrap();
        let started = Instant::now();
        while identity.is_alive() {
            assert!(started.elapsed() < Duration::from_secs(120));
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
