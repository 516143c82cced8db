//! The conditions that other tools read: Ready, Reconciling and Stalled.

use crd::{Cluster, ClusterOperation, Condition, Phase};
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::world::{World, phase, reason};

/// Those of the three conditions that are true. Ready must exist, and the other two must be absent if they don't hold.
fn standing(conditions: &[Condition]) -> Vec<&str> {
    let of_tools = |c: &&Condition| ["Ready", "Reconciling", "Stalled"].contains(&c.type_.as_str());
    let found: Vec<&Condition> = conditions.iter().filter(of_tools).collect();
    assert!(found.iter().any(|c| c.type_ == "Ready"), "{conditions:#?}");
    assert!(found.iter().all(|c| c.status == "True" || c.type_ == "Ready"), "{conditions:#?}");
    found.into_iter().filter(|c| c.status == "True").map(|c| c.type_.as_str()).collect()
}

fn of_operation(operation: &ClusterOperation) -> Vec<&str> {
    let status = operation.status.as_ref().expect("a status");
    assert_eq!(status.observed_generation, operation.metadata.generation);
    standing(&status.conditions)
}

fn is(cluster: &Cluster, wanted: &str) -> bool {
    let status = cluster.status.as_ref();
    let seen = status.is_some_and(|status| status.observed_generation == cluster.metadata.generation);
    let conditions = status.map(|status| status.cluster_conditions.as_slice()).unwrap_or_default();
    seen && conditions.iter().any(|c| c.type_ == "Ready") && standing(conditions) == [wanted]
}

#[tokio::test]
async fn each_state_of_an_operation_has_one_verdict() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("runs", "prod", "hold").await;
    let runs = world.operation_that("runs", "run", |operation| phase(operation) == Phase::Running).await;
    assert_eq!(of_operation(&runs), ["Reconciling"]);
    world.submit("waits", "prod", "ok").await;
    let waits = world.operation_that("waits", "wait", |operation| reason(operation) == "ClusterBusy").await;
    assert_eq!(of_operation(&waits), ["Reconciling"]);
    for name in ["waits", "runs"] {
        world.cancel(name).await;
        let cancelled = world.ended(name).await;
        assert_eq!((reason(&cancelled), of_operation(&cancelled)), ("Cancelled", vec!["Stalled"]));
    }
    world.submit("succeeds", "prod", "ok").await;
    assert_eq!(of_operation(&world.ended("succeeds").await), ["Ready"]);
    world.submit("fails", "prod", "fail").await;
    assert_eq!(of_operation(&world.ended("fails").await), ["Stalled"]);
    world.cluster("broken").await;
    world.config_map("broken-hosts", &[("hosts.yml", "all: [oops")]).await;
    world.submit("refused", "broken", "ok").await;
    world.refused("refused", "InventoryInvalid").await;
    assert_eq!(of_operation(&world.ended("refused").await), ["Stalled"]);
}

/// Helm looks at what it has created once, at once.
#[tokio::test]
async fn an_operation_is_reconciling_before_a_controller_sees_it() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let spec = json!({"cluster": "prod", "actionType": "playbook", "action": "ping.yml", "image": "ok"});
    // A client may not write the status.
    let new = json!({"metadata": {"name": "new"}, "spec": spec, "status": {"status": "Succeeded"}});
    let created =
        world.operations().create(&PostParams::default(), &serde_json::from_value(new).unwrap()).await.unwrap();
    for new in [created, world.operations().get("new").await.unwrap()] {
        let status = new.status.expect("a status");
        assert!(crd::is_true(&status.conditions, "Reconciling") && status.conditions.len() == 1, "{status:#?}");
        assert_eq!((status.status, status.observed_generation), (Phase::Pending, None));
    }
    world.start_controller().await;
    assert_eq!(of_operation(&world.ended("new").await), ["Ready"]);
}

/// An earlier version ended the operation after a rollback. It doesn't know these conditions and leaves them as they were.
#[tokio::test]
async fn conditions_that_an_earlier_version_left_are_corrected() {
    let mut world = World::new().await;
    world.cluster("prod").await;
    for (name, image, wanted) in [("good", "ok", "Ready"), ("bad", "fail", "Stalled")] {
        world.submit(name, "prod", image).await;
        let ended = world.ended(name).await;
        world.stop_controller().await;
        let mut conditions = ended.status.clone().unwrap().conditions;
        let message = "The Job exists.";
        let now = crd::Time(jiff::Timestamp::UNIX_EPOCH);
        crd::set_standing(&mut conditions, crd::Standing::Reconciling, "Running", message, &now, Some(1));
        let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
        world.operations().patch_status(name, &PatchParams::default(), &patch).await.unwrap();
        world.start_controller().await;
        let corrected = world
            .operation_that(name, "be corrected", |operation| {
                operation.status.as_ref().is_some_and(|status| crd::is_true(&status.conditions, wanted))
            })
            .await;
        assert_eq!(of_operation(&corrected), [wanted]);
        let (before, after) = (ended.status.unwrap(), corrected.status.unwrap());
        assert_eq!((after.message, after.signature), (before.message, before.signature));
    }
}

