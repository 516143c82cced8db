//! A cluster's inputs: inventory, variables and SSH access.

use serde::{Deserialize, Serialize};

use crate::Time;

/// Which document of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    Inventory,
    Variables,
}

impl Document {
    /// `inventory` or `variables`, as in URLs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Variables => "variables",
        }
    }

    /// The reverse of [`Document::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Inventory, Self::Variables].into_iter().find(|d| d.as_str() == text)
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

/// A document as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// `namespace/name, key` of the ConfigMap.
    pub place: String,
    pub text: String,
    /// resourceVersion that a change must be based on.
    pub version: String,
    /// What is wrong with it as it stands, with line and column.
    pub problem: Option<String>,
    /// Somebody else's object: used, never owned by the Cluster.
    pub foreign: bool,
}

/// How the machines are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshAccess {
    /// `namespace/name` of the Secret; None without a key.
    pub secret: Option<String>,
    /// The public half, where it can be told.
    pub public_key: Option<String>,
    /// SHA256 fingerprint of the public half.
    pub fingerprint: Option<String>,
    /// Confirmed host keys on record.
    pub known_hosts: u32,
    pub problem: Option<String>,
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
