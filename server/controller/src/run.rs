//! The controller as a whole: its watches, its two reconcilers, its end.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crd::{Cluster, ClusterOperation};
use futures::StreamExt;
use futures::future::{Ready, ready};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, PodSpec};
use kube::runtime::controller::{self, Controller};
use kube::runtime::events::{Recorder, Reporter};
use kube::runtime::reflector::Store;
use kube::runtime::watcher;
use kube::{Api, Client, Resource, ResourceExt};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::change::{self, Change, ChangeKind};
use crate::context::{Context, Stores};
use crate::error::again;
use crate::expectations::Expectations;
use crate::marks::Marks;
use crate::secrets::Secrets;
use crate::unread::Unread;
use crate::watching::{Kept, keep, tell_of_config_maps};
use crate::{cluster, operation, trigger};

/// At most this many operations are worked on at once: each holds a few requests and one snapshot in memory.
const OPERATIONS_AT_ONCE: u16 = 64;
const CLUSTERS_AT_ONCE: u16 = 16;

/// What the controller is told at start.
#[derive(Debug, Clone)]
pub struct Config {
    /// How many operations may run at once, all clusters together; 0 counts as 1. Each controller counts for itself.
    pub max_running: usize,
    /// Where the ConfigMap `kubeonkube-config` lies.
    pub controller_namespace: String,
    /// How long after its submission an operation waits for a Cluster or ConfigMap that doesn't exist yet: applying a whole
    /// folder creates them in the order of its file names.
    pub patience: Duration,
    /// How long an operation that has the turn waits for room in a full quota.
    pub quota_patience: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_running: 20,
            controller_namespace: "kubeonkube-system".into(),
            patience: Duration::from_secs(5),
            quota_patience: Duration::from_secs(600),
        }
    }
}

/// What a running controller shares: its stores, trimmed of `managedFields` and of the pods' specifications, and the news.
#[derive(Clone)]
pub struct Running {
    /// All Clusters.
    pub clusters: Store<Cluster>,
    /// All ClusterOperations.
    pub operations: Store<ClusterOperation>,
    /// The ClusterOperations that are there and not in the store: this version can't read them.
    pub unread_operations: Unread,
    /// The Jobs of operations, without their pod templates.
    pub jobs: Store<Job>,
    /// The pods of those Jobs; of their spec only `nodeName`.
    pub pods: Store<Pod>,
    /// Subscribe for what changes from now on. A reader that falls behind by 4096 changes gets `Lagged` and has to look at
    /// everything.
    pub changes: broadcast::Sender<Change>,
    filled: watch::Receiver<bool>,
}

impl Running {
    /// Waits until all stores hold what the API holds. False when the controller ended before.
    ///
    /// Use this and not `Store::wait_until_ready`: where several tasks wait for one store, that wakes only the last (kube 5.0).
    pub async fn ready(&self) -> bool {
        self.filled.clone().wait_for(|filled| *filled).await.is_ok()
    }
}

/// Starts the watches and reconcilers. The handle ends after `shutdown`, when every write that had begun is through; Jobs go on.
///
/// Must be called within a tokio runtime.
pub fn start(client: Client, mut config: Config, shutdown: CancellationToken) -> (Running, JoinHandle<()>) {
    config.max_running = config.max_running.max(1);
    let (changes, _) = broadcast::channel(change::BUFFER);
    let ours = || {
        watcher::Config::default().labels(&format!(
            "{}={},{}",
            crd::LABEL_MANAGED_BY,
            crd::PRODUCT,
            crd::LABEL_OPERATION
        ))
    };
    let one = watcher::Config::default().fields(&format!("metadata.name={}", crd::CONFIG_NAME));

    let (clusters, _, keep_clusters) =
        keep(Api::all(client.clone()), watcher::Config::default(), CLUSTERS, changes.clone(), shutdown.clone());
    let (operations, unread_operations, keep_operations) =
        keep(Api::all(client.clone()), watcher::Config::default(), OPERATIONS, changes.clone(), shutdown.clone());
    let (jobs, _, keep_jobs) = keep(Api::all(client.clone()), ours(), JOBS, changes.clone(), shutdown.clone());
    let (pods, _, keep_pods) = keep(Api::all(client.clone()), ours(), PODS, changes.clone(), shutdown.clone());
    let (settings, _, keep_settings) = keep(
        Api::namespaced(client.clone(), &config.controller_namespace),
        one,
        SETTINGS,
        changes.clone(),
        shutdown.clone(),
    );
    let marks = Arc::new(Marks::default());
    let maps = tell_of_config_maps(client.clone(), marks.clone(), changes.clone(), shutdown.clone());

    let (filled_sender, filled) = watch::channel(false);
    let running = Running { clusters, operations, unread_operations, jobs, pods, changes: changes.clone(), filled };
    let stores = Stores {
        clusters: running.clusters.clone(),
        operations: running.operations.clone(),
        jobs: running.jobs.clone(),
        pods: running.pods.clone(),
        settings,
    };
    let reporter = Reporter { controller: crd::PRODUCT.into(), instance: None };
    let ctx = Arc::new(Context {
        recorder: Recorder::new(client.clone(), reporter),
        client,
        config,
        stores,
        expectations: Expectations::default(),
        secrets: Secrets::default(),
        marks,
        touched: Mutex::new(HashSet::new()),
        slots_wanted: AtomicBool::new(false),
    });
    let reconcilers = reconcile(ctx, changes, filled_sender, shutdown);
    let handle = tokio::spawn(async move {
        futures::join!(keep_clusters, keep_operations, keep_jobs, keep_pods, keep_settings, maps, reconcilers);
    });
    (running, handle)
}

