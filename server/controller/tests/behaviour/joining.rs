//! Operations that join machines to a hosted cluster.

use std::sync::Arc;

use async_trait::async_trait;
use crd::{Cluster, ClusterOperation, Phase};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, ResourceExt};
use kubeonkube_controller::{Access, Joining};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::world::{KEY, NAMESPACE, World, eventually};

const TOKEN: &str = "abcdef.0123456789abcdef";

/// A control plane, and which operations it was asked for.
#[derive(Debug, Default)]
struct ControlPlane {
    is_ready: Mutex<bool>,
    ended: Mutex<Vec<String>>,
}

#[async_trait]
impl Joining for ControlPlane {
    async fn access(&self, _: &Cluster, _: &ClusterOperation) -> Result<Access, String> {
        if !*self.is_ready.lock() {
            return Err("Its control plane isn't ready: etcd is starting.".into());
        }
        let Value::Object(variables) = json!({"hosted_api": "192.0.2.10:30443"}) else { unreachable!() };
        Ok(Access { variables, secrets: [("hosted_token".into(), TOKEN.into())].into() })
    }

    async fn end(&self, _: &Cluster, operation: &ClusterOperation) {
        self.ended.lock().push(operation.name_any());
    }
}

/// A world with the hosted cluster `shop`, and `prod`, which isn't hosted.
async fn world() -> (World, Arc<ControlPlane>) {
    let plane = Arc::new(ControlPlane::default());
    let mut world = World::without_controller().await;
    world.config.joining = Some(plane.clone());
    world.start_controller().await;
    world.cluster("prod").await;
    for (name, key, text) in [
        ("shop-hosts", "hosts.yml", "kube_node: {hosts: {w1: {ansible_host: 192.0.2.1}}}"),
        ("shop-vars", "group_vars.yml", "{}"),
    ] {
        world.config_map(name, &[(key, text)]).await;
    }
    world.secret("shop-ssh", "ssh-privatekey", KEY).await;
    let hosted = json!({"namespace": "shop", "version": "v1.36.4", "networking": {"podCidr": "10.1.0.0/16"}});
    world.create_cluster("shop", |spec| spec.hosted = Some(serde_json::from_value(hosted).unwrap())).await;
    (world, plane)
}

#[tokio::test]
async fn machines_wait_for_the_control_plane_and_get_a_token() {
    let (world, plane) = world().await;
    world.submit_with("join", "shop", |spec| spec.action = "join.yml".into()).await;
    let says = |operation: &ClusterOperation| operation.status.clone().and_then(|status| status.message);
    let waits = |operation: &ClusterOperation| says(operation).is_some_and(|text| text.contains("etcd is starting"));
    let waiting = world.operation_that("join", "wait", waits).await;
    assert!(says(&waiting).unwrap().contains("waits for it until 10 min after"), "{waiting:?}");
    assert_eq!(waiting.status.unwrap().status, Phase::Pending);

    *plane.is_ready.lock() = true;
    let ended = world.ended("join").await;
    assert_eq!(ended.status.unwrap().status, Phase::Succeeded);
    let snapshot = Api::<Secret>::namespaced(world.client.clone(), NAMESPACE).get("join-inputs").await.unwrap();
    let data = snapshot.data.unwrap();
    let text = |key: &str| String::from_utf8(data[key].0.clone()).unwrap();
    assert_eq!(text("secret_vars.json"), json!({"hosted_token": TOKEN}).to_string());
    let steps: Value = serde_json::from_str(&text("steps.json")).unwrap();
    assert_eq!(steps["steps"][0]["args"], json!(["-e", r#"{"hosted_api":"192.0.2.10:30443"}"#]));
    assert!(text("secrets.json").contains(TOKEN), "the output is masked");
    eventually(async || (*plane.ended.lock() == ["join"]).then_some(())).await.expect("the token is deleted once");
}

#[tokio::test]
async fn other_operations_get_no_token() {
    let (world, plane) = world().await;
    world.submit("ping", "shop", "ok").await;
    world.ended("ping").await;
    let snapshot = Api::<Secret>::namespaced(world.client.clone(), NAMESPACE).get("ping-inputs").await.unwrap();
    assert!(!snapshot.data.unwrap().contains_key("secret_vars.json"));
    assert!(plane.ended.lock().is_empty());
}

#[tokio::test]
async fn machines_join_only_hosted_clusters() {
    let (world, _) = world().await;
    world.submit_with("join", "prod", |spec| spec.action = "join.yml".into()).await;
    assert!(world.refused("join", "NotHosted").await.contains("Use scale.yml"));
}
