//! What can be done to a machine from outside: its network, and commands over SSH. Its power and disk: [`super::power`].

use std::{
    fs::File,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{
    error::{Doing, Error},
    files,
    inside::Inside,
    keys,
    layout::Layout,
    machine::{
        container,
        description::{Description, Folder, Power, State},
        power, supervisor,
    },
    program, wait,
};

/// How long a boot may take, until sshd answers.
pub(super) const BOOT: Duration = Duration::from_secs(60);

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

    /// The private key that opens it as root.
    pub fn key(&self) -> PathBuf {
        keys::own(&self.layout.keys())
    }

    /// What its supervisor last wrote, or that it has none any more.
    pub fn state(&self) -> Result<State, Error> {
        self.folder.state()
    }

    /// What systemd printed, over all boots.
    pub fn console(&self) -> PathBuf {
        self.folder.console()
    }

    /// `journalctl` of it, whether it is on or off, reachable or not; add what it shall select. None before its first boot:
    /// then there is only its console.
    pub fn journal(&self) -> Option<Command> {
        let logs = container::on_disk(&self.folder.disk(), "/var/log");
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

    /// Takes its cable out. It stays out over reboots, until [`Self::heal_network`].
    pub fn cut_network(&self) -> Result<(), Error> {
        files::write(&self.folder.cut(), 0o644, "")?;
        self.set_port("down")
    }

    /// Puts its cable back in.
    pub fn heal_network(&self) -> Result<(), Error> {
        files::remove(&self.folder.cut())?;
        self.set_port("up")
    }

    /// Sets its end of the bridge as the file says: a machine that is off finds the file at its next boot, one that boots or
    /// reboots may have looked at it before, and is waited for.
    fn set_port(&self, state: &str) -> Result<(), Error> {
        let set =
            || program::run(self.inside.command("ip").args(["link", "set", &supervisor::port(self.name()), state]));
        match power::once_on(self.name(), BOOT, || self.power(), set)? {
            Power::Orphaned => set().map_err(|_| self.orphaned()),
            _ => Ok(()),
        }
    }

    /// Whether its network is cut.
    pub fn is_cut_off(&self) -> bool {
        self.folder.cut().exists()
    }

    /// Waits until its sshd answers: at most a minute.
    pub fn wait_reachable(&self) -> Result<(), Error> {
        wait::until(&format!("sshd of {}", self.name()), BOOT, || {
            let banner = self.inside.first_words(SocketAddr::new(self.address(), 22), Duration::from_secs(2))?;
            if banner.starts_with("SSH-") { Ok(()) } else { Err(format!("it says {banner:?}")) }
        })
    }

    /// `ssh` to it as root, its host key checked; add the command, or nothing for a shell.
    pub fn ssh(&self) -> Command {
        let mut command = self.inside.command("ssh");
        command.args(self.ssh_words());
        command
    }

    fn ssh_words(&self) -> Vec<String> {
        let known_hosts = keys::known_hosts(&self.layout.keys());
        let options = [
            &format!("UserKnownHostsFile={}", known_hosts.display()),
            "StrictHostKeyChecking=yes",
            "IdentitiesOnly=yes",
            "LogLevel=ERROR",
            "ConnectTimeout=5",
            // A cut cable or a pulled plug ends what runs, too.
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
        ];
        let mut words: Vec<_> = options.iter().map(|option| format!("-o{option}")).collect();
        words.extend(["-i".to_owned(), self.key().display().to_string(), format!("root@{}", self.address())]);
        words
    }

    /// Runs a shell line on it and gives what it printed. It may take as long as the machine can be reached.
    pub fn run(&self, line: &str) -> Result<String, Error> {
        program::output(self.ssh().arg("--").arg(line))
    }

    /// The same for a look of [`wait::until`]: a line that doesn't end in time, or a machine that hangs, is given up.
    pub fn run_within(&self, line: &str, limit: Duration) -> Result<String, Error> {
        let mut command = self.inside.command("timeout");
        command.args(["--kill-after=1", &limit.as_secs_f64().to_string(), "ssh"]);
        program::output(command.args(self.ssh_words()).arg("--").arg(line))
    }

    /// Copies a program or file of this computer to a path on it.
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
