//! The world of a test: an embedded API, a fake kubelet, and any number of controllers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crd::{Cluster, ClusterOperation, ClusterOperationSpec, ClusterSpec, DataRef, Phase};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use kubeonkube_controller::{self as controller, Config, Running, Signer};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::embedded_api;
use crate::kubelet::Kubelet;
use crate::patience::PATIENCE;
use crate::relay::{self, Relay};
use crate::secret_log::Logs;

pub(crate) const NAMESPACE: &str = "lab";
/// The controller's namespace, which never has a Job of an operation.
pub(crate) const OWN_NAMESPACE: &str = "controllers";
/// A private key of no machine.
pub(crate) const KEY: &str = "-----BEGIN EC PRIVATE KEY-----\n\
    MDECAQEEIESUEDE6uEOQ3+bCT37LqaBfRq7QZ4ZzwIefNjszoNxLoAoGCCqGSM49\n\
    AwEH\n\
    -----END EC PRIVATE KEY-----\n";
pub(crate) const HOSTS: &str = "all:\n  hosts:\n    m1:\n    w1:\n";

pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) kubelet: Arc<Kubelet>,
    pub(crate) config: Config,
    working: JoinHandle<()>,
    controllers: Vec<Controller>,
    api: Arc<standalone::Api>,
    _dir: tempfile::TempDir,
}

pub(crate) struct Controller {
    pub(crate) running: Running,
    pub(crate) relay: Arc<Relay>,
    shutdown: CancellationToken,
    handle: JoinHandle<()>,
}

impl World {
    /// A world with one controller and no cluster.
    pub(crate) async fn new() -> Self {
        let mut world = Self::without_controller().await;
        world.start_controller().await;
        world
    }

    /// A world whose controller runs at most `max_running` operations at once.
    pub(crate) async fn with_slots(max_running: usize) -> Self {
        let mut world = Self::without_controller().await;
        world.config.max_running = max_running;
        world.start_controller().await;
        world
    }

    pub(crate) async fn without_controller() -> Self {
        let _ = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
            .with_test_writer()
            .try_init();
        let dir = tempfile::tempdir().unwrap();
        let kubelet = Arc::new(Kubelet::default());
        let logs = Arc::new(Logs(kubelet.clone()));
        let api = embedded_api::open_with_logs(dir.path(), crd::all(), logs).expect("the API opens");
        let client = api.client("test");
        for name in [NAMESPACE, "elsewhere", OWN_NAMESPACE] {
            let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
            Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
        }
        let working = tokio::spawn(kubelet.clone().work(api.client("kubelet")));
        let config = Config {
            inputs_timeout: Duration::ZERO,
            controller_namespace: OWN_NAMESPACE.into(),
            signer: Some(signer()),
            ..Config::default()
        };
        Self { client, kubelet, config, working, controllers: Vec::new(), api, _dir: dir }
    }

    pub(crate) async fn start_controller(&mut self) -> &Controller {
        let relay = Arc::new(Relay::default());
        self.start_controller_behind(relay).await
    }

    pub(crate) async fn start_controller_behind(&mut self, relay: Arc<Relay>) -> &Controller {
        let shutdown = CancellationToken::new();
        let client = relay.client(&self.api.client("controller"));
        let (running, handle) = controller::start(client, self.config.clone(), shutdown.clone());
        assert!(tokio::time::timeout(PATIENCE, running.ready()).await.expect("the stores fill"));
        self.controllers.push(Controller { running, relay, shutdown, handle });
        self.controllers.last().unwrap()
    }

    pub(crate) fn controller(&self) -> &Controller {
        self.controllers.last().expect("a controller runs")
    }

    /// Stops the newest controller and waits until it has ended.
    pub(crate) async fn stop_controller(&mut self) {
        let controller = self.controllers.pop().expect("a controller runs");
        controller.shutdown.cancel();
        tokio::time::timeout(PATIENCE, controller.handle).await.expect("it ends after shutdown").unwrap();
    }

    /// Ends the newest controller like a power cut: at once, in the middle of its work.
    pub(crate) fn kill_controller(&mut self) {
        let controller = self.controllers.pop().expect("a controller runs");
        controller.relay.cut.store(true, std::sync::atomic::Ordering::SeqCst);
        controller.handle.abort();
    }

    pub(crate) fn operations(&self) -> Api<ClusterOperation> {
        Api::all(self.client.clone())
    }

    pub(crate) fn clusters(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }

