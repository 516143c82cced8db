//! The status of an operation at each stage, as a pure function of the old status and of what is new.

use crd::{
    ClusterOperation, ClusterOperationStatus, Condition, Engine, Fact, JobRef, Phase, ResolvedInputs, Time, condition,
    upsert,
};
use operation::{Outcome, title};
use sha2::{Digest, Sha256};

/// The status of an operation that waits. None if the old status says the same.
pub(crate) fn queued(
    operation: &ClusterOperation,
    reason: &str,
    message: &str,
    now: &Time,
) -> Option<ClusterOperationStatus> {
    let old = operation.status.clone().unwrap_or_default();
    if old.reason.as_deref() == Some(reason) && old.message.as_deref() == Some(message) {
        return None;
    }
    let mut status = identified(operation, old);
    say(&mut status, Phase::Pending, reason, message);
    put(operation, &mut status.conditions, Fact::new(condition::QUEUED, true, reason, message), now);
    Some(status)
}

/// What is known once the Job exists.
pub(crate) struct Start {
    pub(crate) job: JobRef,
    pub(crate) inputs: Option<ResolvedInputs>,
    pub(crate) engine: Option<Engine>,
}

/// The status of an operation whose Job exists. None if the old status says the same.
pub(crate) fn running(
    operation: &ClusterOperation,
    start: Start,
    reason: &str,
    message: &str,
    now: &Time,
) -> Option<ClusterOperationStatus> {
    let old = operation.status.clone().unwrap_or_default();
    let told = old.reason.as_deref() == Some(reason) && old.message.as_deref() == Some(message);
    if told && old.status == Phase::Running && old.job_ref.as_ref() == Some(&start.job) {
        return None;
    }
    let mut status = identified(operation, old);
    say(&mut status, Phase::Running, reason, message);
    status.start_time.get_or_insert_with(|| now.clone());
    status.job_ref = Some(start.job);
    status.inputs = start.inputs.or(status.inputs);
    status.engine = start.engine.or(status.engine);
    if status.conditions.iter().any(|c| c.type_ == condition::QUEUED) {
        put(
            operation,
            &mut status.conditions,
            Fact::new(condition::QUEUED, false, "Started", "The operation has its turn."),
            now,
        );
    }
    put(operation, &mut status.conditions, Fact::new(condition::RUNNING, true, reason, message), now);
    Some(status)
}

/// The final status.
pub(crate) fn finished(operation: &ClusterOperation, outcome: &Outcome, now: &Time) -> ClusterOperationStatus {
    let mut status = identified(operation, operation.status.clone().unwrap_or_default());
    say(&mut status, outcome.status, &outcome.reason, &outcome.message);
    status.start_time = outcome.start_time.clone().or(status.start_time);
    status.end_time = outcome.end_time.clone();
    status.recap = outcome.recap;
    for kind in [condition::QUEUED, condition::RUNNING] {
        if crd::is_true(&status.conditions, kind) {
            put(
                operation,
                &mut status.conditions,
                Fact::new(kind, false, &outcome.reason, "The operation has ended."),
                now,
            );
        }
    }
    let kind = if outcome.status == Phase::Succeeded { condition::COMPLETE } else { condition::FAILED };
    put(operation, &mut status.conditions, Fact::new(kind, true, &outcome.reason, &outcome.message), now);
    status
}

/// The status of an operation that carries `hasCompleted=done` but no result: it is kept as a record and never run.
pub(crate) fn restored(operation: &ClusterOperation) -> Option<ClusterOperationStatus> {
    let old = operation.status.clone().unwrap_or_default();
    if old.reason.as_deref() == Some("Restored") {
        return None;
    }
    let mut status = identified(operation, old);
    let message = "The label hasCompleted=done says that this operation ended elsewhere or before a restore. Its result is not known. It is kept as a record and is not run.";
    say(&mut status, Phase::Pending, "Restored", message);
    Some(status)
}

/// Fills in what identifies the operation, which is the same at every stage.
fn identified(operation: &ClusterOperation, mut status: ClusterOperationStatus) -> ClusterOperationStatus {
    let by = operation.metadata.annotations.as_ref().and_then(|all| all.get(crd::ANNOTATION_SUBMITTED_BY));
    status.action = Some(title(&operation.spec));
    status.digest = Some(digest(operation));
    status.has_modified = Some(false);
    status.submitted_by = by.cloned().or(status.submitted_by);
    status.submitted_at = operation.metadata.creation_timestamp.clone();
    status
}

fn say(status: &mut ClusterOperationStatus, phase: Phase, reason: &str, message: &str) {
    status.status = phase;
    status.reason = Some(reason.into());
    status.message = Some(message.into());
}

fn put(operation: &ClusterOperation, conditions: &mut Vec<Condition>, fact: Fact, now: &Time) {
    upsert(conditions, fact, now, operation.metadata.generation);
}

/// SHA-256 (hex) of the whole spec except `cancel`, as JSON. JSON separates the fields, so two different specs never give one text.
pub(crate) fn digest(operation: &ClusterOperation) -> String {
    let spec = crd::ClusterOperationSpec { cancel: None, ..operation.spec.clone() };
    let json = serde_json::to_vec(&spec).expect("a spec is plain data");
    Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
