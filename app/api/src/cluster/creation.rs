//! Creating a Kubernetes cluster on the machines of a registered cluster.

use serde::{Deserialize, Serialize};

use super::{KubeconfigAccess, LiveCluster};
use crate::Time;
use crate::configuration::Document;
use crate::operation::{OperationReview, OperationRow};

/// What the page that creates a cluster shows: its steps with their state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Creation {
    pub stage: CreationStage,
    /// The public key that the machines must accept; `None` if the console doesn't know it.
    pub public_key: Option<String>,
    /// `None` if no machine is reached over SSH, or the inventory can't be read.
    pub host_keys: Option<ConfirmedKeys>,
    /// The check of the machines, which changes nothing. `None` for kubespray, which has no playbook for it.
    pub check: Option<MachineCheck>,
    pub plan: CreationPlan,
    /// The newest operation that creates the cluster.
    pub run: Option<OperationRow>,
    /// The hosts on which that operation failed.
    pub failures: Vec<HostFailure>,
    pub live: LiveCluster,
    pub kubeconfig: Option<KubeconfigAccess>,
    pub now: Time,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreationStage {
    /// Nothing has run yet that creates it.
    Planned,
    /// The operation is queued or running.
    Working,
    /// The operation failed or was cancelled.
    Failed,
    /// The operation succeeded, and the cluster itself has not been read yet.
    Created,
    /// The cluster itself has been read.
    Known,
}

/// Which machines have a confirmed host key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmedKeys {
    /// The number of machines that are reached over SSH.
    pub machines: u32,
    /// The names of those without a confirmed key.
    pub missing: Vec<String>,
    /// Why the confirmed keys can't be read; `None` if they can.
    pub problem: Option<String>,
}

/// The newest check of the machines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCheck {
    /// `None` if there was none.
    pub run: Option<OperationRow>,
    /// The result on each host of the inventory; empty until the run has ended.
    pub hosts: Vec<CheckedHost>,
    /// Why there are no results of a run that has ended; empty if there are.
    pub problem: String,
    /// Whether the inventory or the variables have changed since.
    pub outdated: bool,
}

/// The result of the check on one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedHost {
    pub name: String,
    pub result: CheckResult,
    /// What is wrong; empty if nothing is.
    pub message: String,
    /// What the message means and what to do, as the page of the run says it; empty if that isn't known. The app adds it.
    pub cause: String,
}

/// How the check of a host ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    Passed,
    Failed,
    Unreachable,
    /// The host was not part of it, or another host's failure ended it early.
    NotChecked,
}

/// A host on which an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFailure {
    pub host: String,
    pub task: String,
    pub message: String,
    /// As [`CheckedHost::cause`].
    pub cause: String,
    pub unreachable: bool,
}

/// What the operation will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationPlan {
    /// Why the playbooks or the console would refuse it. The user corrects these first.
    pub problems: Vec<PlannedProblem>,
    pub machines: Vec<PlannedMachine>,
    /// The choices that can't be changed later, or only by an upgrade.
    pub settings: Vec<PlannedSetting>,
    /// What the operation installs and changes on each machine. Sentences.
    pub changes: Vec<String>,
    /// `None` if the inventory or the variables can't be used.
    pub operation: Option<OperationReview>,
}

/// A reason why the plan can't be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedProblem {
    pub message: String,
    /// The document in which it is corrected, if it is one of the cluster's.
    pub fix: Option<Document>,
}

/// A machine and what it becomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedMachine {
    pub name: String,
    /// `user@address:port` as ansible reaches it, or `local`.
    pub reached_by: String,
    /// `Control plane, etcd and worker`, or that it stays as it is.
    pub becomes: String,
}

/// A value of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSetting {
    pub label: String,
    pub value: String,
    /// Whether it is the playbooks' default, because no variable is set.
    pub is_default: bool,
}

/// What the user saw, so that only this is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewedPlan {
    /// The name of the operation.
    pub made_name: String,
    /// SHA-256 of the inputs.
    pub expected_inputs: String,
}
