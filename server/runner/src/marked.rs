//! The processes of a run, wherever they went: each carries the run's mark in its environment.

use std::fmt::Display;
use std::fs;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use rustix::process::{Signal, pidfd_send_signal};

use super::process::{open, stat};

/// By this variable in their environment all processes of a run are known, also those that left its process group. Not one that
/// wrote its title over its environment, as ssh does for connections it keeps; the run itself ends those (deploy/runner).
pub(crate) const MARK: &str = "KUBEONKUBE_RUN";

/// How long to go on only because of processes that can't be told: to load a program takes milliseconds, but may take for ever
/// where its disk hangs, and some kernels never tell.
const LOADING: Duration = Duration::from_secs(2);

/// Kills what is left of a run, including what is started meanwhile. Gives up after `patience`: a process in an
/// uninterruptible sleep can't be helped. Those that we may not look at are left alone. Blocks.
pub(crate) fn kill_marked(run: &str, patience: Duration) {
    let mark = format!("{MARK}={run}");
    let begun = Instant::now();
    let mut last_seen = begun;
    loop {
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let told: Vec<_> = pids.map(|pid| kill_if_marked(pid, &mark)).collect();
        if told.contains(&Some(true)) {
            last_seen = Instant::now();
        } else if !told.contains(&None) || last_seen.elapsed() > LOADING {
            return;
        }
        if begun.elapsed() >= patience {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether there was one of the run under this number; None where that can't be told.
fn kill_if_marked(pid: u32, mark: &str) -> Option<bool> {
    // Opened before it is judged: the signal can't reach another one.
    let Some(process) = open(pid) else { return Some(false) };
    Some(has_mark(pid, mark)? && pidfd_send_signal(process, Signal::KILL).is_ok())
}

/// Whether a process carries the mark; None while that can't be told: in the middle of execve the environment reads as empty.
fn has_mark(pid: u32, mark: &str) -> Option<bool> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Some(false) };
    let mut told = Some(false);
    // All of them: the first may have ended before the others, and ends before another one that calls execve takes its number.
    for thread in threads.flatten() {
        let thread = format!("{pid}/task/{}", thread.file_name().display());
        match environment(&thread) {
            Ok(environment) if !environment.is_empty() => {
                return Some(environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Some(false),
            _ if stat(&thread).is_ok_and(|stat| stat.bare) => {}
            _ => told = None,
        }
    }
    told.or_else(|| stat(pid).is_err().then_some(false))
}

/// Read at once: of what execve replaces between two readings, the second has nothing.
fn environment(process: impl Display) -> io::Result<Vec<u8>> {
    let mut environment = vec![0; 64 * 1024];
    loop {
        let read = fs::File::open(format!("/proc/{process}/environ"))?.read(&mut environment)?;
        if read < environment.len() {
            environment.truncate(read);
            return Ok(environment);
        }
        environment.resize(2 * environment.len(), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// Leaves no child behind that is not `done`. On a machine that is very busy, execve itself was seen to take 7 seconds.
    fn wait(child: &mut Child, what: &str, done: impl Fn(&mut Child) -> bool) {
        let begun = Instant::now();
        while !done(child) {
            if begun.elapsed() > 6 * PATIENCE {
                child.kill().unwrap();
                panic!("{what}");
            }
            std::thread::yield_now();
        }
    }

    /// Starts what loads itself again all the time, and so has now and then no environment to know it by; often enough to meet
    /// each moment of it.
    fn each_is_killed(again: impl Fn() -> Command) {
        for _ in 0..100 {
            let run = uuid::Uuid::new_v4().to_string();
            let mark = format!("{MARK}={run}");
            let mut child = again().env(MARK, &run).stdout(Stdio::null()).spawn().unwrap();
            let pid = child.id();
            wait(&mut child, "it is still a copy of this program", |_| has_mark(pid, &mark) == Some(true));
            kill_marked(&run, PATIENCE);
            wait(&mut child, "it was not found", |child| child.try_wait().unwrap().is_some());
        }
    }

    #[test]
    fn processes_are_found_by_their_mark_and_killed() {
        let again = r#"exec "$0" -c "$1" "$0" "$1""#;
        each_is_killed(|| {
            let mut shell = Command::new("sh");
            shell.args(["-c", again, "sh", again]);
            shell
        });
    }

    /// The one that calls execve isn't the first thread: for a moment there is none under the process's number.
    #[test]
    fn processes_of_many_threads_are_found_by_their_mark_and_killed() {
        each_is_killed(|| {
            let mut this = Command::new(std::env::current_exe().unwrap());
            let (_crate, module) = module_path!().split_once("::").unwrap();
            this.args(["--exact", &format!("{module}::child_loads_itself_again")]);
            this
        });
    }

    #[test]
    fn child_loads_itself_again() {
        if std::env::var_os(MARK).is_some() {
            let error = Command::new(std::env::current_exe().unwrap()).args(std::env::args_os().skip(1)).exec();
            panic!("{error}");
        }
    }
}
