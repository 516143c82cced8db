//! One task over all hosts.

use serde::{Deserialize, Serialize};

use super::{Cell, Cells};

/// How often each result came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub ok: u32,
    pub changed: u32,
    pub skipped: u32,
    /// Failed, and `ignore_errors` let it pass.
    pub ignored: u32,
    pub failed: u32,
    pub unreachable: u32,
}

impl Counts {
    /// All results together.
    #[must_use]
    pub fn all(&self) -> u32 {
        self.ok + self.changed + self.skipped + self.ignored + self.failed + self.unreachable
    }

    pub(super) fn slot(&mut self, cell: Cell) -> Option<&mut u32> {
        Some(match cell {
            Cell::Ok => &mut self.ok,
            Cell::Changed => &mut self.changed,
            Cell::Skipped => &mut self.skipped,
            Cell::Ignored => &mut self.ignored,
            Cell::Failed => &mut self.failed,
            Cell::Unreachable => &mut self.unreachable,
            Cell::None | Cell::Running | Cell::Stopped => return None,
        })
    }
}

/// A task, or a handler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskProgress {
    pub number: u32,
    pub play: u32,
    pub name: String,
    /// The module: `ansible.builtin.apt`.
    pub action: String,
    pub handler: bool,
    /// Its headline in the text; at least 1.
    pub line: u64,
    /// Milliseconds since the Unix epoch, by the clock of the pod.
    pub started: i64,
    /// When the last host was done, once nothing of it runs any more and something else began.
    pub ended: Option<i64>,
    /// The last sign of life.
    pub heard: i64,
    pub counts: Counts,
    /// Hosts on which it runs now.
    pub running: u32,
    /// Items of its loop that are done, over all hosts.
    pub items: u32,
    pub retries: u32,
    pub cells: Cells,
}

/// A task in one word: the worst that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskState {
    Running,
    Failed,
    /// The run ended while it ran.
    Stopped,
    Changed,
    Ok,
    Skipped,
    /// No host took part.
    Empty,
}

impl TaskProgress {
    /// Its worst result, or that it is still running.
    #[must_use]
    pub fn state(&self) -> TaskState {
        let c = &self.counts;
        if self.ended.is_none() && (self.running > 0 || c.all() == 0) {
            TaskState::Running
        } else if c.failed + c.unreachable > 0 {
            TaskState::Failed
        } else if self.cells.at(Cell::Stopped).next().is_some() {
            TaskState::Stopped
        } else if c.changed > 0 {
            TaskState::Changed
        } else if c.ok + c.ignored > 0 {
            TaskState::Ok
        } else if c.skipped > 0 {
            TaskState::Skipped
        } else {
            TaskState::Empty
        }
    }

    /// How long it took in milliseconds, up to the last result.
    #[must_use]
    pub fn ms(&self) -> i64 {
        (self.ended.unwrap_or(self.heard) - self.started).max(0)
    }

    /// Names of the hosts whose cell is `cell`.
    #[must_use]
    pub fn hosts_at<'a>(&self, cell: Cell, hosts: &'a [String]) -> Vec<&'a str> {
        self.cells.at(cell).filter_map(|at| hosts.get(at)).map(String::as_str).collect()
    }
}
