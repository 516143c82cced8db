//! The key of signatures: where it is, and what is older than it. Who submitted an operation.

use std::time::Duration;

use crd::{ClusterOperation, Phase, Time};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use kubeonkube_controller::Signer;
use serde_json::json;

use crate::world::{OWN_NAMESPACE, World, phase, signer};

/// An operation as the version before signatures left it.
async fn ended_before(world: &World, name: &str) -> ClusterOperation {
    let mut old = ClusterOperation::new(name, world.submit(&format!("{name}-spec"), "prod", "ok").await.spec);
    world.delete(&format!("{name}-spec")).await;
    old.metadata.labels = Some([("hasCompleted".to_owned(), "done".to_owned())].into());
    let outcome =
        json!({"status": "Failed", "reason": "TaskFailed", "message": "It failed.", "endTime": "2026-01-01T00:00:00Z"});
    old.metadata.annotations = Some([(crd::ANNOTATION_OUTCOME.to_owned(), outcome.to_string())].into());
    world.operations().create(&PostParams::default(), &old).await.unwrap();
    let mut status = json!({"status": outcome});
    // Its API had no default of them.
    status["status"]["conditions"] = json!([]);
    world.operations().patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap()
}

#[tokio::test]
async fn operations_of_the_version_before_keep_their_results() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let before = ended_before(&world, "old").await;
    let in_an_hour = jiff::Timestamp::now() + Duration::from_secs(3600);
    world.config.signer = Some(Signer::new(b"of the tests", &Time(in_an_hour)));
    world.start_controller().await;
    world.ended("old").await;
    // What the annotation says doesn't count, not even then.
    let forged = json!({"metadata": {"annotations": {crd::ANNOTATION_OUTCOME: "{\"status\":\"Succeeded\",\"reason\":\"\",\"message\":\"\"}"}}});
    world.operations().patch("old", &PatchParams::default(), &Patch::Merge(forged)).await.unwrap();
    world.submit("new", "prod", "ok").await;
    assert_eq!(phase(&world.ended("new").await), Phase::Succeeded);
    let after = world
        .operation_that("old", "be readable for other tools", |old| {
            old.status.as_ref().is_some_and(|status| crd::is_true(&status.conditions, "Stalled"))
        })
        .await;
    let mut status = after.status.unwrap();
    assert_eq!(status.observed_generation.take(), after.metadata.generation);
    let types: Vec<String> = std::mem::take(&mut status.conditions).into_iter().map(|c| c.type_).collect();
    assert_eq!(types, ["Failed", "Ready", "Stalled"], "nothing else is added");
    assert_eq!(Some(status), before.status);
    assert_eq!(world.kubelet.runs_of("old"), 0);
}

#[tokio::test]
async fn replicas_share_the_key_in_a_secret() {
    let mut world = World::without_controller().await;
    world.config.signer = None;
    world.start_controller().await;
    world.start_controller().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "fail").await;
    let ended = world.ended("a").await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), OWN_NAMESPACE);
    let secret = secrets.get(crd::SIGNING_KEY_NAME).await.unwrap();
    assert_eq!((secret.immutable, secret.data.unwrap()["key"].0.len()), (Some(true), 32));
    world.stop_controller().await;
    world.stop_controller().await;
    let ended = world.operations().get(&ended.name_any()).await.unwrap();
    world.start_controller().await;
    world.submit("b", "prod", "ok").await;
    world.ended("b").await;
    assert_eq!(world.operations().get("a").await.unwrap(), ended, "a restart changes no result");
}

#[tokio::test]
async fn a_submitter_needs_the_consoles_signature() {
    let world = World::new().await;
    world.cluster("prod").await;
    let spec = world.submit("first", "prod", "ok").await.spec;
    let submit = async |name: &str, is_signed: bool| {
        let mut operation = ClusterOperation::new(name, spec.clone());
        let signature = signer().sign_submitter(&operation, "ada", &Time(jiff::Timestamp::now()));
        let mut annotations = vec![(crd::ANNOTATION_SUBMITTED_BY.to_owned(), "ada".to_owned())];
        if is_signed {
            annotations.push((crd::ANNOTATION_SUBMITTER_SIGNATURE.to_owned(), signature));
        }
        operation.metadata.annotations = Some(annotations.into_iter().collect());
        world.operations().create(&PostParams::default(), &operation).await.unwrap();
        world.ended(name).await.status.unwrap().submitted_by
    };
    assert_eq!(submit("signed", true).await.as_deref(), Some("ada"));
    assert_eq!(submit("forged", false).await, None);
    let forged = json!({"metadata": {"annotations": {crd::ANNOTATION_SUBMITTED_BY: "eve"}}});
    world.operations().patch("signed", &PatchParams::default(), &Patch::Merge(forged)).await.unwrap();
    world.submit("last", "prod", "ok").await;
    world.ended("last").await;
    let signed = world.operations().get("signed").await.unwrap();
    assert_eq!(signed.status.unwrap().submitted_by.as_deref(), Some("ada"), "an edit afterwards");
}
