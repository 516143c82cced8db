//! Policies and quotas that refuse objects: the next operation gets the turn only when no Job can run any more.

use std::sync::Arc;

use crd::Phase;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::races::{JOBS, about_to_create};
use crate::relay::Relay;
use crate::world::{NAMESPACE, World, eventually, message, phase, reason};

const SECRETS: &str = "POST /api/v1/namespaces/lab/secrets";
const POLICY: &str = "admission webhook \"images.example.com\" denied the request: image not allowed";
const QUOTA: &str = "jobs.batch \"x\" is forbidden: exceeded quota: few, requested: count/jobs.batch=1";

/// A world with the cluster `prod` and one controller whose requests with these texts are refused.
async fn world(refused: &[(&str, &str)]) -> (World, Arc<Relay>) {
    let mut world = World::without_controller().await;
    let relay = Arc::new(Relay::default());
    refused.iter().for_each(|(text, why)| relay.refuse(text, why));
    world.start_controller_behind(relay.clone()).await;
    world.cluster("prod").await;
    (world, relay)
}

/// Changes the operation, so that the controller reconciles it before its retry is due.
async fn touch(world: &World, name: &str) {
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"example.com/touched": "yes"}}}));
    world.operations().patch(name, &PatchParams::default(), &patch).await.unwrap();
}

#[tokio::test]
async fn k2_without_a_placeholder_job_a_late_job_has_no_inputs() {
    let mut world = World::without_controller().await;
    let late = about_to_create(&mut world).await;
    let refused = Arc::new(Relay::default());
    refused.refuse(JOBS, POLICY);
    world.cancel("a").await;
    world.start_controller_behind(refused.clone()).await;
    assert_eq!(reason(&world.ended("a").await), "Cancelled");
    refused.allow();
    world.submit("b", "prod", "hold").await;
    eventually(async || (world.kubelet.runs_of("b") == 1).then_some(())).await.expect("b has the turn");
    // The policy accepts the real Job nevertheless.
    late.let_through();
    let job = eventually(async || world.jobs().get_opt("kubeonkube-a-job").await.unwrap()).await.expect("a Job of a");
    let suspended = async || world.jobs().get(&job.name_any()).await.unwrap().spec.unwrap().suspend == Some(true);
    eventually(async || suspended().await.then_some(())).await.expect("it is stopped");
    world.kubelet.release("b");
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("a"), 0);
    assert_eq!(reason(&world.ended("a").await), "Cancelled");
}

#[tokio::test]
async fn a_policy_that_refuses_the_job_ends_the_operation() {
    let (world, relay) = world(&[(JOBS, POLICY)]).await;
    world.submit("a", "prod", "ok").await;
    let message = world.refused("a", "NotCreated").await;
    assert!(message.contains("image not allowed"), "{message}");
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    assert_eq!(secrets.get("a-inputs").await.unwrap().data, None, "a Job would have nothing to mount");
    relay.allow();
    world.submit("b", "prod", "ok").await;
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
}

#[tokio::test]
async fn k2_an_end_without_inputs_survives_a_crash() {
    let (mut world, relay) = world(&[(JOBS, POLICY)]).await;
    let result = "PATCH /apis/kubeonkube.clay.io/v1alpha1/clusteroperations/a?";
    relay.hold_back(result);
    world.submit("a", "prod", "ok").await;
    eventually(async || relay.asked(result).then_some(())).await.expect("it is about to write the result");
    world.kill_controller();
    world.start_controller().await;
    let message = world.refused("a", "NotCreated").await;
    assert!(message.contains("image not allowed"), "{message}");
    world.submit("b", "prod", "ok").await;
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
}

#[tokio::test]
async fn an_operation_waits_for_a_full_quota_and_says_so() {
    let (world, relay) = world(&[(JOBS, QUOTA)]).await;
    world.submit("a", "prod", "ok").await;
    let a = world.operation_that("a", "wait for the quota", |a| reason(a) == "QuotaExceeded").await;
    assert!(message(&a).contains("A quota of namespace “lab” is full") && message(&a).contains("exceeded quota: few"));
    world.submit("b", "prod", "ok").await;
    world.operation_that("b", "wait for a", |b| message(b).contains("operation a")).await;
    relay.allow();
    touch(&world, "a").await;
    for name in ["a", "b"] {
        assert_eq!(phase(&world.ended(name).await), Phase::Succeeded);
        assert_eq!(world.kubelet.runs_of(name), 1);
    }
}

#[tokio::test]
async fn waiting_for_cluster_and_quota_gives_two_events() {
    let (world, relay) = world(&[]).await;
    world.submit("a", "prod", "hold").await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.expect("a runs");
    world.submit("b", "prod", "ok").await;
    world.operation_that("b", "wait for a", |b| reason(b) == "ClusterBusy").await;
    relay.refuse(JOBS, QUOTA);
    world.kubelet.release("a");
    world.operation_that("b", "wait for the quota", |b| reason(b) == "QuotaExceeded").await;
    relay.allow();
    touch(&world, "b").await;
    world.ended("b").await;
    let story = world.story("b").await;
    let said = |name: &str, word: &str| story.iter().any(|(reason, note)| reason == name && note.contains(word));
    assert!(said("Queued", "operation a") && said("QuotaExceeded", "quota"), "{story:#?}");
}

#[tokio::test]
async fn a_quota_that_stays_full_ends_the_operation() {
    let mut world = World::without_controller().await;
    world.config.quota_patience = std::time::Duration::ZERO;
    let relay = Arc::new(Relay::default());
    relay.refuse(JOBS, QUOTA);
    world.start_controller_behind(relay.clone()).await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    let message = world.refused("a", "QuotaExceeded").await;
    assert!(message.contains("exceeded quota: few"), "{message}");
    relay.allow();
    world.submit("b", "prod", "ok").await;
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
}

#[tokio::test]
async fn an_operation_that_waits_for_a_quota_can_be_cancelled() {
    let (world, relay) = world(&[(JOBS, QUOTA)]).await;
    world.submit("a", "prod", "ok").await;
    world.operation_that("a", "wait for the quota", |a| reason(a) == "QuotaExceeded").await;
    world.cancel("a").await;
    world.refused("a", "Cancelled").await;
    relay.allow();
    world.submit("b", "prod", "ok").await;
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
}

#[tokio::test]
async fn without_any_placeholder_the_turn_is_kept_with_a_reason() {
    // The advice is shown even if the API's message is very long.
    let words = format!("{POLICY}: {}", "a rule and one more, ".repeat(200));
    let (world, relay) = world(&[(JOBS, &words), (SECRETS, &words)]).await;
    world.submit("a", "prod", "ok").await;
    let a = world.operation_that("a", "keep its turn", |a| reason(a) == "NotCreated").await;
    assert!(message(&a).contains("image not allowed") && message(&a).contains("keeps the cluster's turn"));
    assert!(message(&a).contains("delete the operation"), "{}", message(&a));
    assert_eq!(phase(&a), Phase::Pending);
    world.submit("b", "prod", "ok").await;
    world.operation_that("b", "wait for a", |b| message(b).contains("operation a")).await;
    world.delete("a").await;
    relay.allow();
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("a"), 0);
}
