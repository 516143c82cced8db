//! A backend that records what changes something, and what hands out a file. Other calls pass through.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::backend::{Clusters, Configurations, Creations, Frames, Nodes, Operations, Runs, Upgrades};
use api::cluster::{
    ClusterDetail, ClusterFilter, ClusterList, Creation, NewCluster, NewNodes, NodeList, NodesReview,
    RegistrationReview, Removal, Replacement, ReviewedPlan, ReviewedRemoval, ReviewedUpgrade, SettingsOffer,
    Unregister, Upgrade, UpgradeWish,
};
use api::configuration::{ChangeReview, Configuration, Document, HostKeyScan, KeyChange, SecretVariableChange};
use api::input::Input;
use api::log::{Found, LogFrame, LogPage, LogQuery, RunRecord};
use api::operation::{
    Draft, NewOperation, OperationDetail, OperationFilter, OperationList, OperationReview, SourceChoices, SubmitChoices,
};
use api::run::HostStats;
use api::watch::Watch;
use api::{Backend, ClusterName, OperationName, Problem, User};
use async_trait::async_trait;

use super::{Caller, Deed};

pub(super) struct Audited {
    inner: Backend,
    caller: Caller,
}

type Answer<T> = Result<T, Problem>;

impl Audited {
    /// The same backend, recorded.
    pub(super) fn over(inner: Backend, caller: Caller) -> Backend {
        let audited = Arc::new(Self { inner: inner.clone(), caller });
        Backend {
            clusters: audited.clone(),
            creations: audited.clone(),
            nodes: audited.clone(),
            upgrades: audited.clone(),
            configurations: audited.clone(),
            operations: audited.clone(),
            runs: audited,
            ..inner
        }
    }
}

fn on_cluster(verb: &'static str, cluster: &ClusterName) -> Deed {
    Deed { verb, kind: "Cluster", name: cluster.to_string(), ..Deed::default() }
}

fn on_node(verb: &'static str, cluster: &ClusterName, node: &str) -> Deed {
    Deed { verb, kind: "Node", name: node.to_owned(), cluster: Some(cluster.to_string()), ..Deed::default() }
}

fn on_operation(verb: &'static str, name: String) -> Deed {
    Deed { verb, kind: "ClusterOperation", name, ..Deed::default() }
}

#[expect(clippy::unnecessary_wraps, reason = "as the callers of `watch` need it")]
fn submitted(name: &OperationName) -> Option<String> {
    Some(name.to_string())
}

fn nothing<T>(_: &T) -> Option<String> {
    None
}

#[async_trait]
impl Clusters for Audited {
    async fn list(&self, user: &User, filter: &ClusterFilter) -> Answer<ClusterList> {
        self.inner.clusters.list(user, filter).await
    }
    async fn get(&self, user: &User, cluster: &ClusterName) -> Answer<ClusterDetail> {
        self.inner.clusters.get(user, cluster).await
    }
    async fn nodes(&self, user: &User, cluster: &ClusterName) -> Answer<NodeList> {
        self.inner.clusters.nodes(user, cluster).await
    }
    async fn kubeconfig(&self, user: &User, cluster: &ClusterName) -> Answer<String> {
        let deed = Deed { part: Some("kubeconfig"), ..on_cluster("download", cluster) };
        self.caller.watch(user, deed, nothing, self.inner.clusters.kubeconfig(user, cluster)).await
    }
    async fn review(&self, user: &User, new: &NewCluster) -> Answer<RegistrationReview> {
        self.inner.clusters.review(user, new).await
    }
    async fn register(&self, user: &User, new: &NewCluster) -> Answer<ClusterName> {
        let name = match &new.name {
            Input::Valid(name) => name.to_string(),
            Input::Invalid { .. } => String::new(),
        };
        let deed = Deed { verb: "register", kind: "Cluster", name, ..Deed::default() };
        self.caller.watch(user, deed, nothing, self.inner.clusters.register(user, new)).await
    }
    async fn unregister(&self, user: &User, cluster: &ClusterName, how: &Unregister) -> Answer<()> {
        let deed = on_cluster("unregister", cluster);
        self.caller.watch(user, deed, nothing, self.inner.clusters.unregister(user, cluster, how)).await
    }
}

