//! The small process beside every run. It starts the command, writes its output to the log, waits for its end, and records the exit code,
//! so that the run doesn't need the server. It knows nothing about Kubernetes.
//!
//! If the disk is full, it waits until there is room: the command then waits, too, once the pipe of its output is full. So the log stays
//! complete, and a run that succeeds while the disk is full has succeeded.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use disk::complain;
use jiff::Timestamp;
use rustix::fs::Mode;
use rustix::process::{DumpableBehavior, set_dumpable_behavior, setsid, umask};

use crate::logs::Encoder;
use crate::processes::{Identity, MARK, kill_marked};
use crate::run_dir::{Cause, Exit, RunDir, Running, Start};

/// After the command has ended: how long killed processes of the run may keep the output open.
const DRAIN: Duration = Duration::from_secs(5);
/// How often a write is tried again that failed because the disk is full.
const AGAIN: Duration = Duration::from_millis(500);
/// The exit code that container runtimes report for a container that could not be started.
const NOT_STARTED: i32 = 128;

/// Runs the command of `<dir>/run.json`, at most once for each folder. Blocks until the command has ended. Fails only if its end can't
/// be recorded, and then writes the reason to stderr.
pub fn run_job(dir: &Path) -> ExitCode {
    match run(&RunDir::at(dir)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("kubeonkube run-job: {}: {error}", dir.display()));
            ExitCode::FAILURE
        }
    }
}

fn run(dir: &RunDir) -> io::Result<()> {
    // Leave the server's session, so that a signal to the server's group doesn't end the run. Fails if we lead a group already.
    let _ = setsid();
    umask(Mode::from_raw_mode(0o077));
    // The command runs as the same user and must not take over this process with ptrace.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let Some(_lock) = dir.lock()? else { return Ok(()) };
    // A shim that recorded itself has started the command. A run never starts twice, even if that shim was killed.
    if dir.running()?.is_some() || dir.exit()?.is_some() {
        return Ok(());
    }
    let start = dir.start()?.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "run.json not found"))?;
    let running = Running { shim: Identity::of(std::process::id())?, command: None, started_at: Timestamp::now() };
    dir.save_running(&running)?;
    let (code, cause) = match run_command(dir, &start, running.clone()) {
        Ok(status) => code_and_cause(status),
        Err(error) => {
            (NOT_STARTED, Cause::NotStarted(format!("{}: {error}", start.command.first().map_or("", String::as_str))))
        }
    };
    let exit = Exit::now(code, cause, Some(running.started_at));
    // Without this file the run would be reported as lost. So it is tried for as long as the folder exists.
    until_written("exit.json", || dir.save_exit(&exit))
}

/// Repeats a write until it succeeds. Gives up only if the folder is gone.
fn until_written(what: &str, write: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match write() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                complain(format_args!("{what} can't be written; trying again: {error}"));
                thread::sleep(AGAIN);
            }
            outcome => return outcome,
        }
    }
}

/// Repeats what fails because the disk is full.
fn when_there_is_room<T>(attempt: impl Fn() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if disk::is_full(&error) => thread::sleep(AGAIN),
            outcome => return outcome,
        }
    }
}

/// Starts the command and waits until it and its output have ended.
fn run_command(dir: &RunDir, start: &Start, mut running: Running) -> io::Result<ExitStatus> {
    let log = when_there_is_room(|| OpenOptions::new().create(true).append(true).mode(0o600).open(dir.log()))?;
    let (output, into_log) = io::pipe()?;
    let (program, arguments) = start.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(start.env.iter().map(|(name, value)| (name, value)))
        .env(MARK, &start.uid)
        .current_dir(&start.directory)
        .stdin(Stdio::null())
        // One pipe for both: the order of lines matters more than which stream they came from.
        .stdout(into_log.try_clone()?)
        .stderr(into_log)
        .process_group(0);
    let mut child = match &start.confinement {
        // Only the thread that starts the command is confined: this process writes the records of the run.
        Some(confinement) => thread::scope(|scope| {
            let confined = scope.spawn(|| confinement.apply().and_then(|()| command.spawn()));
            confined.join().unwrap_or_else(|_| Err(io::Error::other("the thread that isolates the run panicked")))
        }),
        None => command.spawn(),
    }?;
    // It holds the writing end of the output.
    drop(command);
    running.command = Identity::of(child.id()).ok();
    let recording = record(dir.clone(), running);
    let (done, drained) = channel::<()>();
    let full = Arc::new(AtomicBool::new(false));
    let log = Log { file: log, full: full.clone(), broken: false };
    let limit = start.log_limit;
    let reader = thread::spawn(move || {
        copy(output, log, limit);
        drop(done);
    });
    let status = child.wait()?;
    // When the first process of a container ends, the container runtime kills all others. So do we.
    kill_marked(&start.uid, Duration::from_secs(2));
    loop {
        match drained.recv_timeout(DRAIN) {
            // All output is read, but the log waits for room.
            Err(RecvTimeoutError::Timeout) if full.load(Ordering::Relaxed) => {}
            Err(RecvTimeoutError::Timeout) => {
                complain("a process still holds the output open; the rest of it is not logged");
                break;
            }
            _ => {
                drop(reader.join());
                break;
            }
        }
    }
    recording.store(false, Ordering::Relaxed);
    Ok(status)
}

/// Records the command's process, which the server needs to stop it. Returns the switch that ends further attempts.
fn record(dir: RunDir, running: Running) -> Arc<AtomicBool> {
    let needed = Arc::new(AtomicBool::new(true));
    if let Err(error) = dir.save_running(&running) {
        complain(format_args!("process.json can't be written; trying again: {error}"));
        let needed = needed.clone();
        thread::spawn(move || {
            while needed.load(Ordering::Relaxed) && dir.save_running(&running).is_err() {
                thread::sleep(AGAIN);
            }
        });
    }
    needed
}

/// Copies output into the log until it ends.
fn copy(mut output: impl Read, mut log: Log, limit: u64) {
    let written = log.file.metadata().map_or(0, |metadata| metadata.len());
    let mut encoder = Encoder::new(written, limit);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        log.write(&encoder.encode(&now(), &buffer[..read]));
    }
    log.write(&encoder.finish(&now()));
    drop(log.file.sync_all());
}

/// The log of the run.
struct Log {
    file: File,
    /// Set while a write waits for room.
    full: Arc<AtomicBool>,
    /// It can't be written, and that won't change.
    broken: bool,
}

impl Log {
    /// Waits while the disk is full. After any other error, this and all further records are dropped, so that the command never blocks
    /// on a full pipe.
    fn write(&mut self, mut records: &[u8]) {
        while !records.is_empty() && !self.broken {
            match self.file.write(records) {
                Ok(written) => records = &records[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if disk::is_full(&error) => {
                    self.full.store(true, Ordering::Relaxed);
                    thread::sleep(AGAIN);
                }
                Err(error) => {
                    complain(format_args!("the log can't be written: {error}"));
                    self.broken = true;
                }
            }
        }
        self.full.store(false, Ordering::Relaxed);
    }
}

fn now() -> String {
    format!("{:.9}", Timestamp::now())
}

fn code_and_cause(status: ExitStatus) -> (i32, Cause) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (code, Cause::Exited),
        (None, Some(signal)) => (128 + signal, Cause::Signal(signal)),
        (None, None) => (1, Cause::Gone),
    }
}
