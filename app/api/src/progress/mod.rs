//! The tree of steps, plays and tasks, folded from a run's events one at a time.
//!
//! It is small enough to travel with a page (a run of 600 tasks on 200 hosts is some tens of kilobytes, where its events
//! are tens of megabytes), and the browser continues it: the server folds the events so far, the page folds those that follow.

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

/// A run so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunProgress {
    /// Number of the newest event in here; 0 before the first.
    pub last_event: u64,
    pub steps: Vec<StepProgress>,
    pub plays: Vec<PlayProgress>,
    pub tasks: Vec<TaskProgress>,
    /// Every host with an event, in order of the first one. A task's [`Cells`] are in the same order.
    pub hosts: Vec<String>,
    /// Results of all tasks on all hosts. The items of loops are not counted, their task is.
    pub totals: Counts,
    /// Retries of tasks, over all hosts.
    pub retries: u32,
    /// What failed, oldest first: at most [`Failure::KEPT`], with those that were ignored.
    pub failures: Vec<Failure>,
    /// The recaps of the playbooks so far, each by host, with the step they belong to.
    pub recaps: Vec<(u32, BTreeMap<String, HostStats>)>,
    /// What playbooks published, the newest value of each key.
    pub outcomes: Vec<(String, serde_json::Value)>,
    /// The text line of the newest event. Later lines belong to the next event.
    line: u64,
    /// Position in `hosts`; not sent, but built again by the receiver.
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
    /// Exit code; None while it runs.
    pub rc: Option<i32>,
    /// Milliseconds since the Unix epoch, by the clock of the pod.
    pub started: i64,
    pub ended: Option<i64>,
    /// Its first text line.
    pub line: u64,
}

/// A play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayProgress {
    pub number: u32,
    /// The step it belongs to; 0 where no step was announced.
    pub step: u32,
    pub name: String,
    /// Its headline in the text.
    pub line: u64,
}

impl RunProgress {
    /// Folds many events.
    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a crate::run::RunEvent>) -> Self {
        let mut progress = Self::default();
        for event in events {
            progress.apply(event);
        }
        progress
    }

    /// The number from which a follower has to be sent events.
    #[must_use]
    pub fn next_event(&self) -> u64 {
        self.last_event + 1
    }

    /// The task with this number.
    #[must_use]
    pub fn task(&self, number: u32) -> Option<&TaskProgress> {
        self.tasks.binary_search_by_key(&number, |task| task.number).ok().map(|at| &self.tasks[at])
    }

    /// The tasks of a play, in order.
    pub fn tasks_of(&self, play: u32) -> impl Iterator<Item = &TaskProgress> {
        self.tasks.iter().filter(move |task| task.play == play)
    }

    /// The newest task that runs somewhere, with its hosts.
    #[must_use]
    pub fn running(&self) -> Option<(&TaskProgress, Vec<&str>)> {
        let task = self.tasks.iter().rev().find(|task| task.state() == TaskState::Running)?;
        Some((task, task.hosts_at(Cell::Running, &self.hosts)))
    }
}
