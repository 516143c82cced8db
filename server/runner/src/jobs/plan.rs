//! Decides what to do next for one Job. Pure: depends only on the Job, its pods and the time.
//!
//! A Job has one pod at a time: completions and parallelism above 1 are treated as 1. There is no counter of failures. Instead, a
//! finalizer keeps each failed pod until the Job has ended, and the pods are counted. So a crash at any moment neither loses a failure
//! nor counts it twice.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::{Job, JobCondition};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use standalone::SUFFIX_LETTERS;

use crate::events::Report;
use crate::pod::{TRACKING, has_ended, is_deleting, is_tracked, phase};

/// Wait after the first failure. It doubles with each further one.
const BACK_OFF: SignedDuration = SignedDuration::from_secs(10);
const LONGEST_BACK_OFF: SignedDuration = SignedDuration::from_secs(360);

/// What to do next, in the order of the fields.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) create: Option<Box<Pod>>,
    pub(super) delete: Vec<Arc<Pod>>,
    /// Merge patch for the Job's `/status`.
    pub(super) status: Option<Value>,
    /// Pods whose end is in the Job's status. Their finalizer is removed.
    pub(super) release: Vec<Arc<Pod>>,
    /// Delete the Job: its `ttlSecondsAfterFinished` is over.
    pub(super) expire: bool,
    /// When to plan again, even if nothing changes.
    pub(super) again_in: Option<SignedDuration>,
    pub(super) reports: Vec<Report>,
}

