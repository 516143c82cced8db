//! A cluster's inputs: inventory, variables and SSH access.

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::operation::OperationRow;

/// The documents of a cluster that users edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    Inventory,
    Variables,
    /// The machines' SSH host keys that a user confirmed, as a known_hosts file.
    HostKeys,
}

impl Document {
    /// The value in forms: `inventory`, `variables` or `host_keys`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Variables => "variables",
            Self::HostKeys => "host_keys",
        }
    }

    /// The document's name in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Variables => "variables",
            Self::HostKeys => "host keys",
        }
    }

    /// The value of `show` in the URL of the Configuration tab that shows this document.
    #[must_use]
    pub fn shown_at(self) -> &'static str {
        match self {
            Self::Inventory => "",
            Self::Variables => "variables",
            Self::HostKeys => "ssh",
        }
    }

    /// The end of a message about an unusable document: what to do.
    #[must_use]
    pub fn correct_it(self) -> &'static str {
        match self {
            Self::Inventory => "Correct it on the cluster's Configuration tab, under Inventory.",
            Self::Variables => "Correct them on the cluster's Configuration tab, under Variables.",
            Self::HostKeys => "Correct them on the cluster's Configuration tab, under SSH access.",
        }
    }

    /// The document that a message asks to correct with [`Document::correct_it`].
    #[must_use]
    pub fn to_correct(message: &str) -> Option<Self> {
        let all = [Self::Inventory, Self::Variables, Self::HostKeys];
        all.into_iter().find(|document| message.ends_with(document.correct_it()))
    }

    /// The document that fixes an unusable input, from the reason of the condition `InputsReady` or of a refused operation. The
    /// message starts with the reference that it is about.
    #[must_use]
    pub fn to_fix(reason: &str, message: &str) -> Option<Self> {
        match reason {
            "InventoryEmpty" | "InventoryInvalid" => Some(Self::Inventory),
            "VariablesInvalid" => Some(Self::Variables),
            "PrivateKeyInvalid" | "HostKeysUnreadable" | "NextKeyChanged" => Some(Self::HostKeys),
            "ReferenceNotFound" | "ReferenceEmpty" | "KeyNotFound" => {
                let of = [
                    ("hostsConfRef", Self::Inventory),
                    ("varsConfRef", Self::Variables),
                    ("sshAuthRef", Self::HostKeys),
                ];
                of.into_iter().find(|(field, _)| message.starts_with(field)).map(|(_, document)| document)
            }
            _ => None,
        }
    }

    /// The reverse of [`Document::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Inventory, Self::Variables, Self::HostKeys].into_iter().find(|d| d.as_str() == text)
    }
}

/// What the Configuration tab shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    pub inventory: DocumentText,
    pub variables: DocumentText,
    pub ssh: SshAccess,
    pub secrets: SecretVariables,
    pub now: Time,
}

/// The variables that come from a Secret. Only their names are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretVariables {
    /// `namespace/name` of the Secret; `None` if the cluster has none.
    pub secret: Option<String>,
    /// The resourceVersion of the Secret: another one after each change, also of a value.
    pub version: String,
    /// Empty if they can't be read.
    pub names: Vec<String>,
    /// Sentences about values that logs can't hide well.
    pub hints: Vec<String>,
    /// Whether variables can be set: the user may read the Secret, and runs use it.
    pub changeable: bool,
    /// The Cluster uses the Secret but does not own it.
    pub foreign: bool,
    /// Why they can't be used or read, as a sentence.
    pub problem: Option<String>,
}

/// A change of one secret variable.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretVariableChange {
    /// Adds it, or replaces its value.
    Set {
        name: String,
        value: String,
    },
    Delete {
        name: String,
    },
}

/// Without the value.
impl std::fmt::Debug for SecretVariableChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Set { name, .. } => write!(f, "Set {name}"),
            Self::Delete { name } => write!(f, "Delete {name}"),
        }
    }
}

/// A saved document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// `namespace/name, key` of the ConfigMap.
    pub place: String,
    pub text: String,
    /// The resourceVersion of the object. A change must be based on it.
    pub version: String,
    /// Why the document is invalid, with line and column.
    pub problem: Option<String>,
    /// Sentences about secrets in it that logs can't hide well.
    pub hints: Vec<String>,
    /// Sentences about what ansible will never read, or what will make runs fail.
    pub warnings: Vec<String>,
    /// The Cluster uses the object but does not own it.
    pub foreign: bool,
}

