//! The life of one pod, from its place on the node to its end. It may be cut off anywhere, by a crash or a shutdown, and be begun
//! again: what was done already is read from the run's folder.

use std::io::{self, Read};
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, Client, ResourceExt};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::sleep;

use super::kubelet::{clear, forget_keys};
use super::pod_status::{Ended, Stage, is_terminal, patch};
use super::reports::Reports;
use super::run_dir::{Cause, Exit, RunDir};
use super::{Installed, RunnerOptions};

/// Longest wait between attempts at something that can't be done now.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// As the kubelet keeps it.
const TERMINATION_MESSAGE: usize = 4096;

/// What the lives of all pods share.
pub(crate) struct Node {
    pub(crate) client: Client,
    pub(crate) options: RunnerOptions,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) reports: Reports,
}

/// What the API last said of a pod.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    There(Arc<Pod>),
    Gone,
}

/// Why a life doesn't get on; it is tried again.
#[derive(Debug, thiserror::Error)]
pub(super) enum Setback {
    #[error(transparent)]
    Api(#[from] kube::Error),
    #[error("the folder of the run: {0}")]
    Folder(#[from] io::Error),
    #[error("the shim {0} can't be started: {1}")]
    Shim(String, String),
    /// The pod says why; nothing for the log.
    #[error("it waits")]
    Waits,
    #[error("the pod is being stopped")]
    Stopping,
    #[error("the pod is gone")]
    Gone,
}

/// One pod's way.
pub(super) struct Life {
    seen: watch::Receiver<Seen>,
    /// As last seen or written.
    pub(super) pod: Arc<Pod>,
    pub(super) uid: String,
    pub(super) dir: RunDir,
    pub(super) place: Option<OwnedSemaphorePermit>,
    /// The shim, where this process started it.
    pub(super) shim: Option<Child>,
    pub(super) installed: Option<Installed>,
}

impl Node {
    /// Lives it through, until the pod has ended or is gone; gives it back as it was last.
    pub(crate) async fn live(
        &self,
        pod: Arc<Pod>,
        seen: watch::Receiver<Seen>,
        place: Option<OwnedSemaphorePermit>,
    ) -> Arc<Pod> {
        let uid = pod.uid().unwrap_or_default();
        let dir = RunDir::of(&self.options.data_dir, &uid);
        let mut life = Life { seen, pod, uid, dir, place, shim: None, installed: None };
        let mut pause = Duration::from_millis(500);
        loop {
            match self.go_on(&mut life).await {
                Ok(()) => break,
                Err(Setback::Gone) => {
                    clear(&self.options.data_dir, &life.uid).await;
                    break;
                }
                Err(Setback::Stopping) => continue,
                Err(Setback::Waits) => {}
                Err(Setback::Api(kube::Error::Api(status))) if status.is_not_found() || status.is_conflict() => {}
                Err(setback) => {
                    tracing::warn!(pod = life.pod.name_any(), %setback, "a pod doesn't get on; trying again");
                }
            }
            tokio::select! {
                () = sleep(pause) => pause = LONGEST_PAUSE.min(pause * 2),
                () = life.changed() => {}
            }
        }
        life.reap();
        life.pod
    }

    async fn go_on(&self, life: &mut Life) -> Result<(), Setback> {
        life.look()?;
        if life.dir.exit()?.is_none() && life.dir.running()?.is_none() {
            match self.begin(life).await {
                Err(setback @ Setback::Shim(..)) => {
                    self.wait(life, "RunContainerError", "Failed", setback.to_string()).await?;
                }
                outcome => outcome?,
            }
        }
        if life.dir.exit()?.is_none() {
            self.watch_over(life).await?;
        }
        self.end(life).await
    }

    async fn end(&self, life: &mut Life) -> Result<(), Setback> {
        let Some(exit) = life.dir.exit()? else { return Err(Setback::Waits) };
        life.place = None;
        life.look()?;
        let ended = Ended::new(&exit, life.last_words(), life.is_stopping());
        // The record stays for weeks; the keys and passwords of a run must not. First, because nobody looks after a pod that has
        // ended.
        forget_keys(vec![life.dir.clone()]).await;
        if !is_terminal(&life.pod) {
            self.report(life, Stage::Ended(ended)).await?;
        }
        self.options.ansible.forget_unused().await;
        if life.is_stopping() {
            let uid = Preconditions { uid: Some(life.uid.clone()), resource_version: None };
            let now =
                DeleteParams { grace_period_seconds: Some(0), preconditions: Some(uid), ..DeleteParams::default() };
            self.pods(life).delete(&life.pod.name_any(), &now).await?;
        }
        Ok(())
    }

    pub(super) async fn report(&self, life: &mut Life, stage: Stage) -> Result<(), Setback> {
        life.pod = Arc::new(self.write(life, &stage).await?);
        Ok(())
    }

    pub(super) async fn write(&self, life: &Life, stage: &Stage) -> Result<Pod, Setback> {
        let version = life.installed.as_ref().map_or("", |installed| installed.version.as_str());
        let image =
            if version.is_empty() { "local ansible-core".to_owned() } else { format!("local ansible-core {version}") };
        let status: Value = patch(&life.pod, stage, &image, Timestamp::now());
        Ok(self.pods(life).patch_status(&life.pod.name_any(), &manager(), &Patch::Merge(status)).await?)
    }

    pub(super) fn pods(&self, life: &Life) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &life.pod.namespace().unwrap_or_default())
    }
}

