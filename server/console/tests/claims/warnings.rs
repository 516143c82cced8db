//! What ansible will never read is named before a run: in the review of a registration, on the Configuration tab, in the review of a
//! change and in that of an operation.

use api::backend::{Clusters, Configurations, Operations};
use api::cluster::NewCluster;
use api::configuration::Document;

use super::world::{World, at, new_cluster, new_operation};

const UNREAD: &str =
    "Line 1: ansible never reads the variable “container-manager”. Its name contains “-”. Write container_manager.";
const VARIABLES: &str = "container-manager: crio\nkube_version: 1.35.4\n";

#[tokio::test]
async fn an_unread_variable_is_named_wherever_it_is_shown() {
    let world = World::standalone().await;
    let prod = "prod".parse().unwrap();
    let new = NewCluster { variables: VARIABLES.into(), ..new_cluster("prod") };
    let is_named = |warnings: &[String]| warnings.iter().any(|warning| warning == UNREAD);
    let review = Clusters::review(&world.console, &world.user, &new).await.unwrap();
    assert!(is_named(&review.warnings), "{:?}", review.warnings);
    world.register(&new).await.unwrap();

    let shown = world.console.read(&world.user, &prod).await.unwrap();
    assert!(is_named(&shown.variables.warnings) && shown.variables.problem.is_none(), "{shown:?}");
    let version = shown.variables.version;
    let review = Configurations::review(&world.console, &world.user, &prod, Document::Variables, &version, VARIABLES);
    assert!(is_named(&review.await.unwrap().warnings));
    let operation = Operations::review(&world.console, &world.user, &new_operation("prod")).await.unwrap();
    assert!(is_named(&operation.warnings), "{:?}", operation.warnings);

    let hosts = shown.inventory.text.replacen("m1:\n", "m1:\n      my-label: a\n", 1);
    let review = Configurations::review(
        &world.console,
        &world.user,
        &prod,
        Document::Inventory,
        &shown.inventory.version,
        &hosts,
    );
    let warnings = review.await.unwrap().warnings.join("\n");
    assert!(warnings.contains("“my-label”") && warnings.contains("Write my_label."), "{warnings}");
}

#[tokio::test]
async fn a_character_that_breaks_yaml_is_refused_and_named() {
    let world = World::standalone().await;
    let new = NewCluster { variables: "a: 1\nb:\u{A0}2\nc: 3\n".into(), ..new_cluster("prod") };
    let review = Clusters::review(&world.console, &world.user, &new).await;
    assert!(at(&review, "variables").starts_with("At line 2, column 3: U+00A0 (no-break space)"), "{review:?}");
}
