//! Finds and kills all processes of a run: each one inherits the run's mark in its environment.

use std::fmt::Display;
use std::fs;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use rustix::process::{Signal, pidfd_send_signal};

use super::identity::{open, stat};

/// The environment variable that marks all processes of a run, including those that left its process group. A process that overwrites
/// its environment with its title can't be found: ssh does that for connections it keeps open. The run itself ends those (deploy/runner).
pub(crate) const MARK: &str = "KUBEONKUBE_RUN";

/// How many looks in a row, 5 ms apart, may find only processes whose environment can't be read yet. Loading a program takes milliseconds,
/// but forever if its disk hangs, and on some kernels the environment stays unreadable. On a busy machine, both looks and loading take longer.
const LOADING: u32 = 400;

/// Kills all processes of a run, including those that are started meanwhile. Gives up after `patience`, because a process in an
/// uninterruptible sleep can't be killed. Skips processes whose environment we have no permission to read. Blocks.
pub(crate) fn kill_marked(run: &str, patience: Duration) {
    let mark = format!("{MARK}={run}");
    let started = Instant::now();
    let mut looks = 0;
    loop {
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let outcomes: Vec<_> = pids.map(|pid| kill_if_marked(pid, &mark)).collect();
        looks = if outcomes.contains(&Some(true)) { 0 } else { looks + 1 };
        let none_is_left = outcomes.iter().all(|outcome| *outcome == Some(false));
        if none_is_left || looks > LOADING || started.elapsed() >= patience {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills the process with this number if it belongs to the run, and returns whether it did. `None` if that is unknown.
fn kill_if_marked(pid: u32, mark: &str) -> Option<bool> {
    // Opened before the check, so that the signal can't reach another process.
    let Some(process) = open(pid) else { return Some(false) };
    Some(has_mark(pid, mark)? && pidfd_send_signal(process, Signal::KILL).is_ok())
}

/// Whether a process carries the mark. `None` if that is unknown: during execve the environment reads as empty.
fn has_mark(pid: u32, mark: &str) -> Option<bool> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Some(false) };
    let mut marked = Some(false);
    // All threads: the first one may have ended before the others. When another thread calls execve, the first one ends before that
    // thread takes over its number.
    for thread in threads.flatten() {
        let thread = format!("{pid}/task/{}", thread.file_name().display());
        match environment(&thread) {
            Ok(environment) if !environment.is_empty() => {
                return Some(environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Some(false),
            _ if stat(&thread).is_ok_and(|stat| stat.bare) => {}
            _ => marked = None,
        }
    }
    marked.or_else(|| stat(pid).is_err().then_some(false))
}

/// Reads everything in one call: if execve replaces the environment between two calls, the second one returns nothing.
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

    const KILLED_WITHIN: Duration = Duration::from_secs(120);

    /// Waits until `done`, otherwise kills the child. On a very busy machine, execve alone has taken 7 seconds.
    fn wait(child: &mut Child, what: &str, done: impl Fn(&mut Child) -> bool) {
        let started = Instant::now();
        while !done(child) {
            if started.elapsed() > KILLED_WITHIN {
                child.kill().unwrap();
                panic!("{what}");
            }
            std::thread::yield_now();
        }
    }

    /// Starts programs that call execve on themselves all the time, so that their environment is often unreadable. Repeated, to hit
    /// each moment of execve.
    fn each_is_killed(again: impl Fn() -> Command) {
        let rounds = if std::env::var_os("KUBEONKUBE_FULL").is_some() { 100 } else { 20 };
        for _ in 0..rounds {
            let run = uuid::Uuid::new_v4().to_string();
            let mark = format!("{MARK}={run}");
            let mut child = again().env(MARK, &run).stdout(Stdio::null()).spawn().unwrap();
            let pid = child.id();
            wait(&mut child, "it has not called exec yet", |_| has_mark(pid, &mark) == Some(true));
            kill_marked(&run, KILLED_WITHIN);
            wait(&mut child, "it was not killed", |child| child.try_wait().unwrap().is_some());
        }
    }

    #[test]
    fn marked_processes_are_killed() {
        let again = r#"exec "$0" -c "$1" "$0" "$1""#;
        each_is_killed(|| {
            let mut shell = Command::new("sh");
            shell.args(["-c", again, "sh", again]);
            shell
        });
    }

    /// Here the thread that calls execve isn't the first one: for a moment no thread has the process's number.
    #[test]
    fn marked_processes_with_many_threads_are_killed() {
        each_is_killed(|| {
            let mut this = Command::new(std::env::current_exe().unwrap());
            let (_crate, module) = module_path!().split_once("::").unwrap();
            this.args(["--exact", &format!("{module}::child_loads_itself_again")]);
            this
        });
    }

    /// Not a test: the program that the test above starts.
    #[test]
    fn child_loads_itself_again() {
        if std::env::var_os(MARK).is_some() {
            let error = Command::new(std::env::current_exe().unwrap()).args(std::env::args_os().skip(1)).exec();
            panic!("{error}");
        }
    }
}
