//! The network cable of a machine.

use crate::error::Error;
use crate::machine::description::Power;
use crate::machine::power::once_on;
use crate::machine::{Machine, supervisor};
use crate::{files, program, wait};

impl Machine {
    /// Unplugs the network cable. It stays unplugged over reboots, until [`Self::heal_network`].
    pub fn cut_network(&self) -> Result<(), Error> {
        files::write(&self.folder.cut(), 0o644, "")?;
        self.set_port("down")
    }

    /// Plugs the network cable in again.
    pub fn heal_network(&self) -> Result<(), Error> {
        files::remove(&self.folder.cut())?;
        self.set_port("up")
    }

    /// Whether its network is cut.
    pub fn is_cut_off(&self) -> bool {
        self.folder.cut().exists()
    }

    /// Sets the machine's port on the bridge up or down. If the machine is off, its next boot reads the file and sets the
    /// port. If it is booting, it may have read the file before the change: wait until it is on.
    fn set_port(&self, state: &str) -> Result<(), Error> {
        let set =
            || program::run(self.inside.command("ip").args(["link", "set", &supervisor::port(self.name()), state]));
        match once_on(self.name(), wait::PATIENCE, || self.power(), set)? {
            Power::Orphaned => set().map_err(|_| self.orphaned()),
            _ => Ok(()),
        }
    }
}