    pub(crate) fn jobs(&self) -> Api<Job> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Creates a cluster with two hosts, a key, and its ConfigMaps.
    pub(crate) async fn cluster(&self, name: &str) {
        self.config_map(&format!("{name}-hosts"), &[("hosts.yml", HOSTS)]).await;
        self.config_map(&format!("{name}-vars"), &[("group_vars.yml", "kube_version: v1.33.4\n")]).await;
        self.secret(&format!("{name}-ssh"), "ssh-privatekey", KEY).await;
        self.create_cluster(name, |_| {}).await;
    }

    /// Creates a Cluster; the test has created what it refers to.
    pub(crate) async fn create_cluster(&self, name: &str, change: impl FnOnce(&mut ClusterSpec)) {
        let at = |what: &str| DataRef::new(NAMESPACE, format!("{name}-{what}"));
        let mut spec = ClusterSpec {
            hosts_conf_ref: at("hosts"),
            vars_conf_ref: at("vars"),
            ssh_auth_ref: Some(at("ssh")),
            ..ClusterSpec::default()
        };
        change(&mut spec);
        self.clusters().create(&PostParams::default(), &Cluster::new(name, spec)).await.unwrap();
    }

    pub(crate) async fn config_map(&self, name: &str, data: &[(&str, &str)]) {
        self.config_map_in(NAMESPACE, name, data).await;
    }

