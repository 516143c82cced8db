//! The verdict of a run, from the Job, its pod and the entrypoint's termination message; never by searching the log for texts.

use api::count;
use api::input::unreversed;
use api::run::StepRole;
use crd::{ClusterOperation, ClusterOperationSpec, PRODUCT, Phase, Recap, Time};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, Pod};
use operation::{Options, Outcome, TerminatedStep, Termination, terminated, termination};

use crate::job::state::{condition, is_suspended, job_has_stopped};
use crate::status::sentence::cut;
use crate::verdict::cause::{
    failure, hidden_failure, ignored_hosts, in_flight, is_check, is_disrupted, left_hosts, made_hosts, unreached_hosts,
    warning,
};
use crate::verdict::termination::without_words;

/// Ends the message of a check that failed.
pub(crate) const ONLY_A_CHECK: &str = " The operation was only a check.";

/// What is known about a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It has not ended; reason and message for the status.
    Running { reason: &'static str, message: String },
    /// The Job has ended, but the pod that shows how has not been seen yet.
    Unclear,
    /// It has ended.
    Ended(Outcome),
}

/// Judges a run. `from_api`: `pod` was read from the API and not from the store, so an end that it doesn't show will never be seen.
pub(crate) fn judge(operation: &ClusterOperation, job: &Job, pod: Option<&Pod>, from_api: bool, now: &Time) -> Verdict {
    let cancel = operation.spec.cancel == Some(true);
    let terminated = pod.and_then(terminated);
    let said = terminated.and_then(termination);
    let made = said.as_ref().map(made_hosts).unwrap_or_default();
    // Of hooks that aren't checks, nobody knows which have changed something.
    let were_checks = |said: &Termination| said.steps.iter().all(|step| is_check(&operation.spec, step));
    let was_check = match &said {
        Some(said) => Options::of(&operation.spec).check && were_checks(said),
        None => Options::is_check(&operation.spec),
    };
    let ended = |status, reason: &str, message: String, recap| {
        // Of a success, the number of changes says so.
        let check = if was_check && status == Phase::Failed { ONLY_A_CHECK } else { "" };
        let start_time = operation.status.as_ref().and_then(|status| status.start_time.clone());
        let start_time = start_time.or_else(|| job.metadata.creation_timestamp.clone());
        Verdict::Ended(Outcome {
            status,
            reason: reason.into(),
            // Machines wrote a part of it.
            message: unreversed(&(message + check + &made)),
            start_time,
            end_time: Some(end(job, terminated, now)),
            recap,
        })
    };
    let failed = |reason: &str, message: String, recap| ended(Phase::Failed, reason, message, recap);
    let recap = said.as_ref().and_then(total);

    if condition(job, "Complete").is_some() {
        return match (terminated, &said) {
            (None, _) if !from_api => Verdict::Unclear,
            (_, Some(said)) if cancel && said.cancelled => failed("Cancelled", cancelled(Some(said)), recap),
            (_, Some(said)) => match hidden_failure(operation, said) {
                None => match warning(operation, said) {
                    None => ended(Phase::Succeeded, "Succeeded", success(operation, said, recap), recap),
                    Some((reason, warning)) => {
                        let message = format!("{warning} {}", success(operation, said, recap));
                        ended(Phase::Succeeded, reason, message, recap)
                    }
                },
                Some((reason, message)) => failed(reason, message, recap),
            },
            _ => failed("NoResult", "The run ended with exit code 0 but left no summary, so it is unknown what it did. The image may lack Python 3.".into(), None),
        };
    }
    if let Some(condition) = condition(job, "Failed") {
        let why = condition.reason.as_deref().unwrap_or_default();
        if why == "DeadlineExceeded" {
            let seconds = job.spec.as_ref().and_then(|spec| spec.active_deadline_seconds).unwrap_or_default();
            let (at, left) = said.as_ref().map(|said| (in_flight(said), left_hosts(said))).unwrap_or_default();
            return failed(
                "DeadlineExceeded",
                format!(
                    "The run took longer than its deadline of {seconds} s and was stopped{at}.{left} Raise activeDeadlineSeconds, or find out what hangs."
                ),
                recap,
            );
        }
        return match terminated {
            None if !from_api && pod.is_none_or(|pod| !is_disrupted(pod)) => Verdict::Unclear,
            _ if cancel && said.as_ref().is_some_and(|said| said.cancelled) => {
                failed("Cancelled", cancelled(said.as_ref()), recap)
            }
            _ => {
                let (reason, message) = failure(operation, pod, terminated, said.as_ref(), condition);
                failed(reason, message, recap)
            }
        };
    }
    let suspended = is_suspended(job);
    if suspended && cancel {
        if job_has_stopped(job, pod) {
            // Jobs and pods have separate watches: the pod's end, with its message, may arrive after that of the Job.
            if pod.is_some() && terminated.is_none() && !from_api {
                return Verdict::Unclear;
            }
            return failed("Cancelled", cancelled(said.as_ref()), recap);
        }
        return Verdict::Running { reason: "Cancelling", message: "Cancelling: no new task starts.".into() };
    }
    // A suspended Job has not failed: a user paused it and may resume it.
    if suspended {
        return Verdict::Running {
            reason: "Suspended",
            message: "The Job is suspended. The run continues when the Job is resumed.".into(),
        };
    }
    match pod.and_then(waiting) {
        Some(message) => Verdict::Running { reason: "PodWaiting", message },
        None => Verdict::Running { reason: "Running", message: "The Job is running.".into() },
    }
}

