//! The first step of a worker: takes a slot, makes sure that ansible is installed, fills the root folder, and starts the shim.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Container, Pod, Secret};
use kube::api::Patch;
use kube::{Api, ResourceExt};
use serde_json::json;

use super::container::{self, Secrets, Unfit};
use super::status::Stage;
use super::volumes;
use super::worker::{Node, Setback, Worker, field_manager};
use crate::events::Report;
use crate::isolation::Confinement;
use crate::pod::{NODE, container_name, is_deleting, is_scheduled};
use crate::run_dir::{Cause, Exit, Start};

/// Bytes of output that are kept of a run.
const LOG_LIMIT: u64 = 1024 * 1024 * 1024;

impl Node {
    /// Returns once the shim has recorded the command, or when the pod was stopped before that.
    pub(super) async fn start(&self, worker: &mut Worker) -> Result<(), Setback> {
        worker.dir.make()?;
        if is_deleting(&worker.pod) {
            return worker.cancel();
        }
        self.take_slot(worker).await?;
        if self.is_disk_full() {
            return self.wait_for_room(worker).await;
        }
        self.ensure_ansible(worker).await?;
        let start = self.prepare(worker).await?;
        // Nothing from here on waits until the shim runs. So a pod that is being stopped either never starts, or is stopped in an
        // orderly way.
        worker.refresh()?;
        if is_deleting(&worker.pod) {
            return worker.cancel();
        }
        let Some(start) = start else { return worker.wait_for_shim().await };
        worker.dir.save_start(&start)?;
        worker.shim = Some(self.start_shim(worker)?);
        worker.wait_for_shim().await?;
        let started = Report::normal("Started", format!("Started container {}", container_name(&worker.pod)));
        self.reports.publish(&*worker.pod, &started).await;
        Ok(())
    }

    /// Waits for a free slot and binds the pod to the node.
    async fn take_slot(&self, worker: &mut Worker) -> Result<(), Setback> {
        if worker.slot.is_none() && !is_scheduled(&worker.pod) {
            worker.slot = self.slots.clone().try_acquire_owned().ok();
            if worker.slot.is_none() {
                let limit = self.options.max_parallel.max(1);
                let why = format!("0/1 nodes are available: {limit} of {limit} allowed runs are active.");
                self.write_status(worker, &Stage::Unscheduled(why)).await?;
            }
            while worker.slot.is_none() {
                tokio::select! {
                    slot = self.slots.clone().acquire_owned() => worker.slot = slot.ok(),
                    () = worker.changed() => worker.refresh_unless_stopping()?,
                }
            }
        }
        if is_scheduled(&worker.pod) {
            return Ok(());
        }
        let binding = Patch::Merge(json!({"metadata": {"uid": worker.uid}, "spec": {"nodeName": NODE}}));
        let bound = self.pods(worker).patch(&worker.pod.name_any(), &field_manager(), &binding).await?;
        worker.pod = Arc::new(bound);
        Ok(())
    }

    /// Makes sure that ansible is installed. The progress of an installation is written into the pod's status.
    async fn ensure_ansible(&self, worker: &mut Worker) -> Result<(), Setback> {
        if worker.installed.is_some() {
            return Ok(());
        }
        let mut progress = self.options.ansible.progress();
        // Another pod may have started the installation; report what it is doing now.
        progress.mark_changed();
        let ansible = self.options.ansible.clone();
        let mut installing = std::pin::pin!(async move { ansible.installed().await });
        let outcome = loop {
            let message = tokio::select! {
                outcome = &mut installing => break outcome,
                _ = progress.changed() => progress.borrow_and_update().clone(),
                () = worker.changed() => {
                    worker.refresh_unless_stopping()?;
                    continue;
                }
            };
            if !message.is_empty() {
                self.write_status(worker, &Stage::Waiting { reason: "InstallingAnsible", message }).await?;
            }
        };
        match outcome {
            Ok(installed) => worker.installed = Some(installed),
            Err(error) => return self.wait(worker, "AnsibleNotInstalled", "Failed", error.to_string()).await,
        }
        Ok(())
    }

