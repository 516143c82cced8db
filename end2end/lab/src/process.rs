//! Identifies a process. A process number (PID) alone isn't enough, because the kernel reuses numbers.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A process, identified by its number and start time. The default value matches no process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// In clock ticks since the computer booted (proc(5), field 22).
    started: u64,
}

impl Process {
    /// The process that has this number now.
    pub(crate) fn now(pid: i32) -> Option<Self> {
        Some(Self { pid, started: stat(pid)?.started })
    }

    /// This process.
    pub(crate) fn this() -> Result<Self, Error> {
        let unknown = || Error::Malformed { file: "/proc/self/stat".into(), why: "this process is not in it".into() };
        Self::now(std::process::id().cast_signed()).ok_or_else(unknown)
    }

    /// Whether the process is running. A zombie isn't.
    pub(crate) fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started == self.started && stat.state != 'Z')
    }

    /// Kills the process with SIGKILL. Does nothing if it has ended.
    pub(crate) fn kill(self) {
        if let (true, Some(pid)) = (self.is_alive(), Pid::from_raw(self.pid)) {
            // Fails if the process has ended since the check.
            let _gone = kill_process(pid, Signal::KILL);
        }
    }

    pub(crate) fn namespace(self, kind: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns/{kind}", self.pid))
    }
}

/// The first child of a process.
pub(crate) fn child_of(parent: i32) -> Option<Process> {
    fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .find(|pid| stat(*pid).is_some_and(|stat| stat.parent == parent))
        .and_then(Process::now)
}

struct Stat {
    state: char,
    parent: i32,
    started: u64,
}

fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name is in parentheses and may itself contain some: the fields follow the last one.
    let fields: Vec<_> = text.rsplit_once(") ")?.1.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}
