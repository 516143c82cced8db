//! K12: which operations are kept and which are removed. See `docs/defects-of-the-reference.md`.

use crd::Phase;
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;

use crate::world::{World, eventually, phase};

#[tokio::test]
async fn k12_old_operations_go_by_score_then_age() {
    let world = World::new().await;
    limit(&world, "3").await;
    world.cluster("prod").await;
    for name in ["a", "b", "c"] {
        world.submit(name, "prod", "ok").await;
        world.ended(name).await;
    }
    let score = json!({"metadata": {"annotations": {"clay.io/eliminate-score": "7"}}});
    world.operations().patch("b", &PatchParams::default(), &Patch::Merge(score)).await.unwrap();
    world.submit("d", "prod", "hold").await;
    world.submit("e", "prod", "hold").await;
    world.operation_that("d", "run", |operation| phase(operation) == Phase::Running).await;
    assert_eq!(names(&world).await, ["a", "b", "c", "d", "e"]);
    world.kubelet.release("d");
    let left = async |wanted: &[&str]| eventually(async || (names(&world).await == wanted).then_some(())).await;
    left(&["a", "c", "d", "e"]).await.expect("the highest score goes first");
    world.kubelet.release("e");
    left(&["c", "d", "e"]).await.expect("then the oldest");
    let jobs = eventually(async || (world.all_jobs().await.len() == 3).then_some(()));
    jobs.await.expect("their Jobs are collected, too");
}

#[tokio::test]
async fn k10_refused_and_cancelled_operations_are_removed_too() {
    let world = World::new().await;
    limit(&world, "2").await;
    world.cluster("prod").await;
    world.submit_with("a-refused", "prod", |spec| spec.action = "../etc/passwd".into()).await;
    world.refused("a-refused", "ActionInvalid").await;
    world.submit("b-hold", "prod", "hold").await;
    world.operation_that("b-hold", "run", |b| phase(b) == Phase::Running).await;
    world.submit("c-cancelled", "prod", "ok").await;
    world.cancel("c-cancelled").await;
    world.refused("c-cancelled", "Cancelled").await;
    world.kubelet.release("b-hold");
    let left = async |wanted: &[&str]| eventually(async || (names(&world).await == wanted).then_some(())).await;
    left(&["b-hold", "c-cancelled"]).await.expect("the refused one goes first");
    for name in ["d", "e"] {
        world.submit(name, "prod", "ok").await;
    }
    left(&["d", "e"]).await.expect("the cancelled one goes, too");
}

#[tokio::test]
async fn k12_operations_that_wait_or_run_are_never_removed() {
    let world = World::new().await;
    limit(&world, "1").await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    world.operation_that("a", "run", |a| phase(a) == Phase::Running).await;
    for name in ["b", "c", "d"] {
        world.submit(name, "prod", "ok").await;
        let score = json!({"metadata": {"annotations": {"clay.io/eliminate-score": "99"}}});
        world.operations().patch(name, &PatchParams::default(), &Patch::Merge(score)).await.unwrap();
    }
    world.operation_that("d", "wait", |d| crate::world::reason(d) == "ClusterBusy").await;
    assert_eq!(names(&world).await, ["a", "b", "c", "d"], "more than the limit, but none has ended");
    world.submit("e-refused", "prod", "").await;
    world.refused("e-refused", "ImageMissing").await;
    let cluster = world.clusters().get("prod").await.unwrap().status.unwrap();
    let told: Vec<_> = cluster.conditions.iter().map(|entry| (entry.cluster_ops.as_str(), entry.status)).collect();
    assert!(told.contains(&("a", Phase::Running)) && told.contains(&("e-refused", Phase::Failed)), "{told:?}");
    world.kubelet.release("a");
    let left = async |wanted: &[&str]| eventually(async || (names(&world).await == wanted).then_some(())).await;
    // By then all have run, and the ended ones with the highest score are removed first.
    left(&["e-refused"]).await.expect("one record is kept");
    let ran: Vec<_> = world.kubelet.runs.lock().unwrap().iter().map(|run| run.operation.clone()).collect();
    assert_eq!(ran, ["a", "b", "c", "d"]);
}

async fn limit(world: &World, number: &str) {
    let data = [("CLUSTER_OPERATIONS_BACKEND_LIMIT", number)];
    world.config_map_in(&world.config.controller_namespace, "kubeonkube-config", &data).await;
}

async fn names(world: &World) -> Vec<String> {
    let mut names: Vec<_> = world
        .operations()
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .iter()
        .map(ResourceExt::name_any)
        .collect();
    names.sort();
    names
}
