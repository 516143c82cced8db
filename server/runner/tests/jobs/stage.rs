//! An embedded API with a runner, and Jobs to run on it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use connections::Limits;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, LogParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use kubeonkube_runner::{self as runner, Ansible, Isolation, LocalLogs, RunnerOptions};
use serde_json::{Value, json};
use standalone::Options;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::patience::PATIENCE;

const SHIM: &str = "KUBEONKUBE_TEST_SHIM";
const SERVER: &str = "KUBEONKUBE_TEST_SERVER";

pub(crate) struct Stage {
    pub(crate) dir: Arc<tempfile::TempDir>,
    pub(crate) client: Client,
    api: Arc<standalone::Api>,
    shutdown: CancellationToken,
    runner: JoinHandle<()>,
}

/// The settings that tests change.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) max_parallel: usize,
    pub(crate) shim: Option<PathBuf>,
    pub(crate) ansible: Option<PathBuf>,
    /// Install ansible with this Python, instead of using an existing one.
    pub(crate) python: Option<PathBuf>,
    pub(crate) isolation: Isolation,
    /// The custom resources of the API.
    pub(crate) crds: Vec<CustomResourceDefinition>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_parallel: 16,
            shim: None,
            ansible: None,
            python: None,
            isolation: Isolation::detect(),
            crds: Vec::new(),
        }
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(&Settings::default())
    }

    pub(crate) fn with(settings: &Settings) -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), settings)
    }

    pub(crate) fn at(dir: Arc<tempfile::TempDir>, settings: &Settings) -> Self {
        let logs = Arc::new(LocalLogs::new(dir.path()));
        let crds = settings.crds.clone();
        let api = standalone::Api::open(Options { data_dir: dir.path().into(), crds, logs }).unwrap();
        let shutdown = CancellationToken::new();
        let options = RunnerOptions {
            data_dir: dir.path().into(),
            shim: settings.shim.clone().unwrap_or_else(|| shim_program(dir.path())),
            ansible: Arc::new(match &settings.python {
                Some(python) => Ansible::new(dir.path(), None, python),
                None => {
                    let existing = settings.ansible.clone();
                    Ansible::new(dir.path(), Some(existing.unwrap_or_else(|| no_ansible(dir.path()))), "python3")
                }
            }),
            max_parallel: settings.max_parallel,
            isolation: settings.isolation.clone(),
            descriptors: None,
        };
        let running = runner::run(api.client("runner"), options, shutdown.clone());
        let runner = tokio::spawn(async move { running.await.unwrap() });
        Self { dir, client: api.client("tester"), api, shutdown, runner }
    }

    /// Serves the API over HTTPS until this is shut down. Returns the kubeconfig for it.
    pub(crate) async fn kubeconfig(&self) -> PathBuf {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let identity = self.api.identity(&[]).unwrap();
        let file = self.dir.path().join("kubeconfig");
        self.api.write_kubeconfig(&file, &url, &identity).unwrap();
        let (api, shutdown) = (self.api.clone(), self.shutdown.clone());
        tokio::spawn(async move { api.serve_https(listener, identity, Limits::kubernetes(1024), shutdown).await });
        file
    }

    /// Shuts the server down. The data directory stays.
    pub(crate) async fn shut_down(self) -> Arc<tempfile::TempDir> {
        self.shutdown.cancel();
        self.runner.await.unwrap();
        self.api.close().await;
        self.dir
    }

    pub(crate) fn jobs(&self) -> Api<Job> {
        Api::namespaced(self.client.clone(), "default")
    }

    pub(crate) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    pub(crate) async fn secret(&self, name: &str, data: Value) {
        let secret = json!({"metadata": {"name": name}, "stringData": data});
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "default");
        secrets.create(&PostParams::default(), &serde_json::from_value(secret).unwrap()).await.unwrap();
    }

    /// A Job that runs `script` with sh; `more` is merged into its spec.
    pub(crate) async fn job(&self, name: &str, script: &str, more: Value) -> Job {
        self.jobs().create(&PostParams::default(), &job(name, script, more)).await.unwrap()
    }

    pub(crate) async fn suspend(&self, name: &str) {
        let patch = Patch::Merge(json!({"spec": {"suspend": true}}));
        self.jobs().patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(crate) async fn delete_job(&self, name: &str) {
        self.jobs().delete(name, &DeleteParams::background()).await.unwrap();
    }

    pub(crate) async fn pods_of(&self, job: &str) -> Vec<Pod> {
        self.pods().list(&ListParams::default().labels(&format!("job-name={job}"))).await.unwrap().items
    }

    pub(crate) async fn log(&self, pod: &Pod) -> String {
        self.pods().logs(&pod.name_any(), &LogParams::default()).await.unwrap()
    }

    pub(crate) async fn events(&self, about: &str) -> Vec<(String, String)> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), "default");
        let params = ListParams::default().fields(&format!("involvedObject.name={about}"));
        let events = events.list(&params).await.unwrap();
        events.into_iter().map(|event| (event.reason.unwrap_or_default(), event.message.unwrap_or_default())).collect()
    }

    /// Waits until this condition of the Job is true.
    pub(crate) async fn job_that_is(&self, name: &str, condition: &str) -> Job {
        self.wait(&format!("Job {name} to be {condition}"), async || {
            let job = self.jobs().get(name).await.unwrap();
            holds(&job, condition).is_some().then_some(job)
        })
        .await
    }

    /// Waits until the Job's only pod is in this phase.
    pub(crate) async fn pod_that_is(&self, job: &str, phase: &str) -> Pod {
        self.wait(&format!("the pod of {job} to be {phase}"), async || {
            let pod = self.pods_of(job).await.pop()?;
            (pod.status.as_ref()?.phase.as_deref()? == phase).then_some(pod)
        })
        .await
    }

    /// Polls until `check` returns a value. If that takes too long, the test fails with the text `what`.
    pub(crate) async fn wait<T>(&self, what: &str, check: impl AsyncFn() -> Option<T>) -> T {
        let polling = async {
            loop {
                if let Some(found) = check().await {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        match tokio::time::timeout(PATIENCE, polling).await {
            Ok(found) => found,
            Err(_) => panic!("timed out waiting for {what}: {}", self.statuses().await),
        }
    }

    /// The statuses of all Jobs and pods, for a failed test.
    async fn statuses(&self) -> String {
        let jobs =
            self.jobs().list(&ListParams::default()).await.unwrap().items.into_iter().map(|job| json!(job.status));
        let pods =
            self.pods().list(&ListParams::default()).await.unwrap().items.into_iter().map(|pod| json!(pod.status));
        serde_json::to_string_pretty(&jobs.chain(pods).collect::<Vec<_>>()).unwrap()
    }

    pub(crate) fn run_dir(&self, pod: &Pod) -> PathBuf {
        run_dir(self.dir.path(), pod)
    }
}

pub(crate) fn run_dir(data: &Path, pod: &Pod) -> PathBuf {
    data.join("runs").join(pod.uid().unwrap())
}

pub(crate) fn job(name: &str, script: &str, more: Value) -> Job {
    let container = json!({"name": "main", "image": "local", "command": ["sh", "-c", script],
        "env": [{"name": "KUBEONKUBE_ROOT", "value": ""}], "volumeMounts": [{"name": "work", "mountPath": "/scratch"}]});
    let pod =
        json!({"restartPolicy": "Never", "containers": [container], "volumes": [{"name": "work", "emptyDir": {}}]});
    let mut job = json!({"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": {"spec": pod}}});
    merge(&mut job["spec"], more);
    serde_json::from_value(job).unwrap()
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

/// The reason of a condition that is true.
pub(crate) fn holds<'a>(job: &'a Job, condition: &str) -> Option<&'a str> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let found = conditions.iter().find(|found| found.type_ == condition && found.status == "True")?;
    Some(found.reason.as_deref().unwrap_or_default())
}

