//! Why an operation can't run. Users read these texts in the console and in `kubectl describe`.

use std::time::Duration;

use crd::DataRef;
use operation::StepError;
use private_key::Fault;

/// How long a new control plane may take until machines can join it.
const CONTROL_PLANE_TIMEOUT: Duration = Duration::from_secs(600);

/// Why an operation ends without a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("Cancelled before it started.")]
    Cancelled,
    #[error(
        "The name has {length} characters; at most 48 are allowed, because the Job's name is 15 longer and has at most 63. Submit the operation under a shorter name."
    )]
    NameTooLong { length: usize },
    #[error(
        "“{cluster}” can't be the name of a cluster that runs operations: it becomes a label of their Jobs. A label value has at most 63 letters, digits, “-”, “_” and “.”, and starts and ends with a letter or digit."
    )]
    ClusterName { cluster: String },
    #[error("There is no Cluster “{cluster}”. Create it, or name an existing one.")]
    NoSuchCluster { cluster: String },
    #[error("Cluster “{cluster}” is being deleted.")]
    ClusterLeaving { cluster: String },
    #[error(
        "The cluster has no inventory, because its control plane is hosted. Operations need hostsConfRef and varsConfRef: add both to the Cluster to run playbooks on machines."
    )]
    NoInventory,
    #[error(
        "{} joins machines to a hosted cluster, and the control plane of “{cluster}” isn't hosted. Use {} to add workers.",
        operation::JOIN,
        operation::ADD_NODES
    )]
    NotHosted { cluster: String },
    #[error("No machine can join “{cluster}” now. {why}")]
    NotJoinable { cluster: String, why: String },
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("image is empty. Enter a container image with ansible and the playbooks.")]
    NoImage,
    #[error("{place} “{action}” is not a key of ConfigMap {at}. Its keys: {found}. Add the key, or correct {place}.")]
    NoSuchFile { place: String, action: String, at: DataRef, found: String },
    #[error("activeDeadlineSeconds is {seconds}; it must be at least 1.")]
    Deadline { seconds: i64 },
    #[error(
        "All references of a cluster must name one namespace, because its Jobs run there. {one} is in “{first}” and {other} in “{second}”."
    )]
    TwoNamespaces { one: String, first: String, other: String, second: String },
    #[error("{field} names {kind} {at}, which doesn't exist. Create it, or correct the reference.")]
    Missing { field: &'static str, kind: &'static str, at: DataRef },
    #[error(
        "{field} names {kind} {at}, which has no key “{key}”. Its keys: {found}. Add the key, or correct the reference."
    )]
    MissingKey { field: &'static str, kind: &'static str, at: DataRef, key: &'static str, found: String },
    #[error("{field} names {kind} {at}, which is empty. Add the key “{key}”.")]
    Empty { field: &'static str, kind: &'static str, at: DataRef, key: String },
    #[error(
        "ConfigMap {at} holds the machines' host keys, but has no text under the key “known_hosts”. Its keys: {found}. Add the host keys there, or delete the ConfigMap."
    )]
    HostKeys { at: DataRef, found: String },
    #[error("The controller may not read {kind} {at} ({field}): {why}. Grant it the verb get on this object.")]
    Forbidden { field: &'static str, kind: &'static str, at: DataRef, why: String },
    #[error("The private key in Secret {at} (key {key}) can't be used. {fault}")]
    PrivateKey { at: DataRef, key: &'static str, fault: Fault },
    #[error(
        "secretVarsRef names Secret {at}, which isn't meant for runs: its type is not “{}”. Create it again with this type (kubectl create secret generic --type=…).",
        crd::SECRET_VARS_TYPE
    )]
    NotVariables { at: DataRef },
    #[error(
        "Key “{key}” of Secret {at} (secretVarsRef) can't be the name of a variable: only letters, digits and “_” are allowed, and no digit at the start. Rename it."
    )]
    NotAVariable { at: DataRef, key: String },
    #[error("The value of key “{key}” of Secret {at} (secretVarsRef) isn't text in UTF-8.")]
    NotText { at: DataRef, key: String },
    #[error(
        "The new private key that this operation tests is no longer stored: it was discarded, or is in use now. Nothing ran."
    )]
    NextKey,
    #[error("The inventory (key hosts.yml of ConfigMap {at}) can't be used. {why} Correct it.")]
    Inventory { at: DataRef, why: String, is_empty: bool },
    #[error("The variables (key group_vars.yml of ConfigMap {at}) can't be used. {why} Correct them.")]
    Variables { at: DataRef, why: String },
    #[error("The inputs changed since this operation was confirmed{what}. Review them and submit the operation again.")]
    InputsChanged { what: String },
    #[error(
        "Inventory, variables, playbooks and scripts have {bytes} bytes together; a snapshot holds at most {limit}."
    )]
    TooLarge { bytes: usize, limit: usize },
    #[error(
        "{kind} {at} exists already and belongs to {owner}. Delete it, or submit the operation under another name."
    )]
    Foreign { kind: &'static str, at: DataRef, owner: String },
    #[error("The API refused to create {kind} {at}: {why}")]
    NotCreated { kind: &'static str, at: DataRef, why: String },
    #[error("Namespace “{}” doesn't accept new objects; the API refused to create {kind} {at}: {why}", at.namespace)]
    NoNamespace { kind: &'static str, at: DataRef, why: String },
    #[error("A quota of namespace “{}” is full; the API refused to create {kind} {at}: {why}", at.namespace)]
    QuotaFull { kind: &'static str, at: DataRef, why: String },
    #[error(
        "The cluster's references named namespace “{from}” when the operation got its turn, and name “{to}” now. Submit the operation again."
    )]
    Moved { from: String, to: String },
    #[error(
        "The operation was refused at its turn, and the server stopped before it wrote the reason. Submit the operation again."
    )]
    Forgotten,
}

