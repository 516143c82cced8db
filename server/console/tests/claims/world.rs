//! The test environment: an embedded API, stores that watch it, and a console that uses both.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api::backend::{Clusters, Frames, Operations, Runs};
use api::cluster::{MachineRow, NewCluster};
use api::log::{Found, LogFrame, LogPage, LogQuery, RunRecord};
use api::operation::{Action, Draft, NewOperation, OperationReview};
use api::run::HostStats;
use api::{OperationName, Problem, User};
use async_trait::async_trait;
use console::{Change, Console, Options, Playbooks, UserClients, start};
use crd::{Cluster, ClusterOperation, Phase};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::embedded_api;
use crate::patience::PATIENCE;

pub(crate) const NAMESPACE: &str = "machines";

pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) console: Console,
    pub(crate) user: User,
    api_is_silent: Arc<AtomicBool>,
    _tasks: JoinSet<()>,
    _api: Arc<standalone::Api>,
    _folder: tempfile::TempDir,
}

impl World {
    /// A standalone console: signed-in users may do everything.
    pub(crate) async fn standalone() -> Self {
        Self::with(Playbooks::Local, |_| None).await
    }

    pub(crate) async fn with(playbooks: Playbooks, user_clients: impl Fn(&Client) -> Option<UserClients>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let api = embedded_api::open(&folder.path().join("data"), crd::all()).unwrap();
        let client = api.client("test");
        let namespace = Namespace { metadata: named(NAMESPACE), ..Namespace::default() };
        Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
        let (clusters, write_clusters) = reflector::store::<Cluster>();
        let (operations, write_operations) = reflector::store::<ClusterOperation>();
        let (shutdown, api_is_silent) = (CancellationToken::new(), Arc::<AtomicBool>::default());
        let options = Options {
            client: client_that_may_wait(&client, &api_is_silent),
            user_clients: user_clients(&client),
            clusters: clusters.clone(),
            operations: operations.clone(),
            namespace: NAMESPACE.into(),
            image: "example.com/kubespray:v1".into(),
            playbooks,
            signing: operation::Signer::new(b"of the tests", &crd::Time(jiff::Timestamp::UNIX_EPOCH)).into(),
            availability: folder.path().join("availability"),
        };
        let (console, work) = start(options, shutdown);
        let mut tasks = JoinSet::new();
        let notified = console.clone();
        let watched = watcher(Api::<Cluster>::all(client.clone()), watcher::Config::default()).reflect(write_clusters);
        tasks.spawn(watched.touched_objects().for_each(move |object| {
            notified.changed(Change::Cluster(object.unwrap().name_any()));
            std::future::ready(())
        }));
        let notified = console.clone();
        let watched = watcher(Api::<ClusterOperation>::all(client.clone()), watcher::Config::default());
        tasks.spawn(watched.reflect(write_operations).touched_objects().for_each(move |object| {
            let object = object.unwrap();
            notified.changed(Change::Operation { name: object.name_any(), cluster: object.spec.cluster.clone() });
            std::future::ready(())
        }));
        clusters.wait_until_ready().await.unwrap();
        operations.wait_until_ready().await.unwrap();
        tasks.spawn(work);
        let user = User { name: "ada".into(), token: None };
        Self { client, console, user, api_is_silent, _tasks: tasks, _api: api, _folder: folder }
    }

