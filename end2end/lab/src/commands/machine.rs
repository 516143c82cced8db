//! `lab machine` and `lab network`: faults, on purpose.

use clap::Subcommand;
use lab::{Error, Lab, Machine};

#[derive(Subcommand)]
pub(crate) enum Power {
    /// Boot it and wait until it is reachable.
    Start { machine: String },
    /// Power it off in order.
    Stop {
        machine: String,
        /// Pull the plug.
        #[arg(long)]
        hard: bool,
    },
    /// Give it a new disk and boot it.
    Reset { machine: String },
}

#[derive(Subcommand)]
pub(crate) enum Cable {
    /// Pull the network cable; it stays out over reboots.
    Cut { machine: String },
    /// Put it back in.
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
        Power::Stop { machine, hard: true } => lab.machine(machine)?.pull_the_plug(),
        Power::Reset { machine } => {
            let machine = lab.expendable(machine)?;
            machine.reset()?;
            booted(&machine)
        }
    }
}

/// Waits until it is reachable, unless its cable is out.
fn booted(machine: &Machine) -> Result<(), Error> {
    if machine.is_cut_off() {
        let name = machine.name();
        eprintln!("{name} has booted; its network is cut: `cargo xtask lab network heal {name}` makes it reachable");
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
