//! How an operation ended: the rules that the console shares, and the result of an operation that never ran.

use crd::{ClusterOperation, Phase, Time};
use masking::Masker;
pub(crate) use operation::{Outcome, Proof, has_ended, has_ended_label, is_marked};

use crate::status::refusal::Refusal;

/// The result of an operation that never ran.
pub(crate) fn refused(refusal: &Refusal, now: &Time) -> Outcome {
    Outcome {
        status: Phase::Failed,
        reason: refusal.reason().into(),
        // A refusal may quote what a user wrote.
        message: Masker::default().value(refusal.final_message()),
        start_time: None,
        end_time: Some(now.clone()),
        recap: None,
    }
}

/// Whether the status of `operation` says how it ended. Another client may have changed it.
pub(crate) fn is_in_status(operation: &ClusterOperation, outcome: &Outcome) -> bool {
    // The start doesn't say how it ended.
    let said = Outcome::of_status(operation);
    said.is_some_and(|said| Outcome { start_time: outcome.start_time.clone(), ..said } == *outcome)
}
