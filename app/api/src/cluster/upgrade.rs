//! Upgrading a cluster: which versions it can have next, what the upgrade does, and how far it is.

use serde::{Deserialize, Serialize};

use super::{LiveState, OfferedVersion, Version};
use crate::Time;
use crate::configuration::ChangeReview;
use crate::operation::{OperationReview, OperationRow};
use crate::watch::Watch;

/// What the page was asked for, by its URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpgradeWish {
    /// The version to upgrade to, as typed; empty for the one that the server proposes.
    pub to: String,
    /// The version that runs, as typed; used if it can't be read from the cluster.
    pub from: String,
}

/// The page of upgrades.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upgrade {
    /// `1.33.13`, or both versions of an interrupted upgrade; empty if unknown.
    pub running: String,
    pub source: VersionSource,
    /// In the order in which they are upgraded; nodes that aren't part of it come last.
    pub nodes: Vec<UpgradeNode>,
    /// The newest upgrade: queued, running or ended.
    pub last: Option<LastUpgrade>,
    /// Newest first. Empty while an upgrade is under way, or if the running version is unknown.
    pub versions: Vec<VersionChoice>,
    /// What to say if the running version is known and `versions` is empty. Empty if `refused` says why there is none.
    pub none_newer: String,
    /// The versions on the way to the newest one, if it takes several operations. Otherwise empty.
    pub path: Vec<Version>,
    /// What upgrading to the chosen version does; `None` if none is chosen.
    pub plan: Option<UpgradePlan>,
    /// Why the typed version can't be used; `None` if it can.
    pub refused: Option<String>,
    /// The address that is requested while operations run; empty if the Cluster names none.
    pub probe_url: String,
    /// The cluster itself, when it was last read.
    pub live: LiveState,
    pub read: Option<Time>,
    pub now: Time,
}

/// Where [`Upgrade::running`] comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionSource {
    /// Read from the cluster.
    Cluster,
    /// `kube_version` of the variables.
    Variables,
    /// Typed by the user.
    Typed,
    Unknown,
}

/// A version of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionChoice {
    pub offered: OfferedVersion,
    /// Why it can't be chosen, as a sentence; `None` if it can.
    pub refused: Option<String>,
    pub chosen: bool,
}

/// What an upgrade does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradePlan {
    pub to: Version,
    /// Whether it finishes an upgrade that ended early.
    pub continues: bool,
    /// Sentences.
    pub consequences: Vec<String>,
    /// Sentences about what may go wrong.
    pub warnings: Vec<String>,
    /// The change of the variables; `None` if `kube_version` has this value already.
    pub change: Option<ChangeReview>,
    pub operation: OperationReview,
}

/// The newest upgrade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastUpgrade {
    pub row: OperationRow,
    /// Its version; `None` if the operation doesn't name one.
    pub to: Option<Version>,
    /// Whether it may be stopped, what holds it up, and whether the cluster answers.
    pub watch: Watch,
    /// Why the progress per node is unknown; empty if it is known.
    pub note: String,
    /// It has ended, and the cluster has not been read since. So the versions of nodes are still those of before.
    pub settling: bool,
}

/// A node and its part in the upgrade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeNode {
    pub name: String,
    pub roles: Vec<String>,
    /// The version of its kubelet, `v1.33.13`; empty if unknown.
    pub version: String,
    pub state: NodeState,
    /// The state in words.
    pub word: String,
    /// The task, the message of a failure, or what the upgrade means for this node; may be empty.
    pub detail: String,
}

/// How far the upgrade of a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    Waiting,
    Upgrading,
    Done,
    Failed,
    /// The run ended before it got to this node, or while it was at it.
    Stopped,
}

/// What the user saw, so that only this is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewedUpgrade {
    pub to: String,
    /// [`UpgradeWish::from`].
    pub from: String,
    /// The version of the variables file.
    pub version: String,
    /// The name of the operation.
    pub made_name: String,
    /// SHA-256 of the inputs, with the new variables.
    pub expected_inputs: String,
}

impl Upgrade {
    /// Whether the page changes soon by itself: an upgrade is running or queued, or the cluster is being read.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        self.live == LiveState::NotRead || self.is_under_way()
    }

    /// Whether an upgrade is running or queued, or has just ended, so that the versions aren't known yet.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.last.as_ref().is_some_and(|last| !last.row.phase.is_final() || last.settling)
    }
}
