//! The tree of steps, plays and tasks, folded from a run's events one at a time.
//!
//! The tree is small enough to be sent with a page: a run of 600 tasks on 200 hosts takes some tens of kilobytes, while its
//! events take tens of megabytes. The server folds the events so far, and the browser folds those that follow.

mod cells;
mod failure;
mod fold;
mod recap;
mod task;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

pub use cells::{Cell, Cells};
pub use failure::Failure;
pub use task::{Counts, TaskProgress, TaskState};

use crate::run::{HostStats, StepRole};

/// The progress of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunProgress {
    /// Number of the newest event that was added; 0 before the first.
    pub last_event: u64,
    pub steps: Vec<StepProgress>,
    pub plays: Vec<PlayProgress>,
    pub tasks: Vec<TaskProgress>,
    /// Every host that an event names, in order of first appearance; those of one event in the inventory's order. A task's [`Cells`] are in
    /// the same order.
    pub hosts: Vec<String>,
    /// Results of all tasks on all hosts. A loop counts as one result per host, whatever its number of items.
    pub totals: Counts,
    /// Retries of tasks, over all hosts.
    pub retries: u32,
    /// The first [`Failure::KEPT`] failures, oldest first. Includes ignored ones.
    pub failures: Vec<Failure>,
    /// The recap of each playbook that has ended: its step, and its statistics by host.
    pub recaps: Vec<(u32, BTreeMap<String, HostStats>)>,
    /// The hosts that a playbook without a recap wasn't done with, sorted by name.
    pub left: Vec<String>,
    /// The hosts that failed in a playbook without a recap, sorted by name.
    pub lost: Vec<String>,
    /// The results that playbooks published: the newest value of each key.
    pub outcomes: Vec<(String, serde_json::Value)>,
    /// The text line after which the newest event came. Later lines belong to the next event.
    line: u64,
    /// Positions of host names in `hosts`. Not serialized; rebuilt after deserialization.
    #[serde(skip)]
    positions: Positions,
}

/// A cache of positions, ignored in comparisons.
#[derive(Debug, Clone, Default)]
struct Positions(HashMap<String, usize>);

impl PartialEq for Positions {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A hook or the action itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepProgress {
    pub number: u32,
    pub role: StepRole,
    pub title: String,
    /// Exit code; `None` while the step runs.
    pub rc: Option<i32>,
    /// Milliseconds since the Unix epoch, by the clock of the pod.
    pub started: i64,
    pub ended: Option<i64>,
    /// Number of the step's first text line.
    pub line: u64,
}

/// A play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayProgress {
    pub number: u32,
    /// The step it belongs to; 0 if no step was announced.
    pub step: u32,
    pub name: String,
    /// Number of the text line with the play's headline.
    pub line: u64,
}

impl RunProgress {
    /// The progress after these events.
    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a crate::run::RunEvent>) -> Self {
        let mut progress = Self::default();
        for event in events {
            progress.apply(event);
        }
        progress
    }

    /// Number of the first event that is missing here, for requests to follow the run.
    #[must_use]
    pub fn next_event(&self) -> u64 {
        self.last_event.saturating_add(1)
    }

    /// The task with this number.
    #[must_use]
    pub fn task(&self, number: u32) -> Option<&TaskProgress> {
        self.tasks.binary_search_by_key(&number, |task| task.number).ok().map(|at| &self.tasks[at])
    }

    /// The tasks of a play, in order.
    pub fn tasks_of(&self, play: u32) -> impl DoubleEndedIterator<Item = &TaskProgress> {
        self.tasks.iter().filter(move |task| task.play == play)
    }

    /// The newest running task, with the hosts on which it runs.
    #[must_use]
    pub fn running(&self) -> Option<(&TaskProgress, Vec<&str>)> {
        let task = self.tasks.iter().rev().find(|task| task.state() == TaskState::Running)?;
        Some((task, task.hosts_at(Cell::Running, &self.hosts)))
    }
}
