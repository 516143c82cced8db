//! The text of a run.

use serde::{Deserialize, Serialize};

use crate::run::RunEvent;
use crate::{Problem, Time};

/// One text line of a run. Lines are numbered from 1, in the order in which the container wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// When the container wrote it.
    pub t: Time,
    /// The line's text: at most 64 KiB, without control characters except SGR (colour) escapes, `ESC [ … m`.
    pub s: String,
}

/// Some consecutive lines of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPage {
    /// Number of the first line in `lines`, starting at 1.
    pub first: u64,
    pub lines: Vec<LogLine>,
    /// Number of lines so far.
    pub total: u64,
    pub end: Option<LogEnd>,
}

/// The end of a log: how many lines it has, and how many were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEnd {
    pub lines: u64,
    /// Number of lost lines; 0 if the log is complete.
    pub missing: u64,
}

/// What to look for in a log. An empty field doesn't restrict anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogQuery {
    /// Plain text, at most [`LogQuery::LONGEST`] characters. Capitals and small letters are the same, unless it contains a capital.
    pub text: String,
    /// Only lines of this host.
    pub host: String,
    /// With a host: the first line to list.
    pub from: u64,
}

impl LogQuery {
    /// The most characters of the text.
    pub const LONGEST: usize = 200;
    /// The most hits in an answer. More are only counted.
    pub const MOST_HITS: usize = 5_000;
    /// The most lines of a host in an answer, headlines included.
    pub const MOST_LINES: usize = 500;

    /// Whether it restricts nothing, so that there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.host.is_empty()
    }
}

/// The answer to a [`LogQuery`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Numbers of the lines that match, ascending: the first [`LogQuery::MOST_HITS`].
    pub hits: Vec<u64>,
    /// How many lines match.
    pub total: u64,
    /// With a host: its lines that match, each after the headlines of its play and its task.
    pub lines: Vec<FoundLine>,
    /// The first line that `lines` has no room for; 0 if there is none.
    pub next: u64,
    /// Why the answer isn't complete; empty if it is.
    pub note: String,
}

/// A line with its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundLine {
    pub number: u64,
    pub line: LogLine,
}

/// The events and lines that the run page shows before live updates arrive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    pub events: Vec<RunEvent>,
    pub log: LogPage,
    /// Why there is no log (yet), such as `the machine's ansible is being installed: …` or `the pod is gone`.
    pub note: Option<String>,
}

/// What a follower of a log receives, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogFrame {
    /// Consecutive lines from `first`.
    Lines {
        first: u64,
        lines: Vec<LogLine>,
    },
    Events(Vec<RunEvent>),
    /// The follower was too slow: lines `from..to` were not sent, and the stream continues at `to`. Nothing sends them later: a
    /// follower that needs them reads them with `Runs::page`, or follows again from `from`, as the browser does at once.
    Gap {
        from: u64,
        to: u64,
    },
    End(LogEnd),
    /// The stream ends before the run, for this reason. Like `End`, it is the last frame.
    Closed(Problem),
}
