//! One task over all hosts.

use serde::{Deserialize, Serialize};

use super::{Cell, Cells};

/// Number of results of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub ok: u32,
    pub changed: u32,
    /// Changed although the run has `--check`. Not in `changed`.
    pub made: u32,
    /// Would change, in a run without `--check`. Neither in `changed` nor in `ok`.
    pub would_change: u32,
    pub skipped: u32,
    /// Failed, and `ignore_errors` let it pass.
    pub ignored: u32,
    /// Failed, and a `rescue` took over.
    pub rescued: u32,
    pub failed: u32,
    pub unreachable: u32,
}

impl Counts {
    /// The sum of all results.
    #[must_use]
    pub fn all(&self) -> u32 {
        let ok = self.ok + self.changed + self.made + self.would_change;
        ok + self.skipped + self.ignored + self.rescued + self.failed + self.unreachable
    }

    /// Counts `hosts` more results. A cell without a result counts nothing.
    pub fn add(&mut self, cell: Cell, hosts: usize) {
        if let Some(count) = self.slot(cell) {
            *count = count.saturating_add(u32::try_from(hosts).unwrap_or(u32::MAX));
        }
    }

    pub(super) fn slot(&mut self, cell: Cell) -> Option<&mut u32> {
        Some(match cell {
            Cell::Ok => &mut self.ok,
            Cell::Changed => &mut self.changed,
            Cell::Made => &mut self.made,
            Cell::WouldChange => &mut self.would_change,
            Cell::Skipped => &mut self.skipped,
            Cell::Ignored => &mut self.ignored,
            Cell::Rescued => &mut self.rescued,
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
    /// The module, such as `ansible.builtin.apt`.
    pub action: String,
    pub handler: bool,
    /// Number of the text line with the task's headline; at least 1.
    pub line: u64,
    /// Number of the last text line of its newest result; 0 before the first result.
    pub last_line: u64,
    /// Milliseconds since the Unix epoch, by the clock of the pod.
    pub started: i64,
    /// Time of the last result. `None` until no host runs the task and something else has started.
    pub ended: Option<i64>,
    /// Time of the newest event of this task.
    pub heard: i64,
    pub counts: Counts,
    /// Number of hosts on which it runs now.
    pub running: u32,
    /// Number of loop items that are done, over all hosts.
    pub items: u32,
    pub retries: u32,
    pub cells: Cells,
}

/// The state of a task over all hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskState {
    Running,
    Failed,
    /// The run ended while the task was running.
    Stopped,
    /// It failed on a host, and `ignore_errors` let the failure pass.
    Ignored,
    /// It failed on a host, and a `rescue` took over.
    Rescued,
    Changed,
    /// It only checks, and would change something on a host. The run has no `--check`.
    WouldChange,
    Ok,
    Skipped,
    /// The task has no result on any host.
    Empty,
}

impl TaskProgress {
    /// `Running`, or the worst result on any host.
    #[must_use]
    pub fn state(&self) -> TaskState {
        let c = &self.counts;
        if self.ended.is_none() && (self.running > 0 || c.all() == 0) {
            TaskState::Running
        } else if c.failed + c.unreachable > 0 {
            TaskState::Failed
        } else if self.cells.at(Cell::Stopped).next().is_some() {
            TaskState::Stopped
        } else if c.ignored > 0 {
            TaskState::Ignored
        } else if c.rescued > 0 {
            TaskState::Rescued
        } else if c.changed + c.made > 0 {
            TaskState::Changed
        } else if c.would_change > 0 {
            TaskState::WouldChange
        } else if c.ok > 0 {
            TaskState::Ok
        } else if c.skipped > 0 {
            TaskState::Skipped
        } else {
            TaskState::Empty
        }
    }

    /// Its name without that of its role, which ansible writes before it: `upgrade : Drain the node`.
    #[must_use]
    pub fn own_name(&self) -> &str {
        self.name.rsplit_once(" : ").map_or(self.name.as_str(), |(_, own)| own)
    }

    /// How long it took in milliseconds, up to the last result.
    #[must_use]
    pub fn ms(&self) -> i64 {
        (self.ended.unwrap_or(self.heard) - self.started).max(0)
    }

    /// First and last text line: the headline and everything that its hosts printed.
    #[must_use]
    pub fn lines(&self) -> (u64, u64) {
        (self.line, self.last_line.max(self.line))
    }

    /// Names of the hosts whose cell is `cell`.
    #[must_use]
    pub fn hosts_at<'a>(&self, cell: Cell, hosts: &'a [String]) -> Vec<&'a str> {
        self.cells.at(cell).filter_map(|at| hosts.get(at)).map(String::as_str).collect()
    }
}
