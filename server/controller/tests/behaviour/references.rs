//! The objects that a Cluster refers to: its condition InputsReady, and what remains when the Cluster is deleted.

use std::time::Duration;

use crd::Phase;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::world::{HOSTS, KEY, NAMESPACE, World, eventually, phase};

#[tokio::test]
async fn a_cluster_reports_missing_inputs_until_they_exist() {
    let world = World::new().await;
    world.config_map("new-vars", &[("group_vars.yml", "")]).await;
    world.create_cluster("new", |spec| spec.ssh_auth_ref = None).await;
    world.cluster_that("new", "miss its inventory", |cluster| inputs(cluster) == ("False", "ReferenceNotFound")).await;
    world.config_map("new-hosts", &[("hosts.yml", "all: [oops")]).await;
    world.cluster_that("new", "find it broken", |cluster| inputs(cluster) == ("False", "InventoryInvalid")).await;
    world.config_map("new-hosts", &[("hosts.yml", HOSTS)]).await;
    world.cluster_that("new", "be ready", |cluster| inputs(cluster) == ("True", "Ready")).await;
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), NAMESPACE);
    maps.delete("new-vars", &DeleteParams::default()).await.unwrap();
    world
        .cluster_that("new", "notice that it is gone", |cluster| inputs(cluster) == ("False", "ReferenceNotFound"))
        .await;
}

#[tokio::test]
async fn what_ansible_will_not_read_stands_in_the_status() {
    let world = World::new().await;
    world.config_map("new-hosts", &[("hosts.yml", HOSTS)]).await;
    let variables = "container-manager: crio\nsmtp_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162\n";
    world.config_map("new-vars", &[("group_vars.yml", variables)]).await;
    world.create_cluster("new", |spec| spec.ssh_auth_ref = None).await;
    let says = |cluster: &crd::Cluster, text: &str| {
        let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.clone()).unwrap_or_default();
        conditions.iter().any(|c| c.type_ == "InputsReady" && c.message.contains(text))
    };
    let warned = " There are 2 warnings. Variables, line 1: ansible never reads the variable “container-manager”.";
    world.cluster_that("new", "warn", |cluster| says(cluster, warned)).await;
    world.config_map("new-vars", &[("group_vars.yml", "container_manager: crio\n")]).await;
    world.cluster_that("new", "be plain", |cluster| inputs(cluster).0 == "True" && !says(cluster, "arning")).await;
}

#[tokio::test]
async fn a_cluster_without_confirmed_host_keys_says_so() {
    let world = World::new().await;
    world.cluster("prod").await;
    let says = |cluster: &crd::Cluster, text: &str| {
        let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.clone()).unwrap_or_default();
        conditions.iter().any(|c| c.type_ == "InputsReady" && c.message.contains(text))
    };
    let warned = "No host key is confirmed, so each run trusts the first key that a machine shows.";
    world.cluster_that("prod", "warn", |cluster| says(cluster, warned)).await;
    let key = "192.0.2.1 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n";
    world.config_map("prod-known-hosts", &[("known_hosts", key)]).await;
    world.cluster_that("prod", "be plain", |cluster| inputs(cluster).0 == "True" && !says(cluster, warned)).await;
}

#[tokio::test]
async fn names_of_secret_variables_are_judged_without_values() {
    let world = World::new().await;
    world.config_map("new-hosts", &[("hosts.yml", HOSTS)]).await;
    world.config_map("new-vars", &[("group_vars.yml", "")]).await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    let data = json!({"groups": "canary-value", "ansible_ssh_private_key_file": "~/canary-key", "db_user": "me"});
    let secret = json!({"metadata": {"name": "new-secret"}, "type": crd::SECRET_VARS_TYPE, "stringData": data});
    secrets.create(&PostParams::default(), &serde_json::from_value(secret).unwrap()).await.unwrap();
    world
        .create_cluster("new", |spec| {
            (spec.ssh_auth_ref, spec.secret_vars_ref) = (None, Some(crd::DataRef::new(NAMESPACE, "new-secret")));
        })
        .await;
    let warned =
        "There is a warning. Secret variables: ansible never reads the variable “groups”. It sets this one itself.";
    let message = |cluster: &crd::Cluster| {
        let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.clone()).unwrap_or_default();
        let found = conditions.into_iter().find(|c| c.type_ == "InputsReady");
        found.map(|condition| condition.message).unwrap_or_default()
    };
    let cluster = world.cluster_that("new", "warn", |cluster| message(cluster).contains(warned)).await;
    assert!(!message(&cluster).contains("canary"), "{}", message(&cluster));
}