/// How runs connect to the machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshAccess {
    /// `namespace/name` of the Secret; None without a key.
    pub secret: Option<String>,
    /// The public key, if it is known.
    pub public_key: Option<String>,
    /// SHA256 fingerprint of the public key.
    pub fingerprint: Option<String>,
    /// Whether the key can be replaced: the cluster names a Secret for it, and the user may read that.
    pub replaceable: bool,
    /// The Cluster uses the Secret but does not own it.
    pub foreign: bool,
    /// A new key that is stored but not in use yet.
    pub next: Option<NextKey>,
    /// The key that was replaced last.
    pub previous: Option<StoredKey>,
    /// `None` if the user may not read them.
    pub host_keys: Option<HostKeys>,
    pub problem: Option<String>,
}

/// The public parts of a private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredKey {
    /// Names the key without revealing it: the start of its SHA-256.
    pub id: String,
    /// `SHA256:…`; `None` if the public key is unknown.
    pub fingerprint: Option<String>,
    pub public_key: Option<String>,
}

/// A new key, and its newest test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextKey {
    pub key: StoredKey,
    pub test: Option<OperationRow>,
}

/// A step of replacing the private key. `id` is the key that the user saw; if another one is stored, nothing is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyChange {
    /// Stores a new key beside the current one.
    Store(NewKey),
    /// Submits an operation that connects to every machine with the new key.
    Test { id: String },
    /// Makes the new key the current one. Needs a successful test, or `untested`.
    Use { id: String, untested: bool },
    /// Deletes the new key.
    Discard { id: String },
    /// Makes the previous key the current one, and the current one the previous.
    GoBack { id: String },
    /// Deletes the previous key.
    Forget { id: String },
}

/// Where a new private key comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum NewKey {
    Generate,
    /// The text of a private key.
    Given(String),
}

/// Without the key.
impl std::fmt::Debug for NewKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Generate => "Generate",
            Self::Given(_) => "Given",
        })
    }
}

/// The machines' confirmed host keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostKeys {
    /// Number of keys.
    pub count: u32,
    /// The file with the keys; empty if none is confirmed.
    pub document: DocumentText,
}

/// The machines' scanned host keys, compared with the confirmed ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostKeyScan {
    pub machines: Vec<MachineKey>,
    /// The file of confirmed keys, updated with the scanned ones.
    pub text: String,
    /// What saving `text` would change.
    pub review: ChangeReview,
}

/// One machine's host key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineKey {
    /// The machine's name in the inventory.
    pub name: String,
    /// The address as written in known_hosts: `10.0.0.11`, `[10.0.0.11]:2222`.
    pub address: String,
    pub standing: Standing,
    /// Such as `ssh-ed25519`; empty if no key was found.
    pub algorithm: String,
    /// `SHA256:…`; empty if no key was found.
    pub fingerprint: String,
    pub login: Login,
}

/// Whether a machine lets the cluster's SSH key in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Login {
    #[default]
    NotTried,
    Works,
    /// A warning of the review says why.
    Fails,
}

/// How a machine's scanned key compares with the confirmed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// No key of this machine is confirmed.
    New,
    Confirmed,
    /// A different key is confirmed.
    Changed,
    /// The file of confirmed keys revokes this key.
    Revoked,
    /// The machine sent no key.
    Unseen,
}

/// What saving would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeReview {
    /// The changes in words, such as `node4 added to kube_node`.
    pub summary: Vec<String>,
    pub lines: Vec<DiffLine>,
    /// Sentences about what ansible will never read, or what will make runs fail, in the new text.
    pub warnings: Vec<String>,
    /// The version the review is based on.
    pub version: String,
}

/// A line of a text diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    pub kind: DiffKind,
    pub text: String,
}

/// What a diff line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    Same,
    Added,
    Removed,
    /// `text` says how many unchanged lines are left out.
    Skipped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_document_that_fixes_it() {
        assert_eq!(Document::to_fix("InventoryEmpty", ""), Some(Document::Inventory));
        assert_eq!(Document::to_fix("PrivateKeyInvalid", ""), Some(Document::HostKeys));
        let missing = |field: &str| Document::to_fix("KeyNotFound", &format!("{field} names ConfigMap a/b, which …"));
        assert_eq!(missing("hostsConfRef"), Some(Document::Inventory));
        assert_eq!(missing("varsConfRef"), Some(Document::Variables));
        assert_eq!(missing("sshAuthRef"), Some(Document::HostKeys));
        assert_eq!((missing("preCheckRef"), Document::to_fix("TaskFailed", "")), (None, None));
    }
}
