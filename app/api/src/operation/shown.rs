//! What the operation pages show.

use serde::{Deserialize, Serialize};

use crate::run::{InFlight, TaskFailure, Termination};
use crate::{OperationName, Time};

/// How far an operation is, as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Running,
    /// It waits for other operations; the message says which.
    Queued,
    Failed,
    Cancelled,
    Succeeded,
}

impl Phase {
    /// It has ended.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled | Self::Succeeded)
    }

    /// The word people see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Queued => "Queued",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
            Self::Succeeded => "Succeeded",
        }
    }
}

/// One row of an operations table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationRow {
    pub name: OperationName,
    /// As text: an operation of a cluster that is gone still has its row.
    pub cluster: String,
    /// `ping.yml`, or the first line of a script.
    pub action: String,
    /// The action is a script written into the operation, not the name of a file.
    pub script: bool,
    pub phase: Phase,
    /// It was cancelled, and its run has not ended yet.
    pub cancelling: bool,
    /// Machine-readable reason, `InventoryInvalid`; empty if nothing is wrong.
    pub reason: String,
    /// The sentence behind the phase: what it waits for, why it failed.
    pub message: String,
    /// The person who submitted it in the console, otherwise the program that created it: `kubectl`.
    pub by: String,
    pub submitted: Time,
    pub started: Option<Time>,
    pub ended: Option<Time>,
}

impl OperationRow {
    /// What ran, in a word or two.
    #[must_use]
    pub fn title(&self) -> &str {
        if self.script { "Script" } else { &self.action }
    }
}

/// Which operations. This is the query string of `/operations`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationFilter {
    /// Part of the operation's, cluster's or action's name.
    pub q: String,
    pub cluster: String,
    /// `running`, `queued`, `failed`, `succeeded`, `cancelled` or empty.
    pub phase: String,
    /// `submitted` (default, newest first), `cluster`, `action`, `duration`; a leading `-` reverses the order.
    pub sort: String,
    /// From 1; 0 means 1.
    pub page: u32,
}

/// A page of operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationList {
    pub rows: Vec<OperationRow>,
    /// How many match the filter, over all pages.
    pub matching: u32,
    pub page: u32,
    pub pages: u32,
    pub now: Time,
}

/// The head and the inputs of the run page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationDetail {
    pub row: OperationRow,
    /// In words: `playbook, builtin`, `shell from ConfigMap ops/books`.
    pub source: String,
    /// The playbook's name or key, or the whole text of a script; empty where that is longer than 64 KiB.
    pub action: String,
    pub image: String,
    /// Standalone: the local ansible ran it, whatever the image's name.
    pub ran_locally: bool,
    pub extra_args: String,
    pub pre_hooks: Vec<String>,
    pub post_hooks: Vec<String>,
    /// Seconds.
    pub deadline: u64,
    /// `namespace/name` of the Job, once there is one.
    pub job: Option<String>,
    /// What the run reported at its end.
    pub end: Option<RunEnd>,
    pub inputs: Option<RunInputs>,
    /// May be cancelled now; otherwise the reason why not.
    pub cancel: Result<(), String>,
    pub now: Time,
}

/// What the run page shows of a [`Termination`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The first failure.
    pub failure: Option<TaskFailure>,
    /// What was in flight when the run was stopped.
    pub running: Option<InFlight>,
    /// A sentence if the run could not start.
    pub message: String,
}

impl From<Termination> for RunEnd {
    fn from(Termination { failures, running, message, .. }: Termination) -> Self {
        Self { failure: failures.into_iter().next(), running, message }
    }
}

/// The exact inputs of a run, as snapshotted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInputs {
    pub inventory: String,
    pub variables: String,
    pub sha256: String,
}
