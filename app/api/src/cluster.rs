//! Clusters between page and server.

use serde::{Deserialize, Serialize};

use crate::operation::OperationRow;
use crate::{ClusterName, Time};

/// The health of a cluster, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// An input is missing or unreadable: nothing can run.
    Broken,
    /// The last operation failed.
    Attention,
    /// An operation runs or waits.
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
    /// Why, in a sentence; empty if the word says it all.
    pub note: String,
    /// Machines in the inventory; `None` if it can't be read.
    pub nodes: Option<u32>,
    /// Newest operation, running ones first.
    pub last: Option<OperationRow>,
    /// Operations that wait behind the running one.
    pub queued: u32,
    /// `key=value` labels the user set.
    pub labels: Vec<String>,
    pub created: Time,
}

/// Which clusters, and in what order. This is the query string of `/clusters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterFilter {
    /// Part of a name or label.
    pub q: String,
    /// `attention`, `running` or empty for all.
    pub show: String,
    /// `name`, `health` (default), `nodes`, `last` or `created`; a leading `-` reverses the order.
    pub sort: String,
    /// From 1; 0 means 1.
    pub page: u32,
}

/// A page of clusters with the totals of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterList {
    pub rows: Vec<ClusterRow>,
    pub totals: ClusterTotals,
    /// How many match the filter, over all pages.
    pub matching: u32,
    /// Page shown, from 1, and how many there are.
    pub page: u32,
    pub pages: u32,
    /// The server's clock when it answered: ages are words relative to it.
    pub now: Time,
}

/// Counts over all clusters a person may see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterTotals {
    pub all: u32,
    pub good: u32,
    pub attention: u32,
    pub broken: u32,
    pub unknown: u32,
    /// Operations that run now, and that wait.
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
    /// All operations on record.
    pub operations: u32,
    pub now: Time,
}

/// A labelled value of the facts panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub label: String,
    pub value: String,
    /// Shown in the mono face.
    pub mono: bool,
}

/// A Kubernetes-style condition in words.
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
    /// Why the inventory can't be read.
    pub problem: Option<String>,
    pub now: Time,
}

/// Where [`NodeRow::last_result`] comes from, and so what it means if a machine has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeResults {
    /// No playbook has run on the cluster.
    NoRun,
    /// The newest run that has a recap.
    NewestRun,
    /// There is such a run, but its recap can't be read now.
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
    /// The private key if `ssh` is `paste`. Write-only: it never comes back to a page.
    pub ssh_key: String,
    /// The host keys that the person confirmed, in known_hosts form; empty: each run trusts the first key it sees.
    pub known_hosts: String,
    /// YAML mapping of variables; may be empty.
    pub variables: String,
    /// Namespace of the ConfigMaps and Secret; empty: the default one.
    pub namespace: String,
}

/// One machine in the form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineRow {
    pub name: String,
    pub address: String,
    pub user: String,
    /// Empty: 22.
    pub port: String,
    /// `control_plane`, `worker`, `both` (default) or `none`.
    pub role: String,
}

/// What registering will write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationReview {
    /// File name and text, secrets replaced by a sentence.
    pub files: Vec<ReviewedFile>,
    pub nodes: Vec<NodeRow>,
    /// What may be wrong; none of it stops the registration.
    pub warnings: Vec<String>,
}

/// A file as it will be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedFile {
    pub title: String,
    pub text: String,
}

/// Removing a cluster from the console. Its machines stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unregister {
    /// The cluster's name, typed by the person.
    pub confirm: String,
    /// Delete the records (operations and their logs) too.
    pub delete_records: bool,
}
