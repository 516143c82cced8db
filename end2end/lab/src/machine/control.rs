//! The handle to a machine: its state, its logs, and commands over SSH.

use std::fs::File;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::error::{Doing, Error};
use crate::inside::Inside;
use crate::layout::Layout;
use crate::machine::description::{Description, Folder, State};
use crate::machine::disk;
use crate::{keys, program, wait};

/// A handle on one machine of the running lab.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(super) layout: Layout,
    pub(super) inside: Inside,
    pub(super) folder: Folder,
    pub(super) description: Description,
}

impl Machine {
    pub(crate) fn find(layout: &Layout, inside: Inside, name: &str) -> Result<Self, Error> {
        let folder = Folder::of(layout, name);
        let description = folder.description()?;
        Ok(Self { layout: layout.clone(), inside, folder, description })
    }

    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Its address in the lab's network.
    pub fn address(&self) -> IpAddr {
        self.description.address.into()
    }

    /// The SSH private key for root on the machine.
    pub fn key(&self) -> PathBuf {
        keys::own(&self.layout.keys())
    }

    /// The state that its supervisor last wrote, or [`Power::Orphaned`](super::Power::Orphaned) if the supervisor was killed.
    pub fn state(&self) -> Result<State, Error> {
        self.folder.state()
    }

    /// The file with systemd's console output of all boots.
    pub fn console(&self) -> PathBuf {
        self.folder.console()
    }

    /// `journalctl` for the machine's journal; add arguments to select entries. It also works if the machine is off or can't be
    /// reached. `None` before the first boot: then there is only [`Self::console`].
    pub fn journal(&self) -> Option<Command> {
        let logs = disk::on_disk(&self.folder.disk(), "/var/log");
        if !logs.join("journal").is_dir() {
            return None;
        }
        let script = "mount --bind \"$1\" \"$2/var/log\"\nmount --bind /proc \"$2/proc\"\nroot=$2\nshift 2\nexec chroot \"$root\" journalctl --no-pager \"$@\"";
        let mut command = self.inside.command("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-ec", script, "sh"])
            .arg(logs)
            .arg(self.folder.root());
        Some(command)
    }

    /// Waits until its sshd answers, at most two minutes.
    pub fn wait_reachable(&self) -> Result<(), Error> {
        wait::until(&format!("sshd of {}", self.name()), wait::PATIENCE, || {
            let banner = self.inside.first_words(SocketAddr::new(self.address(), 22), Duration::from_secs(10))?;
            if banner.starts_with("SSH-") { Ok(()) } else { Err(format!("its answer is {banner:?}")) }
        })
    }

    /// `ssh` to the machine as root, with a check of its host key. Add a command, or nothing for a shell.
    pub fn ssh(&self) -> Command {
        let mut command = self.inside.command("ssh");
        command.args(self.ssh_arguments());
        command
    }

    fn ssh_arguments(&self) -> Vec<String> {
        let known_hosts = keys::known_hosts(&self.layout.keys());
        let options = [
            &format!("UserKnownHostsFile={}", known_hosts.display()),
            "StrictHostKeyChecking=yes",
            "IdentitiesOnly=yes",
            "LogLevel=ERROR",
            // Includes the handshake, which takes seconds on a busy computer.
            "ConnectTimeout=30",
            // End the connection after 15 s without an answer, for example after a power cut.
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
        ];
        let mut words: Vec<_> = options.iter().map(|option| format!("-o{option}")).collect();
        words.extend(["-i".to_owned(), self.key().display().to_string(), format!("root@{}", self.address())]);
        words
    }

    /// Runs a shell command on the machine and returns its output. There is no time limit while the machine can be reached.
    pub fn run(&self, script: &str) -> Result<String, Error> {
        program::output(self.ssh().arg("--").arg(script))
    }

    /// Like [`Self::run`], but ends the command after `limit`. For checks of [`wait::until`], which must end even if the
    /// machine hangs.
    pub fn run_within(&self, script: &str, limit: Duration) -> Result<String, Error> {
        let mut command = self.inside.command("timeout");
        command.args(["--kill-after=1", &limit.as_secs_f64().to_string(), "ssh"]);
        program::output(command.args(self.ssh_arguments()).arg("--").arg(script))
    }

    /// Copies a file of this computer to a path on the machine and makes it executable.
    pub fn put(&self, file: &Path, to: &str) -> Result<(), Error> {
        let content = File::open(file).doing(|| format!("open {}", file.display()))?;
        let line = format!("cat > {to} && chmod 0755 {to}");
        let status = self.ssh().arg("--").arg(line).stdin(content).status().doing(|| "start `ssh`".to_owned())?;
        if status.success() {
            return Ok(());
        }
        let program = format!("copy {} to {}:{to}", file.display(), self.name());
        Err(Error::Program { program, how: status.to_string(), output: String::new() })
    }
}
