//! How did a run end? From the Job, its pod and what the entrypoint left as termination message; never from text matching.

use api::run::{StepRole, Termination};
use crd::{ClusterOperation, PRODUCT, Phase, Recap, Time};
use k8s_openapi::api::batch::v1::{Job, JobCondition, JobStatus};
use k8s_openapi::api::core::v1::{ContainerStateTerminated, Pod};
use operation::{Outcome, terminated, termination};

use crate::cause::{failure, flaw, in_flight, is_disrupted};
use crate::sentence::cut;
use crate::termination::without_words;

/// What can be said about a run now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It goes on; reason and message for the status.
    Running { reason: &'static str, message: String },
    /// The Job has ended, but the pod that says how isn't seen yet.
    Unclear,
    /// It is over.
    Ended(Outcome),
}

/// Judges a run. `looked` says that the pod was asked for at the API itself: then what is missing stays missing.
pub(crate) fn judge(operation: &ClusterOperation, job: &Job, pod: Option<&Pod>, looked: bool, now: &Time) -> Verdict {
    let cancel = operation.spec.cancel == Some(true);
    let terminated = pod.and_then(terminated);
    let ended = |status, reason: &str, message: String, recap| {
        let start_time = operation.status.as_ref().and_then(|status| status.start_time.clone());
        let start_time = start_time.or_else(|| job.metadata.creation_timestamp.clone());
        Verdict::Ended(Outcome {
            status,
            reason: reason.into(),
            message,
            start_time,
            end_time: Some(end(job, terminated, now)),
            recap,
        })
    };
    let failed = |reason: &str, message: String, recap| ended(Phase::Failed, reason, message, recap);
    let said = terminated.and_then(termination);
    let recap = said.as_ref().and_then(total);

    if holds(job, "Complete").is_some() {
        return match (terminated, &said) {
            (None, _) if !looked => Verdict::Unclear,
            (_, Some(said)) if cancel && said.cancelled => failed("Cancelled", cancelled(Some(said)), recap),
            (_, Some(said)) => match flaw(operation, said) {
                None => ended(Phase::Succeeded, "Succeeded", success(said, recap), recap),
                Some((reason, message)) => failed(reason, message, recap),
            },
            _ => failed("NoResult", "The run ended with exit code 0 but left no summary, so nobody knows what it did. Its image may lack Python 3.".into(), None),
        };
    }
    if let Some(condition) = holds(job, "Failed") {
        let why = condition.reason.as_deref().unwrap_or_default();
        if why == "DeadlineExceeded" {
            let seconds = job.spec.as_ref().and_then(|spec| spec.active_deadline_seconds).unwrap_or_default();
            let at = said.as_ref().map(in_flight).unwrap_or_default();
            return failed(
                "DeadlineExceeded",
                format!(
                    "It ran longer than its deadline of {seconds} s and was stopped{at}. Raise activeDeadlineSeconds, or find out what hangs."
                ),
                recap,
            );
        }
        return match terminated {
            None if !looked && pod.is_none_or(|pod| !is_disrupted(pod)) => Verdict::Unclear,
            _ if cancel && said.as_ref().is_some_and(|said| said.cancelled) => {
                failed("Cancelled", cancelled(said.as_ref()), recap)
            }
            _ => {
                let (reason, message) = failure(pod, terminated, said.as_ref(), condition);
                failed(reason, message, recap)
            }
        };
    }
    let suspended = is_suspended(job);
    if suspended && cancel {
        if has_stopped(job, pod) {
            return failed("Cancelled", cancelled(said.as_ref()), recap);
        }
        return Verdict::Running { reason: "Cancelling", message: "It is being cancelled: no new task starts.".into() };
    }
    // A suspended Job is not a failed one: someone holds it back, and may let it go on.
    if suspended {
        return Verdict::Running {
            reason: "Suspended",
            message: "Its Job is suspended; it goes on when the Job is resumed.".into(),
        };
    }
    match pod.and_then(waiting) {
        Some(message) => Verdict::Running { reason: "PodWaiting", message },
        None => Verdict::Running { reason: "Running", message: "Its Job runs.".into() },
    }
}

