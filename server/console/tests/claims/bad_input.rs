//! Bad input of every kind is refused with a sentence at the right field, and nothing is written.

use api::backend::{Clusters, Configurations};
use api::cluster::{MachineRow, NewCluster};
use api::configuration::Document;

use super::registration::ssh_key;
use super::world::{World, at, machine, new_cluster};

/// Nine levels of ten aliases each: a kilobyte that expands to billions of values.
fn bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..10 {
        let aliases = vec![format!("*a{}", n - 1); 10].join(", ");
        text.push_str(&format!("a{n}: &a{n} [{aliases}]\n"));
    }
    text
}

#[tokio::test]
async fn a_bad_registration_is_refused_and_changes_nothing() {
    let world = World::standalone().await;
    let before = world.everything().await;
    let with = |change: fn(&mut NewCluster)| {
        let mut new = new_cluster("prod");
        change(&mut new);
        new
    };
    let cases: Vec<(NewCluster, &str)> = vec![
        (with(|n| n.name = String::new().into()), "name"),
        (with(|n| n.name = "prod;rm -rf /".into()), "name"),
        (with(|n| n.name = "../prod".into()), "name"),
        (with(|n| n.name = "a".repeat(64).into()), "name"),
        (with(|n| n.machines.clear()), "machines[0][name]"),
        (with(|n| n.machines[1].name = "w1;rm -rf /".into()), "machines[1][name]"),
        (with(|n| n.machines[1].name = "m1".into()), "machines[1][name]"),
        (with(|n| n.machines[1].address = "192.0.2.1".into()), "machines[1][address]"),
        (with(|n| n.machines[0].address = "$(id)".into()), "machines[0][address]"),
        (with(|n| n.machines[0].user = "-oProxyCommand=id".into()), "machines[0][user]"),
        (with(|n| n.machines[0].port = "99999".into()), "machines[0][port]"),
        (with(|n| n.machines[0].role = "king".into()), "machines[0][role]"),
        (with(|n| (n.machines, n.pasted) = (vec![], "m1 192.0.2.1\nm1;rm 192.0.2.2".into())), "pasted"),
        (with(|n| (n.machines, n.pasted) = (vec![], "m1 192.0.2.1\nm1 192.0.2.2".into())), "pasted"),
        (with(|n| (n.machines, n.pasted) = (vec![MachineRow::default()], "m1 192.0.2.1\n".repeat(800_000))), "pasted"),
        (with(|n| n.variables = bomb()), "variables"),
        (with(|n| n.variables = format!("a: {}", "x".repeat(10 * 1024 * 1024))), "variables"),
        (with(|n| n.variables = "a: \u{0}\u{1}\u{2}ELF".into()), "variables"),
        (with(|n| n.variables = "a: 1\na: 2".into()), "variables"),
        (with(|n| n.variables = "- a\n- b".into()), "variables"),
        (with(|n| n.variables = "a: [".into()), "variables"),
        (with(|n| n.ssh = "telepathy".into()), "ssh"),
        (with(|n| n.ssh = "paste".into()), "ssh_key"),
        (with(|n| (n.ssh, n.ssh_key) = ("paste".into(), "hunter2".into())), "ssh_key"),
        (with(|n| (n.ssh, n.ssh_key) = ("paste".into(), "\u{0}\u{1}".repeat(100))), "ssh_key"),
        (with(|n| (n.ssh, n.ssh_key) = ("paste".into(), "x".repeat(10 * 1024 * 1024))), "ssh_key"),
        (with(|n| (n.ssh, n.ssh_key) = ("paste".into(), ssh_key().replacen("b3BlbnNz", "AAAAAAAA", 1))), "ssh_key"),
        (with(|n| n.known_hosts = "no host key".into()), "known_hosts"),
        (with(|n| n.known_hosts = "192.0.2.1 ssh-ed25519 AAAA".into()), "known_hosts"),
        (with(|n| n.namespace = "no/space".into()), "namespace"),
        (with(|n| n.namespace = "not-there".into()), "namespace"),
    ];
    for (new, field) in cases {
        let refused = world.register(&new).await;
        let sentence = at(&refused, field);
        assert!(sentence.ends_with('.') && sentence.len() < 500, "{field}: {sentence:?}");
        assert!(!sentence.contains("Error("), "{sentence}");
        let reviewed = Clusters::review(&world.console, &world.user, &new).await;
        at(&reviewed, field);
    }
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn all_bad_fields_of_a_form_are_reported_together() {
    let world = World::standalone().await;
    let mut new = new_cluster("Prod!");
    new.machines = vec![machine("m1", "192.0.2.300"), MachineRow { port: "ssh".into(), ..machine("m2", "192.0.2.2") }];
    new.variables = "a: [".into();
    new.known_hosts = "x".into();
    let refused = world.register(&new).await;
    for field in ["name", "machines[0][address]", "machines[1][port]", "variables", "known_hosts"] {
        at(&refused, field);
    }
}

/// With a key that has a passphrase, every run would wait for someone to type it.
#[tokio::test]
async fn a_key_that_cannot_be_used_is_refused_with_the_reason() {
    let world = World::standalone().await;
    let refused = async |key: &str| {
        let new = NewCluster { ssh: "paste".into(), ssh_key: key.into(), ..new_cluster("prod") };
        at(&world.register(&new).await, "ssh_key").to_owned()
    };
    assert!(refused(ENCRYPTED).await.contains("passphrase"));
    assert!(
        refused("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n")
            .await
            .contains("passphrase")
    );
    assert!(
        refused("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAWB0vBgg8Q4tMm44U00mKqym8jhOJHA0B+XoaufxhVi nobody")
            .await
            .contains("public")
    );
}

#[tokio::test]
async fn a_bad_document_is_refused_with_line_and_column_and_not_saved() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let there = world.console.read(&world.user, &prod).await.unwrap();
    let before = world.everything().await;
    let inventories = [
        "all:\n  hosts:\n    a: [\n".to_owned(),
        "all: {hosts: {a: {}}, children: {x: {children: {y: {}}}, y: {children: {x: {}}}}}\n".to_owned(),
        "all:\n  hosts:\n    a:\n    a:\n".to_owned(),
        "all:\n  hosts:\n    'a;rm -rf /': {}\n".to_owned(),
        "[kube_node]\na\n".to_owned(),
        String::new(),
        "all: {}\n".to_owned(),
        "all:\n  hosts:\n    a: {b: \u{1}}\n".to_owned(),
        format!("all: {{hosts: {{a: {{b: {}}}}}}}", "x".repeat(10 * 1024 * 1024)),
        format!("{}all: {{hosts: {{a: *a9}}}}\n", bomb()),
        format!("all: {{hosts: {{\"n[1:5000]\": {{note: {}}}}}}}", "x".repeat(1_000_000)),
    ];
    for text in inventories {
        let saved = world.console.save(&world.user, &prod, Document::Inventory, &there.inventory.version, &text).await;
        let sentence = at(&saved, "text").to_owned();
        assert!(sentence.ends_with('.') && sentence.len() < 500, "{sentence:?}");
        let review = Configurations::review(
            &world.console,
            &world.user,
            &prod,
            Document::Inventory,
            &there.inventory.version,
            &text,
        )
        .await;
        assert_eq!(at(&review, "text"), sentence);
    }
    for text in ["a: [\n".to_owned(), bomb(), "- a\n".to_owned(), "a: 1\na: 2\n".to_owned()] {
        at(&world.console.save(&world.user, &prod, Document::Variables, &there.variables.version, &text).await, "text");
    }
    let saved = world
        .console
        .save(&world.user, &prod, Document::Inventory, &there.inventory.version, "all:\n  hosts:\n    a: b: c\n")
        .await;
    assert!(at(&saved, "text").contains("line 3, column"), "{saved:?}");
    assert_eq!(world.everything().await, before);
}

const ENCRYPTED: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABDZSRaEuj
+uZG/kxadJ9a5PAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIHgT7rtiWsEWKX+I
XFLBWGP09bV1YG4qJ1bHDlJP3FfEAAAAkHSHBraS6ylY+2rGPyK+x0hsaR+MXv/R5q2Tiq
V+scRsmt+yJr4StKmYltdS7a99eMTPAyrFnGAzR2qaD+W6SJqqUELBRmfNOotTOlP1XOBn
n5TtDixeCinEpC5XkWa15TEvp6PquSt27NBCYLg/AO5Wfuc5lT+RLsVplbQx50HFDKao7z
aeHFwz1P+sdMdHgg==
-----END OPENSSH PRIVATE KEY-----
";
