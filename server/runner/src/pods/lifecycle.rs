//! The steps of a worker: start the run, supervise it, report its end. A crash or a shutdown may interrupt it anywhere. The next
//! worker of the pod reads from the run's folder which steps are done.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{DeleteParams, Preconditions};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::sleep;

use super::cleanup::{remove_files, remove_run};
use super::status::{Ended, Stage};
use super::worker::{Node, Seen, Setback, Worker};
use crate::pod::{self, has_ended, is_deleting};
use crate::run_dir::{Cause, Exit, RunDir};

/// Longest wait between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How often a worker looks whether the disk has room again.
const FULL_PAUSE: Duration = Duration::from_secs(2);
/// Bytes of a termination message, the same limit as the kubelet's.
const TERMINATION_MESSAGE: u64 = 4096;

impl Node {
    /// Works on a pod until it has ended or is deleted. Returns its last known version.
    pub(super) async fn run_pod(
        &self,
        pod: Arc<Pod>,
        seen: watch::Receiver<Seen>,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Arc<Pod> {
        let uid = pod.uid().unwrap_or_default();
        let dir = RunDir::of(&self.options.data_dir, &uid);
        let mut worker = Worker { seen, pod, uid, dir, slot, shim: None, installed: None };
        let mut pause = Duration::from_millis(500);
        let mut is_full = false;
        loop {
            let was_full = std::mem::take(&mut is_full);
            match self.take_steps(&mut worker).await {
                Ok(()) => break,
                Err(Setback::Deleted) => {
                    remove_run(&self.options.data_dir, &worker.uid).await;
                    break;
                }
                Err(Setback::Stopping) => continue,
                Err(Setback::Waits) => {}
                Err(Setback::Api(kube::Error::Api(status))) if status.is_not_found() || status.is_conflict() => {}
                Err(setback) if setback.needs_room() => {
                    if !was_full {
                        tracing::warn!(pod = worker.pod.name_any(), %setback, "a pod waits for room on the disk");
                    }
                    is_full = true;
                }
                Err(setback) => {
                    tracing::warn!(pod = worker.pod.name_any(), %setback, "a pod can't proceed; trying again");
                }
            }
            tokio::select! {
                () = sleep(FULL_PAUSE), if is_full => {}
                () = sleep(pause), if !is_full => pause = LONGEST_PAUSE.min(pause * 2),
                () = worker.changed() => {}
            }
        }
        worker.reap();
        worker.pod
    }

    async fn take_steps(&self, worker: &mut Worker) -> Result<(), Setback> {
        worker.refresh()?;
        if worker.dir.exit()?.is_none() && worker.dir.running()?.is_none() {
            // A pod that was running has started, although its folder is gone: the state file was restored, or the folder was lost.
            if pod::phase(&worker.pod) == "Running" {
                worker.kill().await;
                worker.dir.make()?;
                worker.dir.save_exit(&Exit::now(137, Cause::Gone, None))?;
                return self.finish(worker).await;
            }
            match self.start(worker).await {
                // The shim can't record its process.
                Err(Setback::Shim(..)) if self.is_disk_full() => return self.wait_for_room(worker).await,
                Err(setback @ Setback::Folder(_)) if setback.needs_room() => return self.wait_for_room(worker).await,
                Err(setback @ Setback::Shim(..)) => {
                    return self.wait(worker, "RunContainerError", "Failed", setback.to_string()).await;
                }
                outcome => outcome?,
            }
        }
        if worker.dir.exit()?.is_none() {
            self.supervise(worker).await?;
        }
        self.finish(worker).await
    }

    async fn finish(&self, worker: &mut Worker) -> Result<(), Setback> {
        let Some(exit) = worker.dir.exit()? else { return Err(Setback::Waits) };
        worker.slot = None;
        worker.refresh()?;
        let unread = |error| format!("The run's termination message could not be read: {error}");
        let ended = Ended::new(&exit, worker.termination_message().unwrap_or_else(unread), is_deleting(&worker.pod));
        // The run's log is kept for weeks, but its keys, passwords and results must not be. Remove them before the final status is
        // written: a pod that has ended gets no worker, so nothing would remove them after a crash.
        remove_files(vec![worker.dir.clone()], true).await;
        if !has_ended(&worker.pod) {
            self.write_status(worker, &Stage::Ended(ended)).await?;
        }
        remove_files(vec![worker.dir.clone()], false).await;
        self.options.ansible.remove_unused().await;
        if is_deleting(&worker.pod) {
            let uid = Preconditions { uid: Some(worker.uid.clone()), resource_version: None };
            let now = DeleteParams::default().grace_period(0).preconditions(uid);
            self.pods(worker).delete(&worker.pod.name_any(), &now).await?;
        }
        Ok(())
    }
}

impl Worker {
    /// The file that the run wrote for its result. Empty if there is none, or none that may be read.
    fn termination_message(&self) -> io::Result<String> {
        let path = pod::container(&self.pod).and_then(|container| container.termination_message_path.as_deref());
        let path = path.unwrap_or("/dev/termination-log").trim_start_matches('/');
        let mut message = Vec::new();
        // Only a plain file: the run may have put a pipe there, which blocks forever, or a device, which never ends. A symbolic link, of
        // the file or of a folder above it, could lead to files that the run may not read.
        let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat2(File::open(self.dir.root())?, path, flags, Mode::empty(), inside) {
            Ok(file) => File::from(file),
            // No such file, or a link.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return Ok(String::new()),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.is_file() {
            file.take(TERMINATION_MESSAGE).read_to_end(&mut message)?;
        }
        Ok(String::from_utf8_lossy(&message).trim().to_owned())
    }
}
