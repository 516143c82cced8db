//! The second step of a worker: waits until the shim has ended, and stops or kills the run when the pod is deleted.

use std::io;
use std::time::Duration;

use jiff::Timestamp;
use rustix::process::Signal;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep, sleep_until};

use super::status::Stage;
use super::worker::{Node, Setback, Worker};
use crate::events::Report;
use crate::pod::{container_name, deadline, phase};
use crate::processes::kill_marked;
use crate::run_dir::{Cause, Exit, Running};

/// How long a shim may take to record its own process.
const SHIM_START: Duration = Duration::from_secs(30);
/// How often that record is read while a run is being started.
const POLL: Duration = Duration::from_millis(5);
/// After the grace period: how long killed processes may take to end.
const KILLED: Duration = Duration::from_secs(5);

impl Node {
    /// Returns when neither the shim nor the command runs any more. Then there is an `exit.json`.
    pub(super) async fn supervise(&self, worker: &mut Worker) -> Result<(), Setback> {
        worker.wait_for_shim().await?;
        let Some(running) = worker.dir.running()? else { return Ok(()) };
        let mut end = std::pin::pin!(shim_end(&running)?);
        // A run that has ended already is not reported as running.
        if !worker.dir.has_exit() && phase(&worker.pod) != "Running" {
            self.write_status(worker, &Stage::Running { since: running.started_at }).await?;
        }
        let mut kill_at: Option<Instant> = None;
        let mut asked = false;
        loop {
            if let Some(deadline) = deadline(&worker.pod) {
                if !asked {
                    asked = true;
                    self.ask_to_stop(worker).await?;
                }
                kill_at = kill_at.or_else(|| Some(instant(deadline)));
            }
            tokio::select! {
                outcome = &mut end => {
                    outcome?;
                    break;
                }
                () = worker.changed() => {
                    worker.refresh()?;
                    // A second deletion may shorten the grace period.
                    kill_at = kill_at.zip(deadline(&worker.pod)).map(|(at, deadline)| at.min(instant(deadline)));
                }
                () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                    worker.kill().await;
                    kill_at = Some(Instant::now() + KILLED);
                }
            }
        }
        worker.reap();
        if !worker.dir.has_exit() {
            worker.kill().await;
            worker.dir.save_exit(&Exit::now(137, Cause::Gone, Some(running.started_at)))?;
        }
        Ok(())
    }

    async fn ask_to_stop(&self, worker: &Worker) -> Result<(), Setback> {
        if let Some(command) = worker.dir.running()?.and_then(|running| running.command)
            && command.signal(Signal::TERM)
        {
            let note = format!("Stopping container {}", container_name(&worker.pod));
            self.reports.publish(&*worker.pod, &Report::normal("Killing", note)).await;
        }
        Ok(())
    }
}

impl Worker {
    /// Returns when the shim has recorded the command, or has ended.
    pub(super) async fn wait_for_shim(&mut self) -> Result<(), Setback> {
        let started = Instant::now();
        loop {
            let running = self.dir.running()?;
            let alive = running.as_ref().is_some_and(|running| running.shim.is_alive());
            // On a full disk the shim records itself, but perhaps not the command. It keeps trying.
            let late = started.elapsed() > SHIM_START;
            let is_settled = |running: &Running| running.command.is_some() || !alive || late;
            if running.as_ref().is_some_and(is_settled) || self.dir.has_exit() {
                return Ok(());
            }
            let starting = self.shim.as_mut().is_some_and(|shim| matches!(shim.try_wait(), Ok(None)));
            // Our shim has exited without a record. It does that if another shim holds the run, which is then waited for. The lock
            // is tried only while no shim of ours is about to take it.
            if !starting
                && !matches!(self.dir.lock(), Ok(None))
                && self.dir.running()?.is_none()
                && !self.dir.has_exit()
            {
                self.shim = None;
                let errors = std::fs::read_to_string(self.dir.shim_errors()).unwrap_or_default();
                return Err(Setback::Shim(self.dir.path().display().to_string(), errors.trim().to_owned()));
            }
            if late && running.is_none() {
                let why = format!("it has not started within {} seconds", SHIM_START.as_secs());
                return Err(Setback::Shim(self.dir.path().display().to_string(), why));
            }
            sleep(POLL).await;
        }
    }

    /// Kills all processes of the run except the shim, which then records the exit.
    pub(super) async fn kill(&self) {
        let uid = self.uid.clone();
        drop(tokio::task::spawn_blocking(move || kill_marked(&uid, KILLED)).await);
    }
}

/// Resolves when the shim has ended.
fn shim_end(running: &Running) -> io::Result<impl Future<Output = io::Result<()>> + use<>> {
    #[expect(
        deprecated,
        reason = "the replacement is unsafe, as it accepts types that close their descriptor early; OwnedFd doesn't"
    )]
    let descriptor = running.shim.open().map(|open| AsyncFd::with_interest(open, Interest::READABLE)).transpose()?;
    Ok(async move {
        match descriptor {
            // A pidfd becomes readable when its process ends.
            Some(descriptor) => descriptor.readable().await.map(drop),
            None => Ok(()),
        }
    })
}

fn instant(at: Timestamp) -> Instant {
    let left = Timestamp::now().duration_until(at);
    Instant::now() + Duration::try_from(left).unwrap_or(Duration::ZERO)
}
