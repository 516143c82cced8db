//! Child processes with the settings of the workspace, whatever environment xtask was started in.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, IsTerminal, PipeReader, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// `program`, run in the root, without the variables that cargo or an outer build sets.
///
/// Flags in the environment would replace those of `.cargo/config.toml` and rebuild everything. `cargo run` also sets
/// `CARGO_MANIFEST_*` and `CARGO_PKG_*` for xtask. ring's build script reads them: it would rebuild ring and all crates that
/// depend on it each time `cargo test` and xtask take turns.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET"] {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")) {
            command.env_remove(name);
        }
    }
    command
}

/// A command that does the same.
pub(crate) fn copy_of(original: &Command) -> Command {
    let mut copy = Command::new(original.get_program());
    copy.args(original.get_args());
    with_surroundings_of(original, copy)
}

/// `command` with the folder and the environment of `original`.
pub(crate) fn with_surroundings_of(original: &Command, mut command: Command) -> Command {
    if let Some(folder) = original.get_current_dir() {
        command.current_dir(folder);
    }
    for (name, value) in original.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Runs the command to its end.
///
/// # Errors
/// If it can't be started or fails. The error names the command line. If the output doesn't go to a terminal, the error also has
/// its last lines: the output itself may stand thousands of lines above the error.
pub(crate) fn check(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    if stderr().is_terminal() {
        let status = command.status().with_context(|| format!("can't start {line}"))?;
        if !status.success() {
            bail!("{line}: {status}");
        }
        return Ok(());
    }
    let (reader, writer) = std::io::pipe()?;
    let mut child =
        command.stdout(writer.try_clone()?).stderr(writer).spawn().with_context(|| format!("can't start {line}"))?;
    // The command holds the pipe's other end, whose last copy has to be closed when the child ends.
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let (sender, last) = channel();
    thread::spawn(move || print_and_keep(reader, &sender));
    let status = child.wait()?;
    if status.success() {
        let _lines = printed(&last);
        return Ok(());
    }
    bail!("{line}: {status}\n{}", printed(&last).join("\n"))
}

/// Lines that an error repeats.
const KEPT: usize = 60;
/// A process that outlives its parent may keep the pipe open.
const DRAIN: Duration = Duration::from_secs(5);

/// Prints what a command prints, and then sends the last lines.
fn print_and_keep(reader: PipeReader, sender: &Sender<Vec<String>>) {
    let mut last = VecDeque::new();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let _printed = stderr().write_all(&line);
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
        line.clear();
    }
    let _sent = sender.send(last.into());
}

fn printed(last: &Receiver<Vec<String>>) -> Vec<String> {
    last.recv_timeout(DRAIN).unwrap_or_default()
}

/// The standard output of the command, or `None` if it fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Characters of a command line in an error. Some commands have a hundred files as arguments.
const LINE: usize = 200;

fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    let line = words.join(" ");
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_says_its_last_lines() {
        let mut failing = command("sh");
        failing.args(["-c", "seq 100; echo 'the reason' >&2; exit 3"]);
        let error = check(&mut failing).unwrap_err().to_string();
        assert!(error.starts_with("sh -c seq 100"), "{error}");
        if !stderr().is_terminal() {
            assert!(error.ends_with("\n99\n100\nthe reason"), "{error}");
        }
        check(&mut command("true")).unwrap();
    }

    #[test]
    fn a_long_command_line_is_cut() {
        let mut long = command("echo");
        long.args(vec!["é"; LINE]);
        assert_eq!(line(&long).chars().count(), LINE + 2);
    }
}
