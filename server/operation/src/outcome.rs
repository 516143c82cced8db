//! How an operation ended, in a form that survives the loss of its status, and what proves it (docs/adr/0013).

use std::collections::BTreeMap;

use crd::{ClusterOperation, Phase, RESTORED, Recap, Time};
use serde::{Deserialize, Serialize};

use crate::signature::{About, Signer};

/// The end of an operation. The controller writes it as JSON into an annotation, together with a signature and the label
/// `hasCompleted`; status and history are derived from it. A restore from a backup loses the status but keeps the annotation.
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

/// What proves that an operation ended with an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The controller signed it for this object.
    Signed,
    /// The operation is older than the key, and its status is final: a version that didn't sign ended it.
    Older,
    /// The controller signed it for an earlier object of the same name and spec, which was exported and applied again.
    Earlier,
}

impl Outcome {
    /// The outcome of `operation`, and its proof. `None` if nothing proves one, whatever its marks say.
    pub fn of(operation: &ClusterOperation, signer: &Signer) -> Option<(Self, Proof)> {
        let status = operation.status.as_ref();
        let in_status = Self::of_status(operation);
        let signature = status.and_then(|status| status.signature.as_deref());
        let by_status = || {
            let outcome = in_status.clone()?;
            Some((signer.verify_outcome(operation, &outcome.text(), signature?)?, outcome))
        };
        let found = [Self::signed(operation.metadata.annotations.as_ref(), operation, signer), by_status()];
        let about = |wanted| found.iter().flatten().find(|(about, _)| *about == wanted).map(|(_, outcome)| outcome);
        if let Some(outcome) = about(About::This) {
            return Some((outcome.clone(), Proof::Signed));
        }
        if signer.is_older(operation)
            && let Some(outcome) = in_status.clone()
        {
            return Some((outcome, Proof::Older));
        }
        let earlier = about(About::Earlier).filter(|_| has_ended_label(operation));
        earlier.map(|outcome| (outcome.clone().restored(), Proof::Earlier))
    }

    /// The outcome in the annotations of a child of `operation`, if the controller signed it.
    pub fn of_child(
        annotations: Option<&BTreeMap<String, String>>,
        operation: &ClusterOperation,
        signer: &Signer,
    ) -> Option<Self> {
        let (about, outcome) = Self::signed(annotations, operation, signer)?;
        (about == About::This).then_some(outcome)
    }

    /// What the annotation or a final status says, without any proof.
    pub fn unproven(operation: &ClusterOperation) -> Option<Self> {
        let annotation = operation.metadata.annotations.as_ref().and_then(|all| all.get(crd::ANNOTATION_OUTCOME));
        annotation.and_then(|text| Self::parse(text)).or_else(|| Self::of_status(operation))
    }

    /// The annotations that record this outcome on `operation` or on one of its children.
    pub fn annotations(&self, operation: &ClusterOperation, signer: &Signer) -> BTreeMap<String, String> {
        let (text, signature) = (self.text(), self.signature(operation, signer));
        let entry = |key: &str, value| (key.to_owned(), value);
        [entry(crd::ANNOTATION_OUTCOME, text), entry(crd::ANNOTATION_OUTCOME_SIGNATURE, signature)].into()
    }

    /// The signature for the status.
    pub fn signature(&self, operation: &ClusterOperation, signer: &Signer) -> String {
        signer.sign_outcome(operation, &self.text())
    }

    /// A final status as an outcome.
    pub fn of_status(operation: &ClusterOperation) -> Option<Self> {
        let status = operation.status.as_ref().filter(|status| status.status.is_final())?;
        Some(Self {
            status: status.status,
            reason: status.reason.clone().unwrap_or_default(),
            message: status.message.clone().unwrap_or_default(),
            start_time: status.start_time.clone(),
            end_time: status.end_time.clone(),
            recap: status.recap,
        })
    }

    fn signed(
        annotations: Option<&BTreeMap<String, String>>,
        operation: &ClusterOperation,
        signer: &Signer,
    ) -> Option<(About, Self)> {
        let (text, signature) =
            (annotations?.get(crd::ANNOTATION_OUTCOME)?, annotations?.get(crd::ANNOTATION_OUTCOME_SIGNATURE)?);
        Some((signer.verify_outcome(operation, text, signature)?, Self::parse(text)?))
    }

    fn parse(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|outcome| outcome.status.is_final())
    }

    fn text(&self) -> String {
        serde_json::to_string(self).expect("an outcome is plain data")
    }

    /// The same outcome, as the record of an earlier object shows it.
    fn restored(self) -> Self {
        if self.reason == RESTORED {
            return self;
        }
        let reason = if self.reason == self.status.as_str() { String::new() } else { format!(" ({})", self.reason) };
        let message =
            format!("Restored record of an earlier run, which ended as {}{reason}: {}", self.status, self.message);
        Self { reason: RESTORED.into(), message, ..self }
    }
}

/// Whether it has the label `hasCompleted=done`.
pub fn has_ended_label(operation: &ClusterOperation) -> bool {
    let labels = operation.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(crd::LABEL_HAS_COMPLETED)).is_some_and(|value| value == crd::DONE)
}

/// Whether it carries anything that says how or that it ended, from any client.
pub fn is_marked(operation: &ClusterOperation) -> bool {
    let annotations = operation.metadata.annotations.as_ref();
    has_ended_label(operation)
        || phase(operation).is_final()
        || annotations.is_some_and(|all| all.contains_key(crd::ANNOTATION_OUTCOME))
}

/// Whether it has ended according to its status, or according to its label. The label of an operation that is queued or running
/// according to its status doesn't count: the controller writes label and status together, so another client set it.
pub fn has_ended(operation: &ClusterOperation) -> bool {
    let status = operation.status.as_ref();
    let is_open = status.is_some_and(|status| {
        status.status == Phase::Running || status.reason.as_deref().is_some_and(|reason| reason != RESTORED)
    });
    phase(operation).is_final() || has_ended_label(operation) && !is_open
}

/// Whether it is only a record: it had ended before this object was created, and never runs.
pub fn is_record(operation: &ClusterOperation) -> bool {
    let reason = operation.status.as_ref().and_then(|status| status.reason.as_deref());
    reason == Some(RESTORED) || has_ended(operation) && !phase(operation).is_final()
}

/// The phase of an operation, as the controller wrote it.
pub fn phase(operation: &ClusterOperation) -> Phase {
    operation.status.as_ref().map(|status| status.status).unwrap_or_default()
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
