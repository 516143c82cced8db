//! What the cluster pages show.

use serde::{Deserialize, Serialize};

use super::kubeconfig::KubeconfigAccess;
use super::live::{LiveCluster, LiveNode};
use crate::configuration::Document;
use crate::operation::OperationRow;
use crate::{ClusterName, OperationName, Time};

/// The health of a cluster, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// An input is missing or unreadable, so no operation can run; or the cluster itself is unreachable.
    Broken,
    /// The last operation failed or was cancelled, or the cluster itself is unhealthy.
    Attention,
    /// An operation is running or queued, or the cluster is being unregistered.
    Working,
    /// The last operation succeeded, or the cluster itself is healthy.
    Good,
    /// No operation has run yet.
    Unknown,
}

/// One row of the clusters table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterRow {
    pub name: ClusterName,
    pub health: Health,
    /// The word beside the icon: `Last run OK`, `Running ping.yml`, `Inventory missing`.
    pub health_word: String,
    /// One sentence that explains the health; empty if the word is enough.
    pub note: String,
    /// The document in which the user can fix what the note says.
    pub fix: Option<Document>,
    /// Machines in the inventory; `None` if it can't be read.
    pub nodes: Option<u32>,
    /// The cluster itself; `None` if nothing was read with its kubeconfig, or that is too old.
    pub live: Option<LiveRow>,
    /// The running operation, otherwise the newest one.
    pub last: Option<OperationRow>,
    /// Number of queued operations.
    pub queued: u32,
    /// `key=value` labels the user set.
    pub labels: Vec<String>,
    pub created: Time,
}

/// What the table shows of the cluster itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveRow {
    /// Such as `v1.34.4`.
    pub version: String,
    /// Nodes, and how many of them are ready.
    pub nodes: u32,
    pub ready: u32,
    pub read: Time,
}

/// One page of clusters, with totals over all clusters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterList {
    pub rows: Vec<ClusterRow>,
    pub totals: ClusterTotals,
    /// Number of clusters that match the filter, over all pages.
    pub matching: u32,
    /// Number of this page, starting at 1, and the number of pages.
    pub page: u32,
    pub pages: u32,
    /// The server's time when it answered. Ages such as `2 h ago` are relative to it.
    pub now: Time,
}

/// Counts over all clusters that the user may see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterTotals {
    pub all: u32,
    pub good: u32,
    pub attention: u32,
    pub broken: u32,
    pub unknown: u32,
    /// Numbers of running and of queued operations.
    pub running: u32,
    pub queued: u32,
    pub nodes: u32,
}

/// The overview of one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterDetail {
    pub row: ClusterRow,
    pub live: LiveCluster,
    /// Why operations get the playbooks of another engine than the cluster's, as sentences; `None` if they don't.
    pub wrong_engine: Option<String>,
    /// Whether Kubernetes can be created on its machines: as far as is known, there is none.
    pub creatable: bool,
    /// `None` if the cluster has no kubeconfig.
    pub kubeconfig: Option<KubeconfigAccess>,
    pub facts: Vec<Fact>,
    pub conditions: Vec<ConditionRow>,
    /// Newest first, at most 10.
    pub recent: Vec<OperationRow>,
    /// Number of all recorded operations.
    pub operations: u32,
    pub now: Time,
}

/// A labelled value of the facts panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub label: String,
    pub value: String,
    /// Shown in the monospace font.
    pub mono: bool,
}

/// A status condition, as the overview shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionRow {
    pub name: String,
    /// Whether it is as it should be, and warns of nothing.
    pub ok: bool,
    pub message: String,
    /// The document in which the user can make it true.
    pub fix: Option<Document>,
    pub since: Option<Time>,
}

/// The machines of a cluster, from its inventory, joined with the nodes of the cluster itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeList {
    pub nodes: Vec<NodeRow>,
    pub results: NodeResults,
    /// What was read from the cluster itself.
    pub live: LiveCluster,
    /// Why the inventory can't be read; `None` if it can.
    pub problem: Option<String>,
    pub now: Time,
}

/// Where [`NodeRow::last_result`] comes from. This explains why a machine has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeResults {
    /// No playbook has run on the cluster.
    NoRun,
    /// From the newest run that has a recap.
    NewestRun,
    /// A run has a recap, but it can't be read now.
    Unknown,
}

/// One machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRow {
    pub name: String,
    pub address: String,
    /// `user@address:port` as ansible reaches it, or `local`.
    pub reached_by: String,
    /// `control plane`, `etcd`, `node` or other groups.
    pub roles: Vec<String>,
    /// Result on this host in the newest ended run that has a recap: `ok` (reached), `failed`, `unreachable`, `skipped` (nothing else), `none` (no
    /// result came from it).
    pub last_result: Option<String>,
    /// The operation that removed it from the cluster; `None` if it is part of it.
    pub removed_by: Option<OperationName>,
    /// False for a node that only the cluster has.
    pub in_inventory: bool,
    /// The node, if the cluster has it.
    pub live: Option<LiveNode>,
}
