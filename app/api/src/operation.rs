//! What the operation pages show and send.

use serde::{Deserialize, Serialize};

use crate::{
    ClusterName, OperationName, Time,
    run::{InFlight, TaskFailure, Termination},
};

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Running,
    /// Waits for its turn; the message says for what.
    Queued,
    Failed,
    Cancelled,
    Succeeded,
}

impl Phase {
    /// It will not change any more.
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
    /// A cancel was asked for and hasn't ended the run yet.
    pub cancelling: bool,
    /// Machine-readable reason, `InventoryNotYaml`; empty while all is well.
    pub reason: String,
    /// The sentence behind the phase: what it waits for, why it failed.
    pub message: String,
    /// Who submitted it; of one that came without the console, the program that did: `kubectl`.
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
    /// `submitted` (default, newest first), `cluster`, `action`, `duration`; a leading `-` turns it round.
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
    /// `playbook` or `shell`, and whether it came with the image or from a ConfigMap.
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
    /// What the run told of its end, where it had one.
    pub end: Option<RunEnd>,
    pub inputs: Option<RunInputs>,
    /// May be cancelled now; otherwise the reason why not.
    pub cancel: Result<(), String>,
    pub now: Time,
}

/// What the run page tells of a [`Termination`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The first failure.
    pub failure: Option<TaskFailure>,
    /// What was in flight when the run was stopped.
    pub running: Option<InFlight>,
    /// A sentence where the run could not even begin.
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

/// Something that can be run, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionOffer {
    /// `ping.yml`.
    pub action: String,
    pub title: String,
    /// What it does to the machines, in a sentence.
    pub summary: String,
    /// It changes machines.
    pub changes: bool,
    /// Why it can't be chosen here; None when it can.
    pub unavailable: Option<String>,
}

/// The submit form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewOperation {
    pub cluster: String,
    /// Empty: made from the action.
    pub name: String,
    /// The name that the review made where none was typed: what is reviewed is what is submitted, once.
    pub made_name: String,
    /// `playbook` (default) or `shell`.
    pub action_type: String,
    /// A builtin playbook's name, a key of the source ConfigMap, or a script's text.
    pub action: String,
    /// `namespace/name` of a ConfigMap with playbooks or scripts; empty: builtin.
    pub source: String,
    /// `--limit`: hosts or groups; empty: all.
    pub limit: String,
    /// Further arguments, one a line, each one argument whatever it contains.
    pub extra_args: String,
    /// Hook playbooks (builtin), one a line, run before.
    pub pre_hooks: String,
    /// Hook playbooks (builtin), one a line, run after.
    pub post_hooks: String,
    /// Empty: the default image of the mode.
    pub image: String,
    /// Minutes; empty: 360.
    pub deadline: String,
    /// sha256 of the inputs shown in the review; empty before it.
    pub expected_inputs: String,
}

/// What submitting will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationReview {
    pub name: OperationName,
    /// The command of each step, as an argument vector.
    pub commands: Vec<Vec<String>>,
    /// Machines it reaches.
    pub hosts: Vec<String>,
    /// sha256 over the inputs as they are now: sent back with the submission.
    pub expected_inputs: String,
    /// What it waits for, if not at once.
    pub waits_for: Option<String>,
    pub warnings: Vec<String>,
    /// The manifest as it will be created.
    pub manifest: String,
}

/// A cluster to choose in a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterChoice {
    pub name: ClusterName,
    pub nodes: Option<u32>,
}

/// What the submit form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitChoices {
    pub clusters: Vec<ClusterChoice>,
    pub actions: Vec<ActionOffer>,
    /// The image used when none is typed.
    pub default_image: String,
}
