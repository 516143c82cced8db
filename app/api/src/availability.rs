//! How a cluster answered while an operation ran: one request per second to its API server, and to a service if the cluster names one.

use serde::{Deserialize, Serialize};

use crate::Time;

/// The answers of one target, second by second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    pub target: Target,
    /// The first second.
    pub start: Time,
    /// All seconds in order, as spans of equal answers.
    pub spans: Vec<Span>,
    /// The longest spans without an answer, at most [`Answers::OUTAGES`], in the order of time.
    pub outages: Vec<Outage>,
    /// Why the newest second was not asked, as a sentence; `None` if it was asked, or if the reason is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<String>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The Kubernetes API: `/readyz`, with the cluster's kubeconfig.
    Api,
    /// The address that the Cluster names.
    Service(String),
}

/// Seconds with the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub seconds: u32,
    pub answer: Answer,
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// An answer in time.
    Yes,
    /// None in time, or a server error.
    No,
    /// The server didn't ask: it was stopped, the kubeconfig couldn't be used, or the address is one that the server doesn't contact.
    Unasked,
}

/// A span without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    pub start: Time,
    pub seconds: u32,
    /// Why the first of its requests failed, as a sentence.
    pub why: String,
}

impl Answers {
    /// The most outages that are listed.
    pub const OUTAGES: usize = 20;

    /// The number of requests, and how many of them were answered.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        let sum = |is: fn(Answer) -> bool| {
            self.spans.iter().filter(|span| is(span.answer)).map(|span| u64::from(span.seconds)).sum()
        };
        (sum(|answer| answer != Answer::Unasked), sum(|answer| answer == Answer::Yes))
    }

    /// The number of spans without an answer, and the seconds of the longest.
    #[must_use]
    pub fn outages(&self) -> (usize, u32) {
        let failed = || self.spans.iter().filter(|span| span.answer == Answer::No).map(|span| span.seconds);
        (failed().count(), failed().max().unwrap_or_default())
    }
}
