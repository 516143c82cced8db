//! The texts of the page: a sentence for each phase, the reason of a failure, and the state of the log.

use api::log::LogEnd;
use api::operation::{OperationDetail, Phase};
use api::progress::{Counts, Failure, RunProgress};

use super::super::selection::Selection;
use crate::words::{count, thousands};

/// What the run is doing, or how it ended. `lines`: how many lines its log has so far.
#[must_use]
pub fn sentence(detail: &OperationDetail, progress: &RunProgress, note: Option<&str>, lines: u64) -> String {
    let row = &detail.row;
    let said = |otherwise: &str| if row.message.is_empty() { otherwise.to_owned() } else { row.message.clone() };
    match row.phase {
        Phase::Queued => said("Queued."),
        Phase::Running if row.cancelling => match progress.running() {
            Some((task, hosts)) => {
                format!("Stopping. No new task starts; “{}” still runs on {}.", task.name, named(&hosts))
            }
            None => "Stopping. No new task starts.".to_owned(),
        },
        Phase::Running => match (progress.running(), note) {
            (Some((task, hosts)), _) if hosts.is_empty() => format!("“{}” is starting.", task.name),
            (Some((task, hosts)), _) => format!("“{}” runs on {}.", task.name, named(&hosts)),
            (None, Some(note)) => note.to_owned(),
            (None, None) if !progress.tasks.is_empty() => done(progress),
            (None, None) if lines == 0 => said("Starting; no output yet."),
            (None, None) => "Running; no tasks reported.".to_owned(),
        },
        Phase::Failed => said("The run failed without a message. See the log for details."),
        Phase::Cancelled => match detail.end.as_ref().and_then(|end| end.running.as_ref()) {
            Some(flight) => {
                let hosts: Vec<&str> = flight.hosts.iter().map(String::as_str).collect();
                format!("Cancelled while “{}” ran on {}. Changes already made remain.", flight.task, named(&hosts))
            }
            None => said("Cancelled."),
        },
        Phase::Succeeded => succeeded(progress, note),
    }
}

/// The sentence between two tasks, or in a step that reports no tasks.
fn done(progress: &RunProgress) -> String {
    let last = progress.tasks.last().map(|task| task.name.as_str()).unwrap_or_default();
    format!("“{last}” is done.")
}

fn succeeded(progress: &RunProgress, note: Option<&str>) -> String {
    let Counts { changed, ignored, .. } = progress.totals;
    if progress.tasks.is_empty() {
        return note
            .map_or_else(|| "Finished, exit code 0.".to_owned(), |note| format!("Finished, exit code 0. {note}"));
    }
    let hosts = progress.hosts.len() as u64;
    let tasks = progress.tasks.len() as u64;
    let ignored = if ignored > 0 {
        format!(" {} ignored.", count(ignored.into(), "failure was", "failures were"))
    } else {
        String::new()
    };
    let changes = match changed {
        0 => "no changes".to_owned(),
        n => count(n.into(), "change", "changes"),
    };
    format!("{} on {} succeeded; {changes}.{ignored}", count(tasks, "task", "tasks"), count(hosts, "host", "hosts"))
}

/// Why a run failed. The most important text comes first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reason {
    /// `“Ping” failed on m1`.
    pub title: String,
    /// What the controller reports in addition.
    pub text: String,
    /// The message of the task.
    pub quote: String,
    /// Its lines in the log.
    pub lines: Option<Selection>,
    /// Other failures, at most [`OTHERS`]: title and lines. `more` counts the rest.
    pub others: Vec<(String, Option<Selection>)>,
    pub more: usize,
}

/// The number of failures that are named beside the first one.
pub const OTHERS: usize = 5;

/// The reason of a failed run; `None` for any other phase.
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
        let start_error = detail.end.as_ref().map(|end| end.message.clone()).filter(|text| !text.is_empty());
        let title = [Some(message.clone()), start_error.clone(), Some("The run failed without a message.".to_owned())];
        let title = title.into_iter().flatten().find(|text| !text.is_empty()).unwrap_or_default();
        let text = start_error.filter(|text| !title.contains(text.as_str())).unwrap_or_default();
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
        format!("{host} was unreachable during “{task}”")
    } else {
        format!("“{task}” failed on {host}")
    }
}

fn task_name(progress: &RunProgress, failure: &Failure) -> String {
    progress.task(failure.task).map(|task| task.name.clone()).unwrap_or_default()
}

/// The lines that a link to the failure shows: of a long message, the first ones.
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
