//! The lab's mount, network and process namespaces. Everything in the lab is in them. When their first process ends, the
//! kernel ends every process, mount and interface of the lab.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::addresses::{BRIDGE, BRIDGE_NAME};
use crate::error::{Doing, Error};
use crate::process::{Process, child_of};
use crate::{program, wait};

/// The namespaces, identified by the processes that hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Namespaces {
    /// `unshare`, which runs outside. When it ends, the namespaces end (`--kill-child`).
    outside: Process,
    /// Process 1 inside.
    inside: Process,
}

impl Namespaces {
    /// Makes the namespaces, with `pause` as process 1. `record` writes them down for other processes before process 1
    /// becomes permanent. So nothing remains if this fails, or if this process is killed before `record` has returned.
    pub(crate) fn make(pause: &Path, record: impl FnOnce(Self) -> Result<(), Error>) -> Result<Self, Error> {
        let mut child = Command::new("setsid")
            .args(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"])
            .args(["--propagation", "private", "sh", "-c", "read -r go && exec \"$0\" </dev/null"])
            .arg(pause)
            .current_dir("/")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .doing(|| "start `unshare`".to_owned())?;
        // Process 1 waits for a line on this pipe. It ends if the pipe is closed before.
        let go = child.stdin.take();
        let made = Self::held_by(child.id().cast_signed()).and_then(|made| {
            record(made)?;
            if let Some(mut go) = go {
                go.write_all(b"go\n").doing(|| "start the lab's first process".to_owned())?;
            }
            made.wait_for(pause)?;
            made.make_bridge()?;
            Ok(made)
        });
        if made.is_err() {
            // Fails if the process has ended already.
            let _gone = child.kill().and_then(|()| child.wait());
        }
        made
    }

    fn held_by(pid: i32) -> Result<Self, Error> {
        let ended = || Error::Malformed { file: "/proc".into(), why: "`unshare` ended at once".into() };
        let outside = Process::now(pid).ok_or_else(ended)?;
        let inside = wait::until("the lab's namespaces", wait::PATIENCE, || match child_of(pid) {
            None if outside.is_alive() => Err("`unshare` has made no process".to_owned()),
            found => Ok(found),
        })?;
        Ok(Self { outside, inside: inside.ok_or_else(ended)? })
    }

    fn wait_for(self, pause: &Path) -> Result<(), Error> {
        let program = Path::new("/proc").join(self.inside.pid.to_string()).join("exe");
        let runs = wait::until("the lab's first process", wait::PATIENCE, || match fs::read_link(&program) {
            Ok(found) if found == pause => Ok(true),
            found if self.are_alive() => Err(format!("it is still {found:?}")),
            _ => Ok(false),
        })?;
        if runs { Ok(()) } else { Err(Error::Malformed { file: program, why: "the process ended at once".into() }) }
    }

    fn make_bridge(self) -> Result<(), Error> {
        let script = format!(
            "ip link set lo up\n\
             ip link add {BRIDGE_NAME} type bridge\n\
             ip address add {BRIDGE}/24 dev {BRIDGE_NAME}\n\
             ip link set {BRIDGE_NAME} up\n\
             echo 1 > /proc/sys/net/ipv4/ip_forward"
        );
        program::run(self.command("sh").args(["-ec", &script]))
    }

    /// A program inside the namespaces, in the root folder, with the caller's environment.
    pub(crate) fn command(self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&format!("--target={}", self.inside.pid), "--mount", "--net", "--pid", "--"]);
        // The program is a child of `nsenter`, because only a new process can be in another process namespace. Without this
        // signal, a caller that kills its command would kill only `nsenter`.
        command.args(["setpriv", "--pdeathsig", "KILL", program]);
        command
    }

    pub(crate) fn network(self) -> std::path::PathBuf {
        self.inside.namespace("net")
    }

    pub(crate) fn are_alive(self) -> bool {
        self.inside.is_alive()
    }

    /// Ends everything in the namespaces. Process 1 ends after all others. It may stay as a zombie: that depends on the
    /// computer's process 1, which becomes its parent, and a zombie holds no mount, interface or cgroup.
    pub(crate) fn end(self) -> Result<(), Error> {
        self.inside.kill();
        self.outside.kill();
        wait::until("the end of the lab's processes", wait::PATIENCE, || {
            if self.are_alive() { Err(format!("process {} has not ended", self.inside.pid)) } else { Ok(()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_does_not_keep_a_lab_alive() {
        let mut held = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let process = Process::now(held.id().cast_signed()).unwrap();
        let namespaces = Namespaces { outside: process, inside: process };
        assert!(namespaces.are_alive());
        // The process is a zombie until the last line.
        namespaces.end().unwrap();
        assert!(!namespaces.are_alive());
        held.wait().unwrap();
    }
}
