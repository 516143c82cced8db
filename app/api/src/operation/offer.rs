//! What the submit form offers, and the review of a request.

use serde::{Deserialize, Serialize};

use super::Usual;
use crate::{ClusterName, OperationName};

/// What an action does to the machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The action changes nothing.
    Reads,
    /// The action changes machines.
    Changes,
    /// The action deletes data on machines.
    Destroys,
}

/// An action that the form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionOffer {
    /// The playbook, such as `ping.yml`.
    pub action: String,
    pub title: String,
    /// What it does to the machines, in a sentence.
    pub summary: String,
    pub effect: Effect,
    pub parameters: Vec<ParameterOffer>,
    /// Why the action can't be chosen here; `None` if it can.
    pub unavailable: Option<String>,
}

/// A parameter of an action. Actions with the same parameter share one field in the form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterOffer {
    /// The name of the input.
    pub field: String,
    pub label: String,
    pub placeholder: String,
    pub hint: String,
}

/// What submitting would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationReview {
    pub name: OperationName,
    /// The command of each step, as an argument vector.
    pub commands: Vec<Vec<String>>,
    /// The machines on which the operation runs; empty if only ansible can determine them.
    pub hosts: Vec<String>,
    /// SHA-256 of the current inputs. The form sends it back on submission.
    pub expected_inputs: String,
    /// Why the operation will be queued; `None` if it starts at once.
    pub waits_for: Option<String>,
    pub warnings: Vec<String>,
    /// How long earlier runs like this took; `None` if none has succeeded.
    pub usual: Option<Usual>,
    /// The manifest of the `ClusterOperation` that submitting creates.
    pub manifest: String,
}

/// A cluster that the form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterChoice {
    pub name: ClusterName,
    pub nodes: Option<u32>,
}

/// The ConfigMaps that a playbook or script can come from, and the keys of the chosen one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceChoices {
    /// `namespace/name` of each; `None` if they can't be listed, so that the user types one.
    pub config_maps: Option<Vec<String>>,
    /// Why there is nothing to choose, and what to do; empty if there is.
    pub note: String,
    /// The keys of the chosen ConfigMap; `None` if they can't be read.
    pub keys: Option<Vec<String>>,
    /// Why there is no key to choose; empty if there is.
    pub keys_note: String,
}

/// What the submit form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitChoices {
    pub clusters: Vec<ClusterChoice>,
    pub actions: Vec<ActionOffer>,
    /// Why a playbook that is not among `actions` can't run here; `None` if it can.
    pub no_others: Option<String>,
    /// The image used when none is typed.
    pub default_image: String,
}
