//! How far an operation is. A restored one has lost its status, but carries its end beside the label `hasCompleted`.

use crd::{ClusterOperation, Phase};
use kube::ResourceExt;
use serde::Deserialize;

/// The annotation that the controller writes with the label.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Outcome {
    status: Phase,
    reason: String,
    message: String,
}

/// Why an operation stands where it stands.
pub(crate) struct Why {
    /// One CamelCase word.
    pub(crate) reason: String,
    /// A sentence.
    pub(crate) message: String,
}

/// What is said of where it stands; of one that waits, what it waits for.
pub(crate) fn why(operation: &ClusterOperation) -> Why {
    if let (Phase::Pending, Some(outcome)) = (stands(operation), written(operation)) {
        return Why { reason: outcome.reason, message: outcome.message };
    }
    let Some(status) = &operation.status else { return Why { reason: String::new(), message: String::new() } };
    let said = status.message.clone().unwrap_or_default();
    let queued = status.conditions.iter().find(|c| c.type_ == crd::condition::QUEUED && c.status == "True");
    let message = match queued.filter(|_| said.is_empty() && status.status == Phase::Pending) {
        Some(queued) => queued.message.clone(),
        None => said,
    };
    Why { reason: status.reason.clone().unwrap_or_default(), message }
}

/// How far it is.
pub(crate) fn progress(operation: &ClusterOperation) -> Phase {
    match stands(operation) {
        Phase::Pending => written(operation).map_or(Phase::Pending, |outcome| outcome.status),
        phase => phase,
    }
}

fn stands(operation: &ClusterOperation) -> Phase {
    operation.status.as_ref().map(|status| status.status).unwrap_or_default()
}

fn written(operation: &ClusterOperation) -> Option<Outcome> {
    if operation.labels().get(crd::LABEL_HAS_COMPLETED).is_none_or(|value| value != crd::DONE) {
        return None;
    }
    let outcome: Outcome = operation
        .annotations()
        .get(crd::ANNOTATION_OUTCOME)
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    // Over it is in any case; where nobody wrote how, the controller will say.
    Some(outcome).filter(|outcome| outcome.status.is_final())
}

#[cfg(test)]
mod tests {
    use super::{super::row::tests::operation, *};

    #[test]
    fn a_restored_operation_shows_how_it_ended() {
        let mut restored = operation("a", "prod", 0, Phase::Pending);
        restored.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.to_owned(), crd::DONE.to_owned())].into());
        assert_eq!(progress(&restored), Phase::Pending);
        let outcome = r#"{"status":"Failed","reason":"Cancelled","message":"It was cancelled.","endTime":null}"#;
        restored.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), outcome.to_owned())].into());
        let why = why(&restored);
        assert_eq!(progress(&restored), Phase::Failed);
        assert_eq!((why.reason.as_str(), why.message.as_str()), ("Cancelled", "It was cancelled."));
        restored.metadata.labels = None;
        assert_eq!(progress(&restored), Phase::Pending, "only the label makes it count");
    }
}
