//! A data directory with clusters on this machine, a server that is started and killed, and a client like kubectl's.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crd::{Cluster, ClusterOperation, DataRef};
use futures::AsyncBufRead;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{ListParams, LogParams, PostParams};
use kube::config::Kubeconfig;
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tempfile::TempDir;

use crate::patience::PATIENCE;
use crate::run::{self, Run};
use crate::server::Server;
use crate::skipped::skip;
use crate::{ansible, panics, processes};

pub(crate) struct World {
    data: TempDir,
    /// Files that must survive all kills: those that runs write, and the server's log.
    notes: TempDir,
    ansible: PathBuf,
    clusters: Vec<String>,
    client: Client,
    server: Option<Server>,
}

impl World {
    /// A server, and clusters whose only machine is this one.
    pub(crate) async fn new(clusters: &[&str]) -> Self {
        let ansible = ansible::folder().expect("the test was skipped otherwise");
        let (data, notes) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let server = Server::start(data.path(), &ansible, notes.path());
        // The kubeconfig is written before the banner.
        server.address().await;
        let client = client(&data.path().join("kubeconfig")).await;
        let clusters: Vec<String> = clusters.iter().map(|name| (*name).to_owned()).collect();
        let world = Self { data, notes, ansible, clusters, client, server: Some(server) };
        world.create(&config_map(run::PLAYBOOKS, "tick.yml", &run::playbook().to_string())).await;
        let hosts = "all: {hosts: {here: {ansible_connection: local, ansible_become: false}}}\n";
        let variables = "ansible_python_interpreter: \"{{ ansible_playbook_python }}\"\n";
        world.create(&config_map("hosts", crd::KEY_HOSTS, hosts)).await;
        world.create(&config_map("variables", crd::KEY_VARS, variables)).await;
        for name in &world.clusters {
            let (hosts_conf_ref, vars_conf_ref) =
                (DataRef::new("default", "hosts"), DataRef::new("default", "variables"));
            let spec = crd::ClusterSpec { hosts_conf_ref, vars_conf_ref, ..crd::ClusterSpec::default() };
            let created =
                Api::all(world.client.clone()).create(&PostParams::default(), &Cluster::new(name, spec)).await;
            created.expect("a cluster");
        }
        world
    }

    pub(crate) fn clusters(&self) -> &[String] {
        &self.clusters
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().expect("a server runs")
    }

    /// Starts the server again without waiting for it.
    pub(crate) fn spawn(&mut self) {
        self.server = Some(Server::start(self.data.path(), &self.ansible, self.notes.path()));
    }

    /// Starts the server again.
    pub(crate) async fn start(&mut self) {
        self.spawn();
        self.answers().await;
    }

    /// Waits until the API answers.
    pub(crate) async fn answers(&self) {
        eventually("the API to answer", async || self.client.apiserver_version().await.ok()).await;
    }

    /// `kill -9` of the server.
    pub(crate) async fn kill(&mut self) {
        self.server.take().expect("a server runs").kill().await;
    }

    /// Stops the server with SIGTERM; returns its exit code.
    pub(crate) async fn stop(&mut self) -> Option<i32> {
        self.server.take().expect("a server runs").stop().await
    }

    /// Creates the operation. Retries until the server accepts it.
    pub(crate) async fn submit(&self, run: &Run) {
        let operation = run.operation(&self.notes.path().display().to_string());
        let operations: Api<ClusterOperation> = Api::all(self.client.clone());
        eventually("the operation to be created", async || {
            match operations.create(&PostParams::default(), &operation).await {
                Ok(_) => Some(()),
                // An earlier attempt was stored, but its answer was lost.
                Err(kube::Error::Api(status)) if status.is_already_exists() => Some(()),
                Err(kube::Error::Api(status)) if status.code == 422 => panic!("{status:?}"),
                Err(_) => None,
            }
        })
        .await;
    }

    /// The operation, once it has ended.
    pub(crate) async fn ended(&self, name: &str) -> ClusterOperation {
        let operations: Api<ClusterOperation> = Api::all(self.client.clone());
        eventually(name, async || {
            let operation = operations.get(name).await.ok()?;
            // The controller writes the label before the status, so that a crash in between can't restart the run.
            let done = operation.labels().get(crd::LABEL_HAS_COMPLETED).is_some_and(|value| value == crd::DONE);
            let is_final = operation.status.as_ref().is_some_and(|status| status.status.is_final());
            (done && is_final).then_some(operation)
        })
        .await
    }

