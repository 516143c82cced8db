//! A cluster's inputs: inventory, variables and SSH access.

use serde::{Deserialize, Serialize};

use crate::Time;

/// Which document of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    Inventory,
    Variables,
    /// The machines' SSH host keys that a person confirmed, as a known_hosts file.
    HostKeys,
}

impl Document {
    /// `inventory`, `variables` or `host_keys`, as in forms.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Variables => "variables",
            Self::HostKeys => "host_keys",
        }
    }

    /// As in a sentence.
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
    /// resourceVersion that a change must be based on.
    pub version: String,
    /// What is wrong with it, with line and column.
    pub problem: Option<String>,
    /// The Cluster uses the object but does not own it.
    pub foreign: bool,
}

/// How the machines are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshAccess {
    /// `namespace/name` of the Secret; None without a key.
    pub secret: Option<String>,
    /// The public half, if it is known.
    pub public_key: Option<String>,
    /// SHA256 fingerprint of the public half.
    pub fingerprint: Option<String>,
    /// `None` if this person may not read them.
    pub host_keys: Option<HostKeys>,
    pub problem: Option<String>,
}

/// The machines' keys on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostKeys {
    /// How many.
    pub count: u32,
    /// Their file; empty if none was confirmed.
    pub document: DocumentText,
}

/// The host keys that the machines show, compared with the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostKeyScan {
    pub machines: Vec<MachineKey>,
    /// The file as it would be with these keys.
    pub text: String,
    /// What saving it would change.
    pub review: ChangeReview,
}

/// One machine's host key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineKey {
    /// As in the inventory.
    pub name: String,
    /// As known_hosts names it: `10.0.0.11`, `[10.0.0.11]:2222`.
    pub address: String,
    pub standing: Standing,
    /// `ssh-ed25519`; empty where no key was seen.
    pub algorithm: String,
    /// `SHA256:…`; empty where no key was seen.
    pub fingerprint: String,
}

/// How a machine's key compares with the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// No key of this machine was confirmed before.
    New,
    Confirmed,
    /// Another key was confirmed.
    Changed,
    /// The record revokes this key.
    Revoked,
    /// The machine showed no key.
    Unseen,
}

/// What saving would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeReview {
    /// In words: `node4 added to kube_node`.
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
