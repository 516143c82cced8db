//! In standalone mode nothing can be hosted, and a condition says so.

#[path = "../../tests/embedded_api/mod.rs"]
mod embedded_api;
#[path = "../../tests/patience/mod.rs"]
mod patience;

use std::time::Duration;

use crd::Cluster;
use futures::StreamExt;
use kube::api::{DeleteParams, PostParams};
use kube::runtime::reflector::store;
use kube::runtime::watcher;
use kube::{Api, ResourceExt};
use kubeonkube_hosted::{Config, Reach, start};
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn standalone_says_that_it_needs_a_kubernetes() {
    let folder = tempfile::tempdir().unwrap();
    let api = embedded_api::open(folder.path(), crd::all()).unwrap();
    let client = api.client("kubeonkube:server");
    let clusters: Api<Cluster> = Api::all(client.clone());
    let (reader, mut writer) = store();
    let (sender, names) = futures::channel::mpsc::unbounded();
    let mut events = watcher(clusters.clone(), watcher::Config::default()).boxed();
    let feeding = tokio::spawn(async move {
        while let Some(Ok(event)) = events.next().await {
            writer.apply_watcher_event(&event);
            if let watcher::Event::Apply(cluster) = event {
                let _ = sender.unbounded_send(cluster.name_any());
            }
        }
    });
    let stop = CancellationToken::new();
    let hosting = tokio::spawn(start(client, reader, names.boxed(), Config { reach: Reach::Never }, stop.clone()));

    let spec =
        json!({"hosted": {"namespace": "shop", "version": "v1.34.4", "networking": {"podCidr": "10.244.0.0/16"}}});
    let cluster: Cluster = serde_json::from_value(json!({"metadata": {"name": "shop"}, "spec": spec})).unwrap();
    clusters.create(&PostParams::default(), &cluster).await.unwrap();
    let refused = async {
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        loop {
            tick.tick().await;
            let found = clusters.get("shop").await.unwrap();
            assert!(found.finalizers().is_empty(), "nothing has to be deleted before it");
            let conditions = found.status.and_then(|status| status.hosted).unwrap_or_default().conditions;
            if let Some(ready) = conditions.into_iter().find(|condition| condition.type_ == "Ready") {
                return ready;
            }
        }
    };
    let ready = tokio::time::timeout(patience::PATIENCE, refused).await.expect("a condition");
    assert_eq!((ready.status.as_str(), ready.reason.as_str()), ("False", "NeedsKubernetes"));
    assert!(ready.message.contains("Standalone mode has none"), "{}", ready.message);
    clusters.delete("shop", &DeleteParams::default()).await.unwrap();
    assert!(clusters.get_opt("shop").await.unwrap().is_none());

    stop.cancel();
    hosting.await.unwrap();
    feeding.abort();
    api.close().await;
}
