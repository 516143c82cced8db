//! One operation on a cluster: submitted once, run once, and kept as a record.
#![expect(clippy::duplicated_attributes, reason = "printer columns repeat their type")]

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::reference::{DataRef, JobRef};

/// What to run, and on which cluster. Immutable, except for `cancel`.
#[derive(CustomResource, Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kubeonkube.clay.io",
    version = "v1alpha1",
    kind = "ClusterOperation",
    plural = "clusteroperations",
    shortname = "kop",
    category = "kubeonkube",
    doc = "One operation on a Cluster: a playbook or a script that runs once, in a Job, when no other operation runs on the Cluster.",
    status = "ClusterOperationStatus",
    derive = "PartialEq",
    derive = "Default",
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "Action", type_ = "string", json_path = ".spec.action"),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.status"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.reason"),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Runs", type_ = "string", json_path = ".status.action", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterOperationSpec {
    /// Name of the Cluster.
    pub cluster: String,
    /// Whether `action` is a playbook or a script.
    pub action_type: ActionType,
    /// The file name of the playbook. For a script: the file name in `actionSourceRef`, or with `actionSource: builtin` the
    /// text of the script.
    #[schemars(length(max = 65536))]
    pub action: String,
    /// The container image with ansible and the builtin playbooks.
    pub image: String,
    /// Where `action` comes from.
    #[serde(default)]
    pub action_source: ActionSource,
    /// With `actionSource: configmap`: the ConfigMap whose keys are the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_source_ref: Option<DataRef>,
    /// More arguments, split into words as by a POSIX shell, without any expansion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub extra_args: Option<String>,
    /// Run in this order before the action. If one fails, the operation fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub pre_hook: Vec<HookAction>,
    /// Run in this order after the action, if the action succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub post_hook: Vec<HookAction>,
    /// Resources of the container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Seconds after which the run is stopped and the operation fails. The default is 21600 (6 hours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_deadline_seconds: Option<i64>,
    /// Set to true to cancel: no new task starts, and the operation ends as Failed with reason Cancelled. This can't be
    /// undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<bool>,
    /// SHA-256 (hex) of the inputs that were confirmed at submission. If the inputs have changed when the operation is about
    /// to start, it doesn't run, and ends as Failed with reason InputsChanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_inputs: Option<String>,
    /// To test a new private key before it replaces the current one: connect with the key under `ssh-privatekey-next` in the
    /// Secret of the Cluster's `sshAuthRef`. The value is the start of that key's SHA-256 (16 hex digits); if another key is
    /// stored there, the operation doesn't run, and ends as Failed with reason NextKeyChanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_ssh_key: Option<String>,
    /// Accepted for compatibility and ignored. The inputs that were used are in `status.inputs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts_conf_ref: Option<DataRef>,
    /// Accepted for compatibility and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars_conf_ref: Option<DataRef>,
    /// Accepted for compatibility and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_auth_ref: Option<DataRef>,
    /// Accepted for compatibility and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "entrypointSHRef")]
    pub entrypoint_sh_ref: Option<DataRef>,
}

/// A playbook or script that runs before or after the action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookAction {
    /// Whether `action` is a playbook or a script.
    pub action_type: ActionType,
    /// As in the spec of the operation.
    #[schemars(length(max = 65536))]
    pub action: String,
    /// Where `action` comes from.
    #[serde(default)]
    pub action_source: ActionSource,
    /// With `actionSource: configmap`: the ConfigMap whose keys are the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_source_ref: Option<DataRef>,
    /// More arguments, split into words as by a POSIX shell, without any expansion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub extra_args: Option<String>,
}

/// The kind of an action.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionType {
    /// Run by `ansible-playbook`.
    #[default]
    Playbook,
    /// Run by `bash`, as a file.
    Shell,
}

/// Where an action comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionSource {
    /// The image's playbooks, or the script's text in the operation itself.
    #[default]
    Builtin,
    /// A ConfigMap.
    Configmap,
}

/// The phase of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// Not started: new or queued.
    #[default]
    #[serde(rename = "")]
    Pending,
    /// Started and not ended.
    Running,
    /// Ended, and every playbook succeeded on at least one host.
    Succeeded,
    /// Ended in any other way. Reason and message say why.
    Failed,
}

impl Phase {
    /// Whether the operation has ended.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }

    /// The word that users read. Empty while pending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of an operation. Only the controller writes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterOperationStatus {
    /// What it runs, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its Job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_ref: Option<JobRef>,
    /// Empty while queued, then Running, then Succeeded or Failed.
    pub status: Phase,
    /// The reason for the status, as one CamelCase word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Time>,
    /// SHA-256 (hex) of the spec, without `cancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether the spec changed after the start. Always false, because the API refuses such changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_modified: Option<bool>,
    /// Who submitted it, if the console signed that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_by: Option<String>,
    /// When it was submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_at: Option<Time>,
    /// Its `resourceVersion` when the controller first wrote this status. Orders operations that were submitted in the same second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_version: Option<String>,
    /// The project whose playbooks it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// The inputs it runs with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<ResolvedInputs>,
    /// The recaps of its playbooks, added up over hosts and steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recap: Option<Recap>,
    /// The controller's signature of the final status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The generation of spec that this status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Kubernetes-style conditions: Queued, Running, Complete, Failed, ResultIgnored, ResultStored. For other tools: Ready, Reconciling,
    /// Stalled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// The inputs, as they were when the operation started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedInputs {
    /// The immutable Secret with the snapshot of the inputs.
    pub secret: DataRef,
    /// SHA-256 (hex) of inventory and variables.
    pub sha256: String,
    /// How many hosts the inventory has.
    #[serde(default)]
    pub host_count: u32,
    /// The names of the first 100 hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// The sum of ansible's recaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Recap {
    /// Hosts of the playbook with the most hosts.
    pub hosts: u32,
    /// Tasks that succeeded. Unlike ansible's own recap, without those whose failure was ignored.
    pub ok: u32,
    /// Tasks that succeeded and changed something.
    pub changed: u32,
    /// Hosts that could not be reached.
    pub unreachable: u32,
    /// Tasks that failed.
    pub failed: u32,
    /// Tasks that were skipped by a condition.
    pub skipped: u32,
    /// Failures that a `rescue` block caught.
    pub rescued: u32,
    /// Failures that `ignore_errors` ignored.
    pub ignored: u32,
}
