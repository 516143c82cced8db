//! An operation that is exported, deleted and restored stays a finished operation.

use crd::{Cluster, ClusterOperation, Phase};
use kube::api::PostParams;
use kube::{Resource, ResourceExt};

use crate::world::{World, message, phase, reason};

#[tokio::test]
async fn a_finished_operation_that_is_applied_again_does_not_run() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "fail").await;
    let before = world.finished("a").await;
    world.delete("a").await;
    // As after an export: `create` drops the status, and the API assigns a new uid.
    let mut exported = before.clone();
    exported.meta_mut().resource_version = None;
    exported.meta_mut().managed_fields = None;
    world.operations().create(&PostParams::default(), &exported).await.unwrap();
    let after = world.finished("a").await;
    assert_ne!(before.uid(), after.uid());
    let (before, after) = (before.status.unwrap(), after.status.unwrap());
    assert_eq!(
        (after.status, after.reason, after.message, after.recap),
        (before.status, before.reason, before.message, before.recap)
    );
    assert_eq!((after.start_time, after.end_time), (before.start_time, before.end_time));
    assert_eq!(world.kubelet.runs_of("a"), 1);
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
    assert_eq!(phase(&world.finished("new").await), Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("old"), 0);
}

#[tokio::test]
async fn a_recreated_cluster_gets_its_history_back() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    world.finished("a").await;
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
