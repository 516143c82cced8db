//! What the server last read from a managed cluster itself, with that cluster's kubeconfig.

use serde::{Deserialize, Serialize};

use super::Version;
use crate::Time;

/// How the newest attempt to read a cluster ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveState {
    /// There was no attempt yet.
    #[default]
    NotRead,
    /// The cluster has no kubeconfig.
    NoKubeconfig,
    /// The kubeconfig is not used, because it is unusable or unsafe.
    Refused,
    /// The API server could not be reached, or refused the credentials.
    Unreachable,
    /// The API server answers, but a check fails or a node isn't ready.
    Unhealthy,
    /// All checks pass and all nodes are ready.
    Healthy,
}

/// The state of a managed cluster. Values and state have their own times: a cluster that is unreachable still shows what was read before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveCluster {
    pub state: LiveState,
    /// Why it is refused, unreachable or unhealthy, as a sentence; otherwise empty.
    pub problem: String,
    /// Since when it has been in this state; known only as far as this server has been running.
    pub since: Option<Time>,
    /// When the values below were read; `None` if never.
    pub read: Option<Time>,
    /// Such as `v1.34.4`; empty if unknown.
    pub version: String,
    pub checks: Vec<LiveCheck>,
    /// The soonest expiry first.
    pub certificates: Vec<Expiry>,
    /// Nodes, and how many of them are ready.
    pub nodes: u32,
    pub ready: u32,
    /// The newer version that is proposed on the cluster's page. `None` if there is none, or while an upgrade is running or queued.
    pub newer: Option<Version>,
    /// Shell commands, one per line, that store kubespray's kubeconfig where the server reads it. Empty unless a cluster of kubespray has
    /// no kubeconfig.
    pub kubeconfig_commands: String,
}

/// The control plane or etcd, as the API server's own checks report them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveCheck {
    pub name: String,
    pub ok: bool,
    /// `All checks pass`, or the names of those that fail.
    pub message: String,
}

/// A certificate and when it expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiry {
    pub name: String,
    pub at: Time,
}

/// A node, as the managed cluster reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveNode {
    pub name: String,
    /// `control plane`, `node` or other roles.
    pub roles: Vec<String>,
    /// Version of its kubelet, such as `v1.34.4`.
    pub version: String,
    pub ready: bool,
    /// Why it is not ready or gets no new pods; otherwise empty.
    pub note: String,
    /// Its internal address; empty if unknown.
    pub address: String,
    pub created: Time,
}