#[tokio::test]
async fn conditions_that_a_client_overwrote_come_back() {
    let world = World::new().await;
    world.cluster("prod").await;
    for (name, image, wanted, other) in [("good", "ok", "Complete", "Failed"), ("bad", "fail", "Failed", "Complete")] {
        world.submit(name, "prod", image).await;
        let before = world.ended(name).await.status.unwrap();
        let now = "2026-01-01T00:00:00Z";
        let forged = [(other, "True"), (wanted, "False"), ("Running", "True")].map(|(kind, status)| {
            json!({"type": kind, "status": status, "reason": "Forged", "message": "", "lastTransitionTime": now})
        });
        for conditions in [json!([]), json!(forged)] {
            let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
            world.operations().patch_status(name, &PatchParams::default(), &patch).await.unwrap();
            let repaired = world
                .operation_that(name, "be repaired", |operation| {
                    operation.status.as_ref().is_some_and(|status| {
                        let is_true = |kind| crd::is_true(&status.conditions, kind);
                        is_true(wanted) && !is_true(other) && !is_true("Running")
                    })
                })
                .await;
            let after = repaired.status.unwrap();
            let found = after.conditions.iter().find(|condition| condition.type_ == wanted).unwrap();
            assert_eq!(Some(&found.message), before.message.as_ref());
            assert_eq!((after.message, after.signature), (before.message.clone(), before.signature.clone()));
        }
    }
}

#[tokio::test]
async fn a_cluster_says_how_its_last_operation_ended() {
    let world = World::new().await;
    world.cluster("prod").await;
    for (name, image, arguments, wanted) in [
        ("look", "ok", Some("--check --diff"), "Operation look, only a check, succeeded."),
        (
            "idle",
            "untouched",
            None,
            "Operation idle succeeded with a warning: ping.yml reached no machine: on n2, only tasks succeeded that need no \
             connection to it, such as debug. ping.yml: 2 hosts, 4 tasks ok, 1 changed.",
        ),
        ("change", "ok", None, "Operation change succeeded."),
    ] {
        let change = |spec: &mut crd::ClusterOperationSpec| {
            (spec.image, spec.extra_args) = (image.into(), arguments.map(str::to_owned));
        };
        world.submit_with(name, "prod", change).await;
        world.ended(name).await;
        world
            .cluster_that("prod", wanted, |cluster| {
                let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.as_slice());
                let mut conditions = conditions.unwrap_or_default().iter();
                conditions.any(|c| c.type_ == "LastOperationSucceeded" && c.message == wanted)
            })
            .await;
    }
}

#[tokio::test]
async fn each_change_of_a_cluster_is_observed() {
    let world = World::new().await;
    world.cluster("prod").await;
    let before = world.cluster_that("prod", "be ready", |cluster| is(cluster, "Ready")).await;
    // Nothing about its inputs changes.
    let patch = Patch::Merge(json!({"spec": {"probeURL": "https://shop.example.com/healthz"}}));
    let edited = world.clusters().patch("prod", &PatchParams::default(), &patch).await.unwrap();
    assert_ne!(edited.metadata.generation, before.metadata.generation);
    let seen = |cluster: &Cluster| cluster.metadata.generation == edited.metadata.generation && is(cluster, "Ready");
    world.cluster_that("prod", "be observed", seen).await;
    world.config_map("prod-hosts", &[("hosts.yml", "all: [oops")]).await;
    world.cluster_that("prod", "be stalled", |cluster| is(cluster, "Stalled")).await;
}

#[tokio::test]
async fn a_hosted_cluster_is_ready_with_its_control_plane() {
    let world = World::new().await;
    let spec =
        json!({"hosted": {"namespace": "shop", "version": "v1.36.4", "networking": {"podCidr": "10.244.0.0/16"}}});
    let shop = Cluster::new("shop", serde_json::from_value(spec).unwrap());
    world.clusters().create(&PostParams::default(), &shop).await.unwrap();
    world.cluster_that("shop", "be new", |cluster| is(cluster, "Reconciling")).await;
    let condition = |kind: &str, status: &str, reason: &str| {
        let at = "2026-01-01T00:00:00Z";
        json!({"type": kind, "status": status, "reason": reason, "message": "It is so.", "lastTransitionTime": at})
    };
    let says = async |generation: i64, conditions: &[Value]| {
        let hosted = json!({"status": {"hosted": {"observedGeneration": generation, "conditions": conditions}}});
        world.clusters().patch_status("shop", &PatchParams::default(), &Patch::Merge(&hosted)).await.unwrap();
    };
    let ready = condition("Ready", "True", "Ready");
    let refused = ["Accepted", "Ready"].map(|kind| condition(kind, "False", "NeedsKubernetes"));
    // Each verdict differs from the one before, so none is met by an old status.
    says(1, std::slice::from_ref(&ready)).await;
    world.cluster_that("shop", "be ready", |cluster| is(cluster, "Ready")).await;
    says(1, &[condition("Ready", "False", "Starting")]).await;
    world.cluster_that("shop", "start again", |cluster| is(cluster, "Reconciling")).await;
    says(1, &[condition("Ready", "Unknown", "Paused")]).await;
    world.cluster_that("shop", "be paused", |cluster| is(cluster, "Stalled")).await;
    says(1, std::slice::from_ref(&ready)).await;
    world.cluster_that("shop", "be ready again", |cluster| is(cluster, "Ready")).await;
    says(1, &refused).await;
    world.cluster_that("shop", "be refused", |cluster| is(cluster, "Stalled")).await;
    // An old result says nothing of the new spec.
    says(0, &[ready]).await;
    world.cluster_that("shop", "be checked again", |cluster| is(cluster, "Reconciling")).await;
}
