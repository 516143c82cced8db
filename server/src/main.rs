//! `kubeonkube`: reads the command line and runs the command.

use std::process::ExitCode;

use clap::Parser;
use kubeonkube::cli::{Cli, Command};
use kubeonkube::config::{self, Settings};
use kubeonkube::startup::{self, shutdown};
use kubeonkube::{backup, login, telemetry};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("kubeonkube: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        None => serve(&cli.serve),
        Some(Command::Serve(args)) => serve(&args),
        Some(Command::Login(data)) => {
            println!("{}", login::link(&config::data_dir(data.data_dir.as_deref())?)?);
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Crd) => {
            print!("{}", crd::render());
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Backup { file, data }) => {
            backup::backup(&config::data_dir(data.data_dir.as_deref())?, &file)?;
            println!("Copied to {}. The copy contains keys and tokens: keep it safe.", file.display());
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::RunJob { dir }) => Ok(runner::run_job(&dir)),
    }
}

fn serve(args: &kubeonkube::cli::ServeArgs) -> anyhow::Result<ExitCode> {
    let mode = std::env::var("KUBEONKUBE_MODE").ok();
    let settings = Settings::new(args, mode.as_deref())?;
    telemetry::start(settings.log_format);
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let stop = CancellationToken::new();
        shutdown::on_signals(stop.clone())?;
        startup::serve(&settings, stop).await?;
        Ok(ExitCode::SUCCESS)
    })
}
