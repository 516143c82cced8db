//! The text of a run.

use serde::{Deserialize, Serialize};

use crate::run::RunEvent;
use crate::{Problem, Time};

/// One text line of a run. Line n is the n-th text line of the container, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// When the container wrote it.
    pub t: Time,
    /// Valid UTF-8 without control characters, but for SGR (colour) escapes `ESC [ … m`. At most 64 KiB.
    pub s: String,
}

/// Some consecutive lines of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPage {
    /// Number of the first line in `lines`, from 1.
    pub first: u64,
    pub lines: Vec<LogLine>,
    /// Lines known so far.
    pub total: u64,
    pub end: Option<LogEnd>,
}

/// How a log ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEnd {
    pub lines: u64,
    /// 0: complete.
    pub missing: u64,
}

/// Everything the run page needs before the socket is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    pub events: Vec<RunEvent>,
    pub log: LogPage,
    /// Why there is no log (yet): `the machine's ansible is being installed: …`, `the pod is gone`.
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
    /// The stream ends before the run does, for this reason. The last frame, like `End`.
    Closed(Problem),
}
