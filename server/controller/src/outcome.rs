//! How an operation ended, in the form that outlives its status.

use crd::{ClusterOperation, Phase, Recap, Time};
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// The end of an operation. Stands as JSON in an annotation beside the label `hasCompleted`; status and history follow from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    pub(crate) status: Phase,
    pub(crate) reason: String,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) start_time: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end_time: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recap: Option<Recap>,
}

impl Outcome {
    /// It never ran.
    pub(crate) fn refused(refusal: &Refusal, now: &Time) -> Self {
        Self {
            status: Phase::Failed,
            reason: refusal.reason().into(),
            // What a refusal quotes, a user wrote.
            message: masking::Masker::default().value(refusal.to_string()),
            start_time: None,
            end_time: Some(now.clone()),
            recap: None,
        }
    }

    /// What an operation says about its own end: the annotation, or a final status.
    pub(crate) fn of(operation: &ClusterOperation) -> Option<Self> {
        let annotation = operation.metadata.annotations.as_ref().and_then(|all| all.get(crd::ANNOTATION_OUTCOME));
        // Written by us or by nobody; a user's edit that isn't an outcome counts as none.
        let written =
            annotation.and_then(|text| serde_json::from_str::<Self>(text).ok()).filter(|o| o.status.is_final());
        written.filter(|_| is_completed(operation)).or_else(|| {
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
}

/// It carries `hasCompleted=done`.
pub(crate) fn is_completed(operation: &ClusterOperation) -> bool {
    operation
        .metadata
        .labels
        .as_ref()
        .and_then(|all| all.get(crd::LABEL_HAS_COMPLETED))
        .is_some_and(|value| value == crd::DONE)
}

/// It is over, whatever else is missing: it must never start.
pub(crate) fn is_over(operation: &ClusterOperation) -> bool {
    is_completed(operation) || operation.status.as_ref().is_some_and(|status| status.status.is_final())
}
