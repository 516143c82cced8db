//! A cluster's inputs: inventory, variables and SSH access.

use serde::{Deserialize, Serialize};

use crate::Time;

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
    pub now: Time,
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
    /// `None` if the user may not read them.
    pub host_keys: Option<HostKeys>,
    pub problem: Option<String>,
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
