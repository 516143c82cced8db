//! Labels, annotations, keys and object names that are part of the API.

/// The API group of both kinds.
pub const GROUP: &str = "kubeonkube.clay.io";
/// Its only version.
pub const VERSION: &str = "v1alpha1";
/// The product's name. Containers, field managers and the reporter of Events are called by it.
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

/// Finalizer on Clusters: their control plane is hosted, and its objects are deleted before the Cluster is gone.
pub const FINALIZER_HOSTED: &str = "kubeonkube.clay.io/hosted";

/// Annotation on operations: an integer. When old operations are deleted, the highest is deleted first. 0 if it is absent or
/// not a number.
pub const ANNOTATION_ELIMINATE_SCORE: &str = "clay.io/eliminate-score";
/// Annotation on operations: the user who submitted it. The console writes it. `status.submittedBy` shows it if
/// [`ANNOTATION_SUBMITTER_SIGNATURE`] is valid.
pub const ANNOTATION_SUBMITTED_BY: &str = "kubeonkube.clay.io/submitted-by";
/// Annotation on operations: the console's signature of [`ANNOTATION_SUBMITTED_BY`].
pub const ANNOTATION_SUBMITTER_SIGNATURE: &str = "kubeonkube.clay.io/submitted-by-signature";
/// The user who cancelled an operation in the console.
pub const ANNOTATION_CANCELLED_BY: &str = "kubeonkube.clay.io/cancelled-by";
/// Annotation on operations: the console's signature of [`ANNOTATION_CANCELLED_BY`].
pub const ANNOTATION_CANCELLER_SIGNATURE: &str = "kubeonkube.clay.io/cancelled-by-signature";
/// Annotation on Clusters: who downloaded the kubeconfig in the console, and when, as JSON. Newest first.
pub const ANNOTATION_DOWNLOADS: &str = "kubeonkube.clay.io/kubeconfig-downloads";
/// Annotation on operations: their result as JSON, written together with [`LABEL_HAS_COMPLETED`]. An export doesn't keep the
/// status but keeps the annotation, so a restored operation still shows how it ended.
pub const ANNOTATION_OUTCOME: &str = "kubeonkube.clay.io/outcome";
/// Annotation on operations: the controller's signature of [`ANNOTATION_OUTCOME`], without which that doesn't count.
pub const ANNOTATION_OUTCOME_SIGNATURE: &str = "kubeonkube.clay.io/outcome-signature";

/// Key of the inventory in the ConfigMap that `hostsConfRef` names.
pub const KEY_HOSTS: &str = "hosts.yml";
/// Key of the variables in the ConfigMap that `varsConfRef` names.
pub const KEY_VARS: &str = "group_vars.yml";
/// Key of the token that marks a run's events in its log, in the Secret with the run's snapshot.
pub const KEY_TOKEN: &str = "token";
/// Key of the values that no output of the run may contain, in the Secret with the run's snapshot: a JSON list.
pub const KEY_SECRETS: &str = "secrets.json";
/// Key of a snapshot with the names of hosts and groups that contain a secret value, as a JSON list.
pub const KEY_READABLE_NAMES: &str = "names.json";
/// Key of what encrypts the secret result of a run, in the Secret with the run's snapshot. Only runs with a secret result have it.
pub const KEY_SECRET_RESULT: &str = "secret-result.json";
/// Key of the variables that `secretVarsRef` refers to, in the Secret with the run's snapshot: a JSON object of texts.
pub const KEY_SECRET_VARS: &str = "secret_vars.json";
/// The type of Secrets that `secretVarsRef` may name. Without it, every user who may create a
/// Cluster could read any Secret of its namespace by a run.
pub const SECRET_VARS_TYPE: &str = "kubeonkube.clay.io/variables";
/// Key of a kubeconfig in the Secrets that [`result_name`] and [`kubeconfig_name`] name.
pub const KEY_KUBECONFIG: &str = "kubeconfig";
/// Key of the private key in the Secret that `sshAuthRef` names.
pub const KEY_SSH: &str = "ssh-privatekey";
/// Key of a new private key in that Secret, until it replaces the current one.
pub const KEY_SSH_NEXT: &str = "ssh-privatekey-next";
/// Key of the replaced private key in that Secret, so that users can go back to it.
pub const KEY_SSH_PREVIOUS: &str = "ssh-privatekey-previous";
/// Key of the playbook in the ConfigMap that `preCheckRef` names.
pub const KEY_PRECHECK: &str = "precheck.yml";
/// Key in [`known_hosts_name`]'s ConfigMap.
pub const KEY_KNOWN_HOSTS: &str = "known_hosts";

/// Secret with the key of all signatures, in the controller's own namespace. In standalone mode the key is in the data directory.
pub const SIGNING_KEY_NAME: &str = "kubeonkube-signing-key";
/// Key in [`SIGNING_KEY_NAME`].
pub const KEY_SIGNING: &str = "key";

/// ConfigMap with settings of the controller, in its own namespace.
pub const CONFIG_NAME: &str = "kubeonkube-config";
/// Key in [`CONFIG_NAME`]: how many ended operations are kept per cluster.
pub const CONFIG_BACKEND_LIMIT: &str = "CLUSTER_OPERATIONS_BACKEND_LIMIT";

/// Whether an object could have this name: an RFC 1123 label (at most 63 characters), or with `dots` a subdomain (at most
/// 253).
pub fn is_object_name(text: &str, dots: bool) -> bool {
    let edge = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(edge) && bytes.last().is_some_and(edge) && bytes.iter().all(|b| edge(b) || *b == b'-')
    };
    if dots { text.len() <= 253 && text.split('.').all(is_part) } else { text.len() <= 63 && is_part(text) }
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

/// The name of the Secret with the secret result of an operation.
pub fn result_name(operation: &str) -> String {
    format!("{operation}-result")
}

/// The name of the Secret with the newest kubeconfig that an operation on the cluster delivered.
pub fn kubeconfig_name(cluster: &str) -> String {
    format!("{cluster}-kubeconfig")
}

/// Whether ansible accepts this name of a variable.
pub fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The name of the Secret with the secret variables of a cluster, if the console creates it.
pub fn secret_vars_name(cluster: &str) -> String {
    format!("{cluster}-secret-vars")
}

/// The name of the ConfigMap with the confirmed host keys of a cluster.
pub fn known_hosts_name(cluster: &str) -> String {
    format!("{cluster}-known-hosts")
}
