use crd::ClusterOperationStatus;
use k8s_openapi::jiff::Timestamp;

use super::*;

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

fn signer() -> Signer {
    Signer::new(b"key", &at(100))
}

/// An operation that was created after the key, with this uid.
fn operation(uid: &str) -> ClusterOperation {
    let mut operation = ClusterOperation::default();
    operation.metadata.name = Some("a".into());
    operation.metadata.uid = Some(uid.into());
    operation.metadata.creation_timestamp = Some(at(200));
    operation
}

fn labelled(mut operation: ClusterOperation) -> ClusterOperation {
    operation.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.to_owned(), crd::DONE.to_owned())].into());
    operation
}

fn with_status(mut operation: ClusterOperation, outcome: &Outcome) -> ClusterOperation {
    operation.status = Some(ClusterOperationStatus {
        status: outcome.status,
        reason: Some(outcome.reason.clone()),
        message: Some(outcome.message.clone()),
        end_time: outcome.end_time.clone(),
        signature: Some(outcome.signature(&operation, &signer())),
        ..ClusterOperationStatus::default()
    });
    operation
}

fn failed() -> Outcome {
    Outcome {
        status: Phase::Failed,
        reason: "Cancelled".into(),
        message: "It was cancelled.".into(),
        start_time: None,
        end_time: Some(at(250)),
        recap: None,
    }
}

#[test]
fn an_outcome_counts_only_with_the_controllers_signature() {
    let mut signed = labelled(operation("1"));
    signed.metadata.annotations = Some(failed().annotations(&signed, &signer()));
    assert_eq!(Outcome::of(&signed, &signer()), Some((failed(), Proof::Signed)));
    let annotations = signed.metadata.annotations.as_mut().unwrap();
    let forged = annotations[crd::ANNOTATION_OUTCOME].replace("Failed", "Succeeded");
    annotations.insert(crd::ANNOTATION_OUTCOME.to_owned(), forged);
    assert_eq!(Outcome::of(&signed, &signer()), None);
    assert_eq!(Outcome::unproven(&signed).unwrap().status, Phase::Succeeded, "it is only a claim");
    annotations_of(&mut signed).remove(crd::ANNOTATION_OUTCOME_SIGNATURE);
    assert_eq!(Outcome::of(&signed, &signer()), None);
}

fn annotations_of(operation: &mut ClusterOperation) -> &mut BTreeMap<String, String> {
    operation.metadata.annotations.as_mut().unwrap()
}

#[test]
fn a_signed_status_replaces_a_lost_annotation() {
    let mut ended = with_status(operation("1"), &failed());
    assert_eq!(Outcome::of(&ended, &signer()), Some((failed(), Proof::Signed)));
    ended.status.as_mut().unwrap().status = Phase::Succeeded;
    assert_eq!(Outcome::of(&ended, &signer()), None, "a forged status");
}

#[test]
fn the_status_counts_if_the_operation_is_older_than_the_key() {
    let mut old = with_status(labelled(operation("1")), &failed());
    old.status.as_mut().unwrap().signature = None;
    assert_eq!(Outcome::of(&old, &signer()), None);
    old.metadata.creation_timestamp = Some(at(99));
    assert_eq!(Outcome::of(&old, &signer()), Some((failed(), Proof::Older)));
    old.status = None;
    let text = serde_json::to_string(&failed()).unwrap();
    old.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), text)].into());
    assert_eq!(Outcome::of(&old, &signer()), None, "everybody may write annotations");
}

#[test]
fn an_exported_operation_shows_a_restored_outcome() {
    let mut again = labelled(operation("2"));
    again.metadata.annotations = Some(failed().annotations(&operation("1"), &signer()));
    let (outcome, proof) = Outcome::of(&again, &signer()).unwrap();
    assert_eq!((outcome.status, outcome.reason.as_str(), proof), (Phase::Failed, RESTORED, Proof::Earlier));
    assert_eq!(
        outcome.message,
        "Restored record of an earlier run, which ended as Failed (Cancelled): It was cancelled."
    );
    assert_eq!(outcome.clone().restored(), outcome, "also if it is exported again");
    again.metadata.labels = None;
    assert_eq!(Outcome::of(&again, &signer()), None, "without the label it is a new operation");
}

#[test]
fn a_label_on_an_open_operation_does_not_count() {
    let restored = labelled(operation("1"));
    assert!(has_ended(&restored) && is_record(&restored), "it had the label from the start");
    let mut queued = restored;
    queued.status = Some(ClusterOperationStatus { reason: Some("ClusterBusy".into()), ..Default::default() });
    assert!(!has_ended(&queued) && !is_record(&queued) && is_marked(&queued));
    queued.status = Some(ClusterOperationStatus { status: Phase::Running, ..Default::default() });
    assert!(!has_ended(&queued));
    queued.status = Some(ClusterOperationStatus { reason: Some(RESTORED.into()), ..Default::default() });
    assert!(has_ended(&queued) && is_record(&queued));
    assert!(has_ended(&with_status(operation("1"), &failed())), "a final status");
    assert!(!is_marked(&operation("1")) && !has_ended(&operation("1")));
}

#[test]
fn an_outcome_that_is_not_final_is_ignored() {
    let mut edited = labelled(operation("1"));
    for text in ["", "{}", r#"{"status":"Running","reason":"","message":""}"#] {
        edited.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), text.to_owned())].into());
        assert_eq!(Outcome::unproven(&edited), None, "{text}");
    }
}
