//! The beginning of a pod's life: its place, its ansible, its root, and the start of its shim.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Container, Pod, Secret};
use kube::api::Patch;
use kube::{Api, ResourceExt};
use serde_json::json;

use super::container::{self, Secrets, Unfit};
use super::kubelet::is_scheduled;
use super::life::{Life, Node, Setback, manager};
use super::pod_status::Stage;
use super::reports::Report;
use super::run_dir::Start;
use super::{NODE, volumes};

/// Bytes of output kept per run.
const LOG_LIMIT: u64 = 1024 * 1024 * 1024;

impl Node {
    pub(super) async fn begin(&self, life: &mut Life) -> Result<(), Setback> {
        life.dir.make()?;
        if life.is_stopping() {
            return life.call_off();
        }
        self.find_place(life).await?;
        self.find_ansible(life).await?;
        let start = self.prepare(life).await?;
        // From here on nothing waits until the shim is there: a pod that is being stopped is either never begun, or stopped properly.
        life.look()?;
        if life.is_stopping() {
            return life.call_off();
        }
        let Some(start) = start else { return life.wait_for_shim().await };
        life.dir.save_start(&start)?;
        life.shim = Some(self.start_shim(life)?);
        life.wait_for_shim().await?;
        let started = Report::normal("Started", format!("Started container {}", life.container()));
        self.reports.tell(&*life.pod, &started).await;
        Ok(())
    }

    /// Waits for a free slot and binds the pod to the node.
    async fn find_place(&self, life: &mut Life) -> Result<(), Setback> {
        if life.place.is_none() && !is_scheduled(&life.pod) {
            life.place = self.slots.clone().try_acquire_owned().ok();
            if life.place.is_none() {
                let limit = self.options.max_parallel.max(1);
                let why =
                    format!("0/1 nodes are available: {limit} runs at once are allowed, and as many are going on.");
                self.report(life, Stage::Unscheduled(why)).await?;
            }
            while life.place.is_none() {
                tokio::select! {
                    place = self.slots.clone().acquire_owned() => life.place = place.ok(),
                    () = life.changed() => life.look_unless_stopping()?,
                }
            }
        }
        if is_scheduled(&life.pod) {
            return Ok(());
        }
        let bound = json!({"metadata": {"uid": life.uid}, "spec": {"nodeName": NODE}});
        life.pod = Arc::new(self.pods(life).patch(&life.pod.name_any(), &manager(), &Patch::Merge(bound)).await?);
        Ok(())
    }

    /// Makes sure that there is an ansible, and lets the pod say what is done for it.
    async fn find_ansible(&self, life: &mut Life) -> Result<(), Setback> {
        if life.installed.is_some() {
            return Ok(());
        }
        let mut progress = self.options.ansible.progress();
        // Somebody else's attempt may be halfway.
        progress.mark_changed();
        let ansible = self.options.ansible.clone();
        let mut installing = std::pin::pin!(async move { ansible.installed().await });
        let outcome = loop {
            let said = tokio::select! {
                outcome = &mut installing => break outcome,
                _ = progress.changed() => progress.borrow_and_update().clone(),
                () = life.changed() => {
                    life.look_unless_stopping()?;
                    continue;
                }
            };
            if !said.is_empty() {
                self.report(life, Stage::Waiting { reason: "InstallingAnsible", message: said }).await?;
            }
        };
        match outcome {
            Ok(installed) => life.installed = Some(installed),
            Err(error) => return self.wait(life, "AnsibleNotInstalled", "Failed", error.to_string()).await,
        }
        Ok(())
    }

    /// Makes the root. None where another shim holds the run already.
    async fn prepare(&self, life: &Life) -> Result<Option<Start>, Setback> {
        let pod = &life.pod;
        let container = match container::only_container(pod) {
            Ok(container) => container,
            Err(unfit) => return self.refuse(life, &unfit).await,
        };
        let secrets = self.secrets(pod).await?;
        let layout = match volumes::layout(pod, container, &secrets) {
            Ok(layout) => layout,
            Err(unfit) => return self.refuse(life, &unfit).await,
        };
        let start = match self.start_of(life, container) {
            Ok(start) => start,
            Err(unfit) => return self.refuse(life, &unfit).await,
        };
        let (dir, root) = (life.dir.clone(), life.dir.root());
        let made = tokio::task::spawn_blocking(move || {
            // Under a running command nothing may be changed.
            let Some(_lock) = dir.lock()? else { return Ok(false) };
            if dir.running()?.is_some() {
                return Ok(false);
            }
            volumes::materialise(&root, &layout).map(|()| true)
        });
        let made = made.await.map_err(io::Error::other)??;
        Ok(made.then_some(start))
    }

    fn start_of(&self, life: &Life, container: &Container) -> Result<Start, Unfit> {
        let root = life.dir.root();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let bin = life.installed.as_ref().map(|installed| text(&installed.bin)).unwrap_or_default();
        let fixed =
            [("LANG", "C.UTF-8".to_owned()), ("HOSTNAME", life.pod.name_any()), ("HOME", text(&life.home(container)))];
        let path = format!("{bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let forced = [("KUBEONKUBE_ROOT", text(&root)), ("PATH", path)];
        let env = container::environment(container, &fixed, &forced)?;
        let command = container::command_line(container, &env)?;
        let env = env.into_iter().collect();
        Ok(Start { uid: life.uid.clone(), command, env, directory: root, log_limit: LOG_LIMIT })
    }

    /// The Secrets that the pod refers to, as they are now.
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

    /// The pod can't be run as it is; perhaps what is missing comes.
    async fn refuse<T>(&self, life: &Life, unfit: &Unfit) -> Result<T, Setback> {
        let (reason, event) = match unfit {
            Unfit::NoCommand | Unfit::Containers(_) => ("CreateContainerError", "Failed"),
            _ => ("CreateContainerConfigError", "FailedMount"),
        };
        let message = unfit.to_string();
        let stage = Stage::Waiting { reason, message: message.clone() };
        let note = if event == "FailedMount" { format!("MountVolume.SetUp failed: {message}") } else { message };
        self.write(life, &stage).await?;
        self.reports.tell(&*life.pod, &Report::warning(event, note)).await;
        Err(Setback::Waits)
    }

    pub(super) async fn wait(
        &self,
        life: &mut Life,
        reason: &'static str,
        event: &'static str,
        message: String,
    ) -> Result<(), Setback> {
        self.report(life, Stage::Waiting { reason, message: message.clone() }).await?;
        self.reports.tell(&*life.pod, &Report::warning(event, message)).await;
        Err(Setback::Waits)
    }

    fn start_shim(&self, life: &Life) -> Result<Child, Setback> {
        let shim = &self.options.shim;
        let errors = File::create(life.dir.shim_errors())?;
        let spawned = Command::new(shim)
            .arg("run-job")
            .arg("--dir")
            .arg(life.dir.path())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn();
        spawned.map_err(|error| Setback::Shim(shim.display().to_string(), error.to_string()))
    }
}
