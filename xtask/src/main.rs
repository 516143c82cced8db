//! The one tool of the workspace: `cargo xtask run`, `test`, `release`, `doctor`, `site`.
//!
//! [`doctor`] finds, reports and installs the tools that aren't crates.

mod ansible;
mod bench;
mod builds;
mod clean_command;
mod doctor;
mod lab;
mod playwright;
mod release;
mod released;
mod run;
mod site;
mod skipped;
mod stage;
mod test;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, runs and tests kubeonkube.")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build everything and serve the console in standalone mode; arguments after `--` go to `kubeonkube serve`.
    Run {
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run all tests, stage by stage, with the time of each.
    Test {
        /// Only these stages (see `--list`).
        #[arg(long = "stage", value_name = "NAME")]
        stages: Vec<String>,
        /// Print the stages and stop.
        #[arg(long)]
        list: bool,
    },
    /// Make one self-contained binary, target/release/kubeonkube.
    Release,
    /// List what this machine lacks, with a command that installs it.
    Doctor {
        /// Install what is missing (Debian, as root).
        #[arg(long)]
        install: bool,
    },
    /// Measure: size, pages, status, turns, memory, fanout (all, if none is named).
    Bench { names: Vec<String> },
    /// A real Kubernetes and real machines on this computer (docs/lab.md); `cargo xtask lab help` lists its commands.
    #[command(disable_help_flag = true)]
    Lab {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Build the site (wasm, script, CSS) into target/site.
    Site {
        /// Small and compressed, as a release embeds it.
        #[arg(long)]
        release: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().task {
        Task::Run { arguments } => run::run(&arguments),
        Task::Test { stages, list } => test::test(&stages, list),
        Task::Release => release::release(),
        Task::Doctor { install } => doctor::report(install),
        Task::Bench { names } => bench::bench(&names),
        Task::Lab { words } => lab::lab(&words),
        Task::Site { release } => site::build(if release { site::Kind::Release } else { site::Kind::Dev }).map(drop),
    }
}
