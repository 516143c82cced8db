//! What a person wants to know about a run while it goes on, besides its log: whether it may be stopped, what holds it up, and whether
//! the cluster answers.

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::availability::Answers;

/// The state of a run beyond its log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Whether the run is going on.
    pub is_running: bool,
    /// Whether the run may be stopped. `None` if it isn't running, or if nothing is known about its playbook.
    pub stop: Option<StopAdvice>,
    /// What takes longer than usual.
    pub stall: Option<Stall>,
    /// How the cluster has answered since the run started: its API server, then the service that the Cluster names.
    pub answers: Vec<Answers>,
    pub now: Time,
}

impl Watch {
    /// What stays of it when the run has ended.
    #[must_use]
    pub fn after_the_end(self) -> Self {
        Self { is_running: false, stop: None, stall: None, ..self }
    }
}

/// Whether a run may be stopped now, and what stopping it leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopAdvice {
    pub when: StopWhen,
    /// Sentences.
    pub why: String,
}

/// When a run may be stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopWhen {
    /// Nothing is left half done.
    Now,
    /// When the node with this name is done.
    AfterNode(String),
    /// Stopping now leaves something broken until the playbook runs again.
    NotNow,
}

/// A task that takes longer than usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// `“Drain the node” on w3 takes 4 min; earlier it took at most 40 s.`
    pub title: String,
    /// What holds it up, as sentences; empty if that isn't known.
    pub reasons: Vec<String>,
}
