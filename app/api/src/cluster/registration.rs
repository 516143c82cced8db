//! The forms that register and unregister a cluster.

use serde::{Deserialize, Serialize};

use super::{ClusterSettings, NodeRow, Purpose};
use crate::ClusterName;
use crate::input::{Input, Value, checked_text, chosen};
use crate::machine::{Address, Login, MachineRole, NodeName, Port};
use crate::name::is_label;

/// The registration form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewCluster {
    pub name: Input<ClusterName>,
    pub purpose: Input<Purpose>,
    /// Used if `purpose` is [`Purpose::Create`].
    pub settings: ClusterSettings,
    /// Machines, one row each; empty rows are ignored.
    pub machines: Vec<MachineRow>,
    /// Pasted lines, used if `machines` has no filled row.
    pub pasted: String,
    pub ssh: Input<KeySource>,
    /// The private key if `ssh` is [`KeySource::Paste`]. Write-only: the server never sends it to a page.
    pub ssh_key: String,
    /// The host keys that the user confirmed, in known_hosts format. If empty, each run trusts the first key it sees.
    pub known_hosts: String,
    /// YAML mapping of variables; may be empty.
    pub variables: String,
    /// Namespace of the ConfigMaps and Secret; the default one if empty.
    pub namespace: Input<Option<Namespace>>,
}

/// Where the SSH key of a new cluster comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeySource {
    /// The server generates a key pair.
    #[default]
    Generate,
    /// The user pastes or uploads a private key.
    Paste,
    /// The cluster has no key.
    None,
}

impl KeySource {
    /// The value in the form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Paste => "paste",
            Self::None => "none",
        }
    }
}

impl Value for KeySource {
    fn parse(text: &str) -> Result<Self, String> {
        let all = [Self::Generate, Self::Paste, Self::None];
        chosen(text, &all, Self::as_str, "Choose how the machines are reached.")
    }

    fn text(&self) -> String {
        self.as_str().into()
    }
}

checked_text! {
    /// The name of a namespace: an RFC 1123 label.
    Namespace, check_namespace
}

fn check_namespace(text: &str) -> Result<(), String> {
    let why = "A namespace has lower-case letters, digits and “-”, and starts and ends with a letter or digit.";
    if is_label(text) { Ok(()) } else { Err(why.into()) }
}

/// One machine in the form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineRow {
    pub name: Input<NodeName>,
    /// Without it, ansible connects to the name.
    pub address: Input<Option<Address>>,
    pub user: Input<Option<Login>>,
    /// 22 if there is none.
    pub port: Input<Option<Port>>,
    /// What it becomes if nothing is chosen depends on the form.
    pub role: Input<Option<MachineRole>>,
}

impl MachineRow {
    /// Whether neither a name nor an address was typed. Such a row is ignored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.name.is_empty() && self.address.is_empty()
    }
}

/// The files that registering will write, with warnings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationReview {
    /// Secrets in the texts are replaced by a sentence.
    pub files: Vec<ReviewedFile>,
    pub nodes: Vec<NodeRow>,
    /// Possible problems. They don't prevent registration.
    pub warnings: Vec<String>,
}

/// A file as it will be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedFile {
    pub title: String,
    pub text: String,
}

/// The form that unregisters a cluster. The machines are not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unregister {
    /// The cluster's name, typed by the user as a confirmation.
    pub confirm: String,
    /// Also delete the records: operations and their logs.
    pub delete_records: bool,
}
