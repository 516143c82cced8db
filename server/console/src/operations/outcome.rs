//! The reason for an operation's phase: from its status, or from its recorded outcome after a restore.

use crd::{ClusterOperation, Phase};
use operation::Outcome;

/// Why an operation is in its phase.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Why {
    /// One CamelCase word.
    pub(crate) reason: String,
    /// A sentence. If the operation is queued, it says what the operation waits for.
    pub(crate) message: String,
}

/// The reason and the message for the phase of `operation`.
pub(crate) fn why(operation: &ClusterOperation) -> Why {
    if let Some(outcome) = early(operation) {
        return Why { reason: outcome.reason, message: outcome.message };
    }
    let Some(status) = &operation.status else { return Why::default() };
    let message = status.message.clone().unwrap_or_default();
    let queued = status.conditions.iter().find(|c| c.type_ == crd::condition::QUEUED && c.status == "True");
    let message = match queued.filter(|_| message.is_empty() && status.status == Phase::Pending) {
        Some(queued) => queued.message.clone(),
        None => message,
    };
    Why { reason: status.reason.clone().unwrap_or_default(), message }
}

/// The recorded outcome, if the status is not final: the controller writes the outcome first, and a restore from a backup brings
/// back only the outcome.
pub(crate) fn early(operation: &ClusterOperation) -> Option<Outcome> {
    let is_final = operation.status.as_ref().is_some_and(|status| status.status.is_final());
    if is_final { None } else { Outcome::written(operation) }
}

#[cfg(test)]
mod tests {
    use super::{super::row::tests::operation, *};

    #[test]
    fn a_restored_operation_shows_how_it_ended() {
        let mut restored = operation("a", "prod", 0, Phase::Pending);
        restored.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.to_owned(), crd::DONE.to_owned())].into());
        assert_eq!(why(&restored), Why::default());
        let outcome = r#"{"status":"Failed","reason":"Cancelled","message":"It was cancelled.","endTime":null}"#;
        restored.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), outcome.to_owned())].into());
        assert_eq!(why(&restored), Why { reason: "Cancelled".into(), message: "It was cancelled.".into() });
        restored.metadata.labels = None;
        assert_eq!(why(&restored), Why::default(), "only the label makes it count");
    }
}
