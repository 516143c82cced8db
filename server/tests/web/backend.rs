//! A backend whose changes and runs the test controls. Functions that no test needs answer `Internal`; every registration is
//! refused.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use api::backend::{Changes, Clusters, Configurations, Creations, Frames, Nodes, Operations, Runs, Upgrades};
use api::cluster::*;
use api::configuration::{ChangeReview, Configuration, Document, HostKeyScan, KeyChange, SecretVariableChange};
use api::live::Topic;
use api::log::{Found, LogEnd, LogFrame, LogLine, LogPage, LogQuery, RunRecord};
use api::operation::*;
use api::watch::Watch;
use api::{Backend, ClusterName, OperationName, Problem, User};
use async_trait::async_trait;
use futures::{StreamExt, stream};
use tokio::sync::broadcast;

#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) changes: broadcast::Sender<Topic>,
    /// The user of each request, in order.
    pub(crate) asked: Arc<Mutex<Vec<User>>>,
    /// How often run `hiccup` was followed.
    followed: Arc<AtomicUsize>,
}

impl Fake {
    pub(crate) fn new() -> Self {
        Self { changes: broadcast::Sender::new(1000), asked: Arc::default(), followed: Arc::default() }
    }

    pub(crate) fn backend(&self) -> Backend {
        let fake = Arc::new(self.clone());
        Backend {
            clusters: fake.clone(),
            creations: fake.clone(),
            nodes: fake.clone(),
            upgrades: fake.clone(),
            configurations: fake.clone(),
            operations: fake.clone(),
            runs: fake.clone(),
            changes: fake,
            notice: Arc::new(|| None),
            about: Arc::default(),
        }
    }
}

type Answer<T> = Result<T, Problem>;

#[async_trait]
impl Clusters for Fake {
    async fn list(&self, _: &User, _: &ClusterFilter) -> Answer<ClusterList> {
        Err(Problem::Internal)
    }
    async fn get(&self, _: &User, _: &ClusterName) -> Answer<ClusterDetail> {
        Err(Problem::Internal)
    }
    async fn nodes(&self, _: &User, _: &ClusterName) -> Answer<NodeList> {
        Err(Problem::Internal)
    }
    async fn kubeconfig(&self, _: &User, cluster: &ClusterName) -> Answer<String> {
        match cluster.as_str() {
            "prod" => Ok("apiVersion: v1\n".into()),
            _ => Err(Problem::Forbidden { message: "You may not read Secret none-kubeconfig.".into() }),
        }
    }
    async fn review(&self, _: &User, new: &NewCluster) -> Answer<RegistrationReview> {
        let file = ReviewedFile { title: "hosts.yml".into(), text: format!("# the inventory of {}", new.name) };
        Ok(RegistrationReview { files: vec![file], nodes: Vec::new(), warnings: Vec::new() })
    }
    async fn register(&self, _: &User, _: &NewCluster) -> Answer<ClusterName> {
        Err(Problem::field("name", "this name can't be used"))
    }
    async fn unregister(&self, _: &User, _: &ClusterName, _: &Unregister) -> Answer<()> {
        Err(Problem::Internal)
    }
}

#[async_trait]
impl Creations for Fake {
    fn offer(&self) -> SettingsOffer {
        SettingsOffer { versions: Vec::new(), pods: String::new(), services: String::new() }
    }
    async fn read(&self, _: &User, _: &ClusterName) -> Answer<Creation> {
        Err(Problem::Internal)
    }
    async fn check(&self, _: &User, _: &ClusterName) -> Answer<OperationName> {
        Err(Problem::Internal)
    }
    async fn create(&self, _: &User, _: &ClusterName, _: &ReviewedPlan) -> Answer<OperationName> {
        Err(Problem::Internal)
    }
}

#[async_trait]
impl Nodes for Fake {
    async fn review(&self, _: &User, _: &ClusterName, _: &NewNodes) -> Answer<NodesReview> {
        Err(Problem::Internal)
    }
    async fn add(&self, _: &User, _: &ClusterName, _: &NewNodes) -> Answer<OperationName> {
        Err(Problem::Internal)
    }
    async fn replacement(&self, _: &User, _: &ClusterName, _: &str) -> Answer<Replacement> {
        Err(Problem::Internal)
    }
    async fn removal(&self, _: &User, _: &ClusterName, _: &str, _: bool) -> Answer<Removal> {
        Err(Problem::Internal)
    }
    async fn remove(&self, _: &User, _: &ClusterName, _: &str, _: &ReviewedRemoval) -> Answer<OperationName> {
        Err(Problem::Internal)
    }
    async fn forget(&self, _: &User, _: &ClusterName, _: &str, _: &str) -> Answer<()> {
        Err(Problem::Internal)
    }
}

#[async_trait]
impl Upgrades for Fake {
    async fn plan(&self, _: &User, _: &ClusterName, _: &UpgradeWish) -> Answer<Upgrade> {
        Err(Problem::Internal)
    }
    async fn start(&self, _: &User, _: &ClusterName, _: &ReviewedUpgrade) -> Answer<OperationName> {
        Err(Problem::Internal)
    }
    async fn set_probe(&self, _: &User, _: &ClusterName, _: &str) -> Answer<()> {
        Err(Problem::Internal)
    }
}

