//! `kubeonkube`: reads the command line and runs the command.

use std::fmt::Display;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use kubeonkube::cli::{Cli, Command};
use kubeonkube::config::{self, Settings, Surroundings};
use kubeonkube::startup::{self, shutdown};
use kubeonkube::{air_gapped, doctor, login, panics, state, telemetry};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio_util::sync::CancellationToken;

/// The stack of each thread, in bytes. A debug build needs about 22 KiB for each of the 128 levels of a YAML document, which is more than the
/// usual 2 MiB. Only what is used takes memory.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            disk::complain(format_args!("kubeonkube: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        None => serve(&cli.serve),
        Some(Command::Serve(args)) => serve(&args),
        Some(Command::Login(data)) => {
            printed(format_args!("{}\n", login::link(&config::data_dir(data.data_dir.as_deref())?)?))
        }
        Some(Command::Crd) => printed(crd::render()),
        Some(Command::Doctor) => {
            let (text, complete) = doctor::report();
            printed(text)?;
            Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Some(Command::Artifacts(args)) => {
            let to = args.to.clone();
            let request = air_gapped::request(args)?;
            artifacts::write(&request, &to, &|line| drop(disk::print(format_args!("{line}\n"))))?;
            let to = to.display();
            printed(format_args!("{to} is complete. Serve it, and set files_repo to its URL (docs/air-gapped.md).\n"))
        }
        Some(Command::Backup { file, data }) => {
            state::backup(&config::data_dir(data.data_dir.as_deref())?, &file)?;
            printed(format_args!("Copied to {}. The copy contains keys and tokens: keep it safe.\n", file.display()))
        }
        Some(Command::Restore { file, data }) => {
            let restored = state::restore(&config::data_dir(data.data_dir.as_deref())?, &file)?;
            let mut text = format!("Restored {}.\n", file.display());
            if let Some(replaced) = restored.replaced {
                text += &format!("The database that it replaces is kept as {}.\n", replaced.display());
            }
            if !restored.running.is_empty() {
                let names = restored.running.join(", ");
                text += &format!(
                    "These operations were running when the backup was made. The server continues them: {names}\n"
                );
            }
            if !restored.queued.is_empty() {
                let names = restored.queued.join(", ");
                text += &format!(
                    "These operations were queued when the backup was made, and may have run or been deleted since. They are not \
                     started; run them again if they are still needed: {names}\n"
                );
            }
            printed(text)
        }
        Some(Command::RunJob { dir, descriptors }) => {
            if let Some(limit) = descriptors {
                connections::descriptors::restore(limit);
            }
            Ok(runner::run_job(&dir))
        }
    }
}

/// Prints the result of a command. Fails if it can't be written, for example into a file on a full disk.
fn printed(text: impl Display) -> anyhow::Result<ExitCode> {
    disk::print(text).context("can't write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

fn serve(args: &kubeonkube::cli::ServeArgs) -> anyhow::Result<ExitCode> {
    let settings = Settings::new(args, &Surroundings::of_this_process())?;
    telemetry::start(settings.log_format);
    panics::watch();
    // Other processes of this user, such as runs that aren't isolated, must not read keys from our memory or environment.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build()?.block_on(async {
        let stop = CancellationToken::new();
        shutdown::on_signals(stop.clone())?;
        startup::serve(&settings, stop).await?;
        Ok(ExitCode::SUCCESS)
    })
}
