//! Runs other programs. An error contains the command line and the last lines of output.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use crate::error::{Doing, Error};

/// Runs a program to its end and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, Error> {
    let line = line(command);
    let done = command.stdin(Stdio::null()).output().doing(|| format!("start `{line}`"))?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    Err(Error::Program { program: line, how: done.status.to_string(), output: said + &errors })
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    output(command).map(drop)
}

/// Runs `work` for all items at once, each in a thread. Returns the results in the order of the items, or the first error in
/// this order.
pub(crate) fn for_each_at_once<T: Sync, R: Send>(
    all: &[T],
    work: impl Fn(&T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    thread::scope(|scope| {
        let threads: Vec<_> = all.iter().map(|item| scope.spawn(|| work(item))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Whether a program is on the PATH.
pub(crate) fn is_installed(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// The lab's command line program, which also runs as supervisor and guard. If this process is a test program, it is looked
/// up where cargo builds it.
pub(crate) fn of_the_lab() -> Result<PathBuf, Error> {
    let this = std::env::current_exe().doing(|| "find this program's file".to_owned())?;
    let name = "kubeonkube-lab";
    if this.file_name().is_some_and(|file| file == name) {
        return Ok(this);
    }
    // target/debug/deps/test-… and target/debug/kubeonkube-lab
    this.ancestors().skip(1).take(2).map(|folder| folder.join(name)).find(|file| file.is_file()).ok_or_else(|| {
        Error::Requirements(vec!["the lab's program is not built: cargo build -p kubeonkube-lab".to_owned()])
    })
}

fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