/// The end of a run of which nobody knows any more what is secret: `quoted` is what would be said if it were known.
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
                "{} Its inputs (Secret {}) are gone, and with them the knowledge of what is secret, so nothing of what the run said is repeated here.",
                outcome.message,
                crd::inputs_name(operation.metadata.name.as_deref().unwrap_or_default())
            ),
            ..outcome
        },
        _ => quoted,
    }
}

/// The Job has ended.
pub(crate) fn is_finished(job: &Job) -> bool {
    holds(job, "Complete").or_else(|| holds(job, "Failed")).is_some()
}

/// Nothing of it runs: it has ended, or it is suspended and its pod is gone.
pub(crate) fn has_stopped(job: &Job, pod: Option<&Pod>) -> bool {
    let pods = |status: &JobStatus| status.active.unwrap_or(0) + status.terminating.unwrap_or(0);
    let gone = || holds(job, "Suspended").is_some() && job.status.as_ref().map_or(0, pods) == 0;
    is_finished(job) || is_suspended(job) && (gone() || pod.and_then(terminated).is_some())
}

fn is_suspended(job: &Job) -> bool {
    job.spec.as_ref().and_then(|spec| spec.suspend) == Some(true)
}

fn holds<'a>(job: &'a Job, kind: &str) -> Option<&'a JobCondition> {
    job.status.as_ref()?.conditions.as_ref()?.iter().find(|c| c.type_ == kind && c.status == "True")
}

/// What the pod waits for, where that is worth a sentence: somebody has to do something about it, or it takes long.
fn waiting(pod: &Pod) -> Option<String> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    let waiting = containers.iter().find(|container| container.name == PRODUCT)?.state.as_ref()?.waiting.as_ref()?;
    let reason =
        waiting.reason.as_deref().filter(|reason| !matches!(*reason, "ContainerCreating" | "PodInitializing"))?;
    let message = waiting.message.as_deref().unwrap_or_default();
    // As the kubelet names what goes wrong: ErrImagePull, ImagePullBackOff, InvalidImageName, CreateContainerConfigError …
    let wrong = ["Err", "BackOff", "Invalid"].iter().any(|word| reason.contains(word));
    Some(cut(
        &if wrong { format!("Its pod can't start: {reason}: {message}") } else { format!("Preparing: {message}") },
        500,
    ))
}

fn end(job: &Job, terminated: Option<&ContainerStateTerminated>, now: &Time) -> Time {
    let by_job = job.status.as_ref().and_then(|status| status.completion_time.clone());
    by_job.or_else(|| terminated?.finished_at.clone()).unwrap_or_else(|| now.clone())
}

fn cancelled(said: Option<&Termination>) -> String {
    match said.map(in_flight).filter(|at| !at.is_empty()) {
        Some(at) => format!("It was cancelled{at}."),
        None => "It was cancelled.".into(),
    }
}

fn success(said: &Termination, recap: Option<Recap>) -> String {
    let title = said.steps.iter().find(|step| step.role == StepRole::Main).map_or("", |step| step.title.as_str());
    match recap {
        Some(recap) => {
            let hosts = if recap.hosts == 1 { "host" } else { "hosts" };
            format!(
                "{title}: {} {hosts}, {} tasks ok, {} of them changed something.",
                recap.hosts, recap.ok, recap.changed
            )
        }
        None => format!("{title}: exit code 0."),
    }
}

fn total(said: &Termination) -> Option<Recap> {
    let mut recaps = said.steps.iter().filter_map(|step| step.recap).peekable();
    recaps.peek()?;
    Some(recaps.fold(Recap::default(), |sum, one| Recap {
        hosts: sum.hosts.max(one.hosts),
        ok: sum.ok.saturating_add(one.totals.ok),
        changed: sum.changed.saturating_add(one.totals.changed),
        unreachable: sum.unreachable.saturating_add(one.totals.unreachable),
        failed: sum.failed.saturating_add(one.totals.failed),
        skipped: sum.skipped.saturating_add(one.totals.skipped),
        rescued: sum.rescued.saturating_add(one.totals.rescued),
        ignored: sum.ignored.saturating_add(one.totals.ignored),
    }))
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
