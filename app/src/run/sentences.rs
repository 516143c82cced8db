//! What the run page says in words: one sentence for every phase, the reason of a failure, the state of the log.

use api::{
    log::LogEnd,
    operation::{OperationDetail, Phase},
    progress::{Counts, Failure, RunProgress},
};

use super::selection::Selection;
use crate::words::{count, thousands};

/// What happens, or how it ended.
#[must_use]
pub fn sentence(detail: &OperationDetail, progress: &RunProgress, note: Option<&str>, lines: u64) -> String {
    let row = &detail.row;
    let said = |otherwise: &str| if row.message.is_empty() { otherwise.to_owned() } else { row.message.clone() };
    match row.phase {
        Phase::Queued => said("Waits for its turn."),
        Phase::Running if row.cancelling => match progress.running() {
            Some((task, hosts)) => {
                format!("Stopping. No new task starts; “{}” still runs on {}.", task.name, named(&hosts))
            }
            None => "Stopping. No new task starts.".to_owned(),
        },
        Phase::Running => match (progress.running(), note) {
            (Some((task, hosts)), _) if hosts.is_empty() => format!("“{}” begins.", task.name),
            (Some((task, hosts)), _) => format!("“{}” runs on {}.", task.name, named(&hosts)),
            (None, Some(note)) => note.to_owned(),
            (None, None) if !progress.tasks.is_empty() => done(progress),
            (None, None) if lines == 0 => said("Starting: nothing was written yet."),
            (None, None) => "It runs; its first task is still to come.".to_owned(),
        },
        Phase::Failed => said("It failed and left no message. The log may say more."),
        Phase::Cancelled => match detail.end.as_ref().and_then(|end| end.running.as_ref()) {
            Some(flight) => {
                let hosts: Vec<&str> = flight.hosts.iter().map(String::as_str).collect();
                format!(
                    "Cancelled while “{}” ran on {}. What it had changed there stays changed.",
                    flight.task,
                    named(&hosts)
                )
            }
            None => said("Cancelled."),
        },
        Phase::Succeeded => succeeded(progress, note),
    }
}

/// Between two tasks, or in a step that announces none.
fn done(progress: &RunProgress) -> String {
    let last = progress.tasks.last().map(|task| task.name.as_str()).unwrap_or_default();
    format!("“{last}” is done.")
}

fn succeeded(progress: &RunProgress, note: Option<&str>) -> String {
    let Counts { changed, ignored, .. } = progress.totals;
    if progress.tasks.is_empty() {
        return note.map_or_else(|| "It succeeded.".to_owned(), |note| format!("It succeeded. {note}"));
    }
    let hosts = progress.hosts.len() as u64;
    let tasks = progress.tasks.len() as u64;
    let ignored = if ignored > 0 {
        format!(" {} ignored.", count(ignored.into(), "failure was", "failures were"))
    } else {
        String::new()
    };
    let changes = match changed {
        0 => "nothing had to change".to_owned(),
        n => count(n.into(), "change", "changes"),
    };
    format!("{} on {} succeeded; {changes}.{ignored}", count(tasks, "task", "tasks"), count(hosts, "host", "hosts"))
}

/// Why a run failed, what needs to be read first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reason {
    /// `“Ping” failed on m1`.
    pub title: String,
    /// What the controller says beyond it.
    pub text: String,
    /// The task's own words.
    pub quote: String,
    /// Where the log tells of it.
    pub lines: Option<Selection>,
    /// What else failed: host and task, at most [`OTHERS`], and how many more.
    pub others: Vec<(String, Option<Selection>)>,
    pub more: usize,
}

/// Failures named beside the first.
pub const OTHERS: usize = 5;

/// The reason of a run that failed; None of any other.
#[must_use]
pub fn reason(detail: &OperationDetail, progress: &RunProgress) -> Option<Reason> {
    if detail.row.phase != Phase::Failed {
        return None;
    }
    let message = detail.row.message.clone();
    let standing = progress.standing_failures();
    let reported = detail.end.as_ref().and_then(|end| end.failure.as_ref());
    let first = match reported {
        Some(report) => progress.failure_of(&report.host, &report.task),
        None => standing.first().copied(),
    };
    let Some((host, task, quote, unreachable)) = first
        .map(|f| (f.host.clone(), task_name(progress, f), f.message.clone(), f.unreachable))
        .or_else(|| reported.map(|r| (r.host.clone(), r.task.clone(), r.message.clone(), false)))
    else {
        let began = detail.end.as_ref().map(|end| end.message.clone()).filter(|text| !text.is_empty());
        let title = [Some(message.clone()), began.clone(), Some("It failed and left no message.".to_owned())];
        let title = title.into_iter().flatten().find(|text| !text.is_empty()).unwrap_or_default();
        let text = began.filter(|text| !title.contains(text.as_str())).unwrap_or_default();
        return Some(Reason { title, text, ..Reason::default() });
    };
    let others = standing.iter().filter(|f| first.is_none_or(|first| !std::ptr::eq(first, **f)));
    let others: Vec<_> =
        others.map(|f| (title(&f.host, &task_name(progress, f), f.unreachable), Some(lines(f)))).collect();
    let more = others.len().saturating_sub(OTHERS);
    Some(Reason {
        title: title(&host, &task, unreachable),
        text: if message.contains(&quote) && !quote.is_empty() && message.len() < quote.len() + 40 {
            String::new()
        } else {
            message
        },
        quote,
        lines: first.map(lines),
        others: others.into_iter().take(OTHERS).collect(),
        more,
    })
}

fn title(host: &str, task: &str, unreachable: bool) -> String {
    if unreachable {
        format!("{host} could not be reached, at “{task}”")
    } else {
        format!("“{task}” failed on {host}")
    }
}

fn task_name(progress: &RunProgress, failure: &Failure) -> String {
    progress.task(failure.task).map(|task| task.name.clone()).unwrap_or_default()
}

/// Of a long message its first lines are what a link should show.
fn lines(failure: &Failure) -> Selection {
    let (first, last) = failure.lines;
    Selection::new(first, last.min(first + 30))
}

/// `Log complete, 12,408 lines`.
#[must_use]
pub fn log_state(total: u64, end: Option<LogEnd>, phase: Phase) -> String {
    let lines = |n| count(n, "line", "lines");
    match end {
        Some(LogEnd { lines: 0, missing: 0 }) => "Log complete: nothing was written".to_owned(),
        Some(LogEnd { missing: 0, lines: n }) => format!("Log complete, {}", lines(n)),
        Some(LogEnd { missing, lines: n }) => format!("{} missing of {}", lines(missing), thousands(n.max(missing))),
        None if total == 0 => "No lines yet".to_owned(),
        None if phase.is_final() => format!("{}, still being collected", lines(total)),
        None => format!("Complete so far, {}", lines(total)),
    }
}

/// `a`, `a and b`, `a, b and 14 others`.
#[must_use]
pub fn named(hosts: &[&str]) -> String {
    match hosts {
        [] => "no host".to_owned(),
        [one] => (*one).to_owned(),
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} others", rest.len()),
    }
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
