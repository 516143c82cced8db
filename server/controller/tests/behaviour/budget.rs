//! How many API requests an operation makes.

use crate::world::{World, ready, reason};

/// The kinds of requests, by their method and a part of their path, and the most of each that one operation makes: 12 in all.
const BUDGET: [(&str, &str, usize); 7] = [
    ("GET", "/configmaps", 2),
    ("GET", "/secrets/", 1),
    ("POST", "/secrets?", 1),
    ("POST", "/jobs?", 1),
    ("PATCH", "/clusters/", 2),
    (OWN.0, OWN.1, 3),
    (EVENTS.0, EVENTS.1, 2),
];
const OWN: (&str, &str) = ("PATCH", "/clusteroperations/");
const EVENTS: (&str, &str) = ("POST", "/events?");

/// Fails if `operations` made more requests than their budget. A queued one writes one more status and may write one more Event. It saves
/// others: all of them together make at most twelve for each.
fn assert_within_budget(spent: &[String], operations: usize, queued: usize) {
    // How often the controller looks for a Job or pod depends on the time that watches need.
    let is_look = |what: &str| what.starts_with("GET") && (what.contains("/jobs") || what.contains("/pods"));
    let mut without_kind: Vec<&String> = spent.iter().filter(|what| !is_look(what)).collect();
    let (count, most) = (without_kind.len(), 12 * operations);
    assert!(count <= most, "{count} of {most} requests: {spent:#?}");
    for (method, path, most) in BUDGET {
        let before = without_kind.len();
        without_kind.retain(|what| !(what.starts_with(method) && what.contains(path)));
        let more = if [OWN, EVENTS].contains(&(method, path)) { queued } else { 0 };
        let (count, most) = (before - without_kind.len(), most * operations + more);
        assert!(count <= most, "{count} of {most} requests {method} {path}: {spent:#?}");
    }
    assert!(without_kind.is_empty(), "{without_kind:#?}");
}

#[tokio::test]
async fn an_operation_stays_within_its_budget() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.cluster_that("prod", "know its inputs", ready).await;
    // The Cluster's inputs are read once more after they were labelled. One operation later, that is done.
    spent_on(&world, "before", "ok").await;
    for name in ["first", "second"] {
        let spent = spent_on(&world, name, "ok").await;
        assert_within_budget(&spent, 1, 0);
    }
    let spent = spent_on(&world, "failing", "fail").await;
    assert_within_budget(&spent, 1, 0);
}

#[tokio::test]
async fn queued_operations_stay_within_their_budget() {
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
    let spent = world.controller().relay.requests_since(before);
    assert_within_budget(&spent, names.len(), names.len() - 1);
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
    let spent = world.controller().relay.requests_since(before);
    assert!(!spent.iter().any(|request| request.starts_with("GET")), "{spent:#?}");
    world.kubelet.release("on-x");
    world.ended("on-y").await;
}

#[tokio::test]
async fn a_wait_for_a_slot_stays_within_the_budget() {
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
    let spent = world.controller().relay.requests_since(before);
    assert_within_budget(&spent, 2, 1);
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
    // An Event follows each status.
    world.tells("waiting", "Queued").await;
    world.tells("running", "Started").await;
    world.cluster_that("prod", "know its inputs", ready).await;
    world.cluster_that("test", "know its inputs", ready).await;
    let count = || world.controller().relay.requests.lock().unwrap().len();
    let before = count();
    // A minute of tokio's clock, in which all timers of the controller end. It passes at once while nothing happens.
    tokio::time::pause();
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let after = world.controller().relay.requests_since(before);
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
    world.controller().relay.requests_since(before)
}
