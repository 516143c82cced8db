//! The forms that add and remove nodes, and their reviews.

use serde::{Deserialize, Serialize};

use super::MachineRow;
use crate::OperationName;
use crate::configuration::{ChangeReview, MachineKey};
use crate::operation::{OperationReview, Phase};

/// The machines to add. The fields after `pasted` come from the review, so that only what it showed is done; they are
/// empty before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewNodes {
    /// One row each; empty rows are ignored. A machine without a role becomes a worker.
    pub machines: Vec<MachineRow>,
    /// Pasted lines, used if `machines` has no filled row.
    pub pasted: String,
    /// The node that the machine replaces: a worker is removed when the machine has joined, a control plane was removed before. Empty if none.
    pub replaces: String,
    /// The machine of that worker can't be reached any more. Not flattened into a form, where it would be a text.
    #[serde(skip)]
    pub gone: bool,
    /// The version of the inventory.
    pub version: String,
    /// [`NodesReview::host_keys`] and the version that they are based on.
    pub host_keys: String,
    pub host_keys_version: String,
    /// The name of the operation.
    pub made_name: String,
    /// SHA-256 of the inputs, with the new inventory.
    pub expected_inputs: String,
}

/// What adding the nodes will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodesReview {
    /// The names of the machines.
    pub names: Vec<String>,
    /// The worker that is removed afterwards; empty if none.
    pub replaces: String,
    /// What a user has to know before, as sentences; empty if only workers are added.
    pub consequences: Vec<String>,
    /// What the operation does on the other machines, as a sentence.
    pub others: String,
    /// The change of the inventory.
    pub change: ChangeReview,
    /// The host keys that the machines showed; empty if none could be asked.
    pub keys: Vec<MachineKey>,
    /// The file of confirmed host keys, with those of the new machines. Empty if no key is saved.
    pub host_keys: String,
    pub host_keys_version: String,
    pub operation: OperationReview,
    /// Sentences about what may go wrong.
    pub warnings: Vec<String>,
}

/// The next step of removing a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Removal {
    /// The node is part of the cluster. An operation removes it.
    FromCluster {
        /// Sentences.
        consequences: Vec<String>,
        /// The operation doesn't log in to the machine.
        gone: bool,
        /// Why the node isn't ready, as a sentence; `None` if it is, or if that isn't known.
        not_ready: Option<String>,
        operation: OperationReview,
    },
    /// A run has removed the node from the cluster, and it is still in the inventory.
    FromInventory {
        by: OperationName,
        change: ChangeReview,
        /// It is a control plane, which [`Replacement`] may exchange for another machine.
        control_plane: bool,
    },
}

/// How a node is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// A worker: one operation adds the new machine, then removes the node.
    Worker {
        /// The newest operation that does so.
        last: Option<LastReplacement>,
    },
    /// A control plane: it is removed first, because etcd needs an odd number of members.
    ControlPlane {
        /// The operation that has removed it from the cluster. Then a form adds the new machine.
        removed_by: Option<OperationName>,
        /// Whether it is a worker, too.
        works: bool,
    },
}

/// How far a replacement is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReplacement {
    pub by: OperationName,
    pub phase: Phase,
    /// The name of the new machine.
    pub machine: String,
    /// The state of both machines, as sentences.
    pub state: Vec<String>,
    pub next: ReplacementStep,
}

/// What continues a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplacementStep {
    /// The end of its operation.
    Wait,
    /// The same operation again.
    Repeat,
    /// The removal of the node.
    Remove,
    /// The removal from the inventory.
    Forget,
}

/// What the user saw, so that only this is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewedRemoval {
    /// The name of the operation.
    pub made_name: String,
    /// SHA-256 of the inputs.
    pub expected_inputs: String,
    /// The machine can't be reached any more.
    pub gone: bool,
}
