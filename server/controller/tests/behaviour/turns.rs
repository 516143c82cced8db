//! One operation per cluster at a time, in the order of submission, and `--max-running`.

use std::collections::HashMap;
use std::time::Duration;

use crd::Phase;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::world::{World, eventually, message, phase, ready, reason};

#[tokio::test]
async fn operations_run_in_the_order_of_their_submission() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    let names: Vec<String> = (0..10).map(|n| format!("b{n}")).collect();
    for name in &names {
        world.submit(name, "prod", "ok").await;
    }
    world.operation_that("b9", "wait", |operation| reason(operation) == "ClusterBusy").await;
    world.kubelet.release("a");
    for name in &names {
        world.ended(name).await;
    }
    let ran: Vec<String> = world.kubelet.runs.lock().unwrap().iter().map(|run| run.operation.clone()).collect();
    assert_eq!(ran[1..], names);
    let entries = world.cluster_that("prod", "be idle", |cluster| !busy(cluster)).await.status.unwrap().conditions;
    let mut newest: Vec<_> = entries.iter().map(|entry| entry.start_time.clone()).collect();
    newest.sort();
    newest.reverse();
    assert_eq!(newest, entries.iter().map(|entry| entry.start_time.clone()).collect::<Vec<_>>(), "newest first");
}

/// Creation times have whole seconds, a restarted controller gets all operations sorted by name, and each write changes an object's
/// version.
#[tokio::test]
async fn names_restarts_and_edits_do_not_change_the_order() {
    let mut world = World::new().await;
    world.cluster("prod").await;
    world.submit("first", "prod", "hold").await;
    let names = ["week-prepare", "upgrade", "check-after"];
    for name in names {
        world.submit(name, "prod", "ok").await;
    }
    for name in names {
        let waiting = world.operation_that(name, "wait", |operation| reason(operation) == "ClusterBusy").await;
        assert!(waiting.status.unwrap().accepted_version.is_some());
    }
    let note = Patch::Merge(json!({"metadata": {"annotations": {"note": "edited"}}}));
    for name in ["week-prepare", "upgrade"] {
        world.operations().patch(name, &PatchParams::default(), &note).await.unwrap();
    }
    world.stop_controller().await;
    world.start_controller().await;
    let said = async |name: &str| message(&world.operation_that(name, "wait", |_| true).await).to_owned();
    assert_eq!(said("check-after").await, "Waiting for operation upgrade on cluster prod.");
    world.kubelet.release("first");
    for name in names {
        world.ended(name).await;
    }
    let ran: Vec<String> = world.kubelet.runs.lock().unwrap().iter().map(|run| run.operation.clone()).collect();
    assert_eq!(ran[1..], names);
}

#[tokio::test]
async fn max_running_counts_all_clusters_and_all_get_a_slot() {
    let world = World::with_slots(2).await;
    for n in 0..6 {
        world.cluster(&format!("c{n}")).await;
        world.submit(&format!("op-{n}"), &format!("c{n}"), "hold").await;
    }
    for n in 0..6 {
        eventually(async || (world.kubelet.runs.lock().unwrap().len() == (n + 2).min(6)).then_some(()))
            .await
            .expect("two run");
        let running = world
            .controller()
            .running
            .operations
            .state()
            .iter()
            .filter(|operation| phase(operation) == Phase::Running)
            .count();
        assert!(running <= 2, "{running} run");
        let next = world.kubelet.runs.lock().unwrap()[n].operation.clone();
        world.kubelet.release(&next);
        world.ended(&next).await;
    }
    assert_eq!(world.kubelet.runs.lock().unwrap().len(), 6);
}

