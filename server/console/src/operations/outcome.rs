//! The reason for an operation's phase.

use crd::{ClusterOperation, Phase};

/// Why an operation is in its phase.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Why {
    /// One CamelCase word.
    pub(crate) reason: String,
    /// A sentence. If the operation is queued, it says what the operation waits for.
    pub(crate) message: String,
}

/// The reason and the message for the phase of `operation`, from its status.
pub(crate) fn why(operation: &ClusterOperation) -> Why {
    let Some(status) = &operation.status else { return Why::default() };
    let message = status.message.clone().unwrap_or_default();
    let queued = status.conditions.iter().find(|c| c.type_ == crd::condition::QUEUED && c.status == "True");
    let message = match queued.filter(|_| message.is_empty() && status.status == Phase::Pending) {
        Some(queued) => queued.message.clone(),
        None => message,
    };
    Why { reason: status.reason.clone().unwrap_or_default(), message }
}
