use api::backend::{Clusters, Configurations};
use api::cluster::{MachineRow, NewCluster};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;

use super::world::{NAMESPACE, World, at, machine, named, new_cluster};

#[tokio::test]
async fn a_registration_writes_a_cluster_that_owns_its_inputs() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let cluster = world.clusters().get("prod").await.unwrap();
    let uid = cluster.uid().unwrap();
    assert_eq!(cluster.spec.hosts_conf_ref, crd::DataRef::new(NAMESPACE, "prod-hosts-conf"));
    assert_eq!(cluster.spec.vars_conf_ref, crd::DataRef::new(NAMESPACE, "prod-vars-conf"));
    assert_eq!(cluster.spec.ssh_auth_ref, Some(crd::DataRef::new(NAMESPACE, "prod-ssh-auth")));
    let secret = world.secrets().get("prod-ssh-auth").await.unwrap();
    let owned =
        |owners: &[k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference]| owners.iter().any(|o| o.uid == uid);
    assert!(owned(secret.owner_references()));
    for name in ["prod-hosts-conf", "prod-vars-conf"] {
        assert!(owned(world.config_maps().get(name).await.unwrap().owner_references()), "{name}");
    }
    let key = String::from_utf8(secret.data.unwrap()[crd::KEY_SSH].0.clone()).unwrap();
    assert!(
        key.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n")
            && key.ends_with("-----END OPENSSH PRIVATE KEY-----\n")
    );
    assert_eq!(world.text("prod-vars-conf", crd::KEY_VARS).await, "# how it is built\nkube_version: v1.35.4\n");
    let inventory = inventory::parse(&world.text("prod-hosts-conf", crd::KEY_HOSTS).await).unwrap();
    assert_eq!(inventory.workers().len(), 2);
    assert_eq!(inventory.control_plane()[0].name, "m1");
    let shown = world.console.read(&world.user, &"prod".parse().unwrap()).await.unwrap();
    let public = shown.ssh.public_key.expect("a generated key has a public half");
    assert!(public.starts_with("ssh-ed25519 "), "{public}");
    assert!(shown.ssh.fingerprint.unwrap().starts_with("SHA256:"));
    assert!(!shown.inventory.foreign && !shown.variables.foreign);
}

#[tokio::test]
async fn the_next_page_shows_a_registered_cluster() {
    let world = World::standalone().await;
    for n in 0..20 {
        let name = format!("prod-{n}");
        world.register(&new_cluster(&name)).await.unwrap();
        let detail = Clusters::get(&world.console, &world.user, &name.parse().unwrap()).await.unwrap();
        assert_eq!(detail.row.name.as_str(), name);
        let list = Clusters::list(&world.console, &world.user, &Default::default()).await.unwrap();
        assert_eq!(list.totals.all, n + 1);
        let nodes = world.console.nodes(&world.user, &name.parse().unwrap()).await.unwrap();
        assert_eq!(nodes.nodes[0].reached_by, "ubuntu@192.0.2.1");
    }
}

#[tokio::test]
async fn a_review_shows_the_files_and_writes_nothing() {
    let world = World::standalone().await;
    let before = world.everything().await;
    let key = ssh_key();
    let new = NewCluster { ssh: "paste".into(), ssh_key: key.clone(), ..new_cluster("prod") };
    let review = Clusters::review(&world.console, &world.user, &new).await.unwrap();
    assert_eq!(world.everything().await, before);
    let all: String = review.files.iter().map(|file| format!("{}\n{}\n", file.title, file.text)).collect();
    assert!(all.contains("prod-hosts-conf") && all.contains("kube_version: v1.35.4"), "{all}");
    assert!(!all.contains(key.lines().nth(2).unwrap()), "a review never shows a private key");
    assert_eq!(review.nodes.len(), 2);
    assert!(review.warnings.iter().any(|w| w.contains("host key")), "{:?}", review.warnings);
}

#[tokio::test]
async fn a_review_names_the_cluster_that_has_the_machines() {
    let world = World::standalone().await;
    world.register(&new_cluster("lab")).await.unwrap();
    let review = Clusters::review(&world.console, &world.user, &new_cluster("prod")).await.unwrap();
    let told = |text: &str| review.warnings.iter().any(|warning| warning.contains(text));
    assert!(told("m1 has the address of m1 in the cluster lab."), "{:?}", review.warnings);
    world.register(&new_cluster("prod")).await.expect("it warns only");
}

#[tokio::test]
async fn a_name_in_use_is_refused_and_nothing_changes() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let before = world.everything().await;
    let again = world.register(&new_cluster("prod")).await;
    assert!(at(&again, "name").contains("prod"), "{again:?}");
    let review = Clusters::review(&world.console, &world.user, &new_cluster("prod")).await;
    at(&review, "name");
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn an_existing_object_with_the_name_of_an_input_is_refused() {
    let world = World::standalone().await;
    let foreign = k8s_openapi::api::core::v1::ConfigMap { metadata: named("prod-vars-conf"), ..Default::default() };
    world.config_maps().create(&PostParams::default(), &foreign).await.unwrap();
    let before = world.everything().await;
    let refused = world.register(&new_cluster("prod")).await;
    assert!(refused.unwrap_err().to_string().contains("prod-vars-conf"));
    assert_eq!(world.everything().await, before);
}

