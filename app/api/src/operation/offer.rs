//! What the submit form offers, and the review it gets.

use serde::{Deserialize, Serialize};

use crate::{ClusterName, OperationName};

/// What an action does to the machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes machines.
    Changes,
    /// It deletes what is on them.
    Destroys,
}

/// An action that the form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionOffer {
    /// Its playbook: `ping.yml`.
    pub action: String,
    pub title: String,
    /// What it does to the machines, in a sentence.
    pub summary: String,
    pub effect: Effect,
    pub parameters: Vec<ParameterOffer>,
    /// Why it can't be chosen here; `None` if it can.
    pub unavailable: Option<String>,
}

/// A field that belongs to an action. Actions that share a parameter share its field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterOffer {
    /// The name of the input.
    pub field: String,
    pub label: String,
    pub placeholder: String,
    pub hint: String,
    /// A box to tick and not a text.
    pub confirms: bool,
}

/// What submitting would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationReview {
    pub name: OperationName,
    /// The command of each step, as an argument vector.
    pub commands: Vec<Vec<String>>,
    /// The machines that it reaches; empty if only ansible can tell.
    pub hosts: Vec<String>,
    /// sha256 over the inputs as they are now: sent back with the submission.
    pub expected_inputs: String,
    /// What it waits for; `None` if it starts at once.
    pub waits_for: Option<String>,
    pub warnings: Vec<String>,
    /// The manifest as it will be created.
    pub manifest: String,
}

/// A cluster to choose in a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterChoice {
    pub name: ClusterName,
    pub nodes: Option<u32>,
}

/// What the submit form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitChoices {
    pub clusters: Vec<ClusterChoice>,
    pub actions: Vec<ActionOffer>,
    /// The image used when none is typed.
    pub default_image: String,
}
