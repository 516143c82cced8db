use super::*;

fn signer() -> Signer {
    Signer::new(b"key", &Time(jiff::Timestamp::UNIX_EPOCH))
}

#[test]
fn k11_the_digest_covers_every_field_of_the_spec_but_cancel() {
    let with = |change: fn(&mut crd::ClusterOperationSpec)| {
        let mut operation = ClusterOperation::default();
        change(&mut operation.spec);
        spec_digest(&operation.spec)
    };
    let all = [
        with(|_| {}),
        with(|spec| spec.extra_args = Some("a".into())),
        with(|spec| spec.active_deadline_seconds = Some(1)),
        with(|spec| spec.resources = Some(Default::default())),
        with(|spec| spec.action_source_ref = Some(crd::DataRef::new("a", "b"))),
        with(|spec| (spec.cluster, spec.action) = ("ab".into(), "c".into())),
        with(|spec| (spec.cluster, spec.action) = ("a".into(), "bc".into())),
    ];
    assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
    assert_eq!(with(|spec| spec.cancel = Some(true)), all[0]);
}

#[test]
fn a_status_that_says_the_same_is_not_written_again() {
    let mut operation = ClusterOperation::default();
    let now = Time(jiff::Timestamp::UNIX_EPOCH);
    operation.status = queued(&operation, "ClusterBusy", "Waiting for a.", &signer(), &now);
    assert!(operation.status.is_some());
    assert_eq!(queued(&operation, "ClusterBusy", "Waiting for a.", &signer(), &now), None);
    assert!(queued(&operation, "ClusterBusy", "Waiting for b.", &signer(), &now).is_some());
}

#[test]
fn the_status_keeps_the_engine_that_the_run_started_with() {
    let now = Time(jiff::Timestamp::UNIX_EPOCH);
    let mut operation = ClusterOperation::default();
    let start = |engine| Start { job: JobRef::default(), inputs: None, engine };
    operation.status =
        running(&operation, start(Some(Engine::Kubespray)), "Running", "The Job is running.", &signer(), &now);
    assert_eq!(operation.status.as_ref().and_then(|status| status.engine), Some(Engine::Kubespray));
    let later = running(&operation, start(None), "Suspended", "The Job is suspended.", &signer(), &now);
    assert_eq!(later.and_then(|status| status.engine), Some(Engine::Kubespray));
}