#[tokio::test]
async fn k22_a_deleted_cluster_leaves_inputs_it_did_not_adopt() {
    let world = World::new().await;
    world.cluster("prod").await;
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), NAMESPACE);
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    let used =
        eventually(async || maps.get("prod-hosts").await.unwrap().labels().get("kubeonkube.clay.io/used-by").cloned());
    assert_eq!(used.await.as_deref(), Some("prod"));
    world.config_map("mine-hosts", &[("hosts.yml", HOSTS)]).await;
    world.config_map("mine-vars", &[("group_vars.yml", "")]).await;
    world.create_cluster("mine", |spec| (spec.ssh_auth_ref, spec.adopt_inputs) = (None, Some(true))).await;
    eventually(async || (!maps.get("mine-vars").await.unwrap().owner_references().is_empty()).then_some(()))
        .await
        .expect("it is adopted");
    for name in ["prod", "mine"] {
        world.cluster_that(name, "be ready", |cluster| inputs(cluster).0 == "True").await;
        world.clusters().delete(name, &DeleteParams::background()).await.unwrap();
    }
    eventually(async || maps.get_opt("mine-hosts").await.unwrap().is_none().then_some(()))
        .await
        .expect("adopted objects are collected");
    assert!(
        maps.get_opt("prod-hosts").await.unwrap().is_some() && secrets.get_opt("prod-ssh").await.unwrap().is_some()
    );
}

/// The owner's deletion deletes what it owns, so ownership must not reach what the Cluster's author may not delete.
#[tokio::test]
async fn a_cluster_owns_no_inputs_that_it_can_not_use() {
    let world = World::new().await;
    world.config_map_in("elsewhere", "far-vars", &[("group_vars.yml", "")]).await;
    for name in ["far", "broken"] {
        world.config_map(&format!("{name}-hosts"), &[("hosts.yml", HOSTS)]).await;
    }
    world.config_map("broken-vars", &[("readme", "not an input")]).await;
    let adopting = |spec: &mut crd::ClusterSpec| (spec.ssh_auth_ref, spec.adopt_inputs) = (None, Some(true));
    world.create_cluster("broken", adopting).await;
    world
        .create_cluster("far", |spec| {
            adopting(spec);
            spec.vars_conf_ref.namespace = "elsewhere".into();
        })
        .await;
    for name in ["far", "broken"] {
        world.cluster_that(name, "be refused", |cluster| inputs(cluster).0 == "False").await;
    }
    for (namespace, name) in
        [("elsewhere", "far-vars"), (NAMESPACE, "far-hosts"), (NAMESPACE, "broken-hosts"), (NAMESPACE, "broken-vars")]
    {
        let map = Api::<ConfigMap>::namespaced(world.client.clone(), namespace).get(name).await.unwrap();
        assert!(map.owner_references().is_empty() && map.labels().is_empty(), "{name}: {:?}", map.metadata);
    }
}

#[tokio::test]
async fn a_missing_secret_or_wrong_key_is_named() {
    let world = World::new().await;
    for name in ["nosecret", "nokey", "nopem"] {
        world.config_map(&format!("{name}-hosts"), &[("hosts.yml", HOSTS)]).await;
        world.config_map(&format!("{name}-vars"), &[("group_vars.yml", "")]).await;
        world.create_cluster(name, |_| {}).await;
    }
    world.secret("nokey-ssh", "id_rsa", "x").await;
    world.secret("nopem-ssh", "ssh-privatekey", "replace me").await;
    for (name, why, says) in [
        ("nosecret", "ReferenceNotFound", "Secret lab/nosecret-ssh"),
        ("nokey", "KeyNotFound", "id_rsa"),
        ("nopem", "PrivateKeyInvalid", "BEGIN"),
    ] {
        world.submit(&format!("run-{name}"), name, "ok").await;
        let message = world.refused(&format!("run-{name}"), why).await;
        assert!(message.contains(says), "{message}");
    }
}

/// Secrets are not watched.
#[tokio::test]
async fn a_secret_of_a_ready_cluster_is_read_now_and_then() {
    let world = World::new().await;
    world.cluster("prod").await;
    let passes = async |seconds| {
        // All timers of the controller end, at once.
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        tokio::time::resume();
    };
    world.cluster_that("prod", "be ready", |cluster| inputs(cluster) == ("True", "Ready")).await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    secrets.delete("prod-ssh", &DeleteParams::default()).await.unwrap();
    passes(301).await;
    world.cluster_that("prod", "miss it", |cluster| inputs(cluster) == ("False", "ReferenceNotFound")).await;
    world.secret("prod-ssh", "ssh-privatekey", KEY).await;
    passes(11).await;
    world.cluster_that("prod", "find it", |cluster| inputs(cluster) == ("True", "Ready")).await;
}

#[tokio::test]
async fn what_an_operation_finds_is_said_of_its_cluster() {
    let mut world = World::without_controller().await;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.cluster("prod").await;
    world.cluster_that("prod", "be ready", |cluster| inputs(cluster) == ("True", "Ready")).await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    secrets.delete("prod-ssh", &DeleteParams::default()).await.unwrap();
    world.submit("waits", "prod", "ok").await;
    world.cluster_that("prod", "miss it", |cluster| inputs(cluster) == ("False", "ReferenceNotFound")).await;
    world.secret("prod-ssh", "ssh-privatekey", KEY).await;
    assert_eq!(phase(&world.ended("waits").await), Phase::Succeeded);
    world.cluster_that("prod", "find it", |cluster| inputs(cluster) == ("True", "Ready")).await;
    let broken = Patch::Merge(json!({"stringData": {"ssh-privatekey": "replace me"}}));
    secrets.patch("prod-ssh", &PatchParams::default(), &broken).await.unwrap();
    world.submit("fails", "prod", "ok").await;
    world.refused("fails", "PrivateKeyInvalid").await;
    world.cluster_that("prod", "be refused", |cluster| inputs(cluster) == ("False", "PrivateKeyInvalid")).await;
}

