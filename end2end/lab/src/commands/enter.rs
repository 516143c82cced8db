//! `lab shell`, `lab kubectl`, `lab ssh`: each replaces this process by a program.

use std::io::Error as IoError;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use lab::{Error, Lab};

pub(crate) fn shell(words: &[String]) -> Result<(), Error> {
    let lab = Lab::attach()?;
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let words = if words.is_empty() { std::slice::from_ref(&shell) } else { words };
    become_program(here(&lab.command(&words[0]))?.args(&words[1..]).env("LAB_KEY", lab.key()))
}

pub(crate) fn kubectl(words: &[String]) -> Result<(), Error> {
    become_program(here(&Lab::attach()?.kubectl()?)?.args(words))
}

pub(crate) fn ssh(machine: &str, words: &[String]) -> Result<(), Error> {
    become_program(here(&Lab::attach()?.machine(machine)?.ssh())?.args(words))
}

/// The same command in the current folder, so that relative paths work. `nsenter` changes to the root folder when it enters
/// the lab's mount namespace.
fn here(command: &Command) -> Result<Command, Error> {
    let folder =
        std::env::current_dir().map_err(|source| Error::Io { doing: "find the current folder".to_owned(), source })?;
    Ok(in_folder(command, &folder))
}

fn in_folder(command: &Command, folder: &Path) -> Command {
    let mut here = Command::new(command.get_program());
    let mut words = command.get_args();
    // A program that doesn't enter the lab, such as kubectl for a given cluster, runs in the current folder anyway.
    if command.get_program() == "nsenter" {
        here.args(words.by_ref().take_while(|word| *word != "--")).args(["--", "env", "--chdir"]).arg(folder);
    }
    here.args(words);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => here.env(name, value),
            None => here.env_remove(name),
        };
    }
    here
}

pub(crate) fn become_program(command: &mut Command) -> Result<(), Error> {
    let source: IoError = command.exec();
    Err(Error::Io { doing: format!("start {}", command.get_program().to_string_lossy()), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_the_lab_runs_in_the_callers_folder() {
        let mut command = Command::new("nsenter");
        command.args(["--target=1", "--net", "--", "ssh", "m1", "--", "true"]).env("KUBECONFIG", "/admin");
        let here = in_folder(&command, Path::new("/some where"));
        let words: Vec<_> = here.get_args().collect();
        assert_eq!(words, ["--target=1", "--net", "--", "env", "--chdir", "/some where", "ssh", "m1", "--", "true"]);
        assert!(here.get_envs().any(|(name, value)| name == "KUBECONFIG" && value == Some("/admin".as_ref())));
        let outside = in_folder(Command::new("kubectl").arg("get"), Path::new("/"));
        assert_eq!(
            (outside.get_program(), outside.get_args().collect::<Vec<_>>()),
            ("kubectl".as_ref(), vec!["get".as_ref()])
        );
    }
}
