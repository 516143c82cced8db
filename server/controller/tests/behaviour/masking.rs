//! Status and Events have more readers than the inputs of a run: they say no secret, as the log doesn't.

use crd::Phase;
use k8s_openapi::api::events::v1::Event;
use kube::api::ListParams;
use kube::{Api, ResourceExt};

use crate::world::{World, eventually, message, phase};

#[tokio::test]
async fn neither_status_nor_events_nor_annotations_say_a_secret_of_the_inputs() {
    let mut world = World::new().await;
    world.cluster("prod").await;
    world.config_map("prod-vars", &[("group_vars.yml", "ansible_password: hunter22\n")]).await;
    world.submit("a", "prod", "leak").await;
    tells_nothing(&world, "a").await;
    // Another process has to read the inputs again to know.
    world.submit("b", "prod", "hold-leak").await;
    world.operation_that("b", "run", |b| phase(b) == Phase::Running).await;
    world.stop_controller().await;
    world.start_controller().await;
    world.kubelet.release("b");
    tells_nothing(&world, "b").await;
}

#[tokio::test]
async fn what_is_wrong_with_an_inventory_is_said_without_its_secrets() {
    let world = World::new().await;
    world.cluster("prod").await;
    let hosts = "all: {hosts: {m1: {ansible_password: hunter22, ansible_port: hunter22}}}\n";
    world.config_map("prod-hosts", &[("hosts.yml", hosts)]).await;
    world.submit("a", "prod", "ok").await;
    let said = world.refused("a", "InventoryInvalid").await;
    assert!(said.contains("ansible_port of host m1") && said.contains(crd::MASK), "{said}");
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
    let operation = world.finished(name).await;
    assert!(message(&operation).contains(&format!("login root/{} failed", crd::MASK)), "{}", message(&operation));
    let events: Api<Event> = Api::namespaced(world.client.clone(), "default");
    let told = eventually(async || {
        let all = events.list(&ListParams::default()).await.unwrap().items;
        all.into_iter().find(|event| {
            event.regarding.as_ref().is_some_and(|at| at.uid == operation.uid())
                && event.note.as_ref().is_some_and(|note| note.contains("login"))
        })
    });
    let event = told.await.expect("an event tells the end");
    for text in [serde_json::to_string(&operation).unwrap(), serde_json::to_string(&event).unwrap()] {
        assert!(!text.contains("hunter22") && !text.contains("pa55word"), "{text}");
    }
}
