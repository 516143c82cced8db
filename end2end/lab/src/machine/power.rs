//! Starts, stops and resets machines. A machine that is booting or rebooting can't be controlled: to stop or reset it,
//! these functions first wait until it is on, with a deadline.

use std::time::{Duration, Instant};

use crate::error::Error;
use crate::machine::description::{Power, State};
use crate::machine::{Machine, disk};
use crate::{files, program, wait};

/// The signal that makes systemd in a container power off: SIGRTMIN+4 (systemd(1)).
const POWER_OFF: &str = "38";
/// A signal is sent again after this time: systemd ignores signals just after its start and during a reboot.
const AGAIN: Duration = Duration::from_secs(1);

impl Machine {
    /// Boots the machine. Returns when systemd is running. [`Self::wait_reachable`] waits for sshd.
    pub fn start(&self) -> Result<(), Error> {
        match self.power() {
            Power::Off => {}
            Power::On => return Err(self.is_already("on")),
            Power::Booting => return Err(self.is_already("booting")),
            Power::Orphaned => return Err(self.orphaned()),
        }
        let boots = self.boots();
        let (program, log) = (program::of_the_lab()?, self.folder.supervisor_log());
        program::run(
            self.inside
                .command("setsid")
                .args(["--fork", "sh", "-c", "exec \"$@\" >>\"$LAB_LOG\" 2>&1 </dev/null", "sh"])
                .arg(program)
                .args(["supervise", self.name()])
                .env("LAB_LOG", &log)
                .env("KUBEONKUBE_LAB_DIR", &self.layout.folder),
        )?;
        let off = wait::until(&format!("the boot of {}", self.name()), wait::PATIENCE, || match self.folder.state() {
            Ok(state) if state.boots == boots => Err(format!("its supervisor has not started ({})", log.display())),
            Ok(State { power: Power::On, .. }) => Ok(None),
            // The boot failed, or the supervisor was killed.
            Ok(State { power: Power::Off | Power::Orphaned, reason, .. }) => Ok(Some(reason)),
            Ok(State { power: Power::Booting, .. }) => Err("it is booting".to_owned()),
            Err(error) => Err(error.to_string()),
        })?;
        off.map_or(Ok(()), |why| Err(Error::NotBooted { name: self.name().into(), why }))
    }

    /// Shuts the machine down, as its power button would. Cuts the power if that takes more than two minutes.
    pub fn stop(&self) -> Result<(), Error> {
        match self.power() {
            Power::Off => return Err(self.is_already("off")),
            Power::Orphaned => return Err(self.orphaned()),
            Power::On | Power::Booting => {}
        }
        match self.end_by(POWER_OFF) {
            Err(Error::Late { .. }) => self.end_by("KILL"),
            ended => ended,
        }
    }

    /// Kills the machine, as a power cut would. Also ends the processes of an orphaned machine.
    pub fn cut_power(&self) -> Result<(), Error> {
        match self.power() {
            Power::Off => Err(self.is_already("off")),
            Power::Orphaned => self.end_orphan(),
            Power::On | Power::Booting => self.end_by("KILL"),
        }
    }

    /// Gives the machine a new disk and boots it. It keeps its name, address and host key.
    pub fn reset(&self) -> Result<(), Error> {
        match self.cut_power() {
            Ok(()) | Err(Error::AlreadySo { .. }) => {}
            Err(error) => return Err(error),
        }
        // The disk can't be removed while it is mounted, and it is only mounted inside the lab.
        let root = self.folder.root();
        if program::run(self.inside.command("mountpoint").arg("--quiet").arg(&root)).is_ok() {
            program::run(self.inside.command("umount").arg(&root))?;
        }
        files::remove(&self.folder.disk())?;
        self.folder.remove_state()?;
        disk::personalise(&self.description, &self.folder, &self.layout.keys())?;
        self.start()
    }

    /// Waits until the machine has booted `boots` times with its current disk and can be reached.
    pub fn wait_booted(&self, boots: u32) -> Result<(), Error> {
        wait::until(&format!("boot {boots} of {}", self.name()), wait::PATIENCE, || match self.folder.state() {
            Ok(State { power: Power::On, boots: now, .. }) if now >= boots => Ok(()),
            Ok(state) => Err(format!("it is {:?}, at boot {} {}", state.power, state.boots, state.reason)),
            Err(error) => Err(error.to_string()),
        })?;
        self.wait_reachable()
    }

    /// Whether it is running. A machine without a state file has never booted.
    pub(super) fn power(&self) -> Power {
        self.folder.state().map_or(Power::Off, |state| state.power)
    }

    /// The error for a machine without a supervisor.
    pub(super) fn orphaned(&self) -> Error {
        Error::Orphaned { name: self.name().into(), log: self.folder.supervisor_log() }
    }

