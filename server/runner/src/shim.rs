//! The small process beside every run. It owns the output, waits for the end and writes it down, so that the server may die and
//! come back as it likes. It knows nothing of Kubernetes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::Mode;
use rustix::process::{setsid, umask};

use super::marked::{MARK, kill_marked};
use super::process::Identity;
use super::records::Encoder;
use super::run_dir::{Cause, Exit, RunDir, Running, Start};

/// After the command has ended: how long its killed relatives may hold the output open.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Exit code of a container that could not be started, as container runtimes have it.
const NOT_STARTED: i32 = 128;

/// Runs what `<dir>/run.json` says, once in the life of the folder. Blocks until it has ended. Fails only where not even that could be
/// written down; the reason goes to stderr.
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
    // Out of the server's session, so that what ends the server doesn't end the run. Fails where it leads a group already.
    let _ = setsid();
    umask(Mode::from_raw_mode(0o077));
    let Some(_lock) = dir.lock()? else { return Ok(()) };
    // Whoever wrote this began the run; a run is never begun twice, even if it was lost.
    if dir.running()?.is_some() || dir.exit()?.is_some() {
        return Ok(());
    }
    let start = dir.start()?.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no run.json"))?;
    let running = Running { shim: Identity::of(std::process::id())?, command: None, started_at: Timestamp::now() };
    dir.save_running(&running)?;
    let (code, cause) = match supervise(dir, &start, running.clone()) {
        Ok(status) => ended(status),
        Err(error) => {
            (NOT_STARTED, Cause::NotStarted(format!("{}: {error}", start.command.first().map_or("", String::as_str))))
        }
    };
    let exit = Exit { code, cause, started_at: Some(running.started_at), finished_at: Timestamp::now() };
    // A full disk may become free again, and without this file the run would count as lost.
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
fn supervise(dir: &RunDir, start: &Start, mut running: Running) -> io::Result<ExitStatus> {
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
        // One pipe for both: between errors and output, order is worth more than the difference.
        .stdout(into_log.try_clone()?)
        .stderr(into_log)
        .process_group(0)
        .spawn()?;
    running.command = Identity::of(child.id()).ok();
    if let Err(error) = dir.save_running(&running) {
        eprintln!("process.json can't be written: {error}");
    }
    let (done, drained) = channel();
    let limit = start.log_limit;
    let reader = thread::spawn(move || {
        copy(output, log, limit);
        drop(done);
    });
    let status = child.wait()?;
    // A container takes everything with it when its first process ends, so does this.
    kill_marked(&start.uid, Duration::from_secs(2));
    if has_ended(&drained) {
        drop(reader.join());
    } else {
        eprintln!("somebody still holds the output open; not waiting for more of it");
    }
    Ok(status)
}

fn has_ended(drained: &Receiver<()>) -> bool {
    matches!(drained.recv_timeout(LAST_WORDS), Err(RecvTimeoutError::Disconnected))
}

/// Copies output into the log until it ends. A log that can't be written must not stop the run, so the rest is read and dropped.
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
    log.write_all(records).inspect_err(|error| eprintln!("the log can't be written any more: {error}")).is_ok()
}

fn now() -> String {
    format!("{:.9}", Timestamp::now())
}

fn ended(status: ExitStatus) -> (i32, Cause) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (code, Cause::Exited),
        (None, Some(signal)) => (128 + signal, Cause::Signal(signal)),
        (None, None) => (1, Cause::Gone),
    }
}