    pub(crate) async fn pod_of(&self, operation: &str) -> Pod {
        let of_operation = ListParams::default().labels(&format!("{}={operation}", crd::LABEL_OPERATION));
        let mut pods = Api::<Pod>::all(self.client.clone()).list(&of_operation).await.expect("pods").items;
        assert_eq!(pods.len(), 1, "the pods of {operation}");
        pods.remove(0)
    }

    /// `kubectl logs`.
    pub(crate) async fn pod_log(&self, operation: &str) -> String {
        let pod = self.pod_of(operation).await;
        let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
        pods.logs(&pod.name_any(), &LogParams::default()).await.expect("a log")
    }

    /// `kubectl logs -f`.
    pub(crate) async fn follow_pod_log(&self, operation: &str) -> impl AsyncBufRead + use<> {
        let pod = self.pod_of(operation).await;
        let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
        pods.log_stream(&pod.name_any(), &LogParams { follow: true, ..LogParams::default() }).await.expect("a log")
    }

    /// The folder of a run.
    pub(crate) async fn folder_of(&self, operation: &str) -> PathBuf {
        self.data.path().join("runs").join(self.pod_of(operation).await.uid().expect("a uid"))
    }

    /// Lets a held script go on.
    pub(crate) fn release(&self, run: &Run) {
        fs::write(self.notes.path().join(format!("{}.go", run.name)), "").expect("written");
    }

    /// How often the operation's work was started, according to the files that it wrote.
    pub(crate) fn starts(&self, run: &Run) -> usize {
        self.trace(run, "started").lines().count()
    }

    /// How many lines a script has printed.
    pub(crate) fn printed(&self, run: &Run) -> usize {
        self.trace(run, "printed").lines().count()
    }

    /// Whether the operation's work has reached its end.
    pub(crate) fn has_ended(&self, run: &Run) -> bool {
        self.notes.path().join(format!("{}.ended", run.name)).exists()
    }

    fn trace(&self, run: &Run, what: &str) -> String {
        fs::read_to_string(self.notes.path().join(format!("{}.{what}", run.name))).unwrap_or_default()
    }

    /// Checks that no process of a run is alive.
    pub(crate) async fn only_the_server_is_left(&self) {
        let mut left = Vec::new();
        let server = self.server().pid();
        let gone = async || {
            left = processes::of(self.data.path())
                .into_iter()
                .filter(|pid| *pid != server)
                .map(processes::describe)
                .collect();
            left.is_empty().then_some(())
        };
        let _ = tokio::time::timeout(PATIENCE, repeat(gone)).await;
        assert!(left.is_empty(), "orphans: {left:#?}");
    }

    async fn create(&self, map: &ConfigMap) {
        let created = Api::default_namespaced(self.client.clone()).create(&PostParams::default(), map).await;
        created.expect("a ConfigMap");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.server = None;
        let log = fs::read_to_string(self.notes.path().join("server.log")).unwrap_or_default();
        if std::thread::panicking() {
            let from = log.lines().count().saturating_sub(60);
            eprintln!("the end of the server's log:\n{}", log.lines().skip(from).collect::<Vec<_>>().join("\n"));
        }
        processes::kill_all_of(self.data.path());
        panics::check_none(&log);
    }
}

fn config_map(name: &str, key: &str, text: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {key: text}})).expect("a ConfigMap")
}

async fn client(kubeconfig: &Path) -> Client {
    let read = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(read, &Default::default()).await.expect("a context");
    Client::try_from(config).expect("a client")
}

/// Whether this test must be skipped, because ansible is missing. Records the skipped test.
pub(crate) fn skipped(test: &str) -> bool {
    let is_missing = ansible::folder().is_none();
    if is_missing {
        skip(test, "KUBEONKUBE_TEST_ANSIBLE names no folder with ansible-playbook");
    }
    is_missing
}

/// Calls `look` until it returns a value.
pub(crate) async fn eventually<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    tokio::time::timeout(PATIENCE, repeat(look)).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}

async fn repeat<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let mut tick = tokio::time::interval(Duration::from_millis(20));
    loop {
        tick.tick().await;
        if let Some(found) = look().await {
            return found;
        }
    }
}
