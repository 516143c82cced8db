//! Types about clusters that pages and server exchange.

use serde::{Deserialize, Serialize};

use crate::operation::OperationRow;
use crate::{ClusterName, Time};

/// The health of a cluster, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// An input is missing or unreadable, so no operation can run.
    Broken,
    /// The last operation failed or was cancelled.
    Attention,
    /// An operation is running or queued, or the cluster is being unregistered.
    Working,
    /// The last operation succeeded.
    Good,
    /// No operation has run yet.
    Unknown,
}

/// One row of the clusters table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterRow {
    pub name: ClusterName,
    pub health: Health,
    /// The word beside the icon: `Ready`, `Running ping.yml`, `Inventory missing`.
    pub health_word: String,
    /// One sentence that explains the health; empty if the word is enough.
    pub note: String,
    /// Machines in the inventory; `None` if it can't be read.
    pub nodes: Option<u32>,
    /// The running operation, otherwise the newest one.
    pub last: Option<OperationRow>,
    /// Number of queued operations.
    pub queued: u32,
    /// `key=value` labels the user set.
    pub labels: Vec<String>,
    pub created: Time,
}

/// Filter, sort order and page of the cluster list: the query string of `/clusters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterFilter {
    /// Part of a name or label.
    pub q: String,
    /// `attention`, `running` or empty for all.
    pub show: String,
    /// `name`, `health` (default), `nodes`, `last` or `created`; a leading `-` reverses the order.
    pub sort: String,
    /// Page number, starting at 1; 0 counts as 1.
    pub page: u32,
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
    pub ok: bool,
    pub message: String,
    pub since: Option<Time>,
}

/// The machines of a cluster, from its inventory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeList {
    pub nodes: Vec<NodeRow>,
    pub results: NodeResults,
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
    /// Result on this host in the newest finished run that has a recap: `ok`, `failed`, `unreachable`.
    pub last_result: Option<String>,
}

/// The registration form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewCluster {
    pub name: String,
    /// Machines, one row each; rows with an empty name and address are ignored.
    pub machines: Vec<MachineRow>,
    /// Pasted lines, used if `machines` has no filled row.
    pub pasted: String,
    /// `paste`, `generate` or `none`.
    pub ssh: String,
    /// The private key if `ssh` is `paste`. Write-only: the server never sends it to a page.
    pub ssh_key: String,
    /// The host keys that the user confirmed, in known_hosts format. If empty, each run trusts the first key it sees.
    pub known_hosts: String,
    /// YAML mapping of variables; may be empty.
    pub variables: String,
    /// Namespace of the ConfigMaps and Secret; the default one if empty.
    pub namespace: String,
}

/// One machine in the form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineRow {
    pub name: String,
    pub address: String,
    pub user: String,
    /// 22 if empty.
    pub port: String,
    /// `control_plane`, `worker`, `both` (default) or `none`.
    pub role: String,
}

/// The files that registering will write, with warnings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationReview {
    /// Secrets in the texts are replaced by a sentence.
    pub files: Vec<ReviewedFile>,
    pub nodes: Vec<NodeRow>,
    /// Possible problems. They don't prevent registration.
    pub warnings: Vec<String>,
}

/// A file as it will be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedFile {
    pub title: String,
    pub text: String,
}

/// The form that unregisters a cluster. The machines are not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unregister {
    /// The cluster's name, typed by the user as a confirmation.
    pub confirm: String,
    /// Also delete the records: operations and their logs.
    pub delete_records: bool,
}
