//! Labels, annotations, keys and object names that are part of the API.

/// The API group of both kinds.
pub const GROUP: &str = "kubeonkube.clay.io";
/// Its only version.
pub const VERSION: &str = "v1alpha1";
/// The product's name: that of the container, and the start of field managers and of the reporter of Events.
pub const PRODUCT: &str = "kubeonkube";

/// Label on operations, Jobs and pods: the Cluster they run on.
pub const LABEL_CLUSTER_NAME: &str = "clusterName";
/// Label on operations: set to [`DONE`] together with the final status. An operation with this label is never started.
pub const LABEL_HAS_COMPLETED: &str = "hasCompleted";
/// The value of [`LABEL_HAS_COMPLETED`].
pub const DONE: &str = "done";
/// Label on Jobs, pods and snapshots: the operation they belong to.
pub const LABEL_OPERATION: &str = "kubeonkube.clay.io/operation";
/// Label on Jobs, pods and snapshots: the Cluster they belong to.
pub const LABEL_CLUSTER: &str = "kubeonkube.clay.io/cluster";
/// Label on a user's own ConfigMaps and Secrets: the Cluster that refers to them.
pub const LABEL_USED_BY: &str = "kubeonkube.clay.io/used-by";
/// Label on everything the product creates, with value [`PRODUCT`].
pub const LABEL_MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Annotation on operations: an integer. When old operations are deleted, the highest is deleted first. 0 if it is absent or
/// not a number.
pub const ANNOTATION_ELIMINATE_SCORE: &str = "clay.io/eliminate-score";
/// Annotation on operations: the user who submitted it. The console writes it, and `status.submittedBy` shows it.
pub const ANNOTATION_SUBMITTED_BY: &str = "kubeonkube.clay.io/submitted-by";
/// Annotation on operations: their result as JSON, written together with [`LABEL_HAS_COMPLETED`]. An export doesn't keep the
/// status but keeps the annotation, so a restored operation still shows how it ended.
pub const ANNOTATION_OUTCOME: &str = "kubeonkube.clay.io/outcome";

/// Key of the inventory in the ConfigMap that `hostsConfRef` names.
pub const KEY_HOSTS: &str = "hosts.yml";
/// Key of the variables in the ConfigMap that `varsConfRef` names.
pub const KEY_VARS: &str = "group_vars.yml";
/// Key of the token that marks a run's events in its log, in the Secret with the run's snapshot.
pub const KEY_TOKEN: &str = "token";
/// Key of the private key in the Secret that `sshAuthRef` names.
pub const KEY_SSH: &str = "ssh-privatekey";
/// Key of the playbook in the ConfigMap that `preCheckRef` names.
pub const KEY_PRECHECK: &str = "precheck.yml";
/// Key in [`known_hosts_name`]'s ConfigMap.
pub const KEY_KNOWN_HOSTS: &str = "known_hosts";

/// ConfigMap with settings of the controller, in its own namespace.
pub const CONFIG_NAME: &str = "kubeonkube-config";
/// Key in [`CONFIG_NAME`]: how many finished operations are kept per cluster.
pub const CONFIG_BACKEND_LIMIT: &str = "CLUSTER_OPERATIONS_BACKEND_LIMIT";

/// Whether an object could have this name: an RFC 1123 label (at most 63 characters), or with `dots` a subdomain (at most
/// 253).
pub fn is_object_name(text: &str, dots: bool) -> bool {
    let edge = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.len() <= if dots { 253 } else { 63 }
        && bytes.first().is_some_and(edge)
        && bytes.last().is_some_and(edge)
        && bytes.iter().all(|b| edge(b) || *b == b'-' || (dots && *b == b'.'))
}

/// Whether a known_hosts file has any lines that aren't comments.
pub fn says_host_keys(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The name of an operation's Job.
pub fn job_name(operation: &str) -> String {
    format!("kubeonkube-{operation}-job")
}

/// The name of the immutable Secret with the snapshot of an operation's inputs.
pub fn inputs_name(operation: &str) -> String {
    format!("{operation}-inputs")
}

/// The name of the ConfigMap with the confirmed host keys of a cluster.
pub fn known_hosts_name(cluster: &str) -> String {
    format!("{cluster}-known-hosts")
}
