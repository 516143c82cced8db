//! The small process beside every run. It starts the command, writes its output to the log, waits for its end, and records the exit code,
//! so that the run doesn't need the server. It knows nothing about Kubernetes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::Mode;
use rustix::process::{setsid, umask};

use crate::logs::Encoder;
use crate::processes::{Identity, MARK, kill_marked};
use crate::run_dir::{Cause, Exit, RunDir, Running, Start};

/// After the command has ended: how long killed processes of the run may keep the output open.
const DRAIN: Duration = Duration::from_secs(5);
/// The exit code that container runtimes report for a container that could not be started.
const NOT_STARTED: i32 = 128;

/// Runs the command of `<dir>/run.json`, at most once for each folder. Blocks until the command has ended. Fails only if its end can't
/// be recorded, and then writes the reason to stderr.
pub fn run_job(dir: &Path) -> ExitCode {
    match run(&RunDir::at(dir)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kubeonkube run-job: {}: {error}", dir.display());
            ExitCode::FAILURE
        }
    }
}

fn run(dir: &RunDir) -> io::Result<()> {
    // Leave the server's session, so that a signal to the server's group doesn't end the run. Fails if we lead a group already.
    let _ = setsid();
    umask(Mode::from_raw_mode(0o077));
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
    // Retry: a full disk may get free space again, and without this file the run would be reported as lost.
    for _ in 0..600 {
        match dir.save_exit(&exit) {
            Ok(()) => return Ok(()),
            Err(error) => eprintln!("exit.json can't be written: {error}"),
        }
        thread::sleep(Duration::from_secs(1));
    }
    dir.save_exit(&exit)
}

/// Starts the command and waits until it and its output have ended.
fn run_command(dir: &RunDir, start: &Start, mut running: Running) -> io::Result<ExitStatus> {
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(dir.log())?;
    let (output, into_log) = io::pipe()?;
    let (program, arguments) = start.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(start.env.iter().map(|(name, value)| (name, value)))
        .env(MARK, &start.uid)
        .current_dir(&start.directory)
        .stdin(Stdio::null())
        // One pipe for both: the order of lines matters more than which stream they came from.
        .stdout(into_log.try_clone()?)
        .stderr(into_log)
        .process_group(0)
        .spawn()?;
    running.command = Identity::of(child.id()).ok();
    if let Err(error) = dir.save_running(&running) {
        eprintln!("process.json can't be written: {error}");
    }
    let (done, drained) = channel::<()>();
    let limit = start.log_limit;
    let reader = thread::spawn(move || {
        copy(output, log, limit);
        drop(done);
    });
    let status = child.wait()?;
    // When the first process of a container ends, the container runtime kills all others. So do we.
    kill_marked(&start.uid, Duration::from_secs(2));
    if drained.recv_timeout(DRAIN) == Err(RecvTimeoutError::Disconnected) {
        drop(reader.join());
    } else {
        eprintln!("a process still holds the output open; the rest of it is not logged");
    }
    Ok(status)
}

/// Copies output into the log until it ends. If the log can't be written, the rest is read and dropped, so that the command never blocks
/// on a full pipe.
fn copy(mut output: impl Read, mut log: File, limit: u64) {
    let written = log.metadata().map_or(0, |metadata| metadata.len());
    let mut encoder = Encoder::new(written, limit);
    let mut buffer = vec![0; 64 * 1024];
    let mut writable = true;
    loop {
        let read = match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let records = encoder.encode(&now(), &buffer[..read]);
        writable = writable && write(&mut log, &records);
    }
    if writable {
        write(&mut log, &encoder.finish(&now()));
    }
    drop(log.sync_all());
}

fn write(log: &mut File, records: &[u8]) -> bool {
    log.write_all(records).inspect_err(|error| eprintln!("the log can't be written: {error}")).is_ok()
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
