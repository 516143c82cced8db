//! Watches over a run that has been begun, until nobody runs it any more: the shim's record, a deletion, a kill, the end.

use std::io;
use std::time::Duration;

use jiff::Timestamp;
use rustix::process::Signal;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep, sleep_until};

use super::life::{Life, Node, Setback};
use super::marked::kill_marked;
use super::pod_status::{Stage, deadline, phase};
use super::reports::Report;
use super::run_dir::{Cause, Exit, Running};

/// How long a shim may take to record that it is there.
const SHIM_START: Duration = Duration::from_secs(30);
/// How often that record is looked for; only while a run is being started.
const LOOK: Duration = Duration::from_millis(5);
/// After the grace period: how long what was killed may take to be gone.
const KILLED: Duration = Duration::from_secs(5);

impl Node {
    /// Until nobody runs it any more: then there is an exit.json.
    pub(super) async fn watch_over(&self, life: &mut Life) -> Result<(), Setback> {
        life.wait_for_shim().await?;
        let Some(running) = life.dir.running()? else { return Ok(()) };
        let mut end = std::pin::pin!(ended(&running)?);
        // What has ended meanwhile is not said to run.
        if !life.dir.has_exit() && phase(&life.pod) != "Running" {
            self.report(life, Stage::Running { since: running.started_at }).await?;
        }
        let mut kill_at: Option<Instant> = None;
        let mut asked = false;
        loop {
            if let Some(deadline) = deadline(&life.pod) {
                if !asked {
                    asked = true;
                    self.stop(life).await?;
                }
                kill_at = kill_at.or_else(|| Some(instant(deadline)));
            }
            tokio::select! {
                outcome = &mut end => {
                    outcome?;
                    break;
                }
                () = life.changed() => {
                    life.look()?;
                    // A second, more impatient deletion.
                    kill_at = kill_at.zip(deadline(&life.pod)).map(|(at, deadline)| at.min(instant(deadline)));
                }
                () = until(kill_at) => {
                    life.kill().await;
                    kill_at = Some(Instant::now() + KILLED);
                }
            }
        }
        life.reap();
        if !life.dir.has_exit() {
            life.kill().await;
            let gone = Exit {
                code: 137,
                cause: Cause::Gone,
                started_at: Some(running.started_at),
                finished_at: Timestamp::now(),
            };
            life.dir.save_exit(&gone)?;
        }
        Ok(())
    }

    async fn stop(&self, life: &Life) -> Result<(), Setback> {
        if let Some(command) = life.dir.running()?.and_then(|running| running.command)
            && command.signal(Signal::TERM)
        {
            let note = format!("Stopping container {}", life.container());
            self.reports.tell(&*life.pod, &Report::normal("Killing", note)).await;
        }
        Ok(())
    }
}

impl Life {
    /// Until the shim has recorded the command, or has ended.
    pub(super) async fn wait_for_shim(&mut self) -> Result<(), Setback> {
        let begun = Instant::now();
        loop {
            let running = self.dir.running()?;
            let alive = running.as_ref().is_some_and(|running| running.shim.is_alive());
            let settled = running.as_ref().is_some_and(|running| running.command.is_some() || !alive);
            if settled || self.dir.has_exit() {
                return Ok(());
            }
            let starting = self.shim.as_mut().is_some_and(|shim| matches!(shim.try_wait(), Ok(None)));
            // It may have left because another one holds the run; that one is waited for then. The lock is only tried where
            // nobody of ours is about to take it.
            if !starting
                && !matches!(self.dir.lock(), Ok(None))
                && self.dir.running()?.is_none()
                && !self.dir.has_exit()
            {
                self.shim = None;
                let said = std::fs::read_to_string(self.dir.shim_errors()).unwrap_or_default();
                return Err(Setback::Shim(self.dir.path().display().to_string(), said.trim().to_owned()));
            }
            if begun.elapsed() > SHIM_START && running.is_none() {
                return Err(Setback::Shim(self.dir.path().display().to_string(), "it doesn't begin".into()));
            }
            sleep(LOOK).await;
        }
    }

    /// Ends everything of the run but the shim, which then writes down the end.
    async fn kill(&self) {
        let uid = self.uid.clone();
        drop(tokio::task::spawn_blocking(move || kill_marked(&uid, KILLED)).await);
    }
}

/// Resolves when the shim has ended.
fn ended(running: &Running) -> io::Result<impl Future<Output = io::Result<()>> + use<>> {
    #[expect(
        deprecated,
        reason = "the successor is unsafe because of other types than OwnedFd, which closes its descriptor once and late"
    )]
    let descriptor = running.shim.open().map(|open| AsyncFd::with_interest(open, Interest::READABLE)).transpose()?;
    Ok(async move {
        match descriptor {
            // It becomes readable when the process ends.
            Some(descriptor) => descriptor.readable().await.map(drop),
            None => Ok(()),
        }
    })
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn instant(at: Timestamp) -> Instant {
    let left = Timestamp::now().duration_until(at);
    Instant::now() + Duration::try_from(left).unwrap_or(Duration::ZERO)
}
