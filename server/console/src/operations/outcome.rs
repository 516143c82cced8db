//! Why an operation is where it is, in the words of its status or, after a restore, of its recorded outcome.

use crd::{ClusterOperation, Phase};
use operation::Outcome;

/// Why an operation is in its phase.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Why {
    /// One CamelCase word.
    pub(crate) reason: String,
    /// A sentence; of an operation that waits, what it waits for.
    pub(crate) message: String,
}

/// The reason and the sentence for the phase of `operation`.
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

/// The outcome, while the status doesn't show it yet: it is written first, and a restore brings back only the outcome.
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
