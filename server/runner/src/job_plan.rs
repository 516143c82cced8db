//! What becomes of a Job. Pure: decided from the Job, its pods and the time, as the Job controller decides it.
//!
//! One pod at a time: completions and parallelism above 1 are treated as 1. Failures are not counted in a counter but in pods: a failed
//! pod is held by its finalizer until the Job has ended, so that nothing is counted twice or lost whenever this process dies.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::{Job, JobCondition};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use standalone::SUFFIX_LETTERS;

use super::pod_status::{is_terminal, phase, seconds};
use super::reports::Report;

/// Holds a pod until its end was counted.
pub(crate) const TRACKING: &str = "batch.kubernetes.io/job-tracking";
/// Wait before the first repetition; it doubles from one to the next.
const BACK_OFF: SignedDuration = SignedDuration::from_secs(10);
const LONGEST_BACK_OFF: SignedDuration = SignedDuration::from_secs(360);

/// What to do, in this order.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) create: Option<Box<Pod>>,
    pub(crate) delete: Vec<Arc<Pod>>,
    /// Merge patch for the Job's `/status`.
    pub(crate) status: Option<Value>,
    /// Pods whose end is counted: their finalizer goes.
    pub(crate) release: Vec<Arc<Pod>>,
    /// The Job itself has outlived its `ttlSecondsAfterFinished`.
    pub(crate) expire: bool,
    /// Time alone changes something then.
    pub(crate) again_in: Option<SignedDuration>,
    pub(crate) reports: Vec<Report>,
}

/// Decides about a Job. `pods` are all it owns.
pub(crate) fn plan(job: &Job, pods: &[Arc<Pod>], now: Timestamp) -> Plan {
    let held = |pod: &&Arc<Pod>| is_terminal(pod) && pod.finalizers().iter().any(|finalizer| finalizer == TRACKING);
    if job.metadata.deletion_timestamp.is_some() {
        return Plan { release: pods.iter().filter(held).cloned().collect(), ..Plan::default() };
    }
    if let Some(ended) = finished(job) {
        let ttl = job.spec.as_ref().and_then(|spec| spec.ttl_seconds_after_finished);
        let left = ttl.map(|ttl| ended + SignedDuration::from_secs(ttl.into())).map(|end| now.duration_until(end));
        return Plan {
            delete: living(pods).filter(|pod| !is_deleting(pod)).cloned().collect(),
            release: pods.iter().filter(held).cloned().collect(),
            expire: left.is_some_and(|left| !left.is_positive()),
            again_in: left.filter(SignedDuration::is_positive),
            ..Plan::default()
        };
    }
    Decision::new(job, pods, now).decide()
}

/// The work on a Job that has not ended.
struct Decision<'a> {
    job: &'a Job,
    pods: &'a [Arc<Pod>],
    now: Timestamp,
    started: Option<Timestamp>,
    conditions: Vec<JobCondition>,
    plan: Plan,
}

impl<'a> Decision<'a> {
    fn new(job: &'a Job, pods: &'a [Arc<Pod>], now: Timestamp) -> Self {
        let status = job.status.as_ref();
        let started = status.and_then(|status| status.start_time.as_ref()).map(|time| time.0);
        let conditions = status.and_then(|status| status.conditions.clone()).unwrap_or_default();
        Self { job, pods, now, started, conditions, plan: Plan::default() }
    }

    fn decide(mut self) -> Plan {
        let spec = self.job.spec.clone().unwrap_or_default();
        let suspended = spec.suspend == Some(true);
        // Those that a suspension ended are neither failed nor done.
        let counts = |pod: &&Arc<Pod>| !(suspended && is_deleting(pod));
        let succeeded = self.pods.iter().filter(counts).any(|pod| phase(pod) == "Succeeded");
        let failed = self.pods.iter().filter(counts).filter(|pod| phase(pod) == "Failed").count();
        if self.says("FailureTarget").is_some() {
            self.end_failed();
        } else if succeeded {
            self.end_complete();
        } else if failed > usize::try_from(spec.backoff_limit.unwrap_or(6)).unwrap_or(0) {
            self.target("BackoffLimitExceeded", "Job has reached the specified backoff limit");
            self.end_failed();
        } else if self.deadline().is_some_and(|left| !left.is_positive()) && !suspended {
            self.target("DeadlineExceeded", "Job was active longer than specified deadline");
            self.end_failed();
        } else if suspended {
            self.suspend();
        } else {
            self.go_on(failed, spec.parallelism != Some(0));
        }
        self.finish(succeeded)
    }

