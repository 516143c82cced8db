//! Cancelling, and suspended Jobs, which look similar.

use crd::Phase;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::world::{World, eventually, message, phase, reason};

#[tokio::test]
async fn a_cancelled_operation_names_the_tasks_in_flight() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    world.submit("b", "prod", "ok").await;
    world.cancel("a").await;
    let a = world.ended("a").await;
    assert_eq!((phase(&a), reason(&a)), (Phase::Failed, "Cancelled"), "{}", message(&a));
    assert_eq!(message(&a), "The run was cancelled while task “Upgrade” was in flight on w1.");
    assert_eq!(world.jobs().get("kubeonkube-a-job").await.unwrap().spec.unwrap().suspend, Some(true));
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded, "the next one runs");
    assert!(world.kubelet.runs.lock().unwrap().iter().all(|run| run.beside.is_empty()));
}

#[tokio::test]
async fn a_waiting_operation_is_cancelled_at_once_and_never_runs() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    world.submit("b", "prod", "ok").await;
    world.submit("c", "prod", "ok").await;
    world.operation_that("c", "wait", |operation| message(operation).contains("operation b")).await;
    world.cancel("b").await;
    world.refused("b", "Cancelled").await;
    world.operation_that("c", "wait for a now", |operation| message(operation).contains("operation a")).await;
    world.kubelet.release("a");
    assert_eq!(phase(&world.ended("c").await), Phase::Succeeded);
}

#[tokio::test]
async fn k13_a_suspended_job_has_not_failed() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    let suspend = json!({"spec": {"suspend": true}});
    world.jobs().patch("kubeonkube-a-job", &PatchParams::default(), &Patch::Merge(suspend)).await.unwrap();
    let a = world.operation_that("a", "say that it is suspended", |operation| reason(operation) == "Suspended").await;
    assert_eq!(phase(&a), Phase::Running);
}

/// Otherwise tools that wait for the generation would wait for ever.
#[tokio::test]
async fn an_edit_after_the_end_is_observed() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    let ended = world.ended("a").await;
    let cancel = Patch::Merge(json!({"spec": {"cancel": true}}));
    world.operations().patch("a", &PatchParams::default(), &cancel).await.unwrap();
    let edited = world
        .operation_that("a", "be observed again", |a| {
            let seen = a.status.as_ref().and_then(|status| status.observed_generation);
            seen == a.metadata.generation && seen != ended.metadata.generation
        })
        .await;
    let (before, after) = (ended.status.unwrap(), edited.status.unwrap());
    assert!(crd::is_true(&after.conditions, "Ready"));
    assert_eq!((after.status, after.reason, after.signature), (before.status, before.reason, before.signature));
}
