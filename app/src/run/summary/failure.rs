//! Looks for the reason of a failed run, on the server.

use api::configuration::Document;
use api::input::unreversed;
use api::log::LogPage;
use api::operation::{OperationDetail, Phase};
use api::progress::{Failure, RunProgress};
use api::run::{HostStats, StepRole, TaskFailure};

use super::super::functions::LINES_ABOVE;
use super::super::log::ansi;
use super::super::selection::Selection;
use super::cause::{Cause, HOST_KEY_CHANGED};
use super::reason::{Next, OTHERS, Other, Reason};
use crate::words::{count, named};

/// The reason of a failed run; `None` for any other phase. `errors` are the lines with which ansible itself ended, and their numbers:
/// no event tells about a playbook that it can't read.
#[must_use]
pub fn reason(detail: &OperationDetail, progress: &RunProgress, errors: &[(u64, String)]) -> Option<Reason> {
    if detail.row.phase != Phase::Failed {
        return None;
    }
    let reason = failed(detail, progress, errors);
    let refusal = || Document::to_fix(&detail.row.reason, &detail.row.message).map(Next::Edit);
    let reason = reason.unreversed();
    let partial = progress.is_partial() && !detail.repeats_as_a_whole;
    let again = || (progress.is_partial() && !partial).then_some(Next::Again);
    let stopped_early = !progress.left_hosts().is_empty();
    Some(Reason { partial, stopped_early, next: reason.next.or_else(refusal).or_else(again), ..reason })
}

fn failed(detail: &OperationDetail, progress: &RunProgress, errors: &[(u64, String)]) -> Reason {
    let reported = detail.end.as_ref().and_then(|end| end.failure.as_ref());
    let mut causes = SameCause::of(progress, reported).into_iter();
    let Some(first) = causes.next() else {
        return reported.map_or_else(|| without_task(detail, errors), |report| without_events(detail, report));
    };
    let mut others: Vec<Other> = causes.map(|other| other.in_one_line(progress)).collect();
    let more = others.len().saturating_sub(OTHERS);
    others.truncate(OTHERS);
    Reason {
        title: first.title(progress),
        text: text(detail, progress),
        quote: first.failure.message.clone(),
        lines: Some(lines(first.failure)),
        others,
        more,
        ..Reason::default()
    }
    .with(first.cause)
}

impl Reason {
    /// Machines wrote a part of it.
    fn unreversed(self) -> Self {
        let other =
            |Other { title, text, lines }: Other| Other { title: unreversed(&title), text: unreversed(&text), lines };
        let (title, text, quote) = (unreversed(&self.title), unreversed(&self.text), unreversed(&self.quote));
        Self { title, text, quote, others: self.others.into_iter().map(other).collect(), ..self }
    }

    /// Tells the cause, and where its next step is done.
    fn with(self, cause: Option<&Cause>) -> Self {
        let sentence = cause.map(|cause| sentence(cause, &self.quote));
        Self { cause: sentence, next: cause.map(|cause| cause.next), ..self }
    }
}

/// The sentence of a cause, which may be only one of the problems that a message of our playbooks lists: `n1: 3 problems: …`.
fn sentence(cause: &Cause, message: &str) -> String {
    let number = message.split_once(" problems: ").and_then(|(before, _)| before.rsplit(' ').next());
    match number.and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => format!("One of {number} problems: {}", cause.sentence),
        None => cause.sentence.to_owned(),
    }
}

/// How a line of ansible's own errors begins, before and since version 2.19, or of its parser of arguments.
const ERRORS: [&str; 4] = ["ERROR! ", "[ERROR]: ", " [ERROR]: ", "ansible-playbook: error: "];

/// What ansible says after a stop. The run's own sentence says who stopped it.
const INTERRUPTED: &str = "User interrupted execution";

/// How lines of tasks and their failures begin. Since version 2.19, ansible prints errors of tasks like its own, and then these.
const TASKS: [&str; 2] = ["TASK [", "fatal: ["];

