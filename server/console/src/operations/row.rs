//! The row of an operation.

use api::operation::{OperationRow, Phase};
use api::run::Termination;
use api::{OperationName, Time};
use crd::ClusterOperation;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use operation::{cut, is_script, terminated, termination, title};

use super::outcome::{early, why};
use crate::moment;

/// The phase that pages show. A failed operation with the reason `Cancelled` is shown as cancelled.
pub(crate) fn phase(operation: &ClusterOperation) -> Phase {
    match operation::phase(operation) {
        crd::Phase::Pending => Phase::Queued,
        crd::Phase::Running => Phase::Running,
        crd::Phase::Succeeded => Phase::Succeeded,
        crd::Phase::Failed if why(operation).reason == "Cancelled" => Phase::Cancelled,
        crd::Phase::Failed => Phase::Failed,
    }
}

/// The time of submission.
pub(crate) fn submitted(operation: &ClusterOperation) -> Time {
    let recorded = operation.status.as_ref().and_then(|s| s.submitted_at.as_ref());
    recorded.or(operation.metadata.creation_timestamp.as_ref()).map(moment::of).unwrap_or_default()
}

/// The row of an operation; `None` if its name is invalid.
pub(crate) fn row(operation: &ClusterOperation) -> Option<OperationRow> {
    let name: OperationName = operation.name_any().parse().ok()?;
    let status = operation.status.as_ref();
    let (phase, why, early) = (phase(operation), why(operation), early(operation));
    let time = |of_status: Option<&crd::Time>, of_outcome: Option<&crd::Time>| of_status.or(of_outcome).map(moment::of);
    let by = status
        .and_then(|s| s.submitted_by.as_ref())
        .or_else(|| operation.annotations().get(crd::ANNOTATION_SUBMITTED_BY))
        .filter(|by| !by.is_empty());
    Some(OperationRow {
        name,
        cluster: operation.spec.cluster.clone(),
        action: title(&operation.spec),
        script: is_script(&operation.spec),
        phase,
        cancelling: operation.spec.cancel == Some(true) && !phase.is_final(),
        reason: why.reason,
        message: why.message,
        by: by.cloned().or_else(|| program(operation)).unwrap_or_default(),
        submitted: submitted(operation),
        started: time(
            status.and_then(|s| s.start_time.as_ref()),
            early.as_ref().and_then(|outcome| outcome.start_time.as_ref()),
        ),
        ended: time(
            status.and_then(|s| s.end_time.as_ref()),
            early.as_ref().and_then(|outcome| outcome.end_time.as_ref()),
        ),
    })
}

/// The program that created the object, by its field manager: `kubectl`, `argocd-controller`.
fn program(operation: &ClusterOperation) -> Option<String> {
    let fields = operation.metadata.managed_fields.as_deref().unwrap_or_default();
    let made = fields.iter().filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    let manager = made.min_by_key(|entry| entry.time.as_ref().map(moment::of))?.manager.as_deref()?;
    // kubectl has a field manager for each command: kubectl-create, kubectl-client-side-apply.
    let name = if manager.starts_with("kubectl") { "kubectl" } else { manager };
    Some(cut(name, 40)).filter(|name| !name.is_empty())
}

/// The summary that the run's pod left when it ended.
pub(crate) fn run_end(pod: &Pod) -> Option<Termination> {
    termination(terminated(pod)?)
}

#[cfg(test)]
pub(crate) mod tests {
    use crd::{ClusterOperationSpec, ClusterOperationStatus};

    use super::*;

    /// An operation of `cluster` that was created `age` seconds after the epoch.
    pub(crate) fn operation(name: &str, cluster: &str, age: i64, status: crd::Phase) -> ClusterOperation {
        let spec = ClusterOperationSpec {
            cluster: cluster.into(),
            action: "ping.yml".into(),
            image: "i".into(),
            ..Default::default()
        };
        let mut operation = ClusterOperation::new(name, spec);
        operation.metadata.creation_timestamp = Some(time(age));
        let end_time = status.is_final().then(|| time(age + 60));
        operation.status = Some(ClusterOperationStatus { status, end_time, ..Default::default() });
        operation
    }

    pub(crate) fn time(seconds: i64) -> crd::Time {
        crd::Time(jiff::Timestamp::from_second(seconds).unwrap())
    }

    #[test]
    fn a_cancelled_operation_is_not_shown_as_failed() {
        let mut operation = operation("a", "prod", 0, crd::Phase::Failed);
        assert_eq!(phase(&operation), Phase::Failed);
        operation.status.as_mut().unwrap().reason = Some("Cancelled".into());
        assert_eq!(phase(&operation), Phase::Cancelled);
    }

    #[test]
    fn without_a_user_the_creating_program_is_shown() {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
        let entry = |manager: &str, subresource: Option<&str>, at| ManagedFieldsEntry {
            manager: Some(manager.into()),
            subresource: subresource.map(Into::into),
            time: Some(time(at)),
            ..ManagedFieldsEntry::default()
        };
        let mut operation = operation("a", "prod", 0, crd::Phase::Pending);
        assert_eq!(row(&operation).unwrap().by, "");
        operation.metadata.managed_fields = Some(vec![
            entry("kubeonkube", Some("status"), 1),
            entry("kubectl-annotate", None, 9),
            entry("kubectl-client-side-apply", None, 2),
        ]);
        assert_eq!(row(&operation).unwrap().by, "kubectl");
        operation.metadata.annotations = Some([(crd::ANNOTATION_SUBMITTED_BY.to_owned(), "ada".to_owned())].into());
        assert_eq!(row(&operation).unwrap().by, "ada");
    }

    #[test]
    fn an_operation_is_cancelling_until_it_has_ended() {
        let mut operation = operation("a", "prod", 0, crd::Phase::Running);
        operation.spec.cancel = Some(true);
        assert!(row(&operation).unwrap().cancelling);
        operation.status.as_mut().unwrap().status = crd::Phase::Failed;
        assert!(!row(&operation).unwrap().cancelling);
    }
}
