//! `lab shell`, `lab kubectl`, `lab ssh`: this process becomes the program.

use std::{io::Error as IoError, os::unix::process::CommandExt, process::Command};

use lab::{Error, Lab};

pub(crate) fn shell(words: &[String]) -> Result<(), Error> {
    let lab = Lab::attach()?;
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let words = if words.is_empty() { std::slice::from_ref(&shell) } else { words };
    let folder = std::env::current_dir().unwrap_or_else(|_| "/".into());
    become_program(
        lab.command("sh").args(["-c", "cd \"$0\" && exec \"$@\""]).arg(folder).args(words).env("LAB_KEY", lab.key()),
    )
}

pub(crate) fn kubectl(words: &[String]) -> Result<(), Error> {
    become_program(Lab::attach()?.kubectl()?.args(words))
}

pub(crate) fn ssh(machine: &str, words: &[String]) -> Result<(), Error> {
    become_program(Lab::attach()?.machine(machine)?.ssh().args(words))
}

pub(crate) fn become_program(command: &mut Command) -> Result<(), Error> {
    let source: IoError = command.exec();
    Err(Error::Io { doing: format!("start {}", command.get_program().to_string_lossy()), source })
}
