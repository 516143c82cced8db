//! The traits that server functions call. `console` and `runlog` implement them with a Kubernetes client, page tests with
//! fixtures.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::Stream;

use crate::cluster::{ClusterDetail, ClusterFilter, ClusterList, NewCluster, NodeList, RegistrationReview, Unregister};
use crate::configuration::{ChangeReview, Configuration, Document, HostKeyScan};
use crate::live::Topic;
use crate::log::{LogFrame, LogPage, RunRecord};
use crate::operation::{
    Draft, NewOperation, OperationDetail, OperationFilter, OperationList, OperationReview, SubmitChoices,
};
use crate::run::{EventBody, HostStats, RunEvent};
use crate::{ClusterName, OperationName, Problem, User};

/// A stream that a socket forwards.
pub type Frames<T> = Pin<Box<dyn Stream<Item = T> + Send>>;

/// Everything that pages need. The binary provides it as Leptos context.
#[derive(Clone)]
pub struct Backend {
    pub clusters: Arc<dyn Clusters>,
    pub configurations: Arc<dyn Configurations>,
    pub operations: Arc<dyn Operations>,
    pub runs: Arc<dyn Runs>,
    pub changes: Arc<dyn Changes>,
    /// Shown on `/settings` and at the bottom of the sidebar.
    pub about: Arc<About>,
}

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
    /// Runs all checks of `register` and returns what it would write. Writes nothing.
    async fn review(&self, user: &User, new: &NewCluster) -> Result<RegistrationReview, Problem>;
    async fn register(&self, user: &User, new: &NewCluster) -> Result<ClusterName, Problem>;
    /// Deletes the `Cluster` and the objects it owns. The machines are not changed. Refused while an operation is running or
    /// queued.
    async fn unregister(&self, user: &User, cluster: &ClusterName, how: &Unregister) -> Result<(), Problem>;
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
    async fn choices(&self, user: &User) -> Result<SubmitChoices, Problem>;
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
    /// Up to `count` lines starting at line `from`; `count` is at most 10,000.
    async fn page(&self, user: &User, run: &OperationName, from: u64, count: u32) -> Result<LogPage, Problem>;
    /// The recaps of the run in order, each by host. Implementations should avoid reading the whole run.
    async fn recaps(&self, user: &User, run: &OperationName) -> Result<Vec<BTreeMap<String, HostStats>>, Problem> {
        let events = self.record(user, run, 0, 0).await?.events;
        let recap = |event: RunEvent| if let EventBody::Stats { hosts } = event.body { Some(hosts) } else { None };
        Ok(events.into_iter().filter_map(recap).collect())
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