#[async_trait]
impl Creations for Audited {
    fn offer(&self) -> SettingsOffer {
        self.inner.creations.offer()
    }
    async fn read(&self, user: &User, cluster: &ClusterName) -> Answer<Creation> {
        self.inner.creations.read(user, cluster).await
    }
    async fn check(&self, user: &User, cluster: &ClusterName) -> Answer<OperationName> {
        let deed = on_cluster("check-machines", cluster);
        self.caller.watch(user, deed, submitted, self.inner.creations.check(user, cluster)).await
    }
    async fn create(&self, user: &User, cluster: &ClusterName, reviewed: &ReviewedPlan) -> Answer<OperationName> {
        let deed = on_cluster("create", cluster);
        self.caller.watch(user, deed, submitted, self.inner.creations.create(user, cluster, reviewed)).await
    }
}

#[async_trait]
impl Nodes for Audited {
    async fn review(&self, user: &User, cluster: &ClusterName, new: &NewNodes) -> Answer<NodesReview> {
        self.inner.nodes.review(user, cluster, new).await
    }
    async fn add(&self, user: &User, cluster: &ClusterName, new: &NewNodes) -> Answer<OperationName> {
        let deed = on_cluster("add-nodes", cluster);
        self.caller.watch(user, deed, submitted, self.inner.nodes.add(user, cluster, new)).await
    }
    async fn replacement(&self, user: &User, cluster: &ClusterName, node: &str) -> Answer<Replacement> {
        self.inner.nodes.replacement(user, cluster, node).await
    }
    async fn removal(&self, user: &User, cluster: &ClusterName, node: &str, gone: bool) -> Answer<Removal> {
        self.inner.nodes.removal(user, cluster, node, gone).await
    }
    async fn remove(
        &self,
        user: &User,
        cluster: &ClusterName,
        node: &str,
        reviewed: &ReviewedRemoval,
    ) -> Answer<OperationName> {
        let deed = on_node("remove", cluster, node);
        self.caller.watch(user, deed, submitted, self.inner.nodes.remove(user, cluster, node, reviewed)).await
    }
    async fn forget(&self, user: &User, cluster: &ClusterName, node: &str, version: &str) -> Answer<()> {
        let deed = on_node("forget", cluster, node);
        self.caller.watch(user, deed, nothing, self.inner.nodes.forget(user, cluster, node, version)).await
    }
}

#[async_trait]
impl Upgrades for Audited {
    async fn plan(&self, user: &User, cluster: &ClusterName, wish: &UpgradeWish) -> Answer<Upgrade> {
        self.inner.upgrades.plan(user, cluster, wish).await
    }
    async fn start(&self, user: &User, cluster: &ClusterName, reviewed: &ReviewedUpgrade) -> Answer<OperationName> {
        let deed = on_cluster("upgrade", cluster);
        self.caller.watch(user, deed, submitted, self.inner.upgrades.start(user, cluster, reviewed)).await
    }
    async fn set_probe(&self, user: &User, cluster: &ClusterName, url: &str) -> Answer<()> {
        let deed = Deed { part: Some("probe_url"), ..on_cluster("save", cluster) };
        self.caller.watch(user, deed, nothing, self.inner.upgrades.set_probe(user, cluster, url)).await
    }
}