#[tokio::test]
async fn an_operation_says_that_it_waits_for_a_slot() {
    let world = World::with_slots(1).await;
    for name in ["x", "y"] {
        world.cluster(name).await;
        world.submit(&format!("on-{name}"), name, "hold").await;
        world.operation_that(&format!("on-{name}"), "run or wait", |operation| !reason(operation).is_empty()).await;
    }
    let waiting = world.operation_that("on-y", "wait", |operation| reason(operation) == "TooManyRunning").await;
    assert!(message(&waiting).contains("--max-running"));
    world.submit("second", "y", "ok").await;
    world.operation_that("second", "wait for its cluster", |operation| reason(operation) == "ClusterBusy").await;
    world.kubelet.release("on-x");
    world.operation_that("on-y", "run", |operation| phase(operation) == Phase::Running).await;
    world.kubelet.release("on-y");
    let queued = |story: Vec<(String, String)>| -> Vec<String> {
        story.into_iter().filter(|(reason, _)| reason == "Queued").map(|(_, note)| note).collect()
    };
    assert_eq!(queued(world.story("on-y").await), [message(&waiting)], "one Event says it");
    assert_eq!(queued(world.story("second").await), ["Waiting for operation on-y on cluster y."]);
}

#[tokio::test]
async fn an_unused_slot_goes_to_the_next_operation() {
    let mut world = World::without_controller().await;
    world.config.max_running = 1;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.create_cluster("x", |_| {}).await;
    world.cluster_that("x", "miss its inputs", |cluster| !busy(cluster)).await;
    world.cluster("y").await;
    world.controller().relay.hold_back("/configmaps/x-hosts");
    world.submit("on-x", "x", "ok").await;
    world.submit("on-y", "y", "ok").await;
    world.operation_that("on-y", "wait", |operation| reason(operation) == "TooManyRunning").await;
    world.controller().relay.let_through();
    assert_eq!(phase(&world.ended("on-y").await), Phase::Succeeded);
    world.operation_that("on-x", "wait still", |operation| reason(operation) == "WaitsForInputs").await;
}

#[tokio::test]
async fn a_failing_claim_does_not_use_up_the_slots() {
    let world = World::with_slots(1).await;
    for name in ["x", "y"] {
        world.cluster(name).await;
        world.cluster_that(name, "know its inputs", ready).await;
    }
    world.submit("on-x", "x", "hold").await;
    world.operation_that("on-x", "run", |operation| reason(operation) == "Running").await;
    world.submit("on-y", "y", "ok").await;
    world.operation_that("on-y", "wait", |operation| reason(operation) == "TooManyRunning").await;
    let relay = &world.controller().relay;
    relay.refuse("clusters/y/status", "a policy says no");
    let claims = || relay.refusals.lock().unwrap().clone();
    world.kubelet.release("on-x");
    eventually(async || (claims().len() > 3).then_some(())).await.expect("it is tried and retried");
    let claims = claims();
    assert!(claims[3] - claims[0] > Duration::from_secs(2), "there are pauses between {claims:?}");
    world.cluster("z").await;
    world.submit("on-z", "z", "ok").await;
    assert_eq!(phase(&world.ended("on-z").await), Phase::Succeeded, "others overtake it");
    relay.allow();
    assert_eq!(phase(&world.ended("on-y").await), Phase::Succeeded);
}

#[tokio::test]
async fn the_turn_of_a_deleted_operation_ends_with_its_run() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    world.submit("b", "prod", "ok").await;
    world.submit("c", "prod", "ok").await;
    world.operation_that("c", "wait", |operation| message(operation).contains("operation b")).await;
    world.delete("b").await;
    world.operation_that("c", "wait for a now", |operation| message(operation).contains("operation a")).await;
    world.delete("a").await;
    assert_eq!(phase(&world.ended("c").await), Phase::Succeeded);
    assert!(world.kubelet.runs.lock().unwrap().iter().all(|run| run.beside.is_empty()));
    let entries = world.clusters().get("prod").await.unwrap().status.unwrap().conditions;
    let ended: HashMap<_, _> = entries.iter().map(|entry| (entry.cluster_ops.as_str(), entry.status)).collect();
    assert_eq!(ended.get("a"), Some(&Phase::Failed), "{ended:?}");
}

fn busy(cluster: &crd::Cluster) -> bool {
    cluster.status.as_ref().is_none_or(|status| crd::is_true(&status.cluster_conditions, "Busy"))
        || cluster.name_any().is_empty()
}