#[async_trait]
impl Configurations for Fake {
    async fn read(&self, _: &User, _: &ClusterName) -> Answer<Configuration> {
        Err(Problem::Internal)
    }
    async fn review(&self, _: &User, _: &ClusterName, _: Document, _: &str, _: &str) -> Answer<ChangeReview> {
        Err(Problem::Internal)
    }
    async fn save(&self, _: &User, _: &ClusterName, _: Document, _: &str, _: &str) -> Answer<String> {
        Err(Problem::Internal)
    }
    async fn change_private_key(&self, _: &User, _: &ClusterName, _: &KeyChange) -> Answer<Option<OperationName>> {
        Err(Problem::Internal)
    }
    async fn change_secret_variable(&self, _: &User, _: &ClusterName, _: &SecretVariableChange) -> Answer<String> {
        Err(Problem::Internal)
    }
    async fn scan_host_keys(&self, _: &User, _: &ClusterName, _: &str, _: &str) -> Answer<HostKeyScan> {
        Err(Problem::Internal)
    }
}

#[async_trait]
impl Operations for Fake {
    async fn list(&self, _: &User, _: &OperationFilter) -> Answer<OperationList> {
        Err(Problem::Internal)
    }
    async fn get(&self, _: &User, _: &OperationName) -> Answer<OperationDetail> {
        Err(Problem::Internal)
    }
    async fn watch(&self, _: &User, _: &OperationName) -> Answer<Watch> {
        Err(Problem::Internal)
    }
    async fn choices(&self, _: &User) -> Answer<SubmitChoices> {
        Err(Problem::Internal)
    }
    async fn sources(&self, _: &User, _: &str, _: &str) -> Answer<SourceChoices> {
        Err(Problem::Internal)
    }
    async fn again(&self, _: &User, _: &OperationName) -> Answer<Draft> {
        Err(Problem::Internal)
    }
    async fn review(&self, _: &User, _: &NewOperation) -> Answer<OperationReview> {
        Err(Problem::Internal)
    }
    async fn submit(&self, _: &User, _: &NewOperation) -> Answer<OperationName> {
        Err(Problem::Internal)
    }
    async fn cancel(&self, _: &User, _: &OperationName) -> Answer<()> {
        Ok(())
    }
}

/// Run `grow` has ten lines and ends. `endless` never sends a line. `hiccup` is unavailable at first, is interrupted after
/// its first line, and then ends. `closed` becomes forbidden after its first line. Other runs don't exist.
#[async_trait]
impl Runs for Fake {
    async fn record(&self, _: &User, _: &OperationName, _: u64, _: u32) -> Answer<RunRecord> {
        Err(Problem::Internal)
    }
    async fn page(&self, _: &User, _: &OperationName, first: u64, count: u32) -> Answer<LogPage> {
        let line = |n| LogLine { t: api::Time(0), s: format!("line {n}") };
        Ok(LogPage { first, lines: (first..).take(count as usize).map(line).collect(), total: 10_000, end: None })
    }
    async fn find(&self, _: &User, _: &OperationName, _: &LogQuery) -> Answer<Found> {
        Ok(Found::default())
    }
    async fn follow(&self, user: &User, run: &OperationName, from: u64, _: u64) -> Answer<Frames<LogFrame>> {
        self.asked.lock().expect("no panic").push(user.clone());
        match run.as_str() {
            "grow" => {
                let line = |n| LogLine { t: api::Time(0), s: format!("line {n}") };
                let lines = LogFrame::Lines { first: from, lines: (from..=10).map(line).collect() };
                Ok(stream::iter([lines, LogFrame::End(LogEnd { lines: 10, missing: 0 })]).boxed())
            }
            "endless" => Ok(stream::pending().boxed()),
            "hiccup" => {
                let unavailable = || Problem::Unavailable { message: "The cluster did not answer.".into() };
                let line = LogLine { t: api::Time(0), s: format!("line {from}") };
                let line = LogFrame::Lines { first: from, lines: vec![line] };
                match self.followed.fetch_add(1, Ordering::Relaxed) {
                    0 => Err(unavailable()),
                    1 => Ok(stream::iter([line, LogFrame::Closed(unavailable())]).boxed()),
                    _ => Ok(stream::iter([line, LogFrame::End(LogEnd { lines: 2, missing: 0 })]).boxed()),
                }
            }
            "closed" => {
                let line = LogLine { t: api::Time(0), s: "line 1".into() };
                let refused = Problem::Forbidden { message: "You may not read this any more.".into() };
                let frames = [LogFrame::Lines { first: 1, lines: vec![line] }, LogFrame::Closed(refused)];
                Ok(stream::iter(frames).boxed())
            }
            name => Err(Problem::NotFound { what: "operation".into(), name: name.into() }),
        }
    }
    async fn text(&self, user: &User, run: &OperationName) -> Answer<Frames<Answer<Vec<u8>>>> {
        self.asked.lock().expect("no panic").push(user.clone());
        match run.as_str() {
            "grow" => Ok(stream::iter([b"line 1\n".to_vec(), b"line 2\n".to_vec()].map(Ok)).boxed()),
            "hiccup" => Ok(stream::iter([Ok(b"line 1\n".to_vec()), Err(Problem::Internal)]).boxed()),
            "endless" => Ok(stream::iter([Ok(b"line 1\n".to_vec())]).chain(stream::pending()).boxed()),
            name => Err(Problem::NotFound { what: "operation".into(), name: name.into() }),
        }
    }
}

#[async_trait]
impl Changes for Fake {
    async fn subscribe(&self, user: &User) -> Answer<Frames<Topic>> {
        self.asked.lock().expect("no panic").push(user.clone());
        let changes = self.changes.subscribe();
        Ok(stream::unfold(changes, |mut changes| async move { Some((changes.recv().await.ok()?, changes)) }).boxed())
    }
}