    pub(crate) async fn config_map_in(&self, namespace: &str, name: &str, data: &[(&str, &str)]) {
        let data: BTreeMap<String, String> = data.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let map: ConfigMap = serde_json::from_value(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}),
        )
        .unwrap();
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        if maps.get_opt(name).await.unwrap().is_some() {
            maps.replace(name, &PostParams::default(), &map).await.unwrap();
        } else {
            maps.create(&PostParams::default(), &map).await.unwrap();
        }
    }

    /// Waits until a ConfigMap has the `used-by` label.
    pub(crate) async fn labelled(&self, name: &str) {
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), NAMESPACE);
        let mark = async || maps.get(name).await.unwrap().labels().get(crd::LABEL_USED_BY).cloned();
        eventually(async || mark().await).await.expect("it is labelled");
    }

    pub(crate) async fn secret(&self, name: &str, key: &str, value: &str) {
        let secret: Secret = serde_json::from_value(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {key: value}}),
        )
        .unwrap();
        Api::<Secret>::namespaced(self.client.clone(), NAMESPACE)
            .create(&PostParams::default(), &secret)
            .await
            .unwrap();
    }

    /// The operations that ran while another Job of their cluster had not ended.
    pub(crate) fn ran_beside_others(&self) -> Vec<String> {
        let runs = self.kubelet.runs.lock().unwrap();
        runs.iter().filter(|run| !run.beside.is_empty()).map(|run| run.operation.clone()).collect()
    }

    /// Submits `ping.yml` with an image of that name, which decides how the run ends.
    pub(crate) async fn submit(&self, name: &str, cluster: &str, image: &str) -> ClusterOperation {
        self.submit_with(name, cluster, |spec| spec.image = image.into()).await
    }

    pub(crate) async fn submit_with(
        &self,
        name: &str,
        cluster: &str,
        change: impl FnOnce(&mut ClusterOperationSpec),
    ) -> ClusterOperation {
        let mut spec = ClusterOperationSpec {
            cluster: cluster.into(),
            action: "ping.yml".into(),
            image: "ok".into(),
            ..ClusterOperationSpec::default()
        };
        change(&mut spec);
        self.operations().create(&PostParams::default(), &ClusterOperation::new(name, spec)).await.unwrap()
    }

    pub(crate) async fn cancel(&self, name: &str) {
        self.operations()
            .patch(name, &PatchParams::default(), &Patch::Merge(json!({"spec": {"cancel": true}})))
            .await
            .unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.operations().delete(name, &DeleteParams::background()).await.unwrap();
    }

    /// Waits until the operation has ended by its label, its status and its cluster's history.
    pub(crate) async fn ended(&self, name: &str) -> ClusterOperation {
        let cluster = |operation: &ClusterOperation| {
            self.controller().running.clusters.find(|c| c.name_any() == operation.spec.cluster)
        };
        self.operation_that(name, "end", |operation| {
            let done = operation.labels().get("hasCompleted").is_some_and(|value| value == "done");
            let entry = cluster(operation).is_none_or(|cluster| {
                cluster.status.as_ref().is_some_and(|status| {
                    status.conditions.iter().any(|entry| entry.uid == operation.uid() && entry.status.is_final())
                })
            });
            done && phase(operation).is_final() && entry
        })
        .await
    }

    /// The Events about an operation as (reason, note), oldest first.
    pub(crate) async fn events_of(&self, operation: &ClusterOperation) -> Vec<(String, String)> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), "default");
        let mut all = events.list(&ListParams::default()).await.unwrap().items;
        all.retain(|event| event.regarding.as_ref().is_some_and(|at| at.uid == operation.uid()));
        all.sort_by(|a, b| a.event_time.cmp(&b.event_time));
        all.into_iter().map(|event| (event.reason.unwrap_or_default(), event.note.unwrap_or_default())).collect()
    }

    /// Whether an Event reports the end of an operation. It is the last request about it.
    pub(crate) async fn tells_end(&self, name: &str) -> bool {
        let operation = self.operations().get(name).await.unwrap();
        let events = self.events_of(&operation).await;
        events.iter().any(|(reason, _)| !matches!(reason.as_str(), "Queued" | "Started"))
    }

    /// Waits for an Event with this reason.
    pub(crate) async fn tells(&self, name: &str, why: &str) {
        let operation = self.operations().get(name).await.unwrap();
        let told = async || self.events_of(&operation).await.iter().any(|(reason, _)| reason == why).then_some(());
        eventually(told).await.expect("an Event");
    }

    /// Waits for the Event about the end, and returns all Events about the operation.
    pub(crate) async fn story(&self, name: &str) -> Vec<(String, String)> {
        eventually(async || self.tells_end(name).await.then_some(())).await.expect("an Event reports the end");
        self.events_of(&self.operations().get(name).await.unwrap()).await
    }

    /// Waits until the operation satisfies a condition.
    pub(crate) async fn operation_that(
        &self,
        name: &str,
        what: &str,
        holds: impl Fn(&ClusterOperation) -> bool,
    ) -> ClusterOperation {
        let mut last = None;
        let found = eventually(async || {
            last = self.operations().get_opt(name).await.unwrap();
            last.clone().filter(|operation| holds(operation))
        })
        .await;
        found.unwrap_or_else(|| panic!("operation {name} should {what}: {last:#?}"))
    }

    /// Waits until the Cluster satisfies a condition.
    pub(crate) async fn cluster_that(&self, name: &str, what: &str, holds: impl Fn(&Cluster) -> bool) -> Cluster {
        let mut last = None;
        let found = eventually(async || {
            last = self.clusters().get_opt(name).await.unwrap();
            last.clone().filter(|cluster| holds(cluster))
        })
        .await;
        found.unwrap_or_else(|| panic!("cluster {name} should {what}: {last:#?}"))
    }

    /// Waits until the operation was refused with this reason and checks that it has no Job. Returns the message.
    pub(crate) async fn refused(&self, name: &str, why: &str) -> String {
        let operation = self.ended(name).await;
        let status = operation.status.clone().unwrap();
        assert_eq!((status.status, reason(&operation)), (Phase::Failed, why), "{status:#?}");
        assert_eq!(self.kubelet.runs_of(name), 0);
        assert!(crd::is_true(&status.conditions, "Failed"));
        let message = status.message.unwrap();
        assert!(message.len() > 20, "a sentence: {message}");
        message
    }

    pub(crate) async fn all_jobs(&self) -> Vec<Job> {
        Api::<Job>::all(self.client.clone()).list(&ListParams::default()).await.unwrap().items
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.working.abort();
        for controller in &self.controllers {
            controller.handle.abort();
        }
        // A second panic would abort the whole test binary.
        if !std::thread::panicking() {
            relay::check_rights();
        }
    }
}

/// The signer of the controllers. Its key is older than every operation.
pub(crate) fn signer() -> Signer {
    Signer::new(b"of the tests", &crd::Time(jiff::Timestamp::UNIX_EPOCH))
}

/// Waits until `look` returns a value; None after the deadline.
pub(crate) async fn eventually<T>(mut look: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    let ticking = async {
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        loop {
            tick.tick().await;
            if let Some(found) = look().await {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, ticking).await.ok()
}

pub(crate) fn phase(operation: &ClusterOperation) -> Phase {
    operation.status.as_ref().map(|status| status.status).unwrap_or_default()
}

/// Whether the inputs of the Cluster are checked and valid.
pub(crate) fn ready(cluster: &Cluster) -> bool {
    cluster.status.as_ref().is_some_and(|status| crd::is_true(&status.cluster_conditions, "InputsReady"))
}

pub(crate) fn reason(operation: &ClusterOperation) -> &str {
    operation.status.as_ref().and_then(|status| status.reason.as_deref()).unwrap_or_default()
}

pub(crate) fn message(operation: &ClusterOperation) -> &str {
    operation.status.as_ref().and_then(|status| status.message.as_deref()).unwrap_or_default()
}