    fn suspend(&mut self) {
        self.stop_pods();
        self.started = None;
        self.plan.release =
            self.pods.iter().filter(|pod| is_terminal(pod) && is_deleting(pod) && is_tracked(pod)).cloned().collect();
        if self.set("Suspended", "True", "JobSuspended", "Job suspended") {
            self.plan.reports.push(Report::normal("Suspended", "Job suspended"));
        }
    }

    fn go_on(&mut self, failed: usize, wanted: bool) {
        self.started = self.started.or(Some(self.now));
        if self.says("Suspended").is_some() {
            self.set("Suspended", "False", "JobResumed", "Job resumed");
            self.plan.reports.push(Report::normal("Resumed", "Job resumed"));
        }
        self.plan.again_in = self.deadline();
        if !wanted || living(self.pods).next().is_some() {
            return;
        }
        let pause = self.pause(failed);
        if pause.is_positive() {
            self.plan.again_in = Some(self.plan.again_in.map_or(pause, |deadline| deadline.min(pause)));
            return;
        }
        let pod = pod_of(self.job, failed);
        self.plan.reports.push(Report::normal("SuccessfulCreate", format!("Created pod: {}", pod.name_any())));
        self.plan.create = Some(Box::new(pod));
    }

    fn end_complete(&mut self) {
        let message = "Reached expected number of succeeded pods";
        self.set("SuccessCriteriaMet", "True", "CompletionsReached", message);
        self.set("Complete", "True", "CompletionsReached", message);
        self.plan.reports.push(Report::normal("Completed", "Job completed"));
    }

    fn target(&mut self, reason: &str, message: &str) {
        self.set("FailureTarget", "True", reason, message);
    }

    /// Failed only once nothing of it runs any more; until then it is only meant to fail.
    fn end_failed(&mut self) {
        self.stop_pods();
        if living(self.pods).next().is_some() {
            return;
        }
        let Some(target) = self.says("FailureTarget") else { return };
        let (reason, message) = (target.reason.clone().unwrap_or_default(), target.message.clone().unwrap_or_default());
        self.set("Failed", "True", &reason, &message);
        let known = if reason == "DeadlineExceeded" { "DeadlineExceeded" } else { "BackoffLimitExceeded" };
        self.plan.reports.push(Report::warning(known, message));
    }

    fn stop_pods(&mut self) {
        self.plan.delete = living(self.pods).filter(|pod| !is_deleting(pod)).cloned().collect();
        let notes = self
            .plan
            .delete
            .iter()
            .map(|pod| Report::normal("SuccessfulDelete", format!("Deleted pod: {}", pod.name_any())));
        self.plan.reports.extend(notes);
    }

    /// What is left of `activeDeadlineSeconds`.
    fn deadline(&self) -> Option<SignedDuration> {
        let seconds = self.job.spec.as_ref()?.active_deadline_seconds?;
        // Beyond the calendar's end there is no deadline.
        let end = self.started?.checked_add(SignedDuration::from_secs(seconds)).ok()?;
        Some(self.now.duration_until(end))
    }

    /// What is left of the wait after the last failure.
    fn pause(&self, failed: usize) -> SignedDuration {
        let ended = self.pods.iter().filter(|pod| phase(pod) == "Failed").filter_map(|pod| ended_at(pod)).max();
        let (Some(ended), Some(doublings)) = (ended, failed.checked_sub(1)) else { return SignedDuration::ZERO };
        let wait = BACK_OFF.checked_mul(1 << doublings.min(10)).unwrap_or(LONGEST_BACK_OFF).min(LONGEST_BACK_OFF);
        self.now.duration_until(ended + wait)
    }

    fn says(&self, kind: &str) -> Option<&JobCondition> {
        self.conditions.iter().find(|condition| condition.type_ == kind && condition.status == "True")
    }

