//! The texts of the progress panel: a sentence for each phase, and the state of the log.

use api::log::LogEnd;
use api::operation::{OperationDetail, Phase, Usual};
use api::progress::RunProgress;

use crate::live::Connection;
use crate::words::{count, named, thousands};

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
        Phase::Cancelled => {
            let by =
                if detail.cancelled_by.is_empty() { String::new() } else { format!(" by {}", detail.cancelled_by) };
            match detail.end.as_ref().and_then(|end| end.running.as_ref()) {
                Some(flight) if row.message.is_empty() => {
                    let hosts: Vec<&str> = flight.hosts.iter().map(String::as_str).collect();
                    format!(
                        "Cancelled{by} while “{}” ran on {}. Changes already made remain.",
                        flight.task,
                        named(&hosts)
                    )
                }
                // The controller's sentence names the task, and the hosts that are left.
                _ if by.is_empty() => said("Cancelled."),
                _ => format!("Cancelled{by}. {}", row.message).trim_end().to_owned(),
            }
        }
        // The status says the same.
        Phase::Succeeded if row.warns() || !progress.tasks.is_empty() => said("Finished, exit code 0."),
        Phase::Succeeded => format!("Finished, exit code 0. {}", note.unwrap_or_default()).trim_end().to_owned(),
        Phase::Restored => row.message.clone(),
    }
}

/// The sentence between two tasks, or in a step that reports no tasks.
fn done(progress: &RunProgress) -> String {
    let last = progress.tasks.last().map(|task| task.name.as_str()).unwrap_or_default();
    format!("“{last}” is done.")
}

/// `5 hosts`, or `2 of 9 hosts` with a limit.
pub(super) fn hosts(progress: &RunProgress, limited_from: Option<u32>) -> String {
    let hosts = progress.hosts.len() as u64;
    match limited_from.map(u64::from) {
        Some(all) if hosts > 0 && hosts < all => format!("{} of {}", thousands(hosts), count(all, "host", "hosts")),
        _ => count(hosts, "host", "hosts"),
    }
}

/// `about 4 to 6 min left, from the last 5 successful runs`. `elapsed`: milliseconds since the start.
#[must_use]
pub fn left(usual: Option<Usual>, elapsed: i64) -> String {
    let Some(Usual { ms, shortest, longest, runs }) = usual else { return "no estimate yet".to_owned() };
    let runs =
        if runs == 1 { "the last successful run".to_owned() } else { format!("the last {runs} successful runs") };
    let whole = |ms: i64| (ms.max(0) + 59_999) / 60_000;
    let words = |minutes: i64| match minutes {
        n @ 0..120 => format!("{n} min"),
        n => format!("{} h {} min", n / 60, n % 60),
    };
    let (least, most) = (whole(shortest - elapsed), whole(longest - elapsed));
    match (longest - elapsed, least, most) {
        (..=0, ..) => format!("longer than usual, {} in {runs}", words(whole(ms))),
        (1..60_000, ..) => format!("less than 1 min left, from {runs}"),
        (_, least, most) if least == most => format!("about {} left, from {runs}", words(most)),
        (_, 0, most) => format!("at most {} left, from {runs}", words(most)),
        (_, least, most @ 0..120) => format!("about {least} to {} left, from {runs}", words(most)),
        (_, least, most) => format!("about {} to {} left, from {runs}", words(least), words(most)),
    }
}

/// `Log complete, 12,408 lines`. Without a connection, the page doesn't know whether it has all lines of a running operation.
#[must_use]
pub fn log_state(total: u64, end: Option<LogEnd>, phase: Phase, connection: Connection) -> String {
    let lines = |n| count(n, "line", "lines");
    match end {
        Some(LogEnd { lines: 0, missing }) if missing > 0 || phase == Phase::Restored => "No log".to_owned(),
        Some(LogEnd { lines: 0, .. }) => "Log complete: nothing was written".to_owned(),
        Some(LogEnd { missing: 0, lines: n }) => format!("Log complete, {}", lines(n)),
        Some(LogEnd { missing, lines: n }) => format!("{} missing of {}", lines(missing), thousands(n.max(missing))),
        None if total == 0 => "No lines yet".to_owned(),
        None if connection.is_cut() => format!("{} so far, no live updates", lines(total)),
        None if phase.is_final() => format!("{}, still being collected", lines(total)),
        None if connection == Connection::Connecting => format!("{} so far", lines(total)),
        None => format!("Complete so far, {}", lines(total)),
    }
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
pub(super) mod tests;
