//! While the disk of the data directory is full, no operation starts.

use crd::Phase;
use disk::Room;
use tokio::sync::watch;

use crate::world::{World, message, phase, reason};

#[tokio::test]
async fn operations_wait_while_the_disk_is_full() {
    let mut world = World::without_controller().await;
    let (room, seen) = watch::channel(Room::Full);
    world.config.room = seen;
    world.start_controller().await;
    for cluster in ["x", "y"] {
        world.cluster(cluster).await;
    }
    for (name, cluster) in [("on-x", "x"), ("on-x-later", "x"), ("on-y", "y")] {
        world.submit(name, cluster, "ok").await;
    }
    for name in ["on-x", "on-y"] {
        let waiting = world.operation_that(name, "wait", |operation| reason(operation) == "DiskFull").await;
        assert!(message(&waiting).contains(disk::FULL), "{}", message(&waiting));
        assert!(crd::is_true(&waiting.status.unwrap().conditions, "Queued"));
    }
    world.operation_that("on-x-later", "wait", |operation| reason(operation) == "ClusterBusy").await;
    let events = async || world.events_of(&world.operations().get("on-y").await.unwrap()).await;
    crate::world::eventually(async || (!events().await.is_empty()).then_some(())).await.expect("an Event");
    // A cancelled operation ends although the disk is full. By then a controller that tries again all the time would have made more
    // requests about the others.
    let requests = || {
        let all = world.controller().relay.requests.lock().unwrap();
        all.iter().filter(|request| request.contains("on-y")).count()
    };
    let before = requests();
    world.cancel("on-x").await;
    assert_eq!(phase(&world.ended("on-x").await), Phase::Failed);
    world.operation_that("on-x-later", "wait", |operation| reason(operation) == "DiskFull").await;
    assert_eq!(requests(), before);
    assert_eq!(world.kubelet.runs.lock().unwrap().len(), 0);

    room.send_replace(Room::Enough);
    for name in ["on-x-later", "on-y"] {
        assert_eq!(phase(&world.ended(name).await), Phase::Succeeded);
    }
}

#[tokio::test]
async fn a_full_disk_ends_no_running_operation_and_hands_on_no_turn() {
    let mut world = World::without_controller().await;
    let (room, seen) = watch::channel(Room::Enough);
    world.config.room = seen;
    world.start_controller().await;
    world.cluster("x").await;
    world.submit("first", "x", "hold").await;
    world.operation_that("first", "run", |operation| reason(operation) == "Running").await;
    world.submit("second", "x", "ok").await;
    world.operation_that("second", "wait", |operation| reason(operation) == "ClusterBusy").await;
    room.send_replace(Room::Full);
    world.kubelet.release("first");
    assert_eq!(phase(&world.ended("first").await), Phase::Succeeded);
    world.operation_that("second", "wait", |operation| reason(operation) == "DiskFull").await;
    room.send_replace(Room::Enough);
    assert_eq!(phase(&world.ended("second").await), Phase::Succeeded);
}