    /// Whether it is news.
    fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) -> bool {
        if self.conditions.iter().any(|old| old.type_ == kind && old.status == status) {
            return false;
        }
        let now = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(self.now));
        self.conditions.retain(|old| old.type_ != kind);
        self.conditions.push(JobCondition {
            type_: kind.into(),
            status: status.into(),
            reason: Some(reason.into()),
            message: Some(message.into()),
            last_probe_time: now.clone(),
            last_transition_time: now,
        });
        true
    }

    fn finish(mut self, succeeded: bool) -> Plan {
        let complete = self.says("Complete").is_some();
        let ended = complete || self.says("Failed").is_some();
        let stopped: Vec<_> = self.plan.delete.iter().map(|pod| pod.uid()).collect();
        let stopping = |pod: &Arc<Pod>| is_deleting(pod) || stopped.contains(&pod.uid());
        let suspended = self.says("Suspended").is_some();
        let active = living(self.pods).filter(|pod| !stopping(pod)).count() + usize::from(self.plan.create.is_some());
        let ready = living(self.pods).filter(|pod| !stopping(pod) && phase(pod) == "Running").count();
        let failed = self.pods.iter().filter(|pod| phase(pod) == "Failed" && !(suspended && is_deleting(pod))).count();
        let status = json!({
            "active": if ended { Value::Null } else { active.into() },
            "ready": ready,
            "terminating": living(self.pods).filter(|pod| stopping(pod)).count(),
            "succeeded": if succeeded { json!(1) } else { Value::Null },
            "failed": if failed > 0 { json!(failed) } else { Value::Null },
            "startTime": self.started.map(seconds),
            "completionTime": complete.then(|| seconds(self.now)),
            "conditions": if self.conditions.is_empty() { Value::Null } else { json!(self.conditions) },
            "uncountedTerminatedPods": {},
        });
        if differs(self.job, &status) {
            self.plan.status = Some(json!({"metadata": {"uid": self.job.metadata.uid}, "status": status}));
        }
        self.plan
    }
}

/// Whether writing `status` over the Job's would change anything.
fn differs(job: &Job, status: &Value) -> bool {
    let old = serde_json::to_value(&job.status).unwrap_or_default();
    let Value::Object(fields) = status else { return true };
    fields.iter().any(|(name, new)| {
        let old = old.get(name).unwrap_or(&Value::Null);
        // Compared as written, it would differ from the API's own form of an empty list.
        let matters = name != "uncountedTerminatedPods" || old.is_null();
        matters && old != new
    })
}

/// When it ended, if it did.
fn finished(job: &Job) -> Option<Timestamp> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let end = conditions.iter().find(|c| matches!(c.type_.as_str(), "Complete" | "Failed") && c.status == "True")?;
    Some(end.last_transition_time.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0))
}

fn living(pods: &[Arc<Pod>]) -> impl Iterator<Item = &Arc<Pod>> {
    pods.iter().filter(|pod| !is_terminal(pod))
}

fn is_deleting(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Its end is not counted yet.
pub(crate) fn is_tracked(pod: &Pod) -> bool {
    pod.finalizers().iter().any(|finalizer| finalizer == TRACKING)
}

fn ended_at(pod: &Pod) -> Option<Timestamp> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    let ends =
        containers.iter().filter_map(|container| container.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref());
    ends.map(|time| time.0).max()
}

/// The pod of the n-th attempt. Its name follows from the Job, so that an attempt seen too late isn't made twice.
fn pod_of(job: &Job, attempt: usize) -> Pod {
    let template = job.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
    let mut metadata = template.metadata.unwrap_or_default();
    let name = job.name_any();
    metadata.name =
        Some(format!("{}-{}", &name[..name.len().min(57)], suffix(&job.uid().unwrap_or_default(), attempt)));
    metadata.generate_name = Some(format!("{name}-"));
    metadata.namespace = job.namespace();
    metadata.finalizers = Some(vec![TRACKING.into()]);
    let owner = k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference {
        api_version: "batch/v1".into(),
        kind: "Job".into(),
        name,
        uid: job.uid().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    };
    metadata.owner_references = Some(vec![owner]);
    Pod { metadata, spec: template.spec, status: None }
}

/// Five characters as the API itself chooses them.
fn suffix(uid: &str, attempt: usize) -> String {
    let digest = Sha256::digest(format!("{uid}/{attempt}"));
    digest.iter().take(5).map(|byte| char::from(SUFFIX_LETTERS[usize::from(*byte) % SUFFIX_LETTERS.len()])).collect()
}

#[cfg(test)]
#[path = "job_plan_tests.rs"]
mod tests;
