//! How an operation ended: the rules that the console shares, and the result of an operation that never ran.

use crd::{Phase, Time};
use masking::Masker;
pub(crate) use operation::{Outcome, is_completed, is_over};

use crate::status::refusal::Refusal;

/// The result of an operation that never ran.
pub(crate) fn refused(refusal: &Refusal, now: &Time) -> Outcome {
    Outcome {
        status: Phase::Failed,
        reason: refusal.reason().into(),
        // A refusal may quote what a user wrote.
        message: Masker::default().value(refusal.to_string()),
        start_time: None,
        end_time: Some(now.clone()),
        recap: None,
    }
}