impl Life {
    /// Resolves when the API says something new of the pod. Without anybody to say it, never: the shutdown ends us then.
    pub(super) async fn changed(&mut self) {
        if self.seen.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Takes over what was last seen.
    pub(super) fn look(&mut self) -> Result<(), Setback> {
        match self.seen.borrow_and_update().clone() {
            Seen::There(pod) => {
                if is_newer(&pod, &self.pod) {
                    self.pod = pod;
                }
                Ok(())
            }
            Seen::Gone => Err(Setback::Gone),
        }
    }

    /// As [`Life::look`]; a stop interrupts what is waited for.
    pub(super) fn look_unless_stopping(&mut self) -> Result<(), Setback> {
        self.look()?;
        if self.is_stopping() { Err(Setback::Stopping) } else { Ok(()) }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.pod.metadata.deletion_timestamp.is_some()
    }

    pub(super) fn container(&self) -> &str {
        self.pod.spec.as_ref().and_then(|spec| spec.containers.first()).map_or("", |container| &container.name)
    }

    /// The first folder that a volume makes writable; what a run leaves in its home goes with it.
    pub(super) fn home(&self, container: &Container) -> std::path::PathBuf {
        let volumes = || self.pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        let scratch = |name: &str| volumes().any(|volume| volume.name == name && volume.empty_dir.is_some());
        let mount = container.volume_mounts.iter().flatten().find(|mount| scratch(&mount.name));
        mount.map_or_else(|| self.dir.root(), |mount| self.dir.root().join(mount.mount_path.trim_start_matches('/')))
    }

    /// Stopped before it began: nothing will ever begin it.
    pub(super) fn call_off(&self) -> Result<(), Setback> {
        let Some(_lock) = self.dir.lock()? else { return Ok(()) };
        if self.dir.running()?.is_none() {
            let why = "it was stopped before it began".to_owned();
            let exit =
                Exit { code: 137, cause: Cause::NotStarted(why), started_at: None, finished_at: Timestamp::now() };
            self.dir.save_exit(&exit)?;
        }
        Ok(())
    }

    /// No zombies.
    pub(super) fn reap(&mut self) {
        if let Some(mut shim) = self.shim.take() {
            drop(shim.wait());
        }
    }

    fn last_words(&self) -> String {
        let path = self.pod.spec.as_ref().and_then(|spec| spec.containers.first()?.termination_message_path.as_deref());
        let path = path.unwrap_or("/dev/termination-log").trim_start_matches('/');
        let path = self.dir.root().join(path);
        let mut said = Vec::new();
        // The run may have put anything there: a pipe would block for ever, a device never end.
        if std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_file())
            && let Ok(file) = std::fs::File::open(&path)
        {
            drop(file.take(TERMINATION_MESSAGE as u64).read_to_end(&mut said));
        }
        String::from_utf8_lossy(&said).trim().to_owned()
    }
}

/// The watch may tell of what was before our own last write.
fn is_newer(seen: &Pod, known: &Pod) -> bool {
    let version = |pod: &Pod| pod.resource_version().and_then(|version| version.parse::<u64>().ok());
    version(seen).zip(version(known)).is_none_or(|(seen, known)| seen >= known)
}

pub(super) fn manager() -> PatchParams {
    PatchParams { field_manager: Some("kubelet".into()), ..PatchParams::default() }
}
