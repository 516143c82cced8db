//! One operation as a row.

use api::{
    OperationName, Time,
    operation::{OperationRow, Phase},
    run::Termination,
};
use crd::{ActionSource, ActionType, ClusterOperation};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::outcome::{progress, why};
use crate::moment;

/// Where it stands, as people say it.
pub(crate) fn phase(operation: &ClusterOperation) -> Phase {
    match progress(operation) {
        crd::Phase::Pending => Phase::Queued,
        crd::Phase::Running => Phase::Running,
        crd::Phase::Succeeded => Phase::Succeeded,
        crd::Phase::Failed if why(operation).reason == "Cancelled" => Phase::Cancelled,
        crd::Phase::Failed => Phase::Failed,
    }
}

/// When it was submitted.
pub(crate) fn submitted(operation: &ClusterOperation) -> Time {
    let recorded = operation.status.as_ref().and_then(|s| s.submitted_at.as_ref());
    recorded.or(operation.metadata.creation_timestamp.as_ref()).map(moment::of).unwrap_or_default()
}

/// Whether the action is the text of a script.
pub(crate) fn is_script(operation: &ClusterOperation) -> bool {
    operation.spec.action_type == ActionType::Shell && operation.spec.action_source == ActionSource::Builtin
}

/// `ping.yml`, or the first line of a script that isn't a comment.
pub(crate) fn action(operation: &ClusterOperation) -> String {
    let spec = &operation.spec;
    if is_script(operation) {
        let line =
            spec.action.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with('#')).unwrap_or("script");
        return shortened(line, 80);
    }
    shortened(&spec.action, 80)
}

fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit { text.to_owned() } else { text.chars().take(limit - 1).chain(['…']).collect() }
}

/// The row of an operation; None where its name is none that an API lets through.
pub(crate) fn row(operation: &ClusterOperation) -> Option<OperationRow> {
    let name: OperationName = operation.name_any().parse().ok()?;
    let status = operation.status.as_ref();
    let (phase, why) = (phase(operation), why(operation));
    let by = status
        .and_then(|s| s.submitted_by.as_ref())
        .or_else(|| operation.annotations().get(crd::ANNOTATION_SUBMITTED_BY))
        .filter(|by| !by.is_empty());
    Some(OperationRow {
        name,
        cluster: operation.spec.cluster.clone(),
        action: action(operation),
        script: is_script(operation),
        phase,
        cancelling: operation.spec.cancel == Some(true) && !phase.is_final(),
        reason: why.reason,
        message: why.message,
        by: by.cloned().or_else(|| program(operation)).unwrap_or_default(),
        submitted: submitted(operation),
        started: status.and_then(|s| s.start_time.as_ref()).map(moment::of),
        ended: status.and_then(|s| s.end_time.as_ref()).map(moment::of),
    })
}

/// The program that made the object, as it called itself: `kubectl`, `argocd-controller`.
fn program(operation: &ClusterOperation) -> Option<String> {
    let fields = operation.metadata.managed_fields.as_deref().unwrap_or_default();
    let made = fields.iter().filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    let manager = made.min_by_key(|entry| entry.time.as_ref().map(moment::of))?.manager.as_deref()?;
    // kubectl tells how it was used: kubectl-create, kubectl-client-side-apply.
    let name = if manager.starts_with("kubectl") { "kubectl" } else { manager };
    Some(shortened(name, 40)).filter(|name| !name.is_empty())
}

/// Orders operations as the controller takes them: by creation, then by name.
pub(crate) fn by_age(a: &ClusterOperation, b: &ClusterOperation) -> std::cmp::Ordering {
    let key = |o: &ClusterOperation| (o.metadata.creation_timestamp.as_ref().map(moment::of), o.metadata.name.clone());
    key(a).cmp(&key(b))
}

/// What the run's pod left at its end.
pub(crate) fn run_end(pod: &Pod) -> Option<Termination> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let ended = statuses.iter().find(|c| c.name == crd::PRODUCT)?.state.as_ref()?.terminated.as_ref()?;
    serde_json::from_str(ended.message.as_deref()?).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use crd::{ClusterOperationSpec, ClusterOperationStatus};

    use super::*;

    /// An operation of `cluster` that was made `age` seconds after the epoch.
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
    fn a_cancelled_operation_is_not_a_failed_one() {
        let mut operation = operation("a", "prod", 0, crd::Phase::Failed);
        assert_eq!(phase(&operation), Phase::Failed);
        operation.status.as_mut().unwrap().reason = Some("Cancelled".into());
        assert_eq!(phase(&operation), Phase::Cancelled);
    }

    #[test]
    fn what_came_without_the_console_is_by_the_program_that_made_it() {
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
    fn a_script_is_shown_by_its_first_line_of_code() {
        let mut operation = operation("a", "prod", 0, crd::Phase::Pending);
        operation.spec.action_type = ActionType::Shell;
        operation.spec.action = "#!/bin/bash\n\n  uptime -p\nfree\n".into();
        assert_eq!(action(&operation), "uptime -p");
    }

    #[test]
    fn a_cancel_shows_until_the_run_has_ended() {
        let mut operation = operation("a", "prod", 0, crd::Phase::Running);
        operation.spec.cancel = Some(true);
        assert!(row(&operation).unwrap().cancelling);
        operation.status.as_mut().unwrap().status = crd::Phase::Failed;
        assert!(!row(&operation).unwrap().cancelling);
    }
}
