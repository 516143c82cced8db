//! The steps of a worker: start the run, supervise it, report its end. A crash or a shutdown may interrupt it anywhere. The next
//! worker of the pod reads from the run's folder which steps are done.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{DeleteParams, Preconditions};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::sleep;

use super::cleanup::{remove_keys, remove_run};
use super::status::{Ended, Stage};
use super::worker::{Node, Seen, Setback, Worker};
use crate::pod::{self, is_deleting, is_terminal};
use crate::run_dir::RunDir;

/// Longest wait between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
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
        loop {
            match self.take_steps(&mut worker).await {
                Ok(()) => break,
                Err(Setback::Deleted) => {
                    remove_run(&self.options.data_dir, &worker.uid).await;
                    break;
                }
                Err(Setback::Stopping) => continue,
                Err(Setback::Waits) => {}
                Err(Setback::Api(kube::Error::Api(status))) if status.is_not_found() || status.is_conflict() => {}
                Err(setback) => {
                    tracing::warn!(pod = worker.pod.name_any(), %setback, "a pod can't proceed; trying again");
                }
            }
            tokio::select! {
                () = sleep(pause) => pause = LONGEST_PAUSE.min(pause * 2),
                () = worker.changed() => {}
            }
        }
        worker.reap();
        worker.pod
    }

    async fn take_steps(&self, worker: &mut Worker) -> Result<(), Setback> {
        worker.refresh()?;
        if worker.dir.exit()?.is_none() && worker.dir.running()?.is_none() {
            match self.start(worker).await {
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
        let ended = Ended::new(&exit, worker.termination_message(), is_deleting(&worker.pod));
        // The run's folder stays for weeks, its keys and passwords must not. They go first: a pod with a terminal status gets no
        // worker any more.
        remove_keys(vec![worker.dir.clone()]).await;
        if !is_terminal(&worker.pod) {
            self.write_status(worker, &Stage::Ended(ended)).await?;
        }
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
    fn termination_message(&self) -> String {
        let path = pod::container(&self.pod).and_then(|container| container.termination_message_path.as_deref());
        let path = path.unwrap_or("/dev/termination-log").trim_start_matches('/');
        let path = self.dir.root().join(path);
        let mut message = Vec::new();
        // Only a plain file: the run may have put a pipe there, which blocks forever, or a device, which never ends.
        if std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file())
            && let Ok(file) = std::fs::File::open(&path)
        {
            drop(file.take(TERMINATION_MESSAGE).read_to_end(&mut message));
        }
        String::from_utf8_lossy(&message).trim().to_owned()
    }
}