/// Exit code, reason and message of the container.
pub(crate) fn ended(pod: &Pod) -> (i32, String, String) {
    let containers = pod.status.as_ref().unwrap().container_statuses.as_ref().unwrap();
    let state = containers[0].state.as_ref().unwrap().terminated.clone().unwrap();
    (state.exit_code, state.reason.unwrap_or_default(), state.message.unwrap_or_default())
}

/// The number of the run's `shim` or `command`, from its records.
pub(crate) fn pid(run: &Path, process: &str) -> Option<i32> {
    let running: Value = serde_json::from_slice(&std::fs::read(run.join("process.json")).ok()?).unwrap();
    Some(i32::try_from(running[process]["pid"].as_i64()?).unwrap())
}

pub(crate) fn kill(pid: i32) {
    signal(pid, rustix::process::Signal::KILL);
}

pub(crate) fn signal(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Whether any process carries the mark of this run.
pub(crate) fn is_running(pod: &Pod) -> bool {
    let mark = format!("KUBEONKUBE_RUN={}", pod.uid().unwrap());
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    })
}

/// An empty `ansible-playbook`, for runs that don't call it.
fn no_ansible(dir: &Path) -> PathBuf {
    std::fs::write(dir.join("ansible-playbook"), "").unwrap();
    dir.to_owned()
}

