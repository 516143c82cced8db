//! The progress of a task in words.

use api::duration;
use api::progress::{Cell, TaskProgress, TaskState};

use crate::words::count;

/// The state of a task. Once the run has `ended`, no task is running, even if its last event says so.
pub(super) fn state(task: &TaskProgress, ended: bool) -> TaskState {
    match task.state() {
        TaskState::Running if ended => TaskState::Stopped,
        state => state,
    }
}

/// The word for results that changed something, or would have in a check.
#[must_use]
pub(in super::super) fn changed(check: bool) -> &'static str {
    if check { "would change" } else { "changed" }
}

/// `3 ok, 1 changed, 2 s`.
#[must_use]
pub(in super::super) fn task_words(task: &TaskProgress, ended: bool, check: bool) -> String {
    let c = &task.counts;
    let mut words: Vec<String> = [
        (c.failed, "failed"),
        (c.unreachable, "unreachable"),
        (c.changed, changed(check)),
        (c.made, Cell::Made.word()),
        (c.would_change, Cell::WouldChange.word()),
        (c.ok, "ok"),
        (c.ignored, "ignored"),
        (c.rescued, "rescued"),
        (c.skipped, "skipped"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, word)| format!("{n} {word}"))
    .collect();
    if task.retries > 0 {
        words.push(count(task.retries.into(), "retry", "retries"));
    }
    match state(task, ended) {
        TaskState::Running if task.running > 0 => {
            words.insert(0, format!("running on {}", count(task.running.into(), "host", "hosts")));
        }
        TaskState::Running => words.push("starting".into()),
        TaskState::Stopped => words.insert(0, "stopped".into()),
        TaskState::Empty => words.push("no host".into()),
        _ => {}
    }
    if task.items > 0 {
        words.push(count(task.items.into(), "item", "items"));
    }
    if state(task, ended) != TaskState::Running {
        words.push(duration(task.ms()));
    }
    words.join(", ")
}
