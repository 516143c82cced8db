//! Results that another client writes on an operation.

use crd::{ClusterOperation, Phase};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::world::{World, eventually, message, phase, reason};

/// Fails when it is released.
const FAILS: &str = "hold-leak";

fn success() -> String {
    json!({"status": "Succeeded", "reason": "Succeeded", "message": "All is well.", "endTime": "2026-01-01T00:00:00Z"})
        .to_string()
}

/// Writes label and annotation as every user can who may edit operations.
async fn mark(world: &World, name: &str) {
    let annotations = json!({crd::ANNOTATION_OUTCOME: success(), crd::ANNOTATION_OUTCOME_SIGNATURE: "1 2 3"});
    patch(world, name, json!({"metadata": {"labels": {"hasCompleted": "done"}, "annotations": annotations}})).await;
}

async fn patch(world: &World, name: &str, patch: Value) {
    world.operations().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

async fn forge_status(world: &World, name: &str) {
    let complete = json!({"type": "Complete", "status": "True", "reason": "Succeeded", "message": "All is well.", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let status = json!({"status": "Succeeded", "reason": "Succeeded", "message": "All is well.", "endTime": "2026-01-01T00:00:00Z", "conditions": [complete]});
    let patch = Patch::Merge(json!({"status": status}));
    world.operations().patch_status(name, &PatchParams::default(), &patch).await.unwrap();
}

fn says_ignored(operation: &ClusterOperation) -> bool {
    operation.status.as_ref().is_some_and(|status| crd::is_true(&status.conditions, "ResultIgnored"))
}

async fn running(world: &World, name: &str) {
    eventually(async || (world.kubelet.runs_of(name) == 1).then_some(())).await.expect("it runs");
    world.operation_that(name, "run", |operation| phase(operation) == Phase::Running).await;
}

async fn is_stopped(world: &World, name: &str) -> bool {
    world.jobs().get(&crd::job_name(name)).await.unwrap().spec.unwrap().suspend == Some(true)
}

#[tokio::test]
async fn a_forged_result_of_a_running_operation_is_ignored() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", FAILS).await;
    running(&world, "a").await;
    mark(&world, "a").await;
    let a = world.operation_that("a", "say that the result is ignored", says_ignored).await;
    assert_eq!(phase(&a), Phase::Running);
    assert!(!is_stopped(&world, "a").await);
    let told = async || world.events_of(&a).await.into_iter().find(|(reason, _)| reason == "ResultIgnored");
    eventually(told).await.expect("an Event says so");
    world.kubelet.release("a");
    let a = world.operation_that("a", "end", |a| phase(a).is_final()).await;
    assert_eq!((phase(&a), reason(&a)), (Phase::Failed, "TaskFailed"), "{}", message(&a));
    assert!(says_ignored(&a) && a.annotations()[crd::ANNOTATION_OUTCOME].contains("TaskFailed"));
    let prod = world.cluster_that("prod", "know the end", |prod| {
        prod.status.as_ref().is_some_and(|status| status.conditions.iter().all(|entry| entry.status.is_final()))
    });
    assert_eq!(prod.await.status.unwrap().conditions[0].status, Phase::Failed);
}

#[tokio::test]
async fn a_forged_status_is_replaced_during_the_run_and_after_it() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", FAILS).await;
    running(&world, "a").await;
    mark(&world, "a").await;
    forge_status(&world, "a").await;
    let a = world.operation_that("a", "run again", |a| phase(a) == Phase::Running && says_ignored(a)).await;
    let status = a.status.unwrap();
    assert_eq!((status.end_time, crd::is_true(&status.conditions, "Complete")), (None, false));
    assert!(!is_stopped(&world, "a").await);
    world.kubelet.release("a");
    let before = world.ended("a").await;
    assert_eq!((phase(&before), reason(&before)), (Phase::Failed, "TaskFailed"));
    let is_repaired = |a: &ClusterOperation| {
        let status = a.status.as_ref().unwrap();
        a.annotations().get(crd::ANNOTATION_OUTCOME) == before.annotations().get(crd::ANNOTATION_OUTCOME)
            && a.labels().contains_key("hasCompleted")
            && !crd::is_true(&status.conditions, "Complete")
            && (status.status, &status.message) == (Phase::Failed, &before.status.as_ref().unwrap().message)
    };
    forge_status(&world, "a").await;
    world.operation_that("a", "have its own status again", is_repaired).await;
    mark(&world, "a").await;
    world.operation_that("a", "have its own annotation again", is_repaired).await;
    patch(&world, "a", json!({"metadata": {"labels": null, "annotations": null}})).await;
    world.operation_that("a", "have label and annotation again", is_repaired).await;
    assert_eq!(world.kubelet.runs_of("a"), 1);
}

#[tokio::test]
async fn a_forged_label_takes_no_operation_from_the_queue() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    running(&world, "a").await;
    world.submit("b", "prod", "fail").await;
    world.operation_that("b", "wait", |b| reason(b) == "ClusterBusy").await;
    mark(&world, "b").await;
    world.operation_that("b", "say that the result is ignored", says_ignored).await;
    world.submit("c", "prod", "ok").await;
    world.operation_that("c", "wait for b", |c| message(c).contains("operation b")).await;
    world.kubelet.release("a");
    let b = world.operation_that("b", "end", |b| phase(b).is_final()).await;
    assert_eq!((phase(&b), reason(&b), world.kubelet.runs_of("b")), (Phase::Failed, "TaskFailed", 1));
}

#[tokio::test]
async fn a_forged_annotation_makes_no_job_a_placeholder() {
    let mut world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", FAILS).await;
    running(&world, "a").await;
    let annotations = json!({crd::ANNOTATION_OUTCOME: success(), crd::ANNOTATION_OUTCOME_SIGNATURE: "1 2 3"});
    let annotations = json!({"metadata": {"annotations": annotations}});
    let job = crd::job_name("a");
    world.jobs().patch(&job, &PatchParams::default(), &Patch::Merge(annotations)).await.unwrap();
    // A new controller reconciles everything, with this Job.
    world.stop_controller().await;
    world.start_controller().await;
    world.kubelet.release("a");
    let a = world.ended("a").await;
    assert_eq!((phase(&a), reason(&a)), (Phase::Failed, "TaskFailed"), "{}", message(&a));
}