    /// From now on, no request of the console gets an answer.
    pub(crate) fn silence_api(&self) {
        self.api_is_silent.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn register(&self, new: &NewCluster) -> Result<api::ClusterName, Problem> {
        Clusters::register(&self.console, &self.user, new).await
    }

    pub(crate) async fn submit(&self, new: &NewOperation) -> Result<OperationName, Problem> {
        Operations::submit(&self.console, &self.user, new).await
    }

    /// Submits a form as the page does. An error is at the field that caused it.
    pub(crate) async fn submit_form(&self, form: &Draft) -> Result<OperationName, Problem> {
        self.submit(&form.request()?).await.map_err(|problem| form.located(problem))
    }

    /// Reviews a form as the page does. An error is at the field that caused it.
    pub(crate) async fn review_form(&self, form: &Draft) -> Result<OperationReview, Problem> {
        let review = Operations::review(&self.console, &self.user, &form.request()?).await;
        review.map_err(|problem| form.located(problem))
    }

    pub(crate) fn clusters(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }

    pub(crate) fn operations(&self) -> Api<ClusterOperation> {
        Api::all(self.client.clone())
    }

    pub(crate) fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Names and resourceVersions of all objects that the console could have written.
    pub(crate) async fn everything(&self) -> Vec<String> {
        let all = ListParams::default();
        let mut seen = Vec::new();
        let mut note = |kind: &str, meta: &ObjectMeta| {
            seen.push(format!("{kind} {} {}", meta.name.clone().unwrap(), meta.resource_version.clone().unwrap()));
        };
        self.clusters().list(&all).await.unwrap().iter().for_each(|o| note("Cluster", &o.metadata));
        self.operations().list(&all).await.unwrap().iter().for_each(|o| note("ClusterOperation", &o.metadata));
        self.config_maps().list(&all).await.unwrap().iter().for_each(|o| note("ConfigMap", &o.metadata));
        self.secrets().list(&all).await.unwrap().iter().for_each(|o| note("Secret", &o.metadata));
        seen
    }

    /// Sets the status of an operation, as the controller does, and waits until the console shows it.
    pub(crate) async fn set_phase(&self, name: &str, phase: Phase, reason: &str) {
        let status =
            json!({"status": {"status": phase, "reason": reason, "message": format!("{name} is now {phase}.")}});
        self.operations().patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
        let name: OperationName = name.parse().unwrap();
        eventually(async || {
            let detail = Operations::get(&self.console, &self.user, &name).await.unwrap();
            detail.row.message.ends_with(&format!("is now {phase}."))
        })
        .await;
    }

    /// Waits until an object that is created now is newer than `name`. Creation times have whole seconds.
    pub(crate) async fn newer_than(&self, name: &str) {
        let created = self.operations().get(name).await.unwrap().metadata.creation_timestamp.unwrap().0;
        eventually(async || jiff::Timestamp::now().as_second() > created.as_second()).await;
    }

    pub(crate) async fn text(&self, config_map: &str, key: &str) -> String {
        self.config_maps().get(config_map).await.unwrap().data.unwrap()[key].clone()
    }
}

/// Answers with these values. Everything else fails.
#[derive(Default)]
pub(crate) struct FakeRuns {
    /// Of every run.
    pub(crate) record: Option<RunRecord>,
    /// Of one run. The other runs have none.
    pub(crate) recap: Arc<OnceLock<(OperationName, BTreeMap<String, HostStats>)>>,
}

#[async_trait]
impl Runs for FakeRuns {
    async fn record(&self, _: &User, _: &OperationName, _: u64, _: u32) -> Result<RunRecord, Problem> {
        self.record.clone().ok_or(Problem::Internal)
    }

    async fn recaps(&self, _: &User, name: &OperationName) -> Result<Vec<BTreeMap<String, HostStats>>, Problem> {
        let recap = self.recap.get().filter(|(of, _)| of == name);
        Ok(recap.map(|(_, hosts)| hosts.clone()).into_iter().collect())
    }

    async fn page(&self, _: &User, _: &OperationName, _: u64, _: u32) -> Result<LogPage, Problem> {
        Err(Problem::Internal)
    }

    async fn find(&self, _: &User, _: &OperationName, _: &LogQuery) -> Result<Found, Problem> {
        Err(Problem::Internal)
    }

    async fn follow(&self, _: &User, _: &OperationName, _: u64, _: u64) -> Result<Frames<LogFrame>, Problem> {
        Err(Problem::Internal)
    }

    async fn text(&self, _: &User, _: &OperationName) -> Result<Frames<Result<Vec<u8>, Problem>>, Problem> {
        Err(Problem::Internal)
    }
}

/// Waits until `holds` returns true. Panics after [`PATIENCE`].
pub(crate) async fn eventually(holds: impl AsyncFn() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the condition was not true in time");
}

/// A client whose requests get no answer once `is_silent` is set.
fn client_that_may_wait(client: &Client, is_silent: &Arc<AtomicBool>) -> Client {
    let (client, is_silent) = (client.clone(), is_silent.clone());
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, is_silent) = (client.clone(), is_silent.clone());
        async move {
            if is_silent.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
            client.send(request).await
        }
    });
    Client::new(service, "default")
}

pub(crate) fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() }
}

pub(crate) fn machine(name: &str, address: &str) -> MachineRow {
    MachineRow { name: name.into(), address: address.into(), user: "ubuntu".into(), ..MachineRow::default() }
}

/// A cluster with two machines and a generated key.
pub(crate) fn new_cluster(name: &str) -> NewCluster {
    NewCluster {
        name: name.into(),
        machines: vec![machine("m1", "192.0.2.1"), MachineRow { role: "worker".into(), ..machine("w1", "192.0.2.2") }],
        ssh: "generate".into(),
        variables: "# how it is built\nkube_version: v1.35.4\n".into(),
        ..NewCluster::default()
    }
}

pub(crate) fn new_operation(cluster: &str) -> NewOperation {
    NewOperation::new(cluster.parse().unwrap(), Action::builtin("ping.yml"))
}

/// The submit form for `ping.yml` on `prod`, with these fields set or replaced.
pub(crate) fn form(fields: &[(&str, &str)]) -> Draft {
    let filled = [("cluster", "prod"), ("action", "ping.yml")];
    let all = filled.iter().chain(fields).map(|(field, value)| ((*field).to_owned(), (*value).to_owned()));
    Draft::typed(&all.collect::<Vec<_>>())
}

/// The error text at `field`. Panics if there is none.
pub(crate) fn at<'a, T: std::fmt::Debug>(answer: &'a Result<T, Problem>, field: &str) -> &'a str {
    match answer {
        Err(problem) => problem.at(field).unwrap_or_else(|| panic!("no error at {field}: {problem:?}")),
        Ok(accepted) => panic!("it was accepted: {accepted:?}"),
    }
}
