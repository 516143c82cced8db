//! The objects that a Cluster refers to: its condition InputsReady, and what remains when the Cluster is deleted.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::DeleteParams;
use kube::{Api, ResourceExt};

use crate::world::{HOSTS, NAMESPACE, World, eventually};

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

fn inputs(cluster: &crd::Cluster) -> (&str, &str) {
    let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.as_slice()).unwrap_or_default();
    conditions.iter().find(|c| c.type_ == "InputsReady").map_or(("", ""), |c| (&c.status, &c.reason))
}