/// The result of a run whose snapshot is gone, so that its secrets can't be masked: without any text of the run. `quoted` is the result
/// with such texts.
pub(crate) fn unquoted(
    operation: &ClusterOperation,
    job: &Job,
    pod: Option<&Pod>,
    quoted: Outcome,
    now: &Time,
) -> Outcome {
    let pod = pod.map(|pod| without_words(operation, pod));
    match judge(operation, job, pod.as_ref(), true, now) {
        Verdict::Ended(outcome) if outcome.message != quoted.message => Outcome {
            message: format!(
                "{} The run's output is not quoted here: its inputs (Secret {}) are gone, so its secrets can't be masked.",
                outcome.message,
                crd::inputs_name(operation.metadata.name.as_deref().unwrap_or_default())
            ),
            ..outcome
        },
        _ => quoted,
    }
}

/// What the pod waits for, if that takes long or the user has to act.
fn waiting(pod: &Pod) -> Option<String> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    let waiting = containers.iter().find(|container| container.name == PRODUCT)?.state.as_ref()?.waiting.as_ref()?;
    let reason =
        waiting.reason.as_deref().filter(|reason| !matches!(*reason, "ContainerCreating" | "PodInitializing"))?;
    let message = waiting.message.as_deref().unwrap_or_default();
    // The kubelet's names for errors: ErrImagePull, ImagePullBackOff, InvalidImageName, CreateContainerConfigError …
    let wrong = ["Err", "BackOff", "Invalid"].iter().any(|word| reason.contains(word));
    Some(cut(
        &if wrong { format!("The pod can't start: {reason}: {message}") } else { format!("Preparing: {message}") },
        500,
    ))
}

fn end(job: &Job, terminated: Option<&ContainerStateTerminated>, now: &Time) -> Time {
    let by_job = job.status.as_ref().and_then(|status| status.completion_time.clone());
    by_job.or_else(|| terminated?.finished_at.clone()).unwrap_or_else(|| now.clone())
}

fn cancelled(said: Option<&Termination>) -> String {
    let (at, left) = said.map(|said| (in_flight(said), left_hosts(said))).unwrap_or_default();
    format!("The run was cancelled{at}.{left}")
}

