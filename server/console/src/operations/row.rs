//! The row of an operation.

use api::operation::{OperationRow, Phase};
use api::{OperationName, Time};
use crd::ClusterOperation;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::ResourceExt;
use operation::{Options, Signing, Termination, cut, is_record, is_script, terminated, termination, title};

use super::why;
use crate::moment;

/// The phase that pages show. A failed operation with the reason `Cancelled` is shown as cancelled. Only the status counts, which the
/// controller writes.
pub(crate) fn phase(operation: &ClusterOperation) -> Phase {
    match operation::phase(operation) {
        _ if is_record(operation) => Phase::Restored,
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

/// Sort key for the end of operations. Times have whole seconds, so the resourceVersion decides between operations that ended in
/// the same second.
pub(crate) fn ended(operation: &ClusterOperation) -> (Option<Time>, Option<u64>) {
    let time = operation
        .status
        .as_ref()
        .and_then(|status| status.end_time.as_ref())
        .or(operation.metadata.creation_timestamp.as_ref());
    (time.map(moment::of), operation.resource_version().and_then(|version| version.parse().ok()))
}

/// The row of an operation; `None` if its name is invalid.
pub(crate) fn row(operation: &ClusterOperation, signing: &Signing) -> Option<OperationRow> {
    let name: OperationName = operation.name_any().parse().ok()?;
    let status = operation.status.as_ref();
    let (phase, why) = (phase(operation), why(operation));
    Some(OperationRow {
        name,
        cluster: operation.spec.cluster.clone(),
        action: title(&operation.spec),
        script: is_script(&operation.spec),
        check: Options::is_check(&operation.spec),
        phase,
        cancelling: operation.spec.cancel == Some(true) && !phase.is_final(),
        reason: why.reason,
        message: why.message,
        by: by(operation, signing).or_else(|| program(operation)).unwrap_or_default(),
        submitted: submitted(operation),
        started: status.and_then(|s| s.start_time.as_ref()).map(moment::of),
        ended: status.and_then(|s| s.end_time.as_ref()).map(moment::of),
    })
}

/// The user who submitted it. Another client may have written the name, so it is marked unless the console signed it.
fn by(operation: &ClusterOperation, signing: &Signing) -> Option<String> {
    let signed = signing.signer().and_then(|signer| signer.submitter(operation, is_record(operation)));
    let claimed = || {
        let status = operation.status.as_ref().and_then(|s| s.submitted_by.as_ref());
        let claim = status.or_else(|| operation.annotations().get(crd::ANNOTATION_SUBMITTED_BY));
        claim.map(|by| not_verified(by)).filter(|by| !by.is_empty())
    };
    signed.filter(|by| !by.is_empty()).or_else(claimed)
}

/// A name that the console didn't sign, as pages show it; empty if there is none.
pub(super) fn not_verified(by: &str) -> String {
    if by.is_empty() { String::new() } else { format!("{} (not verified)", cut(by, 60)) }
}

/// The program that created the object, by its field manager: `kubectl`, `argocd-controller (program)`. Clients choose that name.
fn program(operation: &ClusterOperation) -> Option<String> {
    let fields = operation.metadata.managed_fields.as_deref().unwrap_or_default();
    let made = fields.iter().filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    // Times are whole seconds. The controller never creates an operation, but may label a new one within the same second.
    let is_ours = |entry: &ManagedFieldsEntry| entry.manager.as_deref() == Some(crd::PRODUCT);
    program_of(made.min_by_key(|entry| (entry.time.as_ref().map(moment::of), is_ours(entry)))?)
}

/// The program that wrote these fields.
pub(super) fn program_of(entry: &ManagedFieldsEntry) -> Option<String> {
    let manager = entry.manager.as_deref()?;
    // kubectl has a field manager for each command: kubectl-create, kubectl-client-side-apply.
    match manager {
        "" => None,
        kubectl if kubectl.starts_with("kubectl") => Some("kubectl".into()),
        other => Some(format!("{} (program)", cut(other, 40))),
    }
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
    fn a_result_that_another_client_wrote_is_not_shown() {
        let mut marked = operation("a", "prod", 0, crd::Phase::Running);
        marked.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.to_owned(), crd::DONE.to_owned())].into());
        let outcome = r#"{"status":"Succeeded","reason":"","message":"","endTime":null}"#;
        marked.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), outcome.to_owned())].into());
        assert_eq!(phase(&marked), Phase::Running);
        marked.status = None;
        assert_eq!(phase(&marked), Phase::Restored, "it had the label from the start");
        let mut restored = operation("a", "prod", 0, crd::Phase::Succeeded);
        restored.status.as_mut().unwrap().reason = Some(crd::RESTORED.into());
        assert_eq!(phase(&restored), Phase::Restored);
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
        let signer = operation::Signer::new(b"key", &time(0));
        let by = |operation: &ClusterOperation| row(operation, &signer.clone().into()).unwrap().by;
        assert_eq!(by(&operation), "");
        operation.metadata.managed_fields = Some(vec![
            entry("kubeonkube", Some("status"), 1),
            entry("kubectl-annotate", None, 9),
            entry("kubectl-client-side-apply", None, 2),
        ]);
        assert_eq!(by(&operation), "kubectl");
        operation.metadata.managed_fields = Some(vec![entry("kubeonkube", None, 1), entry("terraform", None, 1)]);
        assert_eq!(by(&operation), "terraform (program)", "the controller wrote within the same second");
        operation.metadata.managed_fields = Some(vec![entry("ada", None, 1)]);
        assert_eq!(by(&operation), "ada (program)");
        operation.metadata.annotations = Some([(crd::ANNOTATION_SUBMITTED_BY.to_owned(), "ada".to_owned())].into());
        assert_eq!(by(&operation), "ada (not verified)");
        let signature = signer.sign_submitter(&operation, "ada", &time(0));
        let annotations = operation.metadata.annotations.as_mut().unwrap();
        annotations.insert(crd::ANNOTATION_SUBMITTER_SIGNATURE.to_owned(), signature);
        assert_eq!(by(&operation), "ada");
    }

    #[test]
    fn an_operation_is_cancelling_until_it_has_ended() {
        let mut operation = operation("a", "prod", 0, crd::Phase::Running);
        operation.spec.cancel = Some(true);
        let cancelling = |operation: &ClusterOperation| row(operation, &Signing::default()).unwrap().cancelling;
        assert!(cancelling(&operation));
        operation.status.as_mut().unwrap().status = crd::Phase::Failed;
        assert!(!cancelling(&operation));
    }
}
