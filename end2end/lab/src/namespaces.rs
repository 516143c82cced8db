//! The lab's own mount, network and process namespaces, held by one process. Everything of the lab lives in them, so
//! that its end is theirs: when the holder ends, the kernel ends every process, mount and interface.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    addresses::{BRIDGE, BRIDGE_NAME},
    error::{Doing, Error},
    process::{Process, child_of},
    program, wait,
};

/// The namespaces, by the processes that hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Namespaces {
    /// `unshare`, outside: its end is the end of all (`--kill-child`).
    outside: Process,
    /// Process 1 inside.
    inside: Process,
}

impl Namespaces {
    /// Makes them, with `pause` as process 1. They are told before they are there for good: a failure leaves nothing, and
    /// neither does the end of this process before somebody knows of them.
    pub(crate) fn make(pause: &Path, tell: impl FnOnce(Self) -> Result<(), Error>) -> Result<Self, Error> {
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
        // Process 1 ends when this is closed before it was told to go on.
        let go = child.stdin.take();
        let made = Self::held_by(child.id().cast_signed()).and_then(|made| {
            tell(made)?;
            if let Some(mut go) = go {
                go.write_all(b"go\n").doing(|| "start the lab's first process".to_owned())?;
            }
            made.wait_for(pause)?;
            made.make_bridge()?;
            Ok(made)
        });
        if made.is_err() {
            // It may have ended already.
            let _gone = child.kill().and_then(|()| child.wait());
        }
        made
    }

    fn held_by(pid: i32) -> Result<Self, Error> {
        let inside = wait::until("the lab's namespaces", Duration::from_secs(5), || {
            child_of(pid).ok_or("`unshare` has made no process".to_owned())
        })?;
        let outside = Process::now(pid)
            .ok_or_else(|| Error::Malformed { file: "/proc".into(), why: "`unshare` ended at once".into() })?;
        Ok(Self { outside, inside })
    }

    fn wait_for(self, pause: &Path) -> Result<(), Error> {
        wait::until("the lab's first process", Duration::from_secs(5), || {
            let runs = fs::read_link(format!("/proc/{}/exe", self.inside.pid)).map_err(|error| error.to_string())?;
            if runs == pause { Ok(()) } else { Err(format!("it still is {}", runs.display())) }
        })
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

    /// A program inside, in the root folder, with the environment of the caller.
    pub(crate) fn command(self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&format!("--target={}", self.inside.pid), "--mount", "--net", "--pid", "--", program]);
        command
    }

    pub(crate) fn network(self) -> std::path::PathBuf {
        self.inside.namespace("net")
    }

    pub(crate) fn are_alive(self) -> bool {
        self.inside.is_alive()
    }

    /// Ends everything inside.
    pub(crate) fn end(self) -> Result<(), Error> {
        self.inside.kill();
        self.outside.kill();
        wait::until("the end of the lab's processes", Duration::from_secs(20), || {
            if self.inside.is_gone() { Ok(()) } else { Err(format!("process {} is still there", self.inside.pid)) }
        })
    }
}
