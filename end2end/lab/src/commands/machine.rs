//! `lab machine` and `lab network`: faults, on purpose.

use clap::Subcommand;
use lab::{Error, Lab, Machine};

#[derive(Subcommand)]
pub(crate) enum Power {
    /// Boot the machine and wait until SSH answers.
    Start { machine: String },
    /// Shut the machine down.
    Stop {
        machine: String,
        /// Cut the power instead.
        #[arg(long)]
        hard: bool,
    },
    /// Give the machine a new disk and boot it.
    Reset { machine: String },
}

#[derive(Subcommand)]
pub(crate) enum Cable {
    /// Unplug the network cable. It stays unplugged over reboots.
    Cut { machine: String },
    /// Plug the network cable in again.
    Heal { machine: String },
}

pub(crate) fn power(power: &Power) -> Result<(), Error> {
    let lab = Lab::attach()?;
    match power {
        Power::Start { machine } => {
            let machine = lab.machine(machine)?;
            machine.start()?;
            booted(&machine)
        }
        Power::Stop { machine, hard: false } => lab.machine(machine)?.stop(),
        Power::Stop { machine, hard: true } => lab.machine(machine)?.cut_power(),
        Power::Reset { machine } => {
            let machine = lab.expendable(machine)?;
            machine.reset()?;
            booted(&machine)
        }
    }
}

/// Waits until the machine can be reached, unless its network is cut.
fn booted(machine: &Machine) -> Result<(), Error> {
    if machine.is_cut_off() {
        let name = machine.name();
        eprintln!(
            "{name} has booted, but its network is cut. `cargo xtask lab network heal {name}` connects it again."
        );
        return Ok(());
    }
    machine.wait_reachable()
}

pub(crate) fn cable(cable: &Cable) -> Result<(), Error> {
    let lab = Lab::attach()?;
    match cable {
        Cable::Cut { machine } => lab.machine(machine)?.cut_network(),
        Cable::Heal { machine } => lab.machine(machine)?.heal_network(),
    }
}
