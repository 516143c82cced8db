//! The traits that server functions call. `console` and `runlog` implement them with a Kubernetes client, page tests with
//! fixtures.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::Stream;

use crate::cluster::{
    ClusterDetail, ClusterFilter, ClusterList, Creation, NewCluster, NewNodes, NodeList, NodesReview,
    RegistrationReview, Removal, Replacement, ReviewedPlan, ReviewedRemoval, ReviewedUpgrade, SettingsOffer,
    Unregister, Upgrade, UpgradeWish,
};
use crate::configuration::{ChangeReview, Configuration, Document, HostKeyScan, KeyChange, SecretVariableChange};
use crate::live::Topic;
use crate::log::{Found, LogFrame, LogPage, LogQuery, RunRecord};
use crate::operation::{
    Draft, NewOperation, OperationDetail, OperationFilter, OperationList, OperationReview, SourceChoices, SubmitChoices,
};
use crate::run::{EventBody, HostStats};
use crate::watch::Watch;
use crate::{ClusterName, OperationName, Problem, User};

/// A stream that a socket forwards.
pub type Frames<T> = Pin<Box<dyn Stream<Item = T> + Send>>;

/// Everything that pages need. The binary provides it as Leptos context.
#[derive(Clone)]
pub struct Backend {
    pub clusters: Arc<dyn Clusters>,
    pub creations: Arc<dyn Creations>,
    pub nodes: Arc<dyn Nodes>,
    pub upgrades: Arc<dyn Upgrades>,
    pub configurations: Arc<dyn Configurations>,
    pub operations: Arc<dyn Operations>,
    pub runs: Arc<dyn Runs>,
    pub changes: Arc<dyn Changes>,
    pub notice: Notice,
    /// Shown on `/settings` and at the bottom of the sidebar.
    pub about: Arc<About>,
}

/// A sentence that every page shows now, such as that the disk is full.
pub type Notice = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// Version and environment of this console.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct About {
    pub version: String,
    /// `standalone`, or the cluster's address.
    pub mode: String,
    /// Labels and values, such as `Data directory` and `/var/lib/kubeonkube`.
    pub facts: Vec<(String, String)>,
}

/// The calls of the cluster pages.
#[async_trait]
pub trait Clusters: Send + Sync {
    /// The clusters that `user` may see, sorted as `filter` says; at most 100 per page.
    async fn list(&self, user: &User, filter: &ClusterFilter) -> Result<ClusterList, Problem>;
    async fn get(&self, user: &User, cluster: &ClusterName) -> Result<ClusterDetail, Problem>;
    async fn nodes(&self, user: &User, cluster: &ClusterName) -> Result<NodeList, Problem>;
    /// The text of the cluster's kubeconfig, read with the rights of `user`. Records who downloads it, and when.
    async fn kubeconfig(&self, user: &User, cluster: &ClusterName) -> Result<String, Problem>;
    /// Runs all checks of `register` and returns what it would write. Writes nothing.
    async fn review(&self, user: &User, new: &NewCluster) -> Result<RegistrationReview, Problem>;
    async fn register(&self, user: &User, new: &NewCluster) -> Result<ClusterName, Problem>;
    /// Deletes the `Cluster` and the objects it owns. The machines are not changed. Refused while an operation is running or
    /// queued.
    async fn unregister(&self, user: &User, cluster: &ClusterName, how: &Unregister) -> Result<(), Problem>;
}

/// The calls that create Kubernetes on the machines of a registered cluster.
#[async_trait]
pub trait Creations: Send + Sync {
    /// The versions and default networks of a new cluster.
    fn offer(&self) -> SettingsOffer;
    /// The steps with their state. Changes nothing.
    async fn read(&self, user: &User, cluster: &ClusterName) -> Result<Creation, Problem>;
    /// Submits the operation that checks the machines and changes nothing.
    async fn check(&self, user: &User, cluster: &ClusterName) -> Result<OperationName, Problem>;
    /// Submits the operation that creates the cluster, or continues after a failure.
    async fn create(
        &self,
        user: &User,
        cluster: &ClusterName,
        reviewed: &ReviewedPlan,
    ) -> Result<OperationName, Problem>;
}