/// Both reconcilers, once every store is filled: a turn decided on half a list would be decided wrongly.
async fn reconcile(
    ctx: Arc<Context>,
    changes: broadcast::Sender<Change>,
    filled: watch::Sender<bool>,
    shutdown: CancellationToken,
) {
    let (for_operations, for_clusters) = (changes.subscribe(), changes.subscribe());
    tokio::select! {
        () = shutdown.cancelled() => return,
        all = ctx.stores.fill() => if all { filled.send_replace(true); } else { return },
    }
    let operations = Controller::for_stream(futures::stream::pending(), ctx.stores.operations.clone())
        .with_config(controller::Config::default().concurrency(OPERATIONS_AT_ONCE))
        .reconcile_on(trigger::operations(ctx.clone(), for_operations))
        .graceful_shutdown_on(shutdown.clone().cancelled_owned())
        .run(operation::reconcile, |operation, error, _| again(&operation.name_any(), error), ctx.clone());
    let clusters = Controller::for_stream(futures::stream::pending(), ctx.stores.clusters.clone())
        .with_config(controller::Config::default().concurrency(CLUSTERS_AT_ONCE))
        .reconcile_on(trigger::clusters(ctx.clone(), for_clusters))
        .graceful_shutdown_on(shutdown.cancelled_owned())
        .run(cluster::reconcile, |cluster, error, _| again(&cluster.name_any(), error), ctx);
    futures::join!(operations.for_each(report), clusters.for_each(report));
}

fn report<T, E: std::error::Error>(done: Result<T, controller::Error<E, watcher::Error>>) -> Ready<()> {
    match done {
        // Told by `again`, or deleted while it stood in the queue.
        Ok(_) | Err(controller::Error::ReconcilerFailed(..) | controller::Error::ObjectNotFound(_)) => {}
        Err(error) => tracing::warn!(%error, "the controller stumbled"),
    }
    ready(())
}

const CLUSTERS: Kept<Cluster> =
    Kept { trim: |_| {}, tell: |cluster| Change::new(ChangeKind::Cluster, &cluster.name_any(), &cluster.name_any()) };
const OPERATIONS: Kept<ClusterOperation> = Kept {
    trim: |_| {},
    tell: |operation| Change::new(ChangeKind::Operation, &operation.name_any(), &operation.spec.cluster),
};
const JOBS: Kept<Job> = Kept {
    trim: |job| {
        if let Some(spec) = &mut job.spec {
            spec.template.spec = None;
        }
    },
    tell: of_run,
};
const PODS: Kept<Pod> = Kept {
    trim: |pod| {
        let node_name = pod.spec.take().and_then(|spec| spec.node_name);
        pod.spec = Some(PodSpec { node_name, ..PodSpec::default() });
    },
    tell: of_run,
};
const SETTINGS: Kept<ConfigMap> = Kept { trim: |_| {}, tell: |_| Change::new(ChangeKind::Settings, "", "") };

fn of_run<K: Resource>(object: &K) -> Change {
    let label = |key: &str| object.labels().get(key).cloned().unwrap_or_default();
    Change::new(ChangeKind::Run, &label(crd::LABEL_OPERATION), &label(crd::LABEL_CLUSTER))
}
