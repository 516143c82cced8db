//! `cargo xtask lab …`: the lab's command line.

mod commands;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "cargo xtask lab",
    about = "A real Kubernetes and real machines on this computer. docs/lab.md tells more."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Boot a lab: a Kubernetes of its own, and machines.
    Up(commands::up::Up),
    /// End the lab; nothing of it stays but what was built.
    Down {
        /// Also clear what a crashed lab has left.
        #[arg(long)]
        force: bool,
    },
    /// Say what runs.
    Status,
    /// A shell inside the lab, or a command given after `--`.
    Shell {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// kubectl, as the administrator of the lab's Kubernetes.
    Kubectl {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// SSH to a machine as root; a command may follow.
    Ssh {
        machine: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// What a machine or a part of Kubernetes says: a machine (m1), or a unit of a node (kubelet, n2/kubelet).
    Logs {
        of: Option<String>,
        /// Go on as more is said.
        #[arg(long, short)]
        follow: bool,
    },
    /// Power and disk of one machine.
    #[command(subcommand)]
    Machine(commands::machine::Power),
    /// The network cable of one machine.
    #[command(subcommand)]
    Network(commands::machine::Cable),
    /// Build the parts (all, if none is named), without booting anything.
    Build {
        parts: Vec<String>,
        /// Remove built parts that no longer belong to this checkout.
        #[arg(long)]
        prune: bool,
    },
    /// Take over what the Debian mirror has now, into packages.lock of these parts (all that have one, if none is named).
    Pin { parts: Vec<String> },
    /// Keeps one machine; started by the lab itself.
    #[command(hide = true)]
    Supervise { machine: String },
    /// Ends the lab when a process ends; started by the lab itself.
    #[command(hide = true)]
    Guard { process: i32 },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            error.exit_code().into()
        }
    }
}

fn run(command: Command) -> Result<(), lab::Error> {
    // What runs is told to everyone, as far as they may see it.
    if !matches!(command, Command::Status) {
        lab::requirements::root()?;
    }
    match command {
        Command::Up(up) => commands::up::up(&up),
        Command::Down { force } => commands::up::down(force),
        Command::Status => commands::look::status(),
        Command::Shell { command } => commands::enter::shell(&command),
        Command::Kubectl { words } => commands::enter::kubectl(&words),
        Command::Ssh { machine, command } => commands::enter::ssh(&machine, &command),
        Command::Logs { of, follow } => commands::look::logs(of.as_deref(), follow),
        Command::Machine(power) => commands::machine::power(&power),
        Command::Network(cable) => commands::machine::cable(&cable),
        Command::Build { parts, prune } => commands::build::build(&parts, prune),
        Command::Pin { parts } => commands::build::pin(&parts),
        Command::Supervise { machine } => {
            lab::machine::supervisor::supervise(&lab::Layout::of_this_checkout(), &machine)
        }
        Command::Guard { process } => lab::guard::guard(&lab::Layout::of_this_checkout(), process),
    }
}