/// The server crashed after it had written the Cluster and before it had written all inputs.
#[tokio::test]
async fn an_unfinished_registration_is_finished_by_registering_again() {
    let world = World::standalone().await;
    let one = new_cluster("prod");
    world.register(&one).await.unwrap();
    // The state after a crash: the Cluster has the annotation of an unfinished registration, and an input is missing.
    let cluster = world.clusters().get("prod").await.unwrap();
    let mark = json!({"metadata": {"annotations": {console::UNFINISHED: "true"}}});
    world.clusters().patch("prod", &PatchParams::default(), &Patch::Merge(mark)).await.unwrap();
    world.config_maps().delete("prod-vars-conf", &DeleteParams::default()).await.unwrap();
    let two = NewCluster { machines: vec![machine("other", "192.0.2.9")], ssh: "none".into(), ..one };
    world.register(&two).await.unwrap();
    let again = world.clusters().get("prod").await.unwrap();
    assert_eq!(again.uid(), cluster.uid());
    assert!(!again.annotations().contains_key(console::UNFINISHED));
    assert_eq!(again.spec.ssh_auth_ref, None);
    assert!(world.text("prod-hosts-conf", crd::KEY_HOSTS).await.contains("other"));
    assert!(world.text("prod-vars-conf", crd::KEY_VARS).await.contains("v1.35.4"));
    at(&world.register(&two).await, "name");
}

#[tokio::test]
async fn of_two_concurrent_registrations_of_a_name_one_succeeds() {
    let world = World::standalone().await;
    let with = |name: &str| NewCluster { machines: vec![machine(name, "192.0.2.1")], ..new_cluster("prod") };
    let (one, two) = (with("a"), with("b"));
    let (a, b) = tokio::join!(world.register(&one), world.register(&two));
    let winner = match (&a, &b) {
        (Ok(_), Err(_)) => "a",
        (Err(_), Ok(_)) => "b",
        both => panic!("exactly one must succeed: {both:?}"),
    };
    let inventory = inventory::parse(&world.text("prod-hosts-conf", crd::KEY_HOSTS).await).unwrap();
    assert_eq!(inventory.hosts.iter().map(|h| h.name.as_str()).collect::<Vec<_>>(), [winner]);
}

#[tokio::test]
async fn pasted_lines_count_if_all_rows_are_empty() {
    let world = World::standalone().await;
    let new = NewCluster {
        machines: vec![MachineRow::default(); 3],
        pasted: "m1 192.0.2.1\r\nw[1:2] 192.0.2.1[1:2]\r\n".into(),
        ..new_cluster("prod")
    };
    world.register(&new).await.unwrap();
    let inventory = inventory::parse(&world.text("prod-hosts-conf", crd::KEY_HOSTS).await).unwrap();
    assert_eq!(inventory.hosts.len(), 3);
    assert_eq!(inventory.control_plane().len(), 3);
}

#[tokio::test]
async fn a_machine_with_role_none_has_no_roles() {
    let world = World::standalone().await;
    let mut new = new_cluster("prod");
    new.machines[1].role = "none".into();
    world.register(&new).await.unwrap();
    let inventory = inventory::parse(&world.text("prod-hosts-conf", crd::KEY_HOSTS).await).unwrap();
    assert!(inventory.host("w1").unwrap().roles.is_empty());
    assert_eq!(inventory.etcd().len(), 1);
}

#[tokio::test]
async fn a_pasted_key_and_host_keys_are_kept_as_given() {
    let world = World::standalone().await;
    let public = ssh_key::PrivateKey::from_openssh(ssh_key()).unwrap().public_key().to_openssh().unwrap();
    let known = format!("192.0.2.1 {public}\n192.0.2.2 {public}\n");
    // A form sends CRLF, and users forget the last line end.
    let pasted = ssh_key().trim_end().replace('\n', "\r\n");
    let new = NewCluster {
        ssh: "paste".into(),
        ssh_key: pasted,
        known_hosts: known.replace('\n', "\r\n"),
        ..new_cluster("prod")
    };
    world.register(&new).await.unwrap();
    let secret = world.secrets().get("prod-ssh-auth").await.unwrap();
    assert_eq!(String::from_utf8(secret.data.unwrap()[crd::KEY_SSH].0.clone()).unwrap(), ssh_key());
    assert_eq!(world.text("prod-known-hosts", crd::KEY_KNOWN_HOSTS).await, known);
    let shown = world.console.read(&world.user, &"prod".parse().unwrap()).await.unwrap();
    assert_eq!(shown.ssh.host_keys.unwrap().count, 2);
    assert!(shown.ssh.public_key.unwrap().contains("ssh-ed25519"));
    let all = format!("{:?}", (shown.inventory, shown.variables, shown.ssh.fingerprint));
    assert!(!all.contains("PRIVATE KEY"));
}

/// A generated private key.
pub(crate) fn ssh_key() -> String {
    static KEY: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let made = || {
        let key = ssh_key::PrivateKey::random(&mut ssh_key::rand_core::OsRng, ssh_key::Algorithm::Ed25519).unwrap();
        key.to_openssh(ssh_key::LineEnding::LF).unwrap().to_string()
    };
    KEY.get_or_init(made).clone()
}
