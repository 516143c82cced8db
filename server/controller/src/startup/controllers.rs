//! Starting and stopping the controllers.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crd::{Cluster, ClusterOperation};
use futures::StreamExt;
use futures::future::{Ready, ready};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::controller::{self, Controller};
use kube::runtime::events::{Recorder, Reporter};
use kube::runtime::reflector::Store;
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use operation::Signing;
use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::context::Context;
use crate::error::retry;
use crate::memory::checks::Checks;
use crate::memory::expectations::Expectations;
use crate::memory::first_tries::FirstTries;
use crate::memory::run_secrets::RunSecrets;
use crate::memory::used_by::UsedBy;
use crate::startup::{key, triggers, watches};
use crate::watch::change::{self, Change};
use crate::watch::unread::Unread;
use crate::{cluster, reconcile};

/// At most this many operations are reconciled at once: each has a few requests open and one snapshot in memory.
const OPERATIONS_AT_ONCE: u16 = 64;
const CLUSTERS_AT_ONCE: u16 = 16;

/// What a running controller shares: its stores and its change notifications. Objects in the stores have no `managedFields` except
/// for the entry of the program that created them.
#[derive(Clone)]
pub struct Running {
    /// All Clusters.
    pub clusters: Store<Cluster>,
    /// All ClusterOperations.
    pub operations: Store<ClusterOperation>,
    /// The ClusterOperations that exist but can't be parsed by this version, so that the store lacks them.
    pub unread_operations: Unread,
    /// The Jobs of operations, without their pod templates.
    pub jobs: Store<Job>,
    /// The pods of those Jobs; of their spec only `nodeName`.
    pub pods: Store<Pod>,
    /// Subscribe for changes from now on. A reader that is more than 4096 changes behind gets `Lagged` and has to read everything
    /// again.
    pub changes: broadcast::Sender<Change>,
    /// Signs results and submitters. Its key is known when [`ready`](Self::ready) returns.
    pub signing: Signing,
    filled: watch::Receiver<bool>,
}

impl Running {
    /// Waits until all stores hold what the API holds. False if the controller ended before.
    ///
    /// Use this and not `Store::wait_until_ready`: if several tasks wait for one store, that wakes only the last one (kube 5.0), and the
    /// others wait for ever.
    pub async fn ready(&self) -> bool {
        self.filled.clone().wait_for(|filled| *filled).await.is_ok()
    }
}

/// Starts the watches and reconcilers. After `shutdown` the handle ends as soon as all writes in progress are done; Jobs continue.
///
/// Must be called within a tokio runtime.
pub fn start(client: Client, mut config: Config, shutdown: CancellationToken) -> (Running, JoinHandle<()>) {
    config.max_running = config.max_running.max(1);
    let (changes, _) = broadcast::channel(change::BUFFER);
    let used_by = Arc::new(UsedBy::default());
    let (stores, unread_operations, watching) =
        watches::start(&client, &config.controller_namespace, &used_by, &changes, &shutdown);
    let (filled_sender, filled) = watch::channel(false);
    let running = Running {
        clusters: stores.clusters.clone(),
        operations: stores.operations.clone(),
        unread_operations,
        jobs: stores.jobs.clone(),
        pods: stores.pods.clone(),
        changes: changes.clone(),
        signing: config.signer.clone().map(Signing::from).unwrap_or_default(),
        filled,
    };
    let reporter = Reporter { controller: crd::PRODUCT.into(), instance: None };
    let ctx = Arc::new(Context {
        recorder: Recorder::new(client.clone(), reporter),
        client,
        config,
        stores,
        expectations: Expectations::default(),
        run_secrets: RunSecrets::default(),
        first_tries: FirstTries::default(),
        signing: running.signing.clone(),
        used_by,
        touched: Mutex::new(HashSet::new()),
        checks: Checks::default(),
        slots_wanted: AtomicBool::new(false),
    });
    let reconcilers = reconcile_all(ctx, changes, filled_sender, shutdown);
    let handle = tokio::spawn(async move {
        futures::join!(watching, reconcilers);
    });
    (running, handle)
}

/// Waits until the stores are filled and the key of signatures is known. False if the watches ended before.
async fn prepared(ctx: &Context) -> bool {
    let key = async {
        if ctx.signing.signer().is_none() {
            ctx.signing.set(key::from_secret(&ctx.client, &ctx.config.controller_namespace).await);
        }
    };
    futures::join!(key, ctx.stores.fill()).1
}

/// Runs both reconcilers once every store is filled: with half a list, the wrong operation would get a turn.
async fn reconcile_all(
    ctx: Arc<Context>,
    changes: broadcast::Sender<Change>,
    filled: watch::Sender<bool>,
    shutdown: CancellationToken,
) {
    let (for_operations, for_clusters) = (changes.subscribe(), changes.subscribe());
    tokio::select! {
        () = shutdown.cancelled() => return,
        all = prepared(&ctx) => if all { filled.send_replace(true); } else { return },
    }
    let operations = Controller::for_stream(futures::stream::pending(), ctx.stores.operations.clone())
        .with_config(controller::Config::default().concurrency(OPERATIONS_AT_ONCE))
        .reconcile_on(triggers::operations(ctx.clone(), for_operations))
        .graceful_shutdown_on(shutdown.clone().cancelled_owned())
        .run(reconcile::reconcile, |operation, error, _| retry(&operation.name_any(), error), ctx.clone());
    let clusters = Controller::for_stream(futures::stream::pending(), ctx.stores.clusters.clone())
        .with_config(controller::Config::default().concurrency(CLUSTERS_AT_ONCE))
        .reconcile_on(triggers::clusters(ctx.clone(), for_clusters))
        .graceful_shutdown_on(shutdown.cancelled_owned())
        .run(cluster::reconcile::reconcile, |cluster, error, _| retry(&cluster.name_any(), error), ctx);
    futures::join!(operations.for_each(report), clusters.for_each(report));
}

fn report<T, E: std::error::Error>(done: Result<T, controller::Error<E, watcher::Error>>) -> Ready<()> {
    match done {
        // `retry` has logged it, or the object was deleted while it was queued.
        Ok(_) | Err(controller::Error::ReconcilerFailed(..) | controller::Error::ObjectNotFound(_)) => {}
        Err(error) => tracing::warn!(%error, "the controller reported an error"),
    }
    ready(())
}
