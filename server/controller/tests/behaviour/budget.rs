//! How many API requests an operation makes.

use crate::world::{World, ready, reason};

const BUDGET: usize = 12;

#[tokio::test]
async fn an_operation_makes_at_most_12_requests() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.cluster_that("prod", "know its inputs", ready).await;
    // The Cluster's inputs are read once more after they were labelled. One operation later, that is done.
    spent_on(&world, "before", "ok").await;
    for name in ["first", "second"] {
        let spent = spent_on(&world, name, "ok").await;
        assert!(spent.len() <= BUDGET, "{} requests: {spent:#?}", spent.len());
    }
    let spent = spent_on(&world, "failing", "fail").await;
    assert!(spent.len() <= BUDGET, "{} requests: {spent:#?}", spent.len());
}

#[tokio::test]
async fn a_queued_operation_makes_at_most_12_requests() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.cluster_that("prod", "know its inputs", ready).await;
    spent_on(&world, "before", "ok").await;
    let before = world.controller().relay.requests.lock().unwrap().len();
    let names: Vec<String> = (0..20).map(|n| format!("op-{n:02}")).collect();
    world.submit(&names[0], "prod", "hold").await;
    for name in &names[1..] {
        world.submit(name, "prod", "ok").await;
    }
    world.operation_that(&names[19], "wait", |operation| reason(operation) == "ClusterBusy").await;
    world.kubelet.release(&names[0]);
    for name in &names {
        world.ended(name).await;
        world.story(name).await;
    }
    let spent = world.controller().relay.requests.lock().unwrap()[before..].to_vec();
    assert!(spent.len() <= BUDGET * names.len(), "{} requests for {} operations: {spent:#?}", spent.len(), names.len());
}

#[tokio::test]
async fn inputs_are_not_read_without_a_slot() {
    let world = World::with_slots(1).await;
    for name in ["x", "y"] {
        world.cluster(name).await;
        world.cluster_that(name, "know its inputs", ready).await;
    }
    world.submit("on-x", "x", "hold").await;
    world.operation_that("on-x", "run", |operation| reason(operation) == "Running").await;
    let before = world.controller().relay.requests.lock().unwrap().len();
    world.submit("on-y", "y", "ok").await;
    world.operation_that("on-y", "wait", |operation| reason(operation) == "TooManyRunning").await;
    let spent = world.controller().relay.requests.lock().unwrap()[before..].to_vec();
    assert!(!spent.iter().any(|request| request.starts_with("GET")), "{spent:#?}");
    world.kubelet.release("on-x");
    world.ended("on-y").await;
}

#[tokio::test]
async fn a_wait_for_a_slot_stays_within_12_requests() {
    let world = World::with_slots(1).await;
    for name in ["x", "y"] {
        world.config_map(&format!("{name}-known-hosts"), &[("known_hosts", "m1 ssh-ed25519 AAAA\n")]).await;
        world.cluster(name).await;
        world.labelled(&format!("{name}-known-hosts")).await;
        world.cluster_that(name, "know its inputs", ready).await;
        // As above: the inputs are read once more after they were labelled.
        spent_on_cluster(&world, name, &format!("before-{name}"), "ok").await;
    }
    let before = world.controller().relay.requests.lock().unwrap().len();
    world.submit("on-x", "x", "hold").await;
    world.operation_that("on-x", "run", |operation| reason(operation) == "Running").await;
    world.submit("on-y", "y", "ok").await;
    world.operation_that("on-y", "wait", |operation| reason(operation) == "TooManyRunning").await;
    world.kubelet.release("on-x");
    for name in ["on-x", "on-y"] {
        world.ended(name).await;
        world.story(name).await;
    }
    let spent = world.controller().relay.requests.lock().unwrap()[before..].to_vec();
    assert!(spent.len() <= 2 * BUDGET, "{} requests for two operations: {spent:#?}", spent.len());
}

#[tokio::test]
async fn idle_operations_cause_no_requests() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.cluster("test").await;
    world.submit("last", "test", "ok").await;
    world.submit("running", "prod", "hold").await;
    world.submit("waiting", "prod", "ok").await;
    world.ended("last").await;
    world.story("last").await;
    world.operation_that("waiting", "wait", |operation| reason(operation) == "ClusterBusy").await;
    world.operation_that("running", "run", |operation| reason(operation) == "Running").await;
    world.cluster_that("prod", "know its inputs", ready).await;
    world.cluster_that("test", "know its inputs", ready).await;
    let count = || world.controller().relay.requests.lock().unwrap().len();
    let before = count();
    // No condition shows that nothing happens, so wait for a while.
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let after = world.controller().relay.requests.lock().unwrap()[before..].to_vec();
    assert!(after.is_empty(), "{after:#?}");
}

async fn spent_on(world: &World, name: &str, image: &str) -> Vec<String> {
    spent_on_cluster(world, "prod", name, image).await
}

/// The requests from the submission to the Event about the end.
async fn spent_on_cluster(world: &World, cluster: &str, name: &str, image: &str) -> Vec<String> {
    let before = world.controller().relay.requests.lock().unwrap().len();
    world.submit(name, cluster, image).await;
    world.ended(name).await;
    world.story(name).await;
    world.controller().relay.requests.lock().unwrap()[before..].to_vec()
}