    /// Fills the root folder. `None` if a shim holds the run already.
    async fn prepare(&self, worker: &mut Worker) -> Result<Option<Start>, Setback> {
        let pod = worker.pod.clone();
        let secrets = self.secrets(&pod).await?;
        let container = container::only_container(&pod);
        let planned = container.and_then(|container| {
            let layout = volumes::layout(&pod, container, &secrets)?;
            let confinement = self.options.isolation.is_on().then(|| self.confinement(worker));
            Ok((layout, worker.start_record(container, confinement)?))
        });
        let (layout, start) = match planned {
            Ok(planned) => planned,
            Err(unfit) => return self.refuse(worker, &unfit).await,
        };
        let (dir, root) = (worker.dir.clone(), worker.dir.root());
        let made = tokio::task::spawn_blocking(move || {
            // Files of a command that is running must not change.
            let Some(_lock) = dir.lock()? else { return Ok(false) };
            if dir.running()?.is_some() {
                return Ok(false);
            }
            volumes::materialise(&root, &layout).map(|()| true)
        });
        let made = made.await.map_err(io::Error::other)??;
        Ok(made.then_some(start))
    }

    /// The Secrets that the pod refers to, read now.
    async fn secrets(&self, pod: &Pod) -> Result<Secrets, Setback> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        let mut found = Secrets::new();
        for name in volumes::secrets(pod) {
            if let Some(secret) = api.get_opt(name).await? {
                let data = secret.data.into_iter().flatten().map(|(key, value)| (key, value.0));
                found.insert(name.to_owned(), data.collect());
            }
        }
        Ok(found)
    }

    /// Reports why the pod can't run, and makes the worker wait: a missing Secret may still be created.
    async fn refuse<T>(&self, worker: &mut Worker, unfit: &Unfit) -> Result<T, Setback> {
        let (reason, event) = match unfit {
            Unfit::NoCommand | Unfit::Containers(_) => ("CreateContainerError", "Failed"),
            _ => ("CreateContainerConfigError", "FailedMount"),
        };
        self.wait(worker, reason, event, unfit.to_string()).await
    }

    /// The run reads the installation of ansible, and writes below its root only.
    fn confinement(&self, worker: &Worker) -> Confinement {
        let data_dir = self.options.data_dir.clone();
        let given = worker.installed.as_ref().and_then(|installed| Some(installed.bin.parent()?.to_owned()));
        // An installation elsewhere is readable anyway, and the data directory itself must not become so.
        let given = given.filter(|folder| folder.starts_with(&data_dir) && *folder != data_dir);
        let read = std::iter::once(data_dir.join("ansible")).chain(given).collect();
        Confinement { read, write: worker.dir.root(), home: std::env::home_dir(), data_dir }
    }

    fn start_shim(&self, worker: &Worker) -> Result<Child, Setback> {
        let shim = &self.options.shim;
        let errors = File::create(worker.dir.shim_errors())?;
        let spawned = Command::new(shim)
            .arg("run-job")
            .arg("--dir")
            .arg(worker.dir.path())
            .args(self.options.descriptors.map(|limit| format!("--descriptors={limit}")))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn();
        spawned.map_err(|error| Setback::Shim(shim.display().to_string(), error.to_string()))
    }
}

impl Worker {
    /// What the shim has to start.
    fn start_record(&self, container: &Container, confinement: Option<Confinement>) -> Result<Start, Unfit> {
        let root = self.dir.root();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let bin = self.installed.as_ref().map(|installed| text(&installed.bin)).unwrap_or_default();
        let defaults = [
            ("LANG", "C.UTF-8".to_owned()),
            ("HOSTNAME", self.pod.name_any()),
            ("HOME", text(&self.home(container))),
            ("TMPDIR", text(&root.join("tmp"))),
        ];
        let path = format!("{bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let forced = [("KUBEONKUBE_ROOT", text(&root)), ("PATH", path)];
        let env = container::environment(container, &defaults, &forced)?;
        let command = container::command_line(container, &env)?;
        let (uid, env) = (self.uid.clone(), env.into_iter().collect());
        Ok(Start { uid, command, env, directory: root, log_limit: LOG_LIMIT, confinement })
    }

    /// The first emptyDir volume, otherwise the root: files that the run writes to its home are removed with the run.
    fn home(&self, container: &Container) -> PathBuf {
        let volumes = || self.pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        let is_empty_dir = |name: &str| volumes().any(|volume| volume.name == name && volume.empty_dir.is_some());
        let mount = container.volume_mounts.iter().flatten().find(|mount| is_empty_dir(&mount.name));
        mount.map_or_else(|| self.dir.root(), |mount| self.dir.root().join(mount.mount_path.trim_start_matches('/')))
    }

    /// The pod was stopped before it started. Records an exit, so that no shim starts the command any more.
    fn cancel(&self) -> Result<(), Setback> {
        let Some(_lock) = self.dir.lock()? else { return Ok(()) };
        if self.dir.running()?.is_none() {
            let why = "the pod was stopped before it started".to_owned();
            self.dir.save_exit(&Exit::now(137, Cause::NotStarted(why), None))?;
        }
        Ok(())
    }
}
