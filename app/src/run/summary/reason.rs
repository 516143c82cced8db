//! Why a run failed, as the server finds it and the page shows it.
//!
//! The server looks for the reason: the browser would need all known causes for it, and would need to have the lines in which ansible's
//! own error stands.

use api::configuration::Document;
use serde::{Deserialize, Serialize};

use super::super::selection::Selection;

/// Why a run failed. The most important text comes first, and no text is shown twice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// `“Ping” failed on m1 and m2`.
    pub title: String,
    /// How many hosts failed, or what the controller reports in addition.
    pub text: String,
    /// The message of the task.
    pub quote: String,
    /// What a known cause means and what to do.
    pub cause: Option<String>,
    /// Where the next step is done, if it is known.
    pub next: Option<Next>,
    /// Whether some hosts failed and others did not, so that the run can be repeated for the failed ones.
    pub partial: bool,
    /// Whether the run stopped before some of the hosts.
    pub stopped_early: bool,
    /// Its lines in the log.
    pub lines: Option<Selection>,
    /// Other failures, at most [`OTHERS`]. `more` counts the rest.
    pub others: Vec<Other>,
    pub more: usize,
}

/// Another failure, in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Other {
    /// `“Ping” failed on m3`.
    pub title: String,
    /// Its cause, or its message.
    pub text: String,
    pub lines: Selection,
}

/// The number of failures that are named beside the first one.
#[cfg(feature = "ssr")]
pub(super) const OTHERS: usize = 5;

/// Where the next step is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Next {
    /// In one of the cluster's documents.
    Edit(Document),
    /// On the machine. Then the run is repeated.
    Again,
    /// On the cluster's page about its nodes.
    Nodes,
    /// On the page that upgrades the cluster.
    Upgrade,
    /// With another operation, which the sentence names.
    Operation,
}
