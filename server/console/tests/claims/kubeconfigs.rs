//! Downloads of kubeconfigs.

use api::Problem;
use api::backend::{Clusters, Creations};
use api::cluster::LiveState;
use console::Playbooks;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::json;

use super::access::with_cluster;
use super::world::{World, eventually, new_cluster};

#[tokio::test]
async fn a_download_is_recorded_on_the_cluster_and_as_an_event() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let name = "prod".parse().unwrap();
    let missing = Clusters::kubeconfig(&world.console, &world.user, &name).await;
    assert!(matches!(missing, Err(Problem::NotFound { .. })), "{missing:?}");
    let secret: Secret = serde_json::from_value(
        json!({"metadata": {"name": "prod-kubeconfig"}, "stringData": {"kubeconfig": "apiVersion: v1\n"}}),
    )
    .unwrap();
    world.secrets().create(&PostParams::default(), &secret).await.unwrap();
    for _ in 0..25 {
        assert_eq!(Clusters::kubeconfig(&world.console, &world.user, &name).await.unwrap(), "apiVersion: v1\n");
    }
    let annotations = world.clusters().get("prod").await.unwrap().metadata.annotations.unwrap();
    let recorded: serde_json::Value = serde_json::from_str(&annotations[crd::ANNOTATION_DOWNLOADS]).unwrap();
    assert_eq!((recorded.as_array().unwrap().len(), &recorded[0]["by"]), (20, &json!("ada")));
    let events = Api::<Event>::all(world.client.clone()).list(&ListParams::default()).await.unwrap();
    let told =
        events.iter().filter_map(|event| event.note.as_deref()).any(|note| note == "ada downloaded the kubeconfig.");
    assert!(told, "{events:?}");
}

#[tokio::test]
async fn a_download_needs_the_users_own_right() {
    let (world, guard) = with_cluster().await;
    let user = api::User { name: "reader".into(), token: Some("reader".into()) };
    let refused = Clusters::kubeconfig(&world.console, &user, &"prod".parse().unwrap()).await;
    assert!(matches!(refused, Err(Problem::Forbidden { .. })), "{refused:?}");
    assert!(guard.was_asked("GET /api/v1/namespaces/machines/secrets/prod-kubeconfig"), "with the user's token");
    let cluster = world.clusters().get("prod").await.unwrap();
    assert!(cluster.metadata.annotations.is_none(), "nothing was downloaded");
}

#[tokio::test]
async fn a_cluster_of_kubespray_shows_how_its_kubeconfig_is_stored() {
    for (playbooks, expected) in [(Playbooks::Image, true), (Playbooks::Local, false)] {
        let world = World::with(playbooks, |_| None).await;
        world.register(&new_cluster("prod")).await.unwrap();
        let name = "prod".parse().unwrap();
        let live = async || Clusters::get(&world.console, &world.user, &name).await.unwrap().live;
        eventually(async || live().await.state == LiveState::NoKubeconfig).await;
        let commands = live().await.kubeconfig_commands;
        let stores = "kubectl --namespace=machines create secret generic prod-kubeconfig --from-file=kubeconfig=";
        assert_eq!(commands.contains(stores) && commands.contains("ssh ubuntu@192.0.2.1 "), expected, "{commands:?}");
        let creation = Creations::read(&world.console, &world.user, &name).await.unwrap();
        assert_eq!(creation.live.kubeconfig_commands, commands);
    }
}