/// The calls that change a cluster's nodes.
#[async_trait]
pub trait Nodes: Send + Sync {
    /// Runs all checks of `add`, asks the machines for their host keys, and returns what adding them will do. Changes nothing.
    /// Takes up to a minute if machines don't answer.
    async fn review(&self, user: &User, cluster: &ClusterName, new: &NewNodes) -> Result<NodesReview, Problem>;
    /// Saves the host keys and the inventory with the new machines, then submits the operation that adds them. Can be repeated
    /// after a failure, for example if its answer was lost.
    async fn add(&self, user: &User, cluster: &ClusterName, new: &NewNodes) -> Result<OperationName, Problem>;
    /// How `node`, a host of the inventory, is replaced, and how far that is. Changes nothing.
    async fn replacement(&self, user: &User, cluster: &ClusterName, node: &str) -> Result<Replacement, Problem>;
    /// The next step of removing `node`, a host of the inventory. With `gone`, the machine can't be reached any more. Changes nothing.
    async fn removal(&self, user: &User, cluster: &ClusterName, node: &str, gone: bool) -> Result<Removal, Problem>;
    /// Submits the operation that removes `node` from the cluster. The inventory is not changed.
    async fn remove(
        &self,
        user: &User,
        cluster: &ClusterName,
        node: &str,
        reviewed: &ReviewedRemoval,
    ) -> Result<OperationName, Problem>;
    /// Removes `node` from the inventory, if that is at `version`. Refused unless a run has removed the node from the cluster.
    async fn forget(&self, user: &User, cluster: &ClusterName, node: &str, version: &str) -> Result<(), Problem>;
}

/// The calls of the page that upgrades a cluster.
#[async_trait]
pub trait Upgrades: Send + Sync {
    /// What runs, which versions are offered, what upgrading to the wished one does, and how far the newest upgrade is. Changes
    /// nothing.
    async fn plan(&self, user: &User, cluster: &ClusterName, wish: &UpgradeWish) -> Result<Upgrade, Problem>;
    /// Saves `kube_version` in the variables, then submits the operation. Can be repeated after a failure, for example if its answer
    /// was lost.
    async fn start(
        &self,
        user: &User,
        cluster: &ClusterName,
        reviewed: &ReviewedUpgrade,
    ) -> Result<OperationName, Problem>;
    /// Saves the address that is requested once per second while an operation runs on the cluster. An empty one ends that.
    async fn set_probe(&self, user: &User, cluster: &ClusterName, url: &str) -> Result<(), Problem>;
}

