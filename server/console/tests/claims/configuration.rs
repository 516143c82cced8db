use api::Problem;
use api::backend::Configurations;
use api::configuration::{DiffKind, Document};
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

/// If the response to a save is lost, the user saves again with the old version.
#[tokio::test]
async fn a_repeated_save_succeeds() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let old = world.console.read(&world.user, &prod).await.unwrap().variables.version;
    let first = world.console.save(&world.user, &prod, Document::Variables, &old, "mine: 1\n").await.unwrap();
    let again = world.console.save(&world.user, &prod, Document::Variables, &old, "mine: 1\n").await.unwrap();
    assert_eq!(again, first);
    let review = world.console.review(&world.user, &prod, Document::Variables, &old, "mine: 1\n").await.unwrap();
    assert!(review.summary.is_empty(), "{:?}", review.summary);
}

#[tokio::test]
async fn of_many_concurrent_saves_exactly_one_succeeds() {
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
async fn a_review_shows_what_changes_and_saves_nothing() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let there = world.console.read(&world.user, &prod).await.unwrap().variables;
    let before = world.everything().await;
    let text = "kube_version: v1.36.1\nadmin_password: hunter2\n";
    let review = world.console.review(&world.user, &prod, Document::Variables, &there.version, text).await.unwrap();
    let words = review.summary.join("; ");
    assert!(words.contains("v1.35.4") && words.contains("v1.36.1") && !words.contains("hunter2"), "{words}");
    assert!(review.lines.iter().any(|l| l.kind == DiffKind::Added && l.text.contains("v1.36.1")));
    assert!(review.lines.iter().any(|l| l.kind == DiffKind::Removed && l.text.contains("v1.35.4")));
    assert_eq!(review.version, there.version);
    assert_eq!(world.everything().await, before);
}

/// The controller may label inputs at any time.
#[tokio::test]
async fn a_label_that_was_set_meanwhile_is_not_a_conflict() {
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
async fn a_broken_document_is_shown_and_can_be_fixed() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let broken = json!({"data": {crd::KEY_HOSTS: "all: [oops\n"}});
    world.config_maps().patch("prod-hosts-conf", &PatchParams::default(), &Patch::Merge(broken)).await.unwrap();
    let shown = world.console.read(&world.user, &prod).await.unwrap().inventory;
    assert_eq!(shown.text, "all: [oops\n");
    assert!(shown.problem.unwrap().contains("line"));
    let fixed = "all: {hosts: {a: {}}}\n";
    world.console.review(&world.user, &prod, Document::Inventory, &shown.version, fixed).await.unwrap();
    world.console.save(&world.user, &prod, Document::Inventory, &shown.version, fixed).await.unwrap();
    assert_eq!(world.console.read(&world.user, &prod).await.unwrap().inventory.problem, None);
}

#[tokio::test]
async fn a_missing_input_is_shown_on_the_page_and_can_be_created() {
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
    // A save creates the ConfigMap again, and the Cluster owns it.
    world
        .console
        .save(&world.user, &prod, Document::Inventory, &shown.inventory.version, "all: {hosts: {a: {}}}\n")
        .await
        .unwrap();
    assert!(!world.console.read(&world.user, &prod).await.unwrap().inventory.foreign);
}

#[tokio::test]
async fn host_keys_are_read_and_saved_like_the_other_documents() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let ssh = world.console.read(&world.user, &prod).await.unwrap().ssh;
    let none = ssh.host_keys.unwrap();
    assert_eq!((none.count, none.document.version.as_str(), none.document.problem), (0, "", None));
    let refused = world.console.save(&world.user, &prod, Document::HostKeys, "", "192.0.2.1 no-key\n").await;
    assert!(refused.unwrap_err().to_string().contains("Line 1 is not a host key"));
    let key = ssh.public_key.unwrap();
    let text = format!("# compared by Ada\n192.0.2.1 {key}\n");
    let version = world.console.save(&world.user, &prod, Document::HostKeys, "", &text).await.unwrap();
    assert_eq!(world.text("prod-known-hosts", crd::KEY_KNOWN_HOSTS).await, text);
    let kept = world.console.read(&world.user, &prod).await.unwrap().ssh.host_keys.unwrap();
    assert_eq!((kept.count, kept.document.version, kept.document.foreign), (1, version, false));
    let stale = world.console.save(&world.user, &prod, Document::HostKeys, "", "").await;
    assert!(matches!(stale, Err(Problem::Conflict { .. })), "{stale:?}");
}

#[tokio::test]
async fn machines_without_ssh_have_no_host_key_to_scan() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let there = world.console.read(&world.user, &prod).await.unwrap();
    let local = "ansible_connection: local\n";
    world.console.save(&world.user, &prod, Document::Variables, &there.variables.version, local).await.unwrap();
    let refused = world.console.scan_host_keys(&world.user, &prod, "", "").await.unwrap_err();
    assert!(refused.to_string().contains("No machine of this cluster is reached over SSH"), "{refused}");
}
