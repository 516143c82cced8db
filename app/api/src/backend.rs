//! The traits that pages call. `console` and `runlog` implement them over a Kubernetes client, page tests over fixtures.

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

/// Everything pages need, put into Leptos context by the binary.
#[derive(Clone)]
pub struct Backend {
    pub clusters: Arc<dyn Clusters>,
    pub configurations: Arc<dyn Configurations>,
    pub operations: Arc<dyn Operations>,
    pub runs: Arc<dyn Runs>,
    pub changes: Arc<dyn Changes>,
    /// For `/settings` and the foot of the sidebar.
    pub about: Arc<About>,
}

/// Where this console runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct About {
    pub version: String,
    /// `standalone`, or the cluster's address.
    pub mode: String,
    /// `Data directory`: `/var/lib/kubeonkube`, … as label and value.
    pub facts: Vec<(String, String)>,
}

/// Everything the cluster pages ask for.
#[async_trait]
pub trait Clusters: Send + Sync {
    /// The clusters that `user` may see, those that need attention first; at most 100 a page.
    async fn list(&self, user: &User, filter: &ClusterFilter) -> Result<ClusterList, Problem>;
    async fn get(&self, user: &User, cluster: &ClusterName) -> Result<ClusterDetail, Problem>;
    async fn nodes(&self, user: &User, cluster: &ClusterName) -> Result<NodeList, Problem>;
    /// Everything `register` would check and write, without writing.
    async fn review(&self, user: &User, new: &NewCluster) -> Result<RegistrationReview, Problem>;
    async fn register(&self, user: &User, new: &NewCluster) -> Result<ClusterName, Problem>;
    /// Deletes the `Cluster` and what it owns. Machines stay as they are. Refused while an operation runs.
    async fn unregister(&self, user: &User, cluster: &ClusterName, how: &Unregister) -> Result<(), Problem>;
}

/// A cluster's inputs.
#[async_trait]
pub trait Configurations: Send + Sync {
    async fn read(&self, user: &User, cluster: &ClusterName) -> Result<Configuration, Problem>;
    /// Validates `text` and shows what saving it would change; `Problem::Conflict` when `version` is no longer current.
    async fn review(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Result<ChangeReview, Problem>;
    /// Saves with `version` as precondition and returns the new one; `Problem::Conflict` (holding both texts) when it is stale.
    async fn save(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Result<String, Problem>;
    /// Asks every machine of the inventory for its host key, and returns `text`, the file of confirmed keys, as it would be with
    /// these keys. Saves nothing. Takes up to a minute if machines don't answer.
    async fn scan_host_keys(
        &self,
        user: &User,
        cluster: &ClusterName,
        version: &str,
        text: &str,
    ) -> Result<HostKeyScan, Problem>;
}

/// Everything the operation pages ask for.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Newest first unless sorted otherwise; at most 100 a page.
    async fn list(&self, user: &User, filter: &OperationFilter) -> Result<OperationList, Problem>;
    async fn get(&self, user: &User, operation: &OperationName) -> Result<OperationDetail, Problem>;
    async fn choices(&self, user: &User) -> Result<SubmitChoices, Problem>;
    /// The form, filled in as `operation` was submitted. What confirms something is left open, to be confirmed again.
    async fn again(&self, user: &User, operation: &OperationName) -> Result<Draft, Problem>;
    /// Everything `submit` would check and create, without creating.
    async fn review(&self, user: &User, new: &NewOperation) -> Result<OperationReview, Problem>;
    async fn submit(&self, user: &User, new: &NewOperation) -> Result<OperationName, Problem>;
    async fn cancel(&self, user: &User, operation: &OperationName) -> Result<(), Problem>;
}

/// The logs and events of runs.
#[async_trait]
pub trait Runs: Send + Sync {
    /// All events so far and up to `count` lines from `from` (0: the last `count`).
    async fn record(&self, user: &User, run: &OperationName, from: u64, count: u32) -> Result<RunRecord, Problem>;
    /// Up to `count` (at most 10,000) lines from `from`.
    async fn page(&self, user: &User, run: &OperationName, from: u64, count: u32) -> Result<LogPage, Problem>;
    /// The recaps of the run in their order, by host. Implementations avoid reading the whole run if they can.
    async fn recaps(&self, user: &User, run: &OperationName) -> Result<Vec<BTreeMap<String, HostStats>>, Problem> {
        let events = self.record(user, run, 0, 0).await?.events;
        let recap = |event: RunEvent| if let EventBody::Stats { hosts } = event.body { Some(hosts) } else { None };
        Ok(events.into_iter().filter_map(recap).collect())
    }
    /// Lines from `from` and events from `events_from`: first those that exist, then live ones until the run ends. If the person
    /// loses the right to read it, or that can't be checked, the last frame is [`LogFrame::Closed`].
    async fn follow(
        &self,
        user: &User,
        run: &OperationName,
        from: u64,
        events_from: u64,
    ) -> Result<Frames<LogFrame>, Problem>;
    /// The whole text so far, for download: chunks of bytes. If an error is the last item, the text is incomplete.
    async fn text(&self, user: &User, run: &OperationName) -> Result<Frames<Result<Vec<u8>, Problem>>, Problem>;
}

/// Live updates.
#[async_trait]
pub trait Changes: Send + Sync {
    /// Topics that change from now on, as far as `user` may see them. A slow reader may miss repeats of a topic, but never its
    /// last change.
    async fn subscribe(&self, user: &User) -> Result<Frames<Topic>, Problem>;
}
