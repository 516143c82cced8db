//! The state of one pod's worker, and what all steps of a worker need: the pod as last seen, its run's folder, writing its status.

use std::io;
use std::process::Child;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::status::{Stage, patch};
use crate::ansible::Installed;
use crate::events::{Report, Reports};
use crate::options::RunnerOptions;
use crate::pod::{is_deleting, waiting_reason};
use crate::run_dir::RunDir;

/// What all workers share.
pub(super) struct Node {
    pub(super) client: Client,
    pub(super) options: RunnerOptions,
    /// One permit for each pod that may run.
    pub(super) slots: Arc<Semaphore>,
    pub(super) reports: Reports,
}

/// The pod, as the kubelet's watch saw it last.
#[derive(Debug, Clone)]
pub(super) enum Seen {
    Present(Arc<Pod>),
    Deleted,
}

/// Why a step stopped. The worker starts again from its first step, except for a deleted pod.
#[derive(Debug, thiserror::Error)]
pub(super) enum Setback {
    #[error(transparent)]
    Api(#[from] kube::Error),
    #[error("the folder of the run: {0}")]
    Folder(#[from] io::Error),
    #[error("the shim {0} can't be started: {1}")]
    Shim(String, String),
    /// The reason is in the pod's status already, so it isn't logged.
    #[error("the pod has to wait")]
    Waits,
    /// As `Waits`. The worker looks again soon.
    #[error("{}", disk::FULL)]
    NoRoom,
    #[error("the pod is being stopped")]
    Stopping,
    #[error("the pod was deleted")]
    Deleted,
}

impl Setback {
    /// Whether the step succeeds as soon as the disk has room.
    pub(super) fn needs_room(&self) -> bool {
        match self {
            Self::NoRoom => true,
            Self::Folder(error) => disk::is_full(error),
            Self::Api(kube::Error::Api(status)) => status.code == standalone::NO_ROOM,
            _ => false,
        }
    }
}

/// The worker of one pod.
pub(super) struct Worker {
    pub(super) seen: watch::Receiver<Seen>,
    /// The newest version that was seen or written.
    pub(super) pod: Arc<Pod>,
    pub(super) uid: String,
    pub(super) dir: RunDir,
    /// Held while the pod runs.
    pub(super) slot: Option<OwnedSemaphorePermit>,
    /// The shim, if this server started it.
    pub(super) shim: Option<Child>,
    pub(super) installed: Option<Installed>,
}

impl Worker {
    /// Resolves when the kubelet has seen a change of the pod. Never resolves once the kubelet stops: then the shutdown cancels the
    /// worker.
    pub(super) async fn changed(&mut self) {
        if self.seen.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Replaces the pod by the version that the kubelet's watch saw last, if that is newer.
    pub(super) fn refresh(&mut self) -> Result<(), Setback> {
        match self.seen.borrow_and_update().clone() {
            Seen::Present(pod) => {
                if is_newer(&pod, &self.pod) {
                    self.pod = pod;
                }
                Ok(())
            }
            Seen::Deleted => Err(Setback::Deleted),
        }
    }

    /// As [`Worker::refresh`], but an error if the pod is being stopped.
    pub(super) fn refresh_unless_stopping(&mut self) -> Result<(), Setback> {
        self.refresh()?;
        if is_deleting(&self.pod) { Err(Setback::Stopping) } else { Ok(()) }
    }

    /// Waits for the shim's process, so that it doesn't stay as a zombie.
    pub(super) fn reap(&mut self) {
        if let Some(mut shim) = self.shim.take() {
            drop(shim.wait());
        }
    }
}

impl Node {
    pub(super) fn pods(&self, worker: &Worker) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &worker.pod.namespace().unwrap_or_default())
    }

    /// Writes the status that belongs to `stage`.
    pub(super) async fn write_status(&self, worker: &mut Worker, stage: &Stage) -> Result<(), Setback> {
        let version = worker.installed.as_ref().map_or("", |installed| installed.version.as_str());
        let image =
            if version.is_empty() { "local ansible-core".to_owned() } else { format!("local ansible-core {version}") };
        let status = Patch::Merge(patch(&worker.pod, stage, &image, Timestamp::now()));
        let written = self.pods(worker).patch_status(&worker.pod.name_any(), &field_manager(), &status).await?;
        worker.pod = Arc::new(written);
        Ok(())
    }

    /// Writes `message` into the pod's status and into an Event, and makes the worker try again later.
    pub(super) async fn wait<T>(
        &self,
        worker: &mut Worker,
        reason: &'static str,
        event: &'static str,
        message: String,
    ) -> Result<T, Setback> {
        let note =
            if event == "FailedMount" { format!("MountVolume.SetUp failed: {message}") } else { message.clone() };
        self.write_status(worker, &Stage::Waiting { reason, message }).await?;
        self.reports.publish(&*worker.pod, &Report::warning(event, note)).await;
        Err(Setback::Waits)
    }
}

impl Node {
    pub(super) fn is_disk_full(&self) -> bool {
        disk::Room::of(&self.options.data_dir).is_ok_and(|room| room == disk::Room::Full)
    }

    /// Writes into the pod's status that the disk is full, and makes the worker look again soon.
    pub(super) async fn wait_for_room<T>(&self, worker: &mut Worker) -> Result<T, Setback> {
        const REASON: &str = "DiskFull";
        if waiting_reason(&worker.pod) != Some(REASON) {
            let message = disk::Room::Full.sentence().unwrap_or_default();
            match self.wait::<T>(worker, REASON, REASON, message).await {
                Err(Setback::Waits) => {}
                outcome => return outcome,
            }
        }
        Err(Setback::NoRoom)
    }
}

/// The watch lags behind: it may deliver a version that is older than our own last write.
fn is_newer(seen: &Pod, known: &Pod) -> bool {
    let version = |pod: &Pod| pod.resource_version().and_then(|version| version.parse::<u64>().ok());
    version(seen).zip(version(known)).is_none_or(|(seen, known)| seen >= known)
}

pub(super) fn field_manager() -> PatchParams {
    PatchParams { field_manager: Some("kubelet".into()), ..PatchParams::default() }
}
