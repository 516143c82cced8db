//! The one tool of the workspace: `cargo xtask run`, `test`, `release`, `doctor`, `site`.
//!
//! [`doctor`] finds, reports and installs the tools that aren't crates.

mod ansible;
mod bench;
mod builds;
mod clean_command;
mod doctor;
mod images;
mod lab;
mod playwright;
mod programs;
mod release;
mod released;
mod run;
mod site;
mod skipped;
mod stage;
mod suite;
mod test;

use std::process::ExitCode;

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
    /// Run the tests, stage by stage, with the time of each. Exit codes: 1 if a test failed, 69 if only the machine is at fault.
    Test {
        /// Only these stages (see `--list`).
        #[arg(long = "stage", value_name = "NAME")]
        stages: Vec<String>,
        /// Print the stages and stop.
        #[arg(long)]
        list: bool,
        /// Also run what takes long: the pages of a release, and the lab with three control planes and an upgrade. Fuzz for a quarter of an hour.
        #[arg(long, conflicts_with = "quick")]
        full: bool,
        /// Only format, clippy, the page tests, and the tests of what differs from the upstream branch.
        #[arg(long, conflicts_with = "stages")]
        quick: bool,
    },
    /// Repeat a test beside threads that take the processors and the disk.
    Stress {
        /// A part of a Rust test's name, a browser test such as log.spec.ts:75, or a Python test such as `test_run.Stopping`.
        name: String,
        /// How often.
        #[arg(long, default_value_t = 50)]
        times: u32,
        /// The number of busy threads.
        #[arg(long, default_value_t = 6)]
        load: usize,
    },
    /// Make one self-contained binary, target/release/kubeonkube.
    Release,
    /// Make the images of the server and of operations as OCI archives in target/images, without a container engine (as root).
    Images {
        /// The registry in their names, such as registry.example.com/tools.
        #[arg(long)]
        registry: Option<String>,
        /// Build them again with freshly installed packages, and compare the digests.
        #[arg(long)]
        check: bool,
    },
    /// List what this machine lacks, with a command that installs it.
    Doctor {
        /// Install what is missing (Debian, as root).
        #[arg(long)]
        install: bool,
    },
    /// Measure: size, pages, status, turns, memory, fanout, search (all, if none is named), or engine (as root, a quarter of an hour).
    Bench { names: Vec<String> },
    /// Take the pictures of docs/images and record runs for tests: a cluster is created, grown and upgraded in the lab by a browser.
    Pictures,
    /// A real Kubernetes and real machines on this computer (docs/lab.md); `cargo xtask lab help` lists its commands.
    #[command(disable_help_flag = true)]
    Lab {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Build the site (wasm, script, CSS) into target/site, cut into pages, as the browser tests use it.
    Site {
        /// Small and compressed, as a release embeds it.
        #[arg(long)]
        release: bool,
    },
}

fn main() -> ExitCode {
    run(Cli::parse().task).unwrap_or_else(|error| {
        // No stack trace: the errors say what happened.
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(task: Task) -> anyhow::Result<ExitCode> {
    match task {
        Task::Run { arguments } => run::run(&arguments),
        Task::Test { stages, list, full, quick } => return test::test(&stages, list, full, quick),
        Task::Stress { name, times, load } => return test::stress(&name, times, load),
        Task::Release => release::release(),
        Task::Images { registry, check } => images::images(registry.as_deref(), check),
        Task::Doctor { install } => doctor::report(install),
        Task::Bench { names } => bench::bench(&names),
        Task::Pictures => lab::pictures(),
        Task::Lab { words } => lab::lab(&words),
        Task::Site { release } => site::build(if release { site::Kind::Release } else { site::Kind::Cut }).map(drop),
    }
    .map(|()| ExitCode::SUCCESS)
}