/// Plans the next actions for `job`. `pods` are all pods that it owns.
pub(super) fn plan(job: &Job, pods: &[Arc<Pod>], now: Timestamp) -> Plan {
    let held = |pod: &&Arc<Pod>| has_ended(pod) && is_tracked(pod);
    if job.metadata.deletion_timestamp.is_some() {
        return Plan { release: pods.iter().filter(held).cloned().collect(), ..Plan::default() };
    }
    if let Some(ended) = ended_at(job) {
        let ttl = job.spec.as_ref().and_then(|spec| spec.ttl_seconds_after_finished);
        // A completion time in the year 9999, which a client may have written, has no end: the Job stays.
        let end = ttl.and_then(|ttl| ended.checked_add(SignedDuration::from_secs(ttl.into())).ok());
        let left = end.map(|end| now.duration_until(end));
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

/// The state while planning for a Job that has not ended.
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
        // A pod that was stopped by a suspension counts neither as failed nor as succeeded.
        let counts = |pod: &&Arc<Pod>| !(suspended && is_deleting(pod));
        let succeeded = self.pods.iter().filter(counts).any(|pod| phase(pod) == "Succeeded");
        let failed = self.pods.iter().filter(counts).filter(|pod| phase(pod) == "Failed").count();
        if self.holds("FailureTarget").is_some() {
            self.end_failed();
        } else if succeeded {
            self.end_complete();
        } else if failed > usize::try_from(spec.backoff_limit.unwrap_or(6)).unwrap_or(0) {
            self.set("FailureTarget", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
            self.end_failed();
        } else if self.deadline().is_some_and(|left| !left.is_positive()) && !suspended {
            self.set("FailureTarget", "True", "DeadlineExceeded", "Job was active longer than specified deadline");
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
            self.pods.iter().filter(|pod| has_ended(pod) && is_deleting(pod) && is_tracked(pod)).cloned().collect();
        if self.set("Suspended", "True", "JobSuspended", "Job suspended") {
            self.plan.reports.push(Report::normal("Suspended", "Job suspended"));
        }
    }

    fn go_on(&mut self, failed: usize, wanted: bool) {
        self.started = self.started.or(Some(self.now));
        if self.holds("Suspended").is_some() {
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

    /// The Job fails once none of its pods runs any more. Until then it has only the condition FailureTarget.
    fn end_failed(&mut self) {
        self.stop_pods();
        if living(self.pods).next().is_some() {
            return;
        }
        let Some(target) = self.holds("FailureTarget") else { return };
        let (reason, message) = (target.reason.clone().unwrap_or_default(), target.message.clone().unwrap_or_default());
        self.set("Failed", "True", &reason, &message);
        let event = if reason == "DeadlineExceeded" { "DeadlineExceeded" } else { "BackoffLimitExceeded" };
        self.plan.reports.push(Report::warning(event, message));
    }

    fn stop_pods(&mut self) {
        self.plan.delete = living(self.pods).filter(|pod| !is_deleting(pod)).cloned().collect();
        for pod in &self.plan.delete {
            self.plan.reports.push(Report::normal("SuccessfulDelete", format!("Deleted pod: {}", pod.name_any())));
        }
    }

    /// What is left of `activeDeadlineSeconds`.
    fn deadline(&self) -> Option<SignedDuration> {
        let seconds = self.job.spec.as_ref()?.active_deadline_seconds?;
        // A deadline after the last representable time never comes.
        let end = self.started?.checked_add(SignedDuration::from_secs(seconds)).ok()?;
        Some(self.now.duration_until(end))
    }

    /// What is left of the wait after the last failure.
    fn pause(&self, failed: usize) -> SignedDuration {
        let ended =
            self.pods.iter().filter(|pod| phase(pod) == "Failed").filter_map(|pod| container_ended_at(pod)).max();
        let (Some(ended), Some(doublings)) = (ended, failed.checked_sub(1)) else { return SignedDuration::ZERO };
        let wait = BACK_OFF.checked_mul(1 << doublings.min(10)).unwrap_or(LONGEST_BACK_OFF).min(LONGEST_BACK_OFF);
        self.now.duration_until(ended + wait)
    }

    fn holds(&self, kind: &str) -> Option<&JobCondition> {
        self.conditions.iter().find(|condition| condition.type_ == kind && condition.status == "True")
    }

    /// Sets a condition. Returns whether its status has changed.
    fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) -> bool {
        if self.conditions.iter().any(|old| old.type_ == kind && old.status == status) {
            return false;
        }
        let now = Some(Time(self.now));
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
        let complete = self.holds("Complete").is_some();
        let ended = complete || self.holds("Failed").is_some();
        let stopped: Vec<_> = self.plan.delete.iter().map(|pod| pod.uid()).collect();
        let stopping = |pod: &Arc<Pod>| is_deleting(pod) || stopped.contains(&pod.uid());
        let suspended = self.holds("Suspended").is_some();
        let active = living(self.pods).filter(|pod| !stopping(pod)).count() + usize::from(self.plan.create.is_some());
        let ready = living(self.pods).filter(|pod| !stopping(pod) && phase(pod) == "Running").count();
        let failed = self.pods.iter().filter(|pod| phase(pod) == "Failed" && !(suspended && is_deleting(pod))).count();
        let status = json!({
            "active": if ended { Value::Null } else { active.into() },
            "ready": ready,
            "terminating": living(self.pods).filter(|pod| stopping(pod)).count(),
            "succeeded": if succeeded { json!(1) } else { Value::Null },
            "failed": if failed > 0 { json!(failed) } else { Value::Null },
            "startTime": self.started.map(Time),
            "completionTime": complete.then_some(Time(self.now)),
            "conditions": if self.conditions.is_empty() { Value::Null } else { json!(self.conditions) },
            "uncountedTerminatedPods": {},
        });
        if differs(self.job, &status) {
            self.plan.status = Some(json!({"metadata": {"uid": self.job.metadata.uid}, "status": status}));
        }
        self.plan
    }
}

/// Whether writing `status` would change the Job.
fn differs(job: &Job, status: &Value) -> bool {
    let old = serde_json::to_value(&job.status).unwrap_or_default();
    let Value::Object(fields) = status else { return true };
    fields.iter().any(|(name, new)| {
        let old = old.get(name).unwrap_or(&Value::Null);
        // The API stores an empty list in another form, so only its absence counts as a difference.
        let matters = name != "uncountedTerminatedPods" || old.is_null();
        matters && old != new
    })
}

/// When the Job ended. `None` if it has not.
fn ended_at(job: &Job) -> Option<Timestamp> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let end = conditions.iter().find(|c| matches!(c.type_.as_str(), "Complete" | "Failed") && c.status == "True")?;
    Some(end.last_transition_time.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0))
}

fn living(pods: &[Arc<Pod>]) -> impl Iterator<Item = &Arc<Pod>> {
    pods.iter().filter(|pod| !has_ended(pod))
}

fn container_ended_at(pod: &Pod) -> Option<Timestamp> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    let ends =
        containers.iter().filter_map(|container| container.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref());
    ends.map(|time| time.0).max()
}

/// The pod of the n-th attempt. Its name depends only on the Job and the attempt, so creating it twice is refused by the API.
fn pod_of(job: &Job, attempt: usize) -> Pod {
    let template = job.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
    let mut metadata = template.metadata.unwrap_or_default();
    let name = job.name_any();
    metadata.name =
        Some(format!("{}-{}", &name[..name.len().min(57)], suffix(&job.uid().unwrap_or_default(), attempt)));
    metadata.generate_name = Some(format!("{name}-"));
    metadata.namespace = job.namespace();
    metadata.finalizers = Some(vec![TRACKING.into()]);
    let owner = job.controller_owner_ref(&()).map(|owner| OwnerReference { block_owner_deletion: Some(true), ..owner });
    metadata.owner_references = owner.map(|owner| vec![owner]);
    Pod { metadata, spec: template.spec, status: None }
}

/// Five characters, like those of a name that the API generates.
fn suffix(uid: &str, attempt: usize) -> String {
    let digest = Sha256::digest(format!("{uid}/{attempt}"));
    digest.iter().take(5).map(|byte| char::from(SUFFIX_LETTERS[usize::from(*byte) % SUFFIX_LETTERS.len()])).collect()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
