//! The lab's own mount, network and process namespaces, held by one process. Everything of the lab lives in them, so
//! that its end is theirs: when the holder ends, the kernel ends every process, mount and interface.

use std::{
    fs,
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
    /// Makes them, with `pause` as process 1. A failure leaves nothing.
    pub(crate) fn make(pause: &Path) -> Result<Self, Error> {
        let mut child = Command::new("setsid")
            .args(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"])
            .args(["--propagation", "private"])
            .arg(pause)
            .current_dir("/")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .doing(|| "start `unshare`".to_owned())?;
        let made = Self::held_by(child.id().cast_signed(), pause);
        if made.is_err() {
            // It may have ended already.
            let _gone = child.kill().and_then(|()| child.wait());
        }
        made
    }

    fn held_by(pid: i32, pause: &Path) -> Result<Self, Error> {
        let inside = wait::until("the lab's namespaces", Duration::from_secs(5), || {
            let child = child_of(pid).ok_or("`unshare` has made no process")?;
            let runs = fs::read_link(format!("/proc/{}/exe", child.pid)).map_err(|error| error.to_string())?;
            if runs == pause { Ok(child) } else { Err(format!("process {} still is {}", child.pid, runs.display())) }
        })?;
        let outside = Process::now(pid)
            .ok_or_else(|| Error::Malformed { file: "/proc".into(), why: "`unshare` ended at once".into() })?;
        let namespaces = Self { outside, inside };
        namespaces.make_bridge()?;
        Ok(namespaces)
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
