//! What the operation pages show.

use serde::{Deserialize, Serialize};

use crate::run::{InFlight, TaskFailure};
use crate::{OperationName, Time};

/// The phase of an operation, as pages show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Running,
    /// The operation waits for others; the message names them.
    Queued,
    Failed,
    Cancelled,
    Succeeded,
    /// It had ended before this object was created, and is only kept as a record.
    Restored,
}

impl Phase {
    /// In the order of the filter.
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Queued, Self::Failed, Self::Succeeded, Self::Cancelled, Self::Restored];

    /// Whether the operation has ended.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Running | Self::Queued)
    }

    /// The word that pages show.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Queued => "Queued",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
            Self::Succeeded => "Succeeded",
            Self::Restored => "Restored",
        }
    }
}

/// One row of an operations table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationRow {
    pub name: OperationName,
    /// Not a [`ClusterName`](crate::ClusterName): operations of deleted clusters are listed too.
    pub cluster: String,
    /// `ping.yml`, `ping.yml (check only)`, or the first line of a script.
    pub action: String,
    /// The action is the text of a script, not the name of a file.
    pub script: bool,
    /// The playbook only checks what it would change.
    pub check: bool,
    pub phase: Phase,
    /// The operation was cancelled, but its run has not ended yet.
    pub cancelling: bool,
    /// Machine-readable reason, such as `InventoryInvalid`; empty if there is no problem.
    pub reason: String,
    /// A sentence that explains the phase: what the operation waits for, or why it failed.
    pub message: String,
    /// The user who submitted it in the console, otherwise the program that created it, such as `kubectl`. A name that the console
    /// didn't write is followed by `(not verified)`.
    pub by: String,
    pub submitted: Time,
    pub started: Option<Time>,
    pub ended: Option<Time>,
}

/// The reason of an operation that succeeded, except that a play of its own playbook matched no host, and not only because of a limit.
pub const PLAY_MATCHED_NO_HOST: &str = "PlayMatchedNoHost";
/// The reason of an operation that succeeded, except that it reached none of its hosts: they were unreachable, which its playbook ignores,
/// or no task connected to one.
pub const NO_HOST_REACHED: &str = "NoHostReached";
/// The reasons of operations that succeeded with a warning.
pub const WARNINGS: [&str; 2] = [PLAY_MATCHED_NO_HOST, NO_HOST_REACHED];

impl OperationRow {
    /// It succeeded, and its message warns of something.
    #[must_use]
    pub fn warns(&self) -> bool {
        self.phase == Phase::Succeeded && WARNINGS.contains(&self.reason.as_str())
    }

    /// A short title: `Script`, or the action.
    #[must_use]
    pub fn title(&self) -> &str {
        if self.script { "Script" } else { &self.action }
    }
}

/// A page of operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationList {
    pub rows: Vec<OperationRow>,
    /// Number of operations that match the filter, over all pages.
    pub matching: u32,
    pub page: u32,
    pub pages: u32,
    pub now: Time,
}

/// One operation, as the run page shows it, without its log and tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationDetail {
    pub row: OperationRow,
    /// The source in words: `playbook, builtin` or `shell from ConfigMap ops/books`.
    pub source: String,
    /// The playbook's name or key, or the whole text of a script; empty if that is longer than 64 KiB.
    pub action: String,
    pub image: String,
    /// In standalone mode, the local ansible ran it and `image` was not used.
    pub ran_locally: bool,
    pub extra_args: String,
    pub pre_hooks: Vec<String>,
    pub post_hooks: Vec<String>,
    /// Seconds.
    pub deadline: u64,
    /// `namespace/name` of the Job, once there is one.
    pub job: Option<String>,
    /// What the run reported when it ended.
    pub end: Option<RunEnd>,
    pub inputs: Option<RunInputs>,
    /// How many hosts the inventory of a run with a limit has; `None` without a limit, or before the run has started.
    pub limited_from: Option<u32>,
    /// The limit, shortened; empty without one.
    pub limit: String,
    /// Whether it can only be repeated on all its machines: with a limit, its playbook does something else.
    pub repeats_as_a_whole: bool,
    /// The playbook that restores the snapshot of etcd which this operation saved; empty unless it is a backup.
    pub restored_by: String,
    /// `Ok` if it can be cancelled now; otherwise the reason why not.
    pub cancel: Result<(), String>,
    /// The user who cancelled it in the console, otherwise the program, such as `kubectl`; empty if it wasn't cancelled.
    pub cancelled_by: String,
    /// Whether another client wrote a result on it, which the controller ignores.
    pub result_ignored: bool,
    /// How long earlier runs took. `None` if there is none like it, or if this one isn't running.
    pub usual: Option<Usual>,
    pub now: Time,
}

/// How long a run usually takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usual {
    /// The median of the runs, in milliseconds.
    pub ms: i64,
    /// The shortest and the longest of them.
    pub shortest: i64,
    pub longest: i64,
    /// How many runs it is from.
    pub runs: u32,
}

/// What the run page shows of the summary that a run leaves when it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The first failure.
    pub failure: Option<TaskFailure>,
    /// The task that was running when the run was stopped.
    pub running: Option<InFlight>,
    /// A sentence if the run could not start.
    pub message: String,
}

/// The snapshot of the inputs that a run used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInputs {
    pub inventory: String,
    pub variables: String,
    pub sha256: String,
}
