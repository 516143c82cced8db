//! The status of an operation at each stage, as a pure function of the old status and of what is new.

use crd::{
    ClusterOperation, ClusterOperationStatus, Condition, Engine, Fact, JobRef, Phase, RESTORED, ResolvedInputs,
    Standing, Time, UNSEEN, condition, set_standing, upsert,
};
use masking::Masker;
use operation::{Outcome, Signer, spec_digest, title};

use crate::status::sentence::cut;

/// The status of an operation that waits. None if the old status says the same.
pub(crate) fn queued(
    operation: &ClusterOperation,
    reason: &str,
    message: &str,
    signer: &Signer,
    now: &Time,
) -> Option<ClusterOperationStatus> {
    let old = operation.status.clone().unwrap_or_default();
    if old.reason.as_deref() == Some(reason) && old.message.as_deref() == Some(message) && is_observed(operation) {
        return None;
    }
    let mut status = identified(operation, old, signer);
    say(&mut status, Phase::Pending, reason, message);
    put(operation, &mut status.conditions, Fact::new(condition::QUEUED, true, reason, message), now);
    observe(operation, &mut status, now);
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
    signer: &Signer,
    now: &Time,
) -> Option<ClusterOperationStatus> {
    let old = operation.status.clone().unwrap_or_default();
    let told = old.reason.as_deref() == Some(reason) && old.message.as_deref() == Some(message);
    if told && old.status == Phase::Running && old.job_ref.as_ref() == Some(&start.job) && is_observed(operation) {
        return None;
    }
    let mut status = identified(operation, old, signer);
    // Another client may have written a final status.
    (status.end_time, status.recap, status.signature) = (None, None, None);
    status.conditions.retain(|c| c.type_ != condition::COMPLETE && c.type_ != condition::FAILED);
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
    observe(operation, &mut status, now);
    Some(status)
}

/// The final status.
pub(crate) fn final_status(
    operation: &ClusterOperation,
    outcome: &Outcome,
    signer: &Signer,
    now: &Time,
) -> ClusterOperationStatus {
    let mut status = identified(operation, operation.status.clone().unwrap_or_default(), signer);
    say(&mut status, outcome.status, &outcome.reason, &outcome.message);
    status.start_time = outcome.start_time.clone().or(status.start_time);
    status.end_time = outcome.end_time.clone();
    status.recap = outcome.recap;
    status.signature = Some(outcome.signature(operation, signer));
    if outcome.reason == RESTORED {
        status.submitted_by = signer.submitter(operation, true).or(status.submitted_by);
    }
    observe(operation, &mut status, now);
    status
}

/// The status of an operation that was over from the start, and whose result nothing proves: it is kept as a record and never run.
pub(crate) fn restored(operation: &ClusterOperation, signer: &Signer, now: &Time) -> Option<ClusterOperationStatus> {
    let old = operation.status.clone().unwrap_or_default();
    let is_said = old.status == Phase::Pending && old.reason.as_deref() == Some(RESTORED);
    if is_said {
        // Its message may come from `kubeonkube restore`.
        return (!is_observed(operation)).then(|| observed(operation, now));
    }
    let says = match Outcome::unproven(operation) {
        Some(claim) => {
            let when = claim.end_time.map(|end| format!(" at {}", end.0)).unwrap_or_default();
            let claim = format!("{}{when}: {}", claim.status, Masker::default().value(claim.message));
            format!("It says, without the controller's signature: {}", cut(&claim, 500))
        }
        None => "Its result is not known.".into(),
    };
    let message = format!(
        "Restored record: the label hasCompleted=done or a final status says that this operation ended elsewhere or before a restore. It is not run. {says}"
    );
    let mut status = ClusterOperationStatus {
        submitted_by: signer.submitter(operation, true),
        conditions: old.conditions,
        ..ClusterOperationStatus::default()
    };
    status = identified(operation, status, signer);
    status.conditions.retain(|c| c.type_ == condition::RESULT_IGNORED);
    say(&mut status, Phase::Pending, RESTORED, &message);
    observe(operation, &mut status, now);
    Some(status)
}

/// Fills in what identifies the operation, which is the same at every stage.
fn identified(
    operation: &ClusterOperation,
    mut status: ClusterOperationStatus,
    signer: &Signer,
) -> ClusterOperationStatus {
    // Its time, 1970, would stay.
    status.conditions.retain(|c| c.reason != UNSEEN);
    status.action = Some(title(&operation.spec));
    status.digest = Some(spec_digest(&operation.spec));
    status.has_modified = Some(false);
    status.submitted_by = signer.submitter(operation, false).or(status.submitted_by);
    status.submitted_at = operation.metadata.creation_timestamp.clone();
    status.accepted_version = status.accepted_version.or_else(|| operation.metadata.resource_version.clone());
    status
}

fn say(status: &mut ClusterOperationStatus, phase: Phase, reason: &str, message: &str) {
    status.status = phase;
    status.reason = Some(reason.into());
    status.message = Some(message.into());
}

/// Sets what other tools read: the observed generation, and the conditions Ready, Reconciling and Stalled (ADR 26); at the end also Complete
/// and Failed. A record whose result nothing proves is stalled: it is never run, and nobody knows that it succeeded.
fn observe(operation: &ClusterOperation, status: &mut ClusterOperationStatus, now: &Time) {
    let reason = status.reason.clone().filter(|reason| !reason.is_empty()).unwrap_or_else(|| "Pending".into());
    let standing = match status.status {
        Phase::Succeeded => Standing::Ready,
        Phase::Failed => Standing::Stalled,
        Phase::Pending if reason == RESTORED => Standing::Stalled,
        Phase::Pending | Phase::Running => Standing::Reconciling,
    };
    let message = status.message.clone().unwrap_or_default();
    status.observed_generation = operation.metadata.generation;
    if status.status.is_final() {
        conclude(operation, status, &reason, &message, now);
    }
    set_standing(&mut status.conditions, standing, &reason, &message, now, operation.metadata.generation);
}

/// Sets the conditions of an operation that has ended.
fn conclude(
    operation: &ClusterOperation,
    status: &mut ClusterOperationStatus,
    reason: &str,
    message: &str,
    now: &Time,
) {
    for kind in [condition::QUEUED, condition::RUNNING] {
        if crd::is_true(&status.conditions, kind) {
            let fact = Fact::new(kind, false, reason, "The operation has ended.");
            put(operation, &mut status.conditions, fact, now);
        }
    }
    let (kind, other) = match status.status {
        Phase::Succeeded => (condition::COMPLETE, condition::FAILED),
        _ => (condition::FAILED, condition::COMPLETE),
    };
    status.conditions.retain(|c| c.type_ != other);
    put(operation, &mut status.conditions, Fact::new(kind, true, reason, message), now);
}

/// The status with what other tools read. The rest stays as it is.
pub(crate) fn observed(operation: &ClusterOperation, now: &Time) -> ClusterOperationStatus {
    let mut status = operation.status.clone().unwrap_or_default();
    observe(operation, &mut status, now);
    status
}

/// Whether the status describes the present spec, and the conditions that other tools read agree with it. Earlier versions don't write
/// them, and leave those that they find as they were.
pub(crate) fn is_observed(operation: &ClusterOperation) -> bool {
    // A time is only used for conditions that change.
    let any_time = Time(jiff::Timestamp::UNIX_EPOCH);
    operation.status.as_ref().is_some_and(|status| observed(operation, &any_time) == *status)
}

fn put(operation: &ClusterOperation, conditions: &mut Vec<Condition>, fact: Fact, now: &Time) {
    upsert(conditions, fact, now, operation.metadata.generation);
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
