//! `cargo xtask lab …`: the lab's command line.

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask lab", about = "A real Kubernetes and real machines on this computer. See docs/lab.md.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Boot a lab: a Kubernetes and machines.
    Up(commands::up::Up),
    /// End the lab and remove everything but the built parts.
    Down {
        /// Also remove what a crashed lab has left.
        #[arg(long)]
        force: bool,
    },
    /// Show the lab, its machines and its nodes.
    Status,
    /// Open a shell inside the lab, or run the command after `--`.
    Shell {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Run kubectl as the administrator of the lab's Kubernetes.
    Kubectl {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Connect to a machine over SSH as root, for a shell or a command.
    Ssh {
        machine: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Show the log of a machine (m1) or of a systemd unit (kubelet, n2/kubelet, m1/ssh); without a name, list them.
    Logs {
        of: Option<String>,
        /// Keep printing new lines.
        #[arg(long, short)]
        follow: bool,
        /// Print only the newest lines.
        #[arg(long, short)]
        lines: Option<u32>,
    },
    /// Start, stop or reset a machine.
    #[command(subcommand)]
    Machine(commands::machine::Power),
    /// Unplug or plug in the network cable of a machine.
    #[command(subcommand)]
    Network(commands::machine::Cable),
    /// Build the named parts, or all, without booting a lab.
    Build {
        parts: Vec<String>,
        /// Remove built parts that no longer belong to this checkout.
        #[arg(long)]
        prune: bool,
    },
    /// Build the images that users get. `cargo xtask images` calls this.
    #[command(hide = true)]
    Images(commands::images::Images),
    /// Write the package versions of the Debian mirror into packages.lock of the named parts, or of all that have one.
    Pin { parts: Vec<String> },
    /// Boot a machine, again after each reboot. The lab starts this command itself.
    #[command(hide = true)]
    Supervise { machine: String },
    /// End the lab when a process ends. The lab starts this command itself.
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
    // All users may see whether a lab is running.
    if !matches!(command, Command::Status) {
        lab::requirements::root()?;
    }
    match command {
        Command::Up(up) => commands::up::up(&up),
        Command::Down { force } => commands::up::down(force),
        Command::Status => commands::inspect::status(),
        Command::Shell { command } => commands::enter::shell(&command),
        Command::Kubectl { words } => commands::enter::kubectl(&words),
        Command::Ssh { machine, command } => commands::enter::ssh(&machine, &command),
        Command::Logs { of, follow, lines } => commands::inspect::logs(of.as_deref(), follow, lines),
        Command::Machine(power) => commands::machine::power(&power),
        Command::Network(cable) => commands::machine::cable(&cable),
        Command::Build { parts, prune } => commands::build::build(&parts, prune),
        Command::Images(images) => commands::images::images(&images),
        Command::Pin { parts } => commands::build::pin(&parts),
        Command::Supervise { machine } => {
            lab::machine::supervisor::supervise(&lab::Layout::of_this_checkout(), &machine)
        }
        Command::Guard { process } => lab::guard::guard(&lab::Layout::of_this_checkout(), process),
    }
}