/// The lines with which ansible itself ended, oldest first, and their numbers.
#[must_use]
pub fn errors(newest: &LogPage) -> Vec<(u64, String)> {
    let begins = |text: &str, starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    let mut errors = Vec::new();
    for (number, text) in (newest.first..).zip(newest.lines.iter().map(|line| ansi::plain(&line.s))) {
        if begins(&text, &TASKS) {
            errors.clear();
        } else if begins(&text, &ERRORS) && !text.ends_with(INTERRUPTED) {
            errors.push((number, text));
        }
    }
    errors
}

/// Failures of one task for the same cause, on one or more hosts.
struct SameCause<'a> {
    failure: &'a Failure,
    cause: Option<&'static Cause>,
    hosts: Vec<&'a str>,
}

impl<'a> SameCause<'a> {
    /// The failures that made hosts fail, by cause. The one that the run's summary names comes first, but a changed host key comes
    /// before everything else: the connection may be intercepted.
    fn of(progress: &'a RunProgress, reported: Option<&TaskFailure>) -> Vec<Self> {
        let mut causes: Vec<Self> = Vec::new();
        let first = reported.and_then(|report| progress.failure_of(&report.host, &report.task));
        let mut standing = progress.standing_failures();
        // Results arrive in any order.
        let place = |host: &String| progress.hosts.iter().position(|known| known == host);
        standing.sort_by_cached_key(|failure| (failure.task, place(&failure.host)));
        for failure in first.into_iter().chain(standing) {
            // Often many hosts fail with the same message, and looking for its cause takes time.
            let known = causes.iter().find(|known| known.failure.message == failure.message);
            let cause = known.map_or_else(|| Cause::of(&failure.message), |known| known.cause);
            let same = |known: &&mut Self| {
                let of = known.failure;
                (of.task, of.unreachable, known.cause) == (failure.task, failure.unreachable, cause)
                    && (cause.is_some() || of.message == failure.message)
            };
            match causes.iter_mut().find(same) {
                Some(known) if known.hosts.contains(&failure.host.as_str()) => {}
                Some(known) => known.hosts.push(&failure.host),
                None => causes.push(Self { failure, cause, hosts: vec![&failure.host] }),
            }
        }
        causes.sort_by_key(|same| same.cause.is_none_or(|cause| cause.key != HOST_KEY_CHANGED));
        causes
    }

    fn title(&self, progress: &RunProgress) -> String {
        let task = progress.task(self.failure.task).map(|task| task.name.as_str()).unwrap_or_default();
        title(&self.hosts, task, self.failure.unreachable)
    }

    fn in_one_line(&self, progress: &RunProgress) -> Other {
        let message = || self.failure.message.lines().next().unwrap_or_default().to_owned();
        let text = self.cause.map_or_else(message, |cause| sentence(cause, &self.failure.message));
        Other { title: self.title(progress), text, lines: lines(self.failure) }
    }
}

fn title(hosts: &[&str], task: &str, unreachable: bool) -> String {
    match (unreachable, hosts) {
        (true, [host]) => format!("{host} was unreachable during “{task}”"),
        (true, _) => format!("{} were unreachable during “{task}”", named(hosts)),
        (false, _) => format!("“{task}” failed on {}", named(hosts)),
    }
}

/// What the panel says beside the failure. The controller's sentence about failed tasks repeats the failure and the others, so only
/// the number of hosts is shown instead.
fn text(detail: &OperationDetail, progress: &RunProgress) -> String {
    if !matches!(detail.row.reason.as_str(), "TaskFailed" | "HostsUnreachable" | "PlaybookFailed") {
        return detail.row.message.clone();
    }
    let mut failed: Vec<&str> = progress.standing_failures().iter().map(|failure| failure.host.as_str()).collect();
    failed.sort_unstable();
    failed.dedup();
    let hosts = count(progress.hosts.len() as u64, "host", "hosts");
    match progress.hosts.len() {
        ..=1 => String::new(),
        _ => format!("{} of {hosts} failed.{}{}", failed.len(), left_hosts(progress), succeeded(detail, progress)),
    }
}