#[async_trait]
impl Configurations for Audited {
    async fn read(&self, user: &User, cluster: &ClusterName) -> Answer<Configuration> {
        self.inner.configurations.read(user, cluster).await
    }
    async fn review(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Answer<ChangeReview> {
        self.inner.configurations.review(user, cluster, document, version, text).await
    }
    async fn save(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Answer<String> {
        let deed = Deed { part: Some(document.as_str()), ..on_cluster("save", cluster) };
        let call = self.inner.configurations.save(user, cluster, document, version, text);
        self.caller.watch(user, deed, nothing, call).await
    }
    async fn change_private_key(
        &self,
        user: &User,
        cluster: &ClusterName,
        change: &KeyChange,
    ) -> Answer<Option<OperationName>> {
        let verb = match change {
            KeyChange::Store(_) => "store-key",
            KeyChange::Test { .. } => "test-key",
            KeyChange::Use { .. } => "use-key",
            KeyChange::Discard { .. } => "discard-key",
            KeyChange::GoBack { .. } => "use-previous-key",
            KeyChange::Forget { .. } => "delete-previous-key",
        };
        let deed = Deed { part: Some("ssh-key"), ..on_cluster(verb, cluster) };
        let name = |found: &Option<OperationName>| found.as_ref().map(ToString::to_string);
        let call = self.inner.configurations.change_private_key(user, cluster, change);
        self.caller.watch(user, deed, name, call).await
    }
    async fn change_secret_variable(
        &self,
        user: &User,
        cluster: &ClusterName,
        change: &SecretVariableChange,
    ) -> Answer<String> {
        let verb = match change {
            SecretVariableChange::Set { .. } => "set-secret-variable",
            SecretVariableChange::Delete { .. } => "delete-secret-variable",
        };
        let call = self.inner.configurations.change_secret_variable(user, cluster, change);
        self.caller.watch(user, on_cluster(verb, cluster), nothing, call).await
    }
    async fn scan_host_keys(
        &self,
        user: &User,
        cluster: &ClusterName,
        version: &str,
        text: &str,
    ) -> Answer<HostKeyScan> {
        self.inner.configurations.scan_host_keys(user, cluster, version, text).await
    }
}

#[async_trait]
impl Operations for Audited {
    async fn list(&self, user: &User, filter: &OperationFilter) -> Answer<OperationList> {
        self.inner.operations.list(user, filter).await
    }
    async fn get(&self, user: &User, operation: &OperationName) -> Answer<OperationDetail> {
        self.inner.operations.get(user, operation).await
    }
    async fn watch(&self, user: &User, operation: &OperationName) -> Answer<Watch> {
        self.inner.operations.watch(user, operation).await
    }
    async fn choices(&self, user: &User) -> Answer<SubmitChoices> {
        self.inner.operations.choices(user).await
    }
    async fn sources(&self, user: &User, cluster: &str, chosen: &str) -> Answer<SourceChoices> {
        self.inner.operations.sources(user, cluster, chosen).await
    }
    async fn again(&self, user: &User, operation: &OperationName) -> Answer<Draft> {
        self.inner.operations.again(user, operation).await
    }
    async fn review(&self, user: &User, new: &NewOperation) -> Answer<OperationReview> {
        self.inner.operations.review(user, new).await
    }
    async fn submit(&self, user: &User, new: &NewOperation) -> Answer<OperationName> {
        let name = new.name.as_ref().or(new.made_name.as_ref()).map(ToString::to_string).unwrap_or_default();
        let deed = Deed { cluster: Some(new.cluster.to_string()), ..on_operation("submit", name) };
        self.caller.watch(user, deed, submitted, self.inner.operations.submit(user, new)).await
    }
    async fn cancel(&self, user: &User, operation: &OperationName) -> Answer<()> {
        let deed = on_operation("cancel", operation.to_string());
        self.caller.watch(user, deed, nothing, self.inner.operations.cancel(user, operation)).await
    }
}

#[async_trait]
impl Runs for Audited {
    async fn record(&self, user: &User, run: &OperationName, from: u64, count: u32) -> Answer<RunRecord> {
        self.inner.runs.record(user, run, from, count).await
    }
    async fn record_since(
        &self,
        user: &User,
        run: &OperationName,
        from: u64,
        events_from: u64,
        count: u32,
    ) -> Answer<RunRecord> {
        self.inner.runs.record_since(user, run, from, events_from, count).await
    }
    async fn page(&self, user: &User, run: &OperationName, from: u64, count: u32) -> Answer<LogPage> {
        self.inner.runs.page(user, run, from, count).await
    }
    async fn find(&self, user: &User, run: &OperationName, query: &LogQuery) -> Answer<Found> {
        self.inner.runs.find(user, run, query).await
    }
    async fn recaps(&self, user: &User, run: &OperationName) -> Answer<Vec<BTreeMap<String, HostStats>>> {
        self.inner.runs.recaps(user, run).await
    }
    async fn follow(&self, user: &User, run: &OperationName, from: u64, events_from: u64) -> Answer<Frames<LogFrame>> {
        self.inner.runs.follow(user, run, from, events_from).await
    }
    async fn text(&self, user: &User, run: &OperationName) -> Answer<Frames<Answer<Vec<u8>>>> {
        let deed = Deed { part: Some("log"), ..on_operation("download", run.to_string()) };
        self.caller.watch(user, deed, nothing, self.inner.runs.text(user, run)).await
    }
}
