//! What can be done to a machine from outside: its power, its disk, its network, and commands over SSH.

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
        disk, supervisor,
    },
    program, wait,
};

/// systemd's signal for an orderly power-off of a container: SIGRTMIN+4 (systemd(1)).
const POWER_OFF: &str = "38";
/// How long an orderly power-off may take before the plug is pulled.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a boot may take, until sshd answers.
const BOOT: Duration = Duration::from_secs(60);

/// A handle on one machine of the running lab.
#[derive(Debug, Clone)]
pub struct Machine {
    layout: Layout,
    inside: Inside,
    folder: Folder,
    description: Description,
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

    /// What its supervisor last wrote.
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

    /// Boots it. Returns when its supervisor has started; [`Self::wait_reachable`] waits for sshd.
    pub fn start(&self) -> Result<(), Error> {
        if self.is_on() {
            return Err(Error::AlreadySo { name: self.name().into(), state: "on" });
        }
        let boots = self.boots();
        let program = program::of_the_lab()?;
        program::run(
            self.inside
                .command("setsid")
                .args(["--fork", "sh", "-c", "exec \"$@\" >>\"$LAB_LOG\" 2>&1 </dev/null", "sh"])
                .arg(program)
                .args(["supervise", self.name()])
                .env("LAB_LOG", self.folder.supervisor_log())
                .env("KUBEONKUBE_LAB_DIR", &self.layout.folder),
        )?;
        let off = wait::until(&format!("the boot of {}", self.name()), BOOT, || match self.folder.state() {
            Ok(state) if state.boots == boots => Err("its supervisor has not started".to_owned()),
            Ok(State { power: Power::On, .. }) => Ok(None),
            // Its supervisor has given up.
            Ok(State { power: Power::Off, reason, .. }) => Ok(Some(reason)),
            Ok(_) => Err("it is booting".to_owned()),
            Err(error) => Err(error.to_string()),
        })?;
        off.map_or(Ok(()), |why| Err(Error::NotBooted { name: self.name().into(), why }))
    }

    /// Powers it off in order, as its power button would; after 30 s the plug is pulled.
    pub fn stop(&self) -> Result<(), Error> {
        self.require_on()?;
        self.signal(POWER_OFF)?;
        if self.wait_off(PATIENCE).is_err() {
            self.pull_the_plug()?;
        }
        Ok(())
    }

    /// Ends it without a word, as a power cut would.
    pub fn pull_the_plug(&self) -> Result<(), Error> {
        self.require_on()?;
        self.signal("KILL")?;
        self.wait_off(PATIENCE)
    }

    /// A new disk: whatever was done to the machine is gone. It keeps its name, address and host key, and boots.
    pub fn reset(&self) -> Result<(), Error> {
        if self.is_on() {
            self.pull_the_plug()?;
        }
        // The disk is mounted inside the lab only, and can't be removed while it is.
        let root = self.folder.root();
        if program::run(self.inside.command("mountpoint").arg("--quiet").arg(&root)).is_ok() {
            program::run(self.inside.command("umount").arg(&root))?;
        }
        files::remove(&self.folder.disk())?;
        self.folder.forget_state()?;
        disk::personalise(&self.description, &self.folder, &self.layout.keys())?;
        self.start()
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

    fn set_port(&self, state: &str) -> Result<(), Error> {
        if !self.is_on() {
            return Ok(());
        }
        program::run(self.inside.command("ip").args(["link", "set", &supervisor::port(self.name()), state]))
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

    /// Waits until it has booted `boots` times since its disk is new, and is reachable.
    pub fn wait_booted(&self, boots: u32) -> Result<(), Error> {
        wait::until(&format!("boot {boots} of {}", self.name()), BOOT, || match self.folder.state() {
            Ok(State { power: Power::On, boots: now, .. }) if now >= boots => Ok(()),
            Ok(state) => Err(format!("it is {:?} since boot {} {}", state.power, state.boots, state.reason)),
            Err(error) => Err(error.to_string()),
        })?;
        self.wait_reachable()
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

    /// How often it has booted since its disk is new.
    fn boots(&self) -> u32 {
        self.folder.state().map_or(0, |state| state.boots)
    }

    fn is_on(&self) -> bool {
        self.folder.state().is_ok_and(|state| state.power != Power::Off)
    }

    fn require_on(&self) -> Result<(), Error> {
        if self.is_on() { Ok(()) } else { Err(Error::AlreadySo { name: self.name().into(), state: "off" }) }
    }

    fn signal(&self, signal: &str) -> Result<(), Error> {
        let mut runc = self.inside.command(&self.description.runc.to_string_lossy());
        program::run(runc.arg("--root").arg(self.layout.runc_state()).args(["kill", self.name(), signal]))
    }

    fn wait_off(&self, patience: Duration) -> Result<(), Error> {
        wait::until(&format!("{} to be off", self.name()), patience, || match self.folder.state() {
            Ok(State { power: Power::Off, .. }) => Ok(()),
            Ok(state) => Err(format!("it is {:?}", state.power)),
            Err(error) => Err(error.to_string()),
        })
    }
}
