//! Counts the machines of each cluster. A count needs a request for the inventory, so counts are cached: lists show the cached
//! counts, and a background task reads the inventories of the listed clusters again, a few at a time.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crd::{Cluster, DataRef};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt};
use parking_lot::Mutex;
use tokio::sync::mpsc;

/// How long a count is cached. Changes made in the console update it at once.
const BELIEVED: Duration = Duration::from_secs(60);
/// Inventories that are read concurrently.
const AT_ONCE: usize = 8;
/// Maximum number of queued inventories. Others are queued by a later request for the list.
const WAITING: usize = 4096;

/// Called with the name of a cluster whose count changed.
pub(crate) type Tell = Box<dyn Fn(String) + Send + Sync>;

#[derive(Default)]
struct Known {
    nodes: Option<u32>,
    /// resourceVersion of the ConfigMap it was counted from.
    version: Option<String>,
    asked: Option<Instant>,
}

/// The cached counts, by the ConfigMap of the inventory.
pub(crate) struct NodeCounts {
    known: Arc<Mutex<HashMap<DataRef, Known>>>,
    wanted: mpsc::Sender<(DataRef, String)>,
}

impl NodeCounts {
    /// Creates the cache and the background work that fills it. The work ends when the cache is dropped.
    pub(crate) fn watch(client: Client) -> (Self, impl FnOnce(Tell) -> Pin<Box<dyn Future<Output = ()> + Send>>) {
        let (wanted, mut queue) = mpsc::channel(WAITING);
        let counts = Self { known: Arc::default(), wanted };
        let known = counts.known.clone();
        let work = move |tell: Tell| -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move {
                let (client, known, tell) = (&client, &known, &tell);
                let queue = stream::poll_fn(|context| queue.poll_recv(context));
                queue
                    .for_each_concurrent(AT_ONCE, |(at, cluster)| async move {
                        if count(client, known, &at).await {
                            tell(cluster);
                        }
                    })
                    .await;
            })
        };
        (counts, work)
    }

    /// The number of machines in the inventory at `at`; `None` if it was not counted yet or can't be parsed.
    pub(crate) fn of(&self, at: &DataRef) -> Option<u32> {
        self.known.lock().get(at)?.nodes
    }

    /// Queues each of these clusters if its count is older than [`BELIEVED`].
    pub(crate) fn refresh<'a>(&self, clusters: impl Iterator<Item = &'a Cluster>) {
        // The iterator may call `of`, which locks, so collect it before locking.
        let clusters: Vec<_> = clusters.collect();
        let mut known = self.known.lock();
        for cluster in clusters {
            let at = &cluster.spec.hosts_conf_ref;
            let entry = known.entry(at.clone()).or_default();
            let due = entry.asked.is_none_or(|asked| asked.elapsed() >= BELIEVED);
            if due && self.wanted.try_send((at.clone(), cluster.name_any())).is_ok() {
                entry.asked = Some(Instant::now());
            }
        }
    }

    /// Queues a cluster even if its count is recent.
    pub(crate) fn again(&self, cluster: &Cluster) {
        if let Some(entry) = self.known.lock().get_mut(&cluster.spec.hosts_conf_ref) {
            entry.asked = None;
        }
        self.refresh(std::iter::once(cluster));
    }

    /// Counts the machines of an inventory that was just saved at `at`.
    pub(crate) fn note(&self, at: &DataRef, text: &str) {
        let mut known = self.known.lock();
        *known.entry(at.clone()).or_default() =
            Known { nodes: hosts(text), version: None, asked: Some(Instant::now()) };
    }

    /// Removes the count of an inventory whose cluster was unregistered.
    pub(crate) fn forget(&self, at: &DataRef) {
        self.known.lock().remove(at);
    }
}

/// Reads an inventory and counts its machines; true if the count changed.
async fn count(client: &Client, known: &Mutex<HashMap<DataRef, Known>>, at: &DataRef) -> bool {
    if at.is_absent() {
        return false;
    }
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &at.namespace);
    let Ok(found) = maps.get_opt(&at.name).await else {
        // A later request for the list queues it again.
        if let Some(entry) = known.lock().get_mut(at) {
            entry.asked = None;
        }
        return false;
    };
    let version = found.as_ref().and_then(ResourceExt::resource_version);
    let same = |entry: &Known| entry.version.is_some() && entry.version == version;
    if known.lock().get(at).is_some_and(same) {
        return false;
    }
    let nodes = found.and_then(|map| hosts(map.data?.get(crd::KEY_HOSTS)?));
    let mut known = known.lock();
    let entry = known.entry(at.clone()).or_default();
    entry.version = version;
    std::mem::replace(&mut entry.nodes, nodes) != nodes
}

fn hosts(text: &str) -> Option<u32> {
    inventory::parse(text).ok().map(|inventory| crate::page::count(inventory.hosts.len()))
}
