//! The ConfigMaps that the submit form offers.

use api::backend::Operations;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;

use super::world::{World, named, new_cluster};

async fn config_map(world: &World, name: &str, keys: &[&str]) {
    let data = keys.iter().map(|key| ((*key).to_owned(), String::new())).collect();
    let map = ConfigMap { metadata: named(name), data: Some(data), ..ConfigMap::default() };
    world.config_maps().create(&PostParams::default(), &map).await.unwrap();
}

#[tokio::test]
async fn config_maps_of_the_namespace_are_offered_without_inputs() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let sources = async |cluster: &str, chosen: &str| {
        Operations::sources(&world.console, &world.user, cluster, chosen).await.unwrap()
    };
    let empty = sources("prod", "").await;
    assert_eq!(empty.config_maps, Some(Vec::new()));
    assert!(empty.note.contains("kubectl create configmap NAME -n machines"), "{}", empty.note);
    config_map(&world, "books", &["readme", "site.yml", "fix.sh"]).await;
    config_map(&world, "bare", &[]).await;
    let offered = sources("prod", "machines/books").await;
    assert_eq!(offered.config_maps, Some(vec!["machines/bare".into(), "machines/books".into()]));
    assert_eq!(offered.keys, Some(vec!["fix.sh".into(), "site.yml".into(), "readme".into()]));
    assert_eq!((offered.note.as_str(), offered.keys_note.as_str()), ("", ""));

    let note = async |chosen: &str| sources("prod", chosen).await.keys_note;
    assert!(note("").await.contains("Choose a ConfigMap first"));
    assert!(note("machines/bare").await.contains("is empty"));
    assert!(note("machines/gone").await.contains("There is no ConfigMap machines/gone"));
    assert!(note("elsewhere/books").await.contains("namespace machines"));
    assert!(sources("", "").await.note.contains("Choose a cluster first"));
}