fn success(operation: &ClusterOperation, said: &Termination, recap: Option<Recap>) -> String {
    let spec = &operation.spec;
    let options = Options::of(spec);
    let title = said.steps.iter().find(|step| step.role == StepRole::Main).map_or("", |step| step.title.as_str());
    match recap {
        Some(recap) => {
            let all =
                operation.status.as_ref().and_then(|status| status.inputs.as_ref()).map(|inputs| inputs.host_count);
            let all = all.filter(|_| options.limit.is_some()).unwrap_or_default().max(recap.hosts);
            // Hooks may have run on others.
            let main = said.steps.iter().find(|step| step.role == StepRole::Main && step.unreached.count > 0);
            let begun_by = |step: &TerminatedStep| Some(step.recap?.hosts.saturating_sub(step.unreached.count));
            let begun = main.map_or_else(|| said.steps.iter().filter_map(begun_by).max(), begun_by).unwrap_or_default();
            let of_all = count(all.into(), "host", "hosts");
            let hosts = if begun < all { format!("{begun} of {of_all}") } else { of_all };
            let unreached = unreached_hosts(said);
            // Earlier versions of ansible count hosts whose unreachability is ignored as skipped.
            let is_ignored = said.steps.iter().any(|step| step.unreachable.count > 0);
            let changes = changes(spec, said);
            if recap.ok + recap.rescued + recap.ignored == 0 && recap.skipped > 0 && !is_ignored {
                let changes = if options.check { format!(", {changes}") } else { String::new() };
                return format!("{title}: {hosts}, every task was skipped{changes}.{unreached}");
            }
            let tasks = count(recap.ok.into(), "task", "tasks");
            let passed = |n: u32, how: &str| match n {
                0 => String::new(),
                n => format!(", {} {how}", count(n.into(), "failure", "failures")),
            };
            let (ignored, rescued) = (passed(recap.ignored, "ignored"), passed(recap.rescued, "rescued"));
            let unreachable = ignored_hosts(said);
            format!("{title}: {hosts}, {tasks} ok, {changes}{ignored}{rescued}.{unreachable}{unreached}")
        }
        None => format!("{title}: exit code 0."),
    }
}

/// `3 would change, 1 changed by hooks`: hooks have their own arguments, so that one step may only check, and another one not. So may
/// tasks: `1 changed, 2 would change`.
fn changes(spec: &ClusterOperationSpec, said: &Termination) -> String {
    let (mut really, mut would, mut by_tasks) = (0_u32, 0_u32, 0_u32);
    for (step, recap) in said.steps.iter().filter_map(|step| Some((step, step.recap?))) {
        by_tasks = by_tasks.saturating_add(step.would_change);
        let sum = if is_check(spec, step) { &mut would } else { &mut really };
        *sum = sum.saturating_add(recap.changed.saturating_sub(step.made_changes));
    }
    if Options::of(spec).check {
        let would = would.saturating_add(by_tasks);
        let by_hooks = if really == 0 { String::new() } else { format!(", {really} changed by hooks") };
        return format!("{would} would change{by_hooks}");
    }
    let by_tasks = if by_tasks == 0 { String::new() } else { format!(", {by_tasks} would change") };
    let by_hooks = if would == 0 { String::new() } else { format!(", {would} would be changed by hooks") };
    format!("{really} changed{by_tasks}{by_hooks}")
}

fn total(said: &Termination) -> Option<Recap> {
    let mut recaps = said.steps.iter().filter_map(|step| step.recap).peekable();
    recaps.peek()?;
    Some(recaps.fold(Recap::default(), |sum, one| Recap {
        hosts: sum.hosts.max(one.hosts),
        // ansible also counts failures that are ignored.
        ok: sum.ok.saturating_add(one.ok.saturating_sub(one.ignored)),
        changed: sum.changed.saturating_add(one.changed),
        unreachable: sum.unreachable.saturating_add(one.unreachable),
        failed: sum.failed.saturating_add(one.failed),
        skipped: sum.skipped.saturating_add(one.skipped),
        rescued: sum.rescued.saturating_add(one.rescued),
        ignored: sum.ignored.saturating_add(one.ignored),
    }))
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
