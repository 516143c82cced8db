//! The controller is killed after its first, second, third … request, and the answer is lost. No run is lost or doubled.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crd::Phase;
use kube::ResourceExt;

use crate::relay::Relay;
use crate::world::{World, eventually, message, phase, reason};

/// More requests than any operation makes.
const MOST: usize = 40;

#[tokio::test]
async fn a_crash_after_any_request_leaves_exactly_one_run() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let mut cuts = 0;
    for n in 1..=MOST {
        let name = format!("op-{n:02}");
        if !crash(&mut world, &name, "ok", n).await {
            break;
        }
        cuts = n;
        world.start_controller().await;
        let operation = world.ended(&name).await;
        assert_eq!(phase(&operation), Phase::Succeeded, "cut after {n}: {}", message(&operation));
        assert_eq!(world.kubelet.runs_of(&name), 1, "cut after {n}");
        let status = operation.status.clone().unwrap();
        assert!(status.inputs.is_some() && status.job_ref.is_some_and(|job| job.uid.is_some()), "cut after {n}");
        one_entry(&world, &operation.name_any()).await;
        world.stop_controller().await;
    }
    assert!(cuts >= 9, "only {cuts} requests were cut");
    assert!(world.kubelet.runs.lock().unwrap().iter().all(|run| run.beside.is_empty()));
}

#[tokio::test]
async fn a_crash_after_any_request_leaves_a_refusal_a_refusal() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    world.config_map("prod-hosts", &[("hosts.yml", "all: [oops")]).await;
    let mut cuts = 0;
    for n in 1..=MOST {
        let name = format!("op-{n:02}");
        if !crash(&mut world, &name, "ok", n).await {
            break;
        }
        cuts = n;
        world.start_controller().await;
        let operation = world.ended(&name).await;
        assert_eq!((phase(&operation), reason(&operation)), (Phase::Failed, "InventoryInvalid"), "cut after {n}");
        one_entry(&world, &name).await;
        world.stop_controller().await;
    }
    assert!(cuts >= 6, "only {cuts} requests were cut");
    assert!(world.all_jobs().await.is_empty());
}

#[tokio::test]
async fn a_crash_during_a_handover_leaves_one_run_each() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let mut cuts = 0;
    for n in 1..=MOST {
        let (first, next) = (format!("a-{n:02}"), format!("b-{n:02}"));
        let relay = Arc::new(Relay::default());
        world.start_controller_behind(relay.clone()).await;
        world.submit(&first, "prod", "hold").await;
        world.operation_that(&first, "run", |operation| phase(operation) == Phase::Running).await;
        world.submit(&next, "prod", "ok").await;
        world.operation_that(&next, "wait", |operation| reason(operation) == "ClusterBusy").await;
        relay.cut_after(n);
        world.kubelet.release(&first);
        eventually(async || (relay.cut.load(Ordering::SeqCst) || world.tells_end(&next).await).then_some(()))
            .await
            .expect("it is cut or has ended");
        let cut = relay.cut.load(Ordering::SeqCst);
        world.kill_controller();
        world.start_controller().await;
        for name in [&first, &next] {
            let operation = world.ended(name).await;
            assert_eq!(phase(&operation), Phase::Succeeded, "cut after {n}: {}", message(&operation));
            assert_eq!(world.kubelet.runs_of(name), 1, "cut after {n}");
        }
        one_entry(&world, &first).await;
        one_entry(&world, &next).await;
        world.stop_controller().await;
        if !cut {
            break;
        }
        cuts = n;
    }
    assert!(cuts >= 12, "only {cuts} requests were cut");
    assert!(world.kubelet.runs.lock().unwrap().iter().all(|run| run.beside.is_empty()));
}

#[tokio::test]
async fn a_crash_after_any_request_of_a_cancel_still_cancels() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let mut cuts = 0;
    for n in 1..=MOST {
        let name = format!("op-{n:02}");
        let relay = Arc::new(Relay::default());
        world.start_controller_behind(relay.clone()).await;
        world.submit(&name, "prod", "hold").await;
        world.operation_that(&name, "run", |operation| phase(operation) == Phase::Running).await;
        eventually(async || (world.kubelet.runs_of(&name) == 1).then_some(())).await.unwrap();
        relay.cut_after(n);
        world.cancel(&name).await;
        eventually(async || (relay.cut.load(Ordering::SeqCst) || world.tells_end(&name).await).then_some(()))
            .await
            .expect("it is cut or has ended");
        let cut = relay.cut.load(Ordering::SeqCst);
        world.kill_controller();
        world.start_controller().await;
        let operation = world.ended(&name).await;
        assert_eq!(
            (phase(&operation), reason(&operation)),
            (Phase::Failed, "Cancelled"),
            "cut after {n}: {}",
            message(&operation)
        );
        one_entry(&world, &name).await;
        world.stop_controller().await;
        if !cut {
            break;
        }
        cuts = n;
    }
    assert!(cuts >= 3, "only {cuts} requests were cut");
}

/// Submits an operation to a controller that dies after `n` requests. False if the operation ended before.
async fn crash(world: &mut World, name: &str, image: &str, n: usize) -> bool {
    let relay = Arc::new(Relay::default());
    world.start_controller_behind(relay.clone()).await;
    let known =
        |cluster: &crd::Cluster| cluster.status.as_ref().is_some_and(|status| status.observed_generation.is_some());
    world.cluster_that("prod", "be observed", known).await;
    relay.cut_after(n);
    world.submit(name, "prod", image).await;
    eventually(async || (relay.cut.load(Ordering::SeqCst) || world.tells_end(name).await).then_some(()))
        .await
        .expect("it is cut or has ended");
    let cut = relay.cut.load(Ordering::SeqCst);
    world.kill_controller();
    cut
}

async fn one_entry(world: &World, name: &str) {
    let entries = world.clusters().get("prod").await.unwrap().status.unwrap().conditions;
    assert_eq!(entries.iter().filter(|entry| entry.cluster_ops == name).count(), 1, "{entries:#?}");
    assert!(entries.iter().all(|entry| entry.status.is_final()), "{entries:#?}");
}
