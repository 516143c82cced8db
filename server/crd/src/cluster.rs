//! A cluster as the user declares it: references to its inventory, variables and SSH key.
#![expect(clippy::duplicated_attributes, reason = "printer columns repeat their type")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::hosted::{Hosted, HostedStatus};
use crate::operation::Phase;
use crate::reference::DataRef;

/// What a cluster is made from. All references name the same namespace; the cluster's Jobs run there.
#[derive(CustomResource, Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kubeonkube.clay.io",
    version = "v1alpha1",
    kind = "Cluster",
    plural = "clusters",
    shortname = "kcl",
    category = "kubeonkube",
    doc = "A cluster of machines, declared by its inventory, its variables and the SSH key that opens them.",
    status = "ClusterStatus",
    derive = "PartialEq",
    derive = "Default",
    printcolumn(
        name = "Inputs",
        type_ = "string",
        json_path = ".status.clusterConditions[?(@.type==\"InputsReady\")].reason"
    ),
    printcolumn(name = "Last", type_ = "string", json_path = ".status.conditions[0].clusterOps"),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.conditions[0].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSpec {
    /// ConfigMap with the ansible inventory under the key `hosts.yml`. Only a hosted cluster may lack it; it then has no operations.
    #[serde(default, skip_serializing_if = "DataRef::is_absent")]
    pub hosts_conf_ref: DataRef,
    /// ConfigMap with the variables of all hosts under the key `group_vars.yml`. Only a hosted cluster may lack it.
    #[serde(default, skip_serializing_if = "DataRef::is_absent")]
    pub vars_conf_ref: DataRef,
    /// ConfigMap or Secret with the kubeconfig of the finished cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kube_conf_ref: Option<DataRef>,
    /// Secret with the private key for SSH under the key `ssh-privatekey`. It is mounted into Jobs, never copied.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "sshAuthRef")]
    pub ssh_auth_ref: Option<DataRef>,
    /// Secret of the type `kubeonkube.clay.io/variables` with further variables of all hosts, such as `ansible_become_password`.
    /// Each key is a variable's name, its value the variable's text. They count more than those of `varsConfRef`. No log, page
    /// or Event contains a value of at least 4 characters, or a line of one of at least 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_vars_ref: Option<DataRef>,
    /// ConfigMap with a playbook under the key `precheck.yml` that runs before every operation's own pre-hooks; if it
    /// fails, the operation fails before it has changed anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_check_ref: Option<DataRef>,
    /// The project whose playbooks the image contains. If absent, the image name decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// Make this Cluster the owner of the ConfigMaps and Secrets it refers to, so that they are deleted with it.
    /// If absent or false, they only get the label `kubeonkube.clay.io/used-by` and are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopt_inputs: Option<bool>,
    /// The address of a service in the cluster, such as `https://shop.example.com/healthz`. While an operation runs, the server requests
    /// it once per second, and pages show which requests were answered. Any answer below status 500 counts, also a redirect, which is
    /// not followed. Nothing of the answer is kept, and the certificate is not verified.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "probeURL")]
    #[schemars(length(max = 1024), regex(pattern = r"^https?://[^/?#@\s]+([/?][^#@\s]*)?$"))]
    pub probe_url: Option<String>,
    /// Run the control plane as pods, instead of on machines of the inventory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosted: Option<Hosted>,
}

impl ClusterSpec {
    /// Whether it names inventory and variables, which operations need. Only a hosted cluster may lack them.
    pub fn has_inventory(&self) -> bool {
        !self.hosts_conf_ref.is_absent() && !self.vars_conf_ref.is_absent()
    }
}

/// The state of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterStatus {
    /// The history of its operations, newest first. An entry with status Running is the turn, the exclusive right to run on
    /// the cluster: it is written before any object of the operation is created, and while it exists no other operation
    /// starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<OperationRecord>,
    /// Kubernetes-style conditions: InputsReady, Busy, LastOperationSucceeded. For other tools: Ready, Reconciling, Stalled.
    /// LastOperationSucceeded is True with the reason NoHostReached or PlayMatchedNoHost if the operation succeeded with that warning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster_conditions: Vec<Condition>,
    /// The generation of spec that `clusterConditions` describe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The state of the control plane, if the server hosts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosted: Option<HostedStatus>,
}

/// One operation in the history of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperationRecord {
    /// Name of the ClusterOperation.
    pub cluster_ops: String,
    /// Its uid. An operation with the same name and another uid is another operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// The namespace of its Job, which the Cluster's references named at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Running, Succeeded or Failed.
    #[serde(default)]
    pub status: Phase,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Time>,
}
