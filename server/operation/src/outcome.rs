//! How an operation ended, in a form that survives the loss of its status.

use crd::{ClusterOperation, Phase, Recap, Time};
use serde::{Deserialize, Serialize};

/// The end of an operation. The controller writes it as JSON into an annotation, together with the label `hasCompleted`; status
/// and history are derived from it. A restore from a backup loses the status but keeps the annotation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Succeeded or Failed.
    pub status: Phase,
    /// One CamelCase word.
    pub reason: String,
    /// A sentence.
    pub message: String,
    /// When it started; `None` if it never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Time>,
    /// The sum of its playbooks' recaps; `None` if no playbook reached a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recap: Option<Recap>,
}

impl Outcome {
    /// The recorded outcome of an operation: from the annotation, otherwise from a final status.
    pub fn of(operation: &ClusterOperation) -> Option<Self> {
        Self::written(operation).or_else(|| {
            let status = operation.status.as_ref().filter(|status| status.status.is_final())?;
            Some(Self {
                status: status.status,
                reason: status.reason.clone().unwrap_or_default(),
                message: status.message.clone().unwrap_or_default(),
                start_time: status.start_time.clone(),
                end_time: status.end_time.clone(),
                recap: status.recap,
            })
        })
    }

    /// The outcome in the annotation. Users can edit annotations, so it counts only together with the label `hasCompleted`, and
    /// only if it can be parsed.
    pub fn written(operation: &ClusterOperation) -> Option<Self> {
        if !is_completed(operation) {
            return None;
        }
        let text = operation.metadata.annotations.as_ref()?.get(crd::ANNOTATION_OUTCOME)?;
        serde_json::from_str::<Self>(text).ok().filter(|outcome| outcome.status.is_final())
    }
}

/// Whether it has the label `hasCompleted=done`.
pub fn is_completed(operation: &ClusterOperation) -> bool {
    let labels = operation.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(crd::LABEL_HAS_COMPLETED)).is_some_and(|value| value == crd::DONE)
}

/// Whether it has ended. Then it must never start, even if its outcome is unknown.
pub fn is_over(operation: &ClusterOperation) -> bool {
    is_completed(operation) || status(operation).is_final()
}

/// The phase of an operation. The controller writes the outcome before the status, so an outcome overrides a status that is not
/// final.
pub fn phase(operation: &ClusterOperation) -> Phase {
    match status(operation) {
        phase if phase.is_final() => phase,
        phase => Outcome::written(operation).map_or(phase, |outcome| outcome.status),
    }
}

fn status(operation: &ClusterOperation) -> Phase {
    operation.status.as_ref().map(|status| status.status).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_operation_still_records_how_it_ended() {
        let mut restored = ClusterOperation::default();
        restored.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.to_owned(), crd::DONE.to_owned())].into());
        assert_eq!((Outcome::of(&restored), phase(&restored), is_over(&restored)), (None, Phase::Pending, true));
        let text = r#"{"status":"Failed","reason":"Cancelled","message":"It was cancelled.","endTime":null}"#;
        restored.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), text.to_owned())].into());
        assert_eq!(Outcome::of(&restored).unwrap().reason, "Cancelled");
        assert_eq!(phase(&restored), Phase::Failed);
        restored.metadata.labels = None;
        assert_eq!((Outcome::of(&restored), phase(&restored)), (None, Phase::Pending), "only with the label");
    }

    #[test]
    fn an_annotation_without_a_final_status_is_ignored() {
        let mut edited = ClusterOperation::default();
        edited.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.to_owned(), crd::DONE.to_owned())].into());
        for text in ["", "{}", r#"{"status":"Running","reason":"","message":""}"#] {
            edited.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), text.to_owned())].into());
            assert_eq!((Outcome::of(&edited), phase(&edited)), (None, Phase::Pending), "{text}");
        }
    }
}