/// The calls of the Configuration tab: reads, reviews and saves a cluster's inputs.
#[async_trait]
pub trait Configurations: Send + Sync {
    async fn read(&self, user: &User, cluster: &ClusterName) -> Result<Configuration, Problem>;
    /// Validates `text` and returns what saving it would change. `Problem::Conflict` if `version` is no longer current.
    async fn review(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Result<ChangeReview, Problem>;
    /// Saves `text` if `version` is current, and returns the new version. Otherwise `Problem::Conflict`, with both texts.
    async fn save(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Result<String, Problem>;
    /// Carries out one step of replacing the private key. Returns the operation that tests the key, for `KeyChange::Test`.
    async fn change_private_key(
        &self,
        user: &User,
        cluster: &ClusterName,
        change: &KeyChange,
    ) -> Result<Option<OperationName>, Problem>;
    /// Sets or deletes one secret variable, and returns the version of the cluster's Secret. The first variable creates it.
    async fn change_secret_variable(
        &self,
        user: &User,
        cluster: &ClusterName,
        change: &SecretVariableChange,
    ) -> Result<String, Problem>;
    /// Asks every machine of the inventory for its host key. Returns the keys, and `text` (the file of confirmed keys) updated
    /// with them. Saves nothing. Takes up to a minute if machines don't answer.
    async fn scan_host_keys(
        &self,
        user: &User,
        cluster: &ClusterName,
        version: &str,
        text: &str,
    ) -> Result<HostKeyScan, Problem>;
}

/// The calls of the operation pages.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Newest first by default; at most 100 per page.
    async fn list(&self, user: &User, filter: &OperationFilter) -> Result<OperationList, Problem>;
    async fn get(&self, user: &User, operation: &OperationName) -> Result<OperationDetail, Problem>;
    /// What there is to watch besides the log: whether it may be stopped, what holds it up, and whether the cluster answers.
    async fn watch(&self, user: &User, operation: &OperationName) -> Result<Watch, Problem>;
    async fn choices(&self, user: &User) -> Result<SubmitChoices, Problem>;
    /// The ConfigMaps that the submit form offers as sources of a playbook or script on `cluster`, and the keys of `chosen`
    /// (`namespace/name`). Both may be empty. Lists with the rights of `user`.
    async fn sources(&self, user: &User, cluster: &str, chosen: &str) -> Result<SourceChoices, Problem>;
    /// The submit form with the values of `operation`. Confirmations are left empty, so that the user confirms again.
    async fn again(&self, user: &User, operation: &OperationName) -> Result<Draft, Problem>;
    /// Runs all checks of `submit` and returns what it would create. Creates nothing.
    async fn review(&self, user: &User, new: &NewOperation) -> Result<OperationReview, Problem>;
    async fn submit(&self, user: &User, new: &NewOperation) -> Result<OperationName, Problem>;
    async fn cancel(&self, user: &User, operation: &OperationName) -> Result<(), Problem>;
}

/// The logs and events of runs.
#[async_trait]
pub trait Runs: Send + Sync {
    /// All events so far, and up to `count` lines starting at line `from`. If `from` is 0, the last `count` lines.
    async fn record(&self, user: &User, run: &OperationName, from: u64, count: u32) -> Result<RunRecord, Problem>;

    /// As [`Self::record`], with the events from number `events_from` on.
    async fn record_since(
        &self,
        user: &User,
        run: &OperationName,
        from: u64,
        events_from: u64,
        count: u32,
    ) -> Result<RunRecord, Problem> {
        let mut record = self.record(user, run, from, count).await?;
        record.events.retain(|event| event.n >= events_from);
        Ok(record)
    }
    /// Up to `count` lines starting at line `from`; `count` is at most 10,000.
    async fn page(&self, user: &User, run: &OperationName, from: u64, count: u32) -> Result<LogPage, Problem>;
    /// Looks for text and for the lines of a host in everything that is stored of a run. What it looks in is masked already, so it can't
    /// tell a secret. Takes at most a few seconds, and says so if it didn't get to the end.
    async fn find(&self, user: &User, run: &OperationName, query: &LogQuery) -> Result<Found, Problem>;
    /// The recaps of the run in order, each by host, and what [`EventBody::into_recap`] makes of playbooks without one. Implementations
    /// should avoid reading the whole run.
    async fn recaps(&self, user: &User, run: &OperationName) -> Result<Vec<BTreeMap<String, HostStats>>, Problem> {
        let events = self.record(user, run, 0, 0).await?.events;
        Ok(events.into_iter().map(|event| event.body).filter_map(EventBody::into_recap).collect())
    }
    /// Streams lines starting at `from` and events starting at `events_from`: first existing ones, then new ones until the run
    /// ends. If `user` loses the permission to read the run, or the check fails, the last frame is [`LogFrame::Closed`].
    async fn follow(
        &self,
        user: &User,
        run: &OperationName,
        from: u64,
        events_from: u64,
    ) -> Result<Frames<LogFrame>, Problem>;
    /// The whole text so far, for download, in chunks. If the last item is an error, the text is incomplete.
    async fn text(&self, user: &User, run: &OperationName) -> Result<Frames<Result<Vec<u8>, Problem>>, Problem>;
}

/// Live updates.
#[async_trait]
pub trait Changes: Send + Sync {
    /// Streams the topic of each change from now on that `user` may see. Changes of the same topic may be merged for a slow
    /// reader, but the last one is always reported.
    async fn subscribe(&self, user: &User) -> Result<Frames<Topic>, Problem>;
}
