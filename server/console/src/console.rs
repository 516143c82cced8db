//! The console: its options, and the state that all its modules share.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api::backend::{Changes, Frames, Runs};
use api::live::Topic;
use api::{Problem, User};
use async_trait::async_trait;
use crd::{Cluster, ClusterOperation, DataRef};
use futures::{StreamExt, stream};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Client, ResourceExt};
use managed::{Availability, AvailabilitySettings, Clusters, Settings};
use operation::Signing;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, Right, UserClients};
use crate::changes::{Change, News};
use crate::clusters::{NodeCounts, Registering};
use crate::watch::Earlier;

/// How long a write waits at most until the stores contain it, so that the next page shows it.
const OWN_WRITE: Duration = Duration::from_secs(2);

/// Where builtin playbooks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Playbooks {
    /// Standalone: from this program, run by the local ansible. The image's name is ignored.
    Local,
    /// In a cluster: from the operation's image.
    Image,
}

/// The options of [`start`].
pub struct Options {
    /// The server's own client.
    pub client: Client,
    /// In a cluster: makes clients with the users' own tokens. `None` (standalone): all signed-in users share `client`.
    pub user_clients: Option<UserClients>,
    pub clusters: Store<Cluster>,
    pub operations: Store<ClusterOperation>,
    /// Namespace of a new cluster's inputs if the form's field is empty.
    pub namespace: String,
    /// Image of an operation if the form's field is empty.
    pub image: String,
    pub playbooks: Playbooks,
    /// Signs and verifies who submitted an operation.
    pub signing: Signing,
    /// The folder in which it is kept how clusters answered while operations ran.
    pub availability: PathBuf,
}

/// Serves the pages' requests. Clones share their state.
#[derive(Clone)]
pub struct Console {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) access: Access,
    pub(crate) clusters: Store<Cluster>,
    pub(crate) operations: Store<ClusterOperation>,
    pub(crate) namespace: String,
    pub(crate) image: String,
    pub(crate) playbooks: Playbooks,
    pub(crate) signing: Signing,
    pub(crate) counts: NodeCounts,
    /// What was read from the clusters themselves.
    pub(crate) managed: Clusters,
    /// How clusters answered while operations ran.
    pub(crate) availability: Availability,
    /// How long the tasks of earlier runs took.
    pub(crate) earlier: Earlier,
    pub(crate) registering: Registering,
    pub(crate) runs: OnceLock<Arc<dyn Runs>>,
    news: Arc<News>,
}

/// Creates the console and its background work (counting machines, reading managed clusters and requesting them while operations run).
/// Spawn the work when the stores are filled, and join it. It ends when `shutdown` is cancelled.
pub fn start(options: Options, shutdown: CancellationToken) -> (Console, impl Future<Output = ()> + Send + 'static) {
    let news: Arc<News> = Arc::default();
    let tell = || {
        let news = news.clone();
        Box::new(move |cluster| news.tell(Change::Cluster(cluster)))
    };
    let (counts, counting) = NodeCounts::watch(options.client.clone());
    let counting = counting(tell());
    // In standalone mode, loopback is the user's own machine.
    let settings = Settings::new(options.client.clone(), options.clusters.clone(), options.user_clients.is_none());
    let (managed, reading) = Clusters::start(settings, tell(), shutdown.clone());
    let settings = AvailabilitySettings {
        client: options.client.clone(),
        clusters: options.clusters.clone(),
        operations: options.operations.clone(),
        loopback: options.user_clients.is_none(),
        folder: options.availability,
        every: Duration::from_secs(1),
    };
    let (availability, recording) = Availability::start(settings, shutdown.clone());
    let shared = Arc::new(Shared {
        access: Access::new(options.client, options.user_clients),
        clusters: options.clusters,
        operations: options.operations,
        namespace: options.namespace,
        image: options.image,
        playbooks: options.playbooks,
        signing: options.signing,
        counts,
        managed,
        availability,
        earlier: Earlier::default(),
        registering: Registering::default(),
        runs: OnceLock::new(),
        news,
    });
    let work = async move {
        let _ = tokio::join!(shutdown.run_until_cancelled(counting), reading, recording);
    };
    (Console { shared }, work)
}

impl Console {
    /// Notifies subscribers. The caller reports every change in the stores.
    pub fn changed(&self, change: Change) {
        self.shared.news.tell(change);
    }

    /// Notifies subscribers and counts machines again, because a ConfigMap changed. The caller reports every such change.
    pub fn input_changed(&self, namespace: &str, name: &str) {
        let is_it = |at: &DataRef| at.namespace == namespace && at.name == name;
        for cluster in self.shared.clusters.state() {
            if is_it(&cluster.spec.hosts_conf_ref) {
                self.shared.counts.again(&cluster);
            }
            if is_it(&cluster.spec.hosts_conf_ref) || is_it(&cluster.spec.vars_conf_ref) {
                self.changed(Change::Cluster(cluster.name_any()));
            }
        }
    }

    /// Sets the source of the machines' last results. Until then their column is empty. Only the first call has an effect.
    pub fn ask_runs(&self, runs: Arc<dyn Runs>) {
        let _ = self.shared.runs.set(runs);
    }

    /// Whether `user` may see operations and, in `namespace`, read the logs of pods.
    pub async fn may_read_run(&self, user: &User, namespace: Option<&str>) -> Result<(), Problem> {
        self.shared.access.require(user, Right::operations()).await?;
        match namespace {
            Some(namespace) => self.shared.access.require(user, Right::logs(namespace)).await,
            None => Ok(()),
        }
    }

    /// Waits until `shows` is true for the cluster in the store, at most [`OWN_WRITE`].
    pub(crate) async fn until_cluster(&self, name: &str, shows: impl Fn(Option<&Cluster>) -> bool) {
        seen(|| shows(self.shared.clusters.get(&ObjectRef::new(name)).as_deref())).await;
    }

    /// As [`Self::until_cluster`], for an operation.
    pub(crate) async fn until_operation(&self, name: &str, shows: impl Fn(Option<&ClusterOperation>) -> bool) {
        seen(|| shows(self.shared.operations.get(&ObjectRef::new(name)).as_deref())).await;
    }
}

async fn seen(shown: impl Fn() -> bool) {
    let wait = async {
        while !shown() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // A timeout is not an error: the object was written, and a live update will show it.
    let _ = tokio::time::timeout(OWN_WRITE, wait).await;
}

#[async_trait]
impl Changes for Console {
    async fn subscribe(&self, user: &User) -> Result<Frames<Topic>, Problem> {
        self.may_see(user).await?;
        let subscriber = self.shared.news.subscribe();
        let topics = stream::unfold((self.clone(), user.clone(), subscriber), async |(console, user, subscriber)| {
            let topic = subscriber.next().await;
            // Check the right for each topic, so that the stream ends when the right is revoked.
            console.may_see(&user).await.ok()?;
            Some((topic, (console, user, subscriber)))
        });
        Ok(topics.boxed())
    }
}

impl Console {
    pub(crate) async fn may_see(&self, user: &User) -> Result<(), Problem> {
        self.shared.access.require(user, Right::clusters()).await?;
        self.shared.access.require(user, Right::operations()).await
    }
}
