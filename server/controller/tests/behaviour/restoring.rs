//! An operation that is exported, deleted and restored stays an ended operation.

use crd::{Cluster, ClusterOperation, Phase};
use kube::api::PostParams;
use kube::{Resource, ResourceExt};

use crate::world::{World, message, phase, reason};

#[tokio::test]
async fn a_finished_operation_that_is_applied_again_does_not_run() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "fail").await;
    let before = world.ended("a").await;
    world.delete("a").await;
    // As after an export: `create` drops the status, and the API assigns a new uid.
    let mut exported = before.clone();
    exported.meta_mut().resource_version = None;
    exported.meta_mut().managed_fields = None;
    world.operations().create(&PostParams::default(), &exported).await.unwrap();
    let after = world.ended("a").await;
    assert_ne!(before.uid(), after.uid());
    assert_eq!(reason(&after), "Restored");
    let (before, after) = (before.status.unwrap(), after.status.unwrap());
    let said =
        format!("Restored record of an earlier run, which ended as Failed (TaskFailed): {}", before.message.unwrap());
    assert_eq!((after.status, after.message, after.recap), (before.status, Some(said), before.recap));
    assert_eq!((after.start_time, after.end_time), (before.start_time, before.end_time));
    assert_eq!(world.kubelet.runs_of("a"), 1);
}

#[tokio::test]
async fn a_restored_record_without_signature_shows_no_result() {
    let world = World::new().await;
    world.cluster("prod").await;
    let mut forged = ClusterOperation::new("never", world.submit("a", "prod", "fail").await.spec);
    world.ended("a").await;
    forged.metadata.labels = Some([("hasCompleted".to_owned(), "done".to_owned())].into());
    let outcome = r#"{"status":"Succeeded","reason":"Succeeded","message":"All is well.","endTime":null}"#;
    forged.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), outcome.to_owned())].into());
    world.operations().create(&PostParams::default(), &forged).await.unwrap();
    let never = world.operation_that("never", "be a record", |operation| reason(operation) == "Restored").await;
    assert_eq!(phase(&never), Phase::Pending);
    assert!(message(&never).ends_with("without the controller's signature: Succeeded: All is well."), "{never:#?}");
    // The controller has seen the record before it ends the next operation.
    world.submit("b", "prod", "fail").await;
    world.ended("b").await;
    let cluster = world.clusters().get("prod").await.unwrap().status.unwrap();
    assert!(cluster.conditions.iter().all(|entry| entry.cluster_ops != "never"), "{cluster:#?}");
    assert_eq!(world.kubelet.runs_of("never"), 0);
}

#[tokio::test]
async fn an_operation_with_only_the_label_is_kept_as_a_record() {
    let world = World::new().await;
    world.cluster("prod").await;
    let mut operation = ClusterOperation::default();
    operation.metadata.name = Some("old".into());
    operation.metadata.labels = Some([("hasCompleted".to_owned(), "done".to_owned())].into());
    operation.spec.cluster = "prod".into();
    (operation.spec.action, operation.spec.image) = ("scale.yml".into(), "ok".into());
    world.operations().create(&PostParams::default(), &operation).await.unwrap();
    let old = world.operation_that("old", "say what it is", |operation| reason(operation) == "Restored").await;
    assert_eq!(phase(&old), Phase::Pending);
    assert!(message(&old).contains("is not run"));
    world.submit("new", "prod", "ok").await;
    assert_eq!(phase(&world.ended("new").await), Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("old"), 0);
}

#[tokio::test]
async fn a_recreated_cluster_gets_its_history_back() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    world.ended("a").await;
    let spec = world.clusters().get("prod").await.unwrap().spec;
    world.clusters().delete("prod", &Default::default()).await.unwrap();
    world.clusters().create(&PostParams::default(), &Cluster::new("prod", spec)).await.unwrap();
    let cluster = world
        .cluster_that("prod", "remember a", |cluster| {
            cluster.status.as_ref().is_some_and(|status| status.conditions.iter().any(|entry| entry.cluster_ops == "a"))
        })
        .await;
    assert_eq!(cluster.status.unwrap().conditions[0].status, Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("a"), 1);
}