/// Without a controller, changes of ConfigMaps are missed, too.
#[tokio::test]
async fn inputs_are_checked_at_the_start_of_the_controller() {
    let mut world = World::new().await;
    world.cluster("prod").await;
    world.cluster_that("prod", "be ready", |cluster| inputs(cluster) == ("True", "Ready")).await;
    world.stop_controller().await;
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), NAMESPACE);
    maps.delete("prod-vars", &DeleteParams::default()).await.unwrap();
    world.start_controller().await;
    world.cluster_that("prod", "miss it", |cluster| inputs(cluster) == ("False", "ReferenceNotFound")).await;
}

/// Runs would end with “error in libcrypto” or “Permission denied”.
#[tokio::test]
async fn a_cluster_with_an_unusable_private_key_is_not_ready() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.cluster_that("prod", "be ready", |cluster| inputs(cluster) == ("True", "Ready")).await;
    let encrypted = KEY.replacen('\n', "\nProc-Type: 4,ENCRYPTED\n\n", 1);
    for (number, (key, says)) in [(KEY.replace('\n', " "), "joined"), (encrypted, "passphrase")].into_iter().enumerate()
    {
        let name = format!("bad-{number}");
        world.config_map(&format!("{name}-hosts"), &[("hosts.yml", HOSTS)]).await;
        world.config_map(&format!("{name}-vars"), &[("group_vars.yml", "")]).await;
        world.secret(&format!("{name}-ssh"), "ssh-privatekey", &key).await;
        world.create_cluster(&name, |_| {}).await;
        world.cluster_that(&name, "be refused", |cluster| inputs(cluster) == ("False", "PrivateKeyInvalid")).await;
        world.submit(&format!("run-{number}"), &name, "ok").await;
        let message = world.refused(&format!("run-{number}"), "PrivateKeyInvalid").await;
        assert!(message.contains(says) && !message.contains("MDECAQ"), "{message}");
    }
}

/// The console stores a new private key beside the current one and tests it with an operation.
#[tokio::test]
async fn only_a_test_of_the_next_key_connects_with_it() {
    let world = World::new().await;
    world.cluster("prod").await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    let next = "-----BEGIN EC PRIVATE KEY-----\n\
        MDECAQEEICNPvpFbJOrC3ji4VhbZXX1LFLNrn6cKaHExSwYMds85oAoGCCqGSM49\n\
        AwEH\n\
        -----END EC PRIVATE KEY-----\n";
    let patch = Patch::Merge(json!({"stringData": {crd::KEY_SSH_NEXT: next}}));
    secrets.patch("prod-ssh", &PatchParams::default(), &patch).await.unwrap();
    let mounted = async |operation: &str| {
        assert_eq!(phase(&world.ended(operation).await), Phase::Succeeded);
        let job = world.jobs().get(&crd::job_name(operation)).await.unwrap();
        let volumes = job.spec.unwrap().template.spec.unwrap().volumes.unwrap();
        let key = volumes.into_iter().find(|volume| volume.name == "ssh-auth").unwrap().secret.unwrap().items.unwrap();
        (key[0].key.clone(), key[0].path.clone())
    };
    world.submit("usual", "prod", "ok").await;
    assert_eq!(mounted("usual").await, (crd::KEY_SSH.into(), crd::KEY_SSH.into()));
    let id = crd::ssh_key_id(next.as_bytes());
    world.submit_with("test", "prod", |spec| spec.next_ssh_key = Some(id.clone())).await;
    assert_eq!(mounted("test").await, (crd::KEY_SSH_NEXT.into(), crd::KEY_SSH.into()));

    world.submit_with("other", "prod", |spec| spec.next_ssh_key = Some("0123456789abcdef".into())).await;
    world.refused("other", "NextKeyChanged").await;
    let patch = Patch::Merge(json!({"data": {crd::KEY_SSH_NEXT: null}}));
    secrets.patch("prod-ssh", &PatchParams::default(), &patch).await.unwrap();
    world.submit_with("late", "prod", |spec| spec.next_ssh_key = Some(id)).await;
    assert!(world.refused("late", "NextKeyChanged").await.contains("no longer stored"));
}

fn inputs(cluster: &crd::Cluster) -> (&str, &str) {
    let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.as_slice()).unwrap_or_default();
    conditions.iter().find(|c| c.type_ == "InputsReady").map_or(("", ""), |c| (&c.status, &c.reason))
}
