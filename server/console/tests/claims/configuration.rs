use api::{
    Problem,
    backend::Configurations,
    configuration::{DiffKind, Document},
};
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::world::{World, new_cluster};

#[tokio::test]
async fn a_text_is_saved_exactly_as_it_was_typed() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let there = world.console.read(&world.user, &prod).await.unwrap();
    let typed = "# mine\nall:\n  hosts:\n    m1:   {ansible_host: 192.0.2.1}   # kept\n    neu: {}\n\n\n";
    let version =
        world.console.save(&world.user, &prod, Document::Inventory, &there.inventory.version, typed).await.unwrap();
    assert_ne!(version, there.inventory.version);
    assert_eq!(world.text("prod-hosts-conf", crd::KEY_HOSTS).await, typed);
    let again = world.console.read(&world.user, &prod).await.unwrap();
    assert_eq!((again.inventory.text.as_str(), again.inventory.version), (typed, version));
    assert_eq!(again.inventory.problem, None);
}

#[tokio::test]
async fn a_stale_version_is_a_conflict_that_holds_both_texts() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let there = world.console.read(&world.user, &prod).await.unwrap();
    let old = there.variables.version;
    let current = world.console.save(&world.user, &prod, Document::Variables, &old, "theirs: 1\n").await.unwrap();
    for answer in [
        world.console.save(&world.user, &prod, Document::Variables, &old, "mine: 1\n").await.map(drop),
        world.console.review(&world.user, &prod, Document::Variables, &old, "mine: 1\n").await.map(drop),
    ] {
        let Err(Problem::Conflict { theirs, yours, version, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((theirs.as_str(), yours.as_str(), &version), ("theirs: 1\n", "mine: 1\n", &current));
    }
    assert_eq!(world.text("prod-vars-conf", crd::KEY_VARS).await, "theirs: 1\n");
}

/// Whoever saves at the same moment: one is saved, all others are told.
#[tokio::test]
async fn of_many_savers_at_once_one_wins() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let version = world.console.read(&world.user, &prod).await.unwrap().variables.version;
    let texts: Vec<String> = (0..10).map(|n| format!("n: {n}\n")).collect();
    let saves = texts.iter().map(|text| world.console.save(&world.user, &prod, Document::Variables, &version, text));
    let answers = futures::future::join_all(saves).await;
    let won: Vec<usize> = (0..10).filter(|&n| answers[n].is_ok()).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    assert_eq!(world.text("prod-vars-conf", crd::KEY_VARS).await, texts[won[0]]);
}

#[tokio::test]
async fn a_review_says_in_words_and_lines_what_changes_and_saves_nothing() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let there = world.console.read(&world.user, &prod).await.unwrap().variables;
    let before = world.everything().await;
    let text = "kube_version: v1.34.1\nadmin_password: hunter2\n";
    let review = world.console.review(&world.user, &prod, Document::Variables, &there.version, text).await.unwrap();
    let words = review.summary.join("; ");
    assert!(words.contains("v1.33.4") && words.contains("v1.34.1") && !words.contains("hunter2"), "{words}");
    assert!(review.lines.iter().any(|l| l.kind == DiffKind::Added && l.text.contains("v1.34.1")));
    assert!(review.lines.iter().any(|l| l.kind == DiffKind::Removed && l.text.contains("v1.33.4")));
    assert_eq!(review.version, there.version);
    assert_eq!(world.everything().await, before);
}

/// The controller labels inputs whenever it likes.
#[tokio::test]
async fn a_label_set_meanwhile_is_no_conflict() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let version = world.console.read(&world.user, &prod).await.unwrap().variables.version;
    let label = json!({"metadata": {"labels": {crd::LABEL_USED_BY: "prod"}}});
    world.config_maps().patch("prod-vars-conf", &PatchParams::default(), &Patch::Merge(label)).await.unwrap();
    world.console.save(&world.user, &prod, Document::Variables, &version, "mine: 1\n").await.unwrap();
    let map = world.config_maps().get("prod-vars-conf").await.unwrap();
    assert_eq!(map.data.unwrap()[crd::KEY_VARS], "mine: 1\n");
    assert!(map.metadata.labels.unwrap().contains_key(crd::LABEL_USED_BY));
}

#[tokio::test]
async fn a_broken_document_is_shown_with_its_problem_and_can_be_mended() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let broken = json!({"data": {crd::KEY_HOSTS: "all: [oops\n"}});
    world.config_maps().patch("prod-hosts-conf", &PatchParams::default(), &Patch::Merge(broken)).await.unwrap();
    let shown = world.console.read(&world.user, &prod).await.unwrap().inventory;
    assert_eq!(shown.text, "all: [oops\n");
    assert!(shown.problem.unwrap().contains("line"));
    let mended = "all: {hosts: {a: {}}}\n";
    world.console.review(&world.user, &prod, Document::Inventory, &shown.version, mended).await.unwrap();
    world.console.save(&world.user, &prod, Document::Inventory, &shown.version, mended).await.unwrap();
    assert_eq!(world.console.read(&world.user, &prod).await.unwrap().inventory.problem, None);
}

#[tokio::test]
async fn a_missing_input_is_shown_as_missing_not_as_an_error_page() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    world.config_maps().delete("prod-hosts-conf", &DeleteParams::default()).await.unwrap();
    world.secrets().delete("prod-ssh-auth", &DeleteParams::default()).await.unwrap();
    let shown = world.console.read(&world.user, &prod).await.unwrap();
    assert!(shown.inventory.problem.unwrap().contains("prod-hosts-conf"));
    assert!(shown.ssh.problem.unwrap().contains("prod-ssh-auth"));
    assert_eq!(shown.variables.problem, None);
    let nodes = api::backend::Clusters::nodes(&world.console, &world.user, &prod).await.unwrap();
    assert!(nodes.nodes.is_empty() && nodes.problem.is_some());
    // Saving makes it anew, as an input that the Cluster owns.
    world
        .console
        .save(&world.user, &prod, Document::Inventory, &shown.inventory.version, "all: {hosts: {a: {}}}\n")
        .await
        .unwrap();
    assert!(!world.console.read(&world.user, &prod).await.unwrap().inventory.foreign);
}
