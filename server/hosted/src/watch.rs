//! When to reconcile: after changes of Clusters, and of the workloads of those that are hosted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crd::Cluster;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use kube::core::PartialObjectMeta;
use kube::runtime::controller::{self, Action, Controller};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::api::Child;
use crate::context::{Config, Context};
use crate::reconcile::reconcile;

/// How many clusters are reconciled at once.
const AT_ONCE: u16 = 8;
/// A rollout reports several changes in a row.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Names of Clusters that were added, changed or deleted.
pub type Wake = BoxStream<'static, String>;

/// Reconciles hosted clusters until shutdown. `clusters` must be filled when `wake` yields its first name, and `wake` must yield each
/// Cluster once at the start.
pub async fn start(client: Client, clusters: Store<Cluster>, wake: Wake, config: Config, shutdown: CancellationToken) {
    let (sender, workloads) = mpsc::unbounded_channel();
    let watches = Watches { sender, running: Mutex::default() };
    let ctx = Arc::new(Context { client, config, clusters: clusters.clone(), watches, written: Mutex::default() });
    let changed = news(clusters.clone(), wake);
    let workloads = stream::unfold(workloads, |mut names| async move { Some((names.recv().await?, names)) });
    let names = stream::select(changed, workloads).map(|name| ObjectRef::<Cluster>::new(&name));
    Controller::for_stream(stream::pending(), clusters)
        .with_config(controller::Config::default().concurrency(AT_ONCE).debounce(DEBOUNCE))
        .reconcile_on(names)
        .graceful_shutdown_on(shutdown.cancelled_owned())
        .run(reconcile, |cluster, error, _| retry(&cluster, error), ctx)
        .for_each(|done| {
            if let Err(error @ (controller::Error::QueueError(_) | controller::Error::RunnerError(_))) = done {
                tracing::warn!(%error, "the controller of hosted clusters reported an error");
            }
            std::future::ready(())
        })
        .await;
}

fn retry(cluster: &Cluster, error: &kube::Error) -> Action {
    let is_conflict = matches!(error, kube::Error::Api(status) if status.is_conflict());
    if is_conflict {
        return Action::requeue(Duration::from_millis(100));
    }
    tracing::warn!(cluster = cluster.name_any(), %error, "a hosted cluster's reconcile failed and will be retried");
    Action::requeue(Duration::from_secs(2))
}

/// Those changes of hosted Clusters that matter: not our own writes to their status.
fn news(clusters: Store<Cluster>, wake: Wake) -> impl Stream<Item = String> {
    let mut seen: HashMap<String, Seen> = HashMap::new();
    wake.filter(move |name| {
        let found = clusters.get(&ObjectRef::new(name)).filter(|cluster| cluster.spec.hosted.is_some());
        let is_new = match found {
            None => {
                seen.remove(name);
                false
            }
            Some(cluster) => {
                let now = Seen::of(&cluster);
                seen.insert(name.clone(), now.clone()) != Some(now)
            }
        };
        std::future::ready(is_new)
    })
}

/// What a reconcile depends on.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    uid: Option<String>,
    generation: Option<i64>,
    is_leaving: bool,
    finalizers: Vec<String>,
}

impl Seen {
    fn of(cluster: &Cluster) -> Self {
        let meta = &cluster.metadata;
        Self {
            uid: meta.uid.clone(),
            generation: meta.generation,
            is_leaving: meta.deletion_timestamp.is_some(),
            finalizers: cluster.finalizers().to_vec(),
        }
    }
}

/// The watches of workloads: two for each hosted cluster, in its namespace only. So the server needs no rights in other namespaces, and
/// without hosted clusters it makes no requests.
pub(crate) struct Watches {
    sender: mpsc::UnboundedSender<String>,
    running: Mutex<HashMap<String, CancellationToken>>,
}

impl Watches {
    /// Begins to watch the workloads of `cluster`, unless that is watched.
    pub(crate) fn begin(&self, client: &Client, cluster: &str, namespace: &str) {
        let mut running = self.running.lock();
        if running.contains_key(cluster) {
            return;
        }
        let stop = CancellationToken::new();
        running.insert(cluster.to_owned(), stop.clone());
        for watch in
            [changes::<Deployment>(client, cluster, namespace), changes::<StatefulSet>(client, cluster, namespace)]
        {
            let (sender, cluster, stop) = (self.sender.clone(), cluster.to_owned(), stop.clone());
            tokio::spawn(async move {
                let tell = watch.for_each(|()| {
                    // Nobody listens after the shutdown.
                    let _ = sender.send(cluster.clone());
                    std::future::ready(())
                });
                stop.run_until_cancelled(tell).await;
            });
        }
    }

    /// Ends the watches of `cluster`.
    pub(crate) fn end(&self, cluster: &str) {
        if let Some(stop) = self.running.lock().remove(cluster) {
            stop.cancel();
        }
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.running.lock().values().for_each(CancellationToken::cancel);
    }
}

/// Yields after each change of an object of this kind. If the server lacks the right, the condition of the cluster says so, and the watch
/// is tried again with a growing delay.
fn changes<K: Child + Send + Sync + 'static>(
    client: &Client,
    cluster: &str,
    namespace: &str,
) -> BoxStream<'static, ()> {
    let api: Api<PartialObjectMeta<K>> = Api::namespaced(client.clone(), namespace);
    let ours = watcher::Config::default().labels(&format!("{}={cluster}", crd::LABEL_CLUSTER));
    watcher(api, ours).default_backoff().filter_map(|event| std::future::ready(event.ok().map(drop))).boxed()
}
