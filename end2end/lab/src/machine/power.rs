//! A machine's power and disk, from outside. Whatever it is doing, it is told as soon as it listens: one that boots or
//! reboots is waited for, with a deadline.

use std::time::{Duration, Instant};

use crate::{
    error::Error,
    files,
    machine::{
        Machine,
        control::BOOT,
        description::{Power, State},
        disk,
    },
    program, wait,
};

/// systemd's signal for an orderly power-off of a container: SIGRTMIN+4 (systemd(1)).
const POWER_OFF: &str = "38";
/// How long an orderly power-off may take before the plug is pulled.
const PATIENCE: Duration = Duration::from_secs(30);
/// A signal is sent again after this: systemd doesn't listen from its first moment on, nor does one that is rebooting.
const AGAIN: Duration = Duration::from_secs(1);

impl Machine {
    /// Boots it. Returns when its supervisor has started; [`Self::wait_reachable`] waits for sshd.
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
        let off = wait::until(&format!("the boot of {}", self.name()), BOOT, || match self.folder.state() {
            Ok(state) if state.boots == boots => Err(format!("its supervisor has not started ({})", log.display())),
            Ok(State { power: Power::On, .. }) => Ok(None),
            // Its supervisor has given up, or was killed.
            Ok(State { power: Power::Off | Power::Orphaned, reason, .. }) => Ok(Some(reason)),
            Ok(State { power: Power::Booting, .. }) => Err("it is booting".to_owned()),
            Err(error) => Err(error.to_string()),
        })?;
        off.map_or(Ok(()), |why| Err(Error::NotBooted { name: self.name().into(), why }))
    }

    /// Powers it off in order, as its power button would; after 30 s the plug is pulled.
    pub fn stop(&self) -> Result<(), Error> {
        match self.power() {
            Power::Off => return Err(self.is_already("off")),
            Power::Orphaned => return Err(self.orphaned()),
            Power::On | Power::Booting => {}
        }
        match self.end_by(POWER_OFF, PATIENCE) {
            Err(Error::Late { .. }) => self.end_by("KILL", BOOT),
            ended => ended,
        }
    }

    /// Ends it without a word, as a power cut would; also one whose supervisor has ended.
    pub fn pull_the_plug(&self) -> Result<(), Error> {
        match self.power() {
            Power::Off => Err(self.is_already("off")),
            Power::Orphaned => self.end_orphan(),
            Power::On | Power::Booting => self.end_by("KILL", BOOT),
        }
    }

    /// A new disk: whatever was done to the machine is gone. It keeps its name, address and host key, and boots.
    pub fn reset(&self) -> Result<(), Error> {
        match self.pull_the_plug() {
            Ok(()) | Err(Error::AlreadySo { .. }) => {}
            Err(error) => return Err(error),
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

    /// Waits until it has booted `boots` times since its disk is new, and is reachable.
    pub fn wait_booted(&self, boots: u32) -> Result<(), Error> {
        wait::until(&format!("boot {boots} of {}", self.name()), BOOT, || match self.folder.state() {
            Ok(State { power: Power::On, boots: now, .. }) if now >= boots => Ok(()),
            Ok(state) => Err(format!("it is {:?} since boot {} {}", state.power, state.boots, state.reason)),
            Err(error) => Err(error.to_string()),
        })?;
        self.wait_reachable()
    }

    /// What it is doing; one without a state has never booted.
    pub(super) fn power(&self) -> Power {
        self.folder.state().map_or(Power::Off, |state| state.power)
    }

    /// Why it can't be commanded.
    pub(super) fn orphaned(&self) -> Error {
        Error::Orphaned { name: self.name().into(), log: self.folder.supervisor_log() }
    }

    /// How often it has booted since its disk is new.
    fn boots(&self) -> u32 {
        self.folder.state().map_or(0, |state| state.boots)
    }

    fn is_already(&self, state: &'static str) -> Error {
        Error::AlreadySo { name: self.name().into(), state }
    }

    fn end_by(&self, signal: &str, patience: Duration) -> Result<(), Error> {
        let signal = || self.runc(&["kill", self.name(), signal]);
        match until_off(self.name(), patience, AGAIN, || self.power(), signal)? {
            Power::Orphaned => Err(self.orphaned()),
            _ => Ok(()),
        }
    }

    /// Ends what runs without a supervisor, and says so in its stead.
    fn end_orphan(&self) -> Result<(), Error> {
        let boots = self.boots();
        self.runc(&["delete", "--force", self.name()])?;
        let reason = "the plug was pulled after its supervisor had ended".to_owned();
        self.folder.tell(&State { power: Power::Off, boots, pid: None, reason })
    }

    fn runc(&self, words: &[&str]) -> Result<(), Error> {
        let mut runc = self.inside.command(&self.description.runc.to_string_lossy());
        program::run(runc.arg("--root").arg(self.layout.runc_state()).args(words))
    }
}

/// Does something to a machine that is on; one that boots is waited for, and one that is just rebooting, to which nothing
/// can be done. Gives its power: nothing was done if that is not on.
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

/// Sends a machine a signal, again and again, until it is off, or orphaned.
fn until_off(
    name: &str,
    patience: Duration,
    again: Duration,
    power: impl Fn() -> Power,
    signal: impl Fn() -> Result<(), Error>,
) -> Result<Power, Error> {
    let mut told: Option<Instant> = None;
    wait::until(&format!("{name} to be off"), patience, || match power() {
        Power::Booting => Err("it is booting".to_owned()),
        Power::On => {
            if told.is_none_or(|at| at.elapsed() >= again) {
                // One that is rebooting has no process to be told.
                signal().map_err(|error| error.to_string())?;
                told = Some(Instant::now());
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

    const LONG: Duration = Duration::from_secs(20);

    /// A machine that goes through these, and stays at the last.
    fn going_through(all: &[Power]) -> impl Fn() -> Power {
        let left = RefCell::new(all.to_vec());
        move || if left.borrow().len() > 1 { left.borrow_mut().remove(0) } else { left.borrow()[0] }
    }

    fn no_process() -> Error {
        Error::Program { program: "runc kill".into(), how: "1".into(), output: "container not running".into() }
    }

    #[test]
    fn a_machine_that_reboots_is_told_again_until_it_is_off() {
        let told = Cell::new(0);
        // The first time it has no process, the second time nobody listens.
        let signal = || {
            told.set(told.get() + 1);
            if told.get() == 1 { Err(no_process()) } else { Ok(()) }
        };
        let boots = going_through(&[Power::On, Power::Booting, Power::On]);
        let power = || if told.get() < 3 { boots() } else { Power::Off };
        assert_eq!(until_off("m1", LONG, Duration::ZERO, power, signal).unwrap(), Power::Off);
        assert_eq!(told.get(), 3);
    }

    #[test]
    fn a_machine_that_does_not_go_off_is_told_so_with_the_last_reason() {
        let late = until_off("m1", Duration::ZERO, AGAIN, || Power::On, || Err(no_process()));
        assert!(late.unwrap_err().to_string().contains("container not running"));
        let orphan = until_off("m1", LONG, AGAIN, || Power::Orphaned, || Err(no_process()));
        assert_eq!(orphan.unwrap(), Power::Orphaned);
    }

    #[test]
    fn nothing_is_done_to_a_machine_before_it_is_on() {
        let done = Cell::new(0);
        let power = going_through(&[Power::On, Power::Booting, Power::Booting, Power::On]);
        // Its port is gone while it reboots.
        let act = || {
            done.set(done.get() + 1);
            if done.get() == 1 { Err(no_process()) } else { Ok(()) }
        };
        assert_eq!(once_on("m1", LONG, power, act).unwrap(), Power::On);
        assert_eq!(done.get(), 2);
        for settled in [Power::Off, Power::Orphaned] {
            assert_eq!(once_on("m1", LONG, || settled, || Err(no_process())).unwrap(), settled);
        }
    }
}