    /// The number of boots with its current disk.
    fn boots(&self) -> u32 {
        self.folder.state().map_or(0, |state| state.boots)
    }

    fn is_already(&self, state: &'static str) -> Error {
        Error::AlreadySo { name: self.name().into(), state }
    }

    fn end_by(&self, signal: &str) -> Result<(), Error> {
        let signal = || self.runc(&["kill", self.name(), signal]);
        match until_off(self.name(), wait::PATIENCE, AGAIN, || self.power(), signal)? {
            Power::Orphaned => Err(self.orphaned()),
            _ => Ok(()),
        }
    }

    /// Ends the processes of an orphaned machine, and writes its state instead of the supervisor.
    fn end_orphan(&self) -> Result<(), Error> {
        let boots = self.boots();
        self.runc(&["delete", "--force", self.name()])?;
        let reason = "the power was cut after its supervisor had ended".to_owned();
        self.folder.write_state(&State { power: Power::Off, boots, pid: None, reason })
    }

    fn runc(&self, words: &[&str]) -> Result<(), Error> {
        let mut runc = self.inside.command(&self.description.runc.to_string_lossy());
        program::run(runc.arg("--root").arg(self.layout.runc_state()).args(words))
    }
}

/// Waits until the machine is on, then calls `act`. Repeats `act` if it fails, because the machine may be rebooting. Returns
/// without calling `act` if the machine is off or orphaned.
pub(super) fn once_on(
    name: &str,
    patience: Duration,
    power: impl Fn() -> Power,
    act: impl Fn() -> Result<(), Error>,
) -> Result<Power, Error> {
    wait::until(&format!("{name} to be on"), patience, || match power() {
        Power::Booting => Err("it is booting".to_owned()),
        Power::On => act().map(|()| Power::On).map_err(|error| error.to_string()),
        settled => Ok(settled),
    })
}

/// Sends a signal to a machine repeatedly until it is off or orphaned.
fn until_off(
    name: &str,
    patience: Duration,
    again: Duration,
    power: impl Fn() -> Power,
    signal: impl Fn() -> Result<(), Error>,
) -> Result<Power, Error> {
    let mut sent: Option<Instant> = None;
    wait::until(&format!("{name} to be off"), patience, || match power() {
        Power::Booting => Err("it is booting".to_owned()),
        Power::On => {
            if sent.is_none_or(|at| at.elapsed() >= again) {
                // This fails while the machine reboots: then it has no process.
                signal().map_err(|error| error.to_string())?;
                sent = Some(Instant::now());
            }
            Err("it is on".to_owned())
        }
        settled => Ok(settled),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A machine that has these states in turn and stays in the last one.
    fn going_through(all: &[Power]) -> impl Fn() -> Power {
        let left = RefCell::new(all.to_vec());
        move || if left.borrow().len() > 1 { left.borrow_mut().remove(0) } else { left.borrow()[0] }
    }

    fn no_process() -> Error {
        Error::Program { program: "runc kill".into(), how: "1".into(), output: "container not running".into() }
    }

    #[test]
    fn a_rebooting_machine_gets_the_signal_until_it_is_off() {
        let sent = Cell::new(0);
        // The first signal finds no process, the second one is ignored.
        let signal = || {
            sent.set(sent.get() + 1);
            if sent.get() == 1 { Err(no_process()) } else { Ok(()) }
        };
        let boots = going_through(&[Power::On, Power::Booting, Power::On]);
        let power = || if sent.get() < 3 { boots() } else { Power::Off };
        assert_eq!(until_off("m1", wait::PATIENCE, Duration::ZERO, power, signal).unwrap(), Power::Off);
        assert_eq!(sent.get(), 3);
    }

    #[test]
    fn the_error_of_a_failed_stop_contains_the_last_reason() {
        let late = until_off("m1", Duration::ZERO, AGAIN, || Power::On, || Err(no_process()));
        assert!(late.unwrap_err().to_string().contains("container not running"));
        let orphan = until_off("m1", wait::PATIENCE, AGAIN, || Power::Orphaned, || Err(no_process()));
        assert_eq!(orphan.unwrap(), Power::Orphaned);
    }

    #[test]
    fn an_action_waits_until_the_machine_is_on() {
        let done = Cell::new(0);
        let power = going_through(&[Power::On, Power::Booting, Power::Booting, Power::On]);
        // The first action fails, as if the machine were rebooting and its port were gone.
        let act = || {
            done.set(done.get() + 1);
            if done.get() == 1 { Err(no_process()) } else { Ok(()) }
        };
        assert_eq!(once_on("m1", wait::PATIENCE, power, act).unwrap(), Power::On);
        assert_eq!(done.get(), 2);
        for settled in [Power::Off, Power::Orphaned] {
            assert_eq!(once_on("m1", wait::PATIENCE, || settled, || Err(no_process())).unwrap(), settled);
        }
    }
}