/// A fake Python that copies itself into its virtual environments, and whose pip does nothing until the file `slow` is removed.
pub(crate) fn fake_python(dir: &Path) -> PathBuf {
    let path = dir.join("python");
    let text = format!(
        "#!/bin/sh
         case \"$*\" in
           *version_info*) echo 3 11 ;;
           '-I -m venv '*) mkdir -p \"$4/bin\" && cp '{}' \"$4/bin/python3\" ;;
           *'pip install'*) while [ -e '{}' ]; do sleep 0.02; done ;;
         esac",
        path.display(),
        dir.join("slow").display()
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// A script that starts this test program as a shim: see `shim_process`.
pub(crate) fn shim_program(dir: &Path) -> PathBuf {
    script(dir, "shim", "shim_process", SHIM, "\"$3\"")
}

/// A script that starts this test program as a server of `dir`: see `server_process`.
pub(crate) fn server_program(dir: &Path) -> PathBuf {
    script(dir, "server", "server_process", SERVER, &format!("'{}'", dir.display()))
}

fn script(dir: &Path, name: &str, test: &str, variable: &str, value: &str) -> PathBuf {
    let path = dir.join(format!("{name}.sh"));
    let program = std::env::current_exe().unwrap();
    let text = format!(
        "#!/bin/sh\n{variable}={value}\nexport {variable}\nexec '{}' --exact {test} --nocapture\n",
        program.display()
    );
    // Renamed into place: a file that is open for writing can't be executed.
    let new = dir.join(format!("{name}.new"));
    std::fs::write(&new, text).unwrap();
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::rename(&new, &path).unwrap();
    path
}

/// Does what `kubeonkube run-job --dir DIR` does, if this program was started as the shim.
pub(crate) fn be_the_shim() {
    if let Some(dir) = std::env::var_os(SHIM) {
        let done = runner::run_job(Path::new(&dir)) == std::process::ExitCode::SUCCESS;
        std::process::exit(i32::from(!done));
    }
}

/// Serves until it is killed, if this program was started as the server.
pub(crate) fn be_the_server() {
    let Some(dir) = std::env::var_os(SERVER).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let _lock = standalone::lock::take(&dir).unwrap();
        let logs = Arc::new(LocalLogs::new(&dir));
        let api = standalone::Api::open(Options { data_dir: dir.clone(), crds: Vec::new(), logs }).unwrap();
        let ansible = Arc::new(Ansible::new(&dir, Some(no_ansible(&dir)), "python3"));
        let options = RunnerOptions {
            data_dir: dir.clone(),
            shim: shim_program(&dir),
            ansible,
            max_parallel: 16,
            isolation: Isolation::detect(),
            descriptors: None,
        };
        runner::run(api.client("runner"), options, CancellationToken::new()).await.unwrap();
    });
}