/// ` Not finished: n2. Not reached: n3 and n4.`: the hosts that the playbooks weren't done with when the run stopped. Empty without any.
fn left_hosts(progress: &RunProgress) -> String {
    let recap = progress.recap();
    let is_begun = |host: &&str| recap.get(*host).is_some_and(HostStats::has_results) || progress.has_started(host);
    let (begun, rest): (Vec<&str>, Vec<&str>) = progress.left_hosts().into_iter().partition(is_begun);
    let part = |word: &str, hosts: &[&str]| {
        if hosts.is_empty() { String::new() } else { format!(" {word}: {}.", named(hosts)) }
    };
    part("Not finished", &begun) + &part("Not reached", &rest)
}

/// ` Succeeded on w3 and w4.`: the hosts of a limited run on which the action went well, such as the new machines that have become nodes.
/// Empty without any.
fn succeeded(detail: &OperationDetail, progress: &RunProgress) -> String {
    if detail.limited_from.is_none() {
        return String::new();
    }
    let main = progress.steps.iter().find(|step| step.role == StepRole::Main);
    let recap = main.and_then(|main| progress.recaps.iter().find(|(step, _)| *step == main.number));
    let Some((_, recap)) = recap else { return String::new() };
    let is_done = |host: &&str| {
        *host != "localhost" && recap.get(*host).is_some_and(|stats| stats.has_results() && !stats.is_open())
    };
    let done: Vec<&str> = progress.hosts.iter().map(String::as_str).filter(is_done).collect();
    if done.is_empty() { String::new() } else { format!(" Succeeded on {}.", named(&done)) }
}

/// The summary names a failure, but the log has no event of it.
fn without_events(detail: &OperationDetail, report: &TaskFailure) -> Reason {
    let (message, quote) = (&detail.row.message, &report.message);
    Reason {
        title: title(&[&report.host], &report.task, false),
        text: if !quote.is_empty() && message.contains(quote.as_str()) { String::new() } else { message.clone() },
        quote: quote.clone(),
        ..Reason::default()
    }
    .with(Cause::of(quote))
}

/// No task failed: the run could not start, ansible could not read the playbook, or the run was ended from outside.
fn without_task(detail: &OperationDetail, errors: &[(u64, String)]) -> Reason {
    let message = Some(detail.row.message.clone());
    let start_error = detail.end.as_ref().map(|end| end.message.clone()).filter(|text| !text.is_empty());
    let title = [message, start_error.clone(), Some("The run failed without a message.".to_owned())];
    let title = title.into_iter().flatten().find(|text| !text.is_empty()).unwrap_or_default();
    let text = start_error.filter(|text| !title.contains(text.as_str())).unwrap_or_default();
    let told = Cause::of(&title).or_else(|| Cause::of(&text));
    let Some((line, error)) = errors.last() else {
        return Reason { title, text, ..Reason::default() }.with(told);
    };
    // The run's own sentence quotes ansible, unless it leads to the log. After it come the hosts that are left.
    let has_result = [" ended with exit code ", " ran no task)."].iter().any(|result| title.contains(result));
    let is_quoted = told.is_some() || has_result && title.contains(").");
    let quote = if is_quoted { String::new() } else { error.clone() };
    let lines = Some(Selection::new(*line, *line));
    Reason { title, text, quote, lines, ..Reason::default() }.with(told.or_else(|| Cause::of(error)))
}

/// The line at the top when a failed run opens: the headline of the failed task, if its failure is near.
#[must_use]
pub fn first_line_on_screen(reason: &Reason, progress: &RunProgress) -> Option<u64> {
    let failed = reason.lines?.first();
    let headline = progress.tasks.iter().map(|task| task.line).filter(|line| *line <= failed).max();
    Some(headline.unwrap_or(1).max(failed.saturating_sub(LINES_ABOVE)))
}

/// The lines that a link to the failure shows: of a long message, the first ones.
fn lines(failure: &Failure) -> Selection {
    let (first, last) = failure.lines;
    Selection::new(first, last.min(first + 30))
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