impl Refusal {
    /// The CamelCase word for `status.reason`.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Cancelled => "Cancelled",
            Self::NameTooLong { .. } => "NameTooLong",
            Self::ClusterName { .. } => "ClusterNameInvalid",
            Self::NoSuchCluster { .. } => "ClusterNotFound",
            Self::ClusterLeaving { .. } => "ClusterDeleted",
            Self::Step(StepError::NoAction { .. } | StepError::ActionPath { .. }) => "ActionInvalid",
            Self::NoImage => "ImageMissing",
            Self::Step(StepError::NoSource { .. }) | Self::NoSuchFile { .. } => "ActionNotFound",
            Self::Step(StepError::ExtraArgs { .. }) => "ExtraArgsInvalid",
            Self::Deadline { .. } => "DeadlineInvalid",
            Self::TwoNamespaces { .. } => "TwoNamespaces",
            Self::NoInventory => "NoInventory",
            Self::NotHosted { .. } => "NotHosted",
            Self::NotJoinable { .. } => "ControlPlaneNotReady",
            Self::Missing { .. } => "ReferenceNotFound",
            Self::Empty { .. } => "ReferenceEmpty",
            Self::MissingKey { .. } => "KeyNotFound",
            Self::HostKeys { .. } => "HostKeysUnreadable",
            Self::Forbidden { .. } => "ReferenceForbidden",
            Self::PrivateKey { .. } => "PrivateKeyInvalid",
            Self::NotVariables { .. } | Self::NotAVariable { .. } | Self::NotText { .. } => "SecretVariablesInvalid",
            Self::NextKey => "NextKeyChanged",
            Self::Inventory { is_empty: true, .. } => "InventoryEmpty",
            Self::Inventory { .. } => "InventoryInvalid",
            Self::Variables { .. } => "VariablesInvalid",
            Self::InputsChanged { .. } => "InputsChanged",
            Self::TooLarge { .. } => "InputsTooLarge",
            Self::Foreign { .. } => "NameTaken",
            Self::NotCreated { .. } => "NotCreated",
            Self::NoNamespace { .. } => "NamespaceNotFound",
            Self::QuotaFull { .. } => "QuotaExceeded",
            Self::Moved { .. } => "NamespaceChanged",
            Self::Forgotten => "Refused",
        }
    }

    /// The message of an operation that ended because of this. `kubectl apply` of the same file would change nothing.
    pub(crate) fn final_message(&self) -> String {
        match self {
            _ if self.may_be_applied_later() => {
                format!("{self} Then submit the operation again, under another name or after deleting this one.")
            }
            Self::Inventory { .. } | Self::Variables { .. } => format!("{self} Then submit the operation again."),
            _ => self.to_string(),
        }
    }

    /// Whether an object, or a key of one, isn't there yet. Tools apply an operation before what it needs, and a new version of an object
    /// after an operation that needs it.
    fn may_be_applied_later(&self) -> bool {
        matches!(
            self,
            Self::NoSuchCluster { .. }
                | Self::Missing { .. }
                | Self::Empty { .. }
                | Self::MissingKey { .. }
                | Self::NoSuchFile { .. }
                | Self::HostKeys { .. }
        )
    }

    /// How long a retry may succeed, after the submission or the end of the run before it: an operation may be created before the objects
    /// and keys that it needs (then `inputs`), and before its hosted cluster is ready. None if the operation itself, or what is under a
    /// key, is wrong.
    pub(crate) fn timeout(&self, inputs: Duration) -> Option<Duration> {
        match self {
            _ if self.may_be_applied_later() => Some(inputs),
            Self::NotJoinable { .. } => Some(CONTROL_PLANE_TIMEOUT),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool may apply it a moment later, also into an object that exists.
    #[test]
    fn what_is_not_there_yet_is_waited_for() {
        let (at, kind, found) = (DataRef::new("ns", "x"), "ConfigMap", String::from("a.yml"));
        let (field, key) = ("hostsConfRef", "hosts.yml");
        for refusal in [
            Refusal::NoSuchCluster { cluster: "prod".into() },
            Refusal::Missing { field, kind, at: at.clone() },
            Refusal::Empty { field, kind, at: at.clone(), key: key.into() },
            Refusal::MissingKey { field, kind, at: at.clone(), key, found: found.clone() },
            Refusal::NoSuchFile {
                place: "action".into(),
                action: "b.yml".into(),
                at: at.clone(),
                found: found.clone(),
            },
            Refusal::HostKeys { at: at.clone(), found },
        ] {
            assert_eq!(refusal.timeout(Duration::from_secs(7)), Some(Duration::from_secs(7)), "{refusal}");
            assert!(
                refusal.final_message().contains(". Then submit the operation again, under another name"),
                "{refusal}"
            );
        }
        let invalid = Refusal::Variables { at, why: "It is no YAML.".into() };
        assert_eq!(invalid.timeout(Duration::from_secs(7)), None);
    }

    #[test]
    fn only_an_operation_is_to_be_submitted_again() {
        let at = DataRef::new("ns", "hosts");
        let inventory = Refusal::Inventory { at: at.clone(), why: "It is empty.".into(), is_empty: true };
        for refusal in [inventory, Refusal::Variables { at, why: "It is no YAML.".into() }] {
            // A condition of the Cluster has this text.
            assert!(!refusal.to_string().contains("operation"), "{refusal}");
            assert!(refusal.final_message().ends_with(". Then submit the operation again."), "{refusal}");
        }
    }
}
