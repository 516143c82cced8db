//! More people can read statuses and Events than the inputs of a run, so these never contain secrets.

use crd::Phase;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, ListParams};
use kube::{Api, ResourceExt};

use crate::world::{NAMESPACE, World, eventually, message, phase, reason};

#[tokio::test]
async fn statuses_events_and_annotations_contain_no_secret() {
    let mut world = World::new().await;
    world.cluster("prod").await;
    world.config_map("prod-vars", &[("group_vars.yml", "ansible_password: hunter22\n")]).await;
    world.submit("a", "prod", "leak").await;
    tells_nothing(&world, "a").await;
    // Another process must read the inputs again to know the secrets.
    world.submit("b", "prod", "hold-leak").await;
    world.operation_that("b", "run", |b| phase(b) == Phase::Running).await;
    world.stop_controller().await;
    world.start_controller().await;
    world.kubelet.release("b");
    tells_nothing(&world, "b").await;
}

#[tokio::test]
async fn a_final_message_is_dropped_when_the_inputs_are_gone() {
    let mut world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold-leak").await;
    world.operation_that("a", "run", |a| phase(a) == Phase::Running).await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.expect("it runs");
    world.stop_controller().await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    secrets.delete("a-inputs", &DeleteParams::default()).await.unwrap();
    world.start_controller().await;
    world.kubelet.release("a");
    let a = world.ended("a").await;
    assert_eq!((phase(&a), reason(&a)), (Phase::Failed, "TaskFailed"), "the numbers are still reported");
    let (said, story) = (message(&a), world.story("a").await);
    assert!(
        said.starts_with("ping.yml: 1 failed task, 0 of 2 hosts unreachable. The run's output is not quoted here: its inputs (Secret a-inputs) are gone"),
        "{said}"
    );
    assert_eq!(story.last().map(|(_, note)| note.as_str()), Some(said));
    for text in [serde_json::to_string(&a).unwrap(), format!("{story:?}")] {
        assert!(!text.contains("login") && !text.contains("hunter22") && !text.contains("pa55word"), "{text}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_an_inventory_is_said_without_its_secrets() {
    let world = World::new().await;
    world.cluster("prod").await;
    let hosts = "all: {hosts: {m1: {ansible_password: hunter22, ansible_port: hunter22}}}\n";
    world.config_map("prod-hosts", &[("hosts.yml", hosts)]).await;
    world.submit("a", "prod", "ok").await;
    let said = world.refused("a", "InventoryInvalid").await;
    assert!(said.contains("ansible_port of host m1") && said.contains(masking::MASK), "{said}");
    let prod = world.cluster_that("prod", "say so, too", |cluster| {
        let text = serde_json::to_string(&cluster.status).unwrap();
        text.contains("InventoryInvalid")
    });
    let story = world.story("a").await;
    for text in [format!("{story:?}"), serde_json::to_string(&prod.await.status).unwrap(), said] {
        assert!(!text.contains("hunter22"), "{text}");
    }
}

async fn tells_nothing(world: &World, name: &str) {
    let operation = world.ended(name).await;
    assert!(message(&operation).contains(&format!("login root/{} failed", masking::MASK)), "{}", message(&operation));
    let events: Api<Event> = Api::namespaced(world.client.clone(), "default");
    let reported = eventually(async || {
        let all = events.list(&ListParams::default()).await.unwrap().items;
        all.into_iter().find(|event| {
            event.regarding.as_ref().is_some_and(|at| at.uid == operation.uid())
                && event.note.as_ref().is_some_and(|note| note.contains("login"))
        })
    });
    let event = reported.await.expect("an Event reports the end");
    for text in [serde_json::to_string(&operation).unwrap(), serde_json::to_string(&event).unwrap()] {
        assert!(!text.contains("hunter22") && !text.contains("pa55word"), "{text}");
    }
}
