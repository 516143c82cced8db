use std::sync::Arc;

use api::backend::{Clusters, Operations};
use api::cluster::{ClusterFilter, Health, NodeResults};
use api::operation::{OperationFilter, Phase};
use api::run::HostStats;
use crd::{Cluster, ClusterOperation, ClusterOperationSpec, ClusterSpec, DataRef};
use futures::{StreamExt, stream};
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;
use tokio::time::timeout;

use super::patience::PATIENCE;
use super::world::{FakeRuns, NAMESPACE, World, eventually, new_cluster, new_operation};

#[tokio::test]
async fn health_depends_on_the_inputs_and_the_last_operation() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let row = async || Clusters::get(&world.console, &world.user, &"prod".parse().unwrap()).await.unwrap().row;
    assert_eq!(row().await.health, Health::Unknown);
    let name = world.submit(&new_operation("prod")).await.unwrap();
    assert_eq!(row().await.health, Health::Working);
    world.set_phase(name.as_str(), crd::Phase::Running, "Started").await;
    let working = row().await;
    assert_eq!((working.health, working.health_word.as_str()), (Health::Working, "Running ping.yml"));
    assert_eq!(working.last.unwrap().phase, Phase::Running);
    world.set_phase(name.as_str(), crd::Phase::Failed, "PlaybookFailed").await;
    let failed = row().await;
    assert_eq!(failed.health, Health::Attention);
    assert!(failed.note.contains("is now Failed"), "{}", failed.note);
    let next = world.submit(&new_operation("prod")).await.unwrap();
    world.set_phase(next.as_str(), crd::Phase::Succeeded, "Done").await;
    assert_eq!(row().await.health, Health::Good);
    let status = json!({"status": {"clusterConditions": [{"type": "InputsReady", "status": "False", "reason": "ReferenceNotFound",
        "message": "hostsConfRef names ConfigMap machines/x, which doesn't exist.", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
    world.clusters().patch_status("prod", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    eventually(async || row().await.health == Health::Broken).await;
    assert!(row().await.note.contains("doesn't exist"));
}

#[tokio::test]
async fn a_changed_inventory_updates_the_number_of_machines() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let nodes =
        async || Clusters::list(&world.console, &world.user, &ClusterFilter::default()).await.unwrap().rows[0].nodes;
    eventually(async || nodes().await == Some(2)).await;
    let text = "all: {hosts: {a: {}, b: {}, c: {}}}\n";
    let version = api::backend::Configurations::read(&world.console, &world.user, &"prod".parse().unwrap())
        .await
        .unwrap()
        .inventory
        .version;
    let document = api::configuration::Document::Inventory;
    api::backend::Configurations::save(&world.console, &world.user, &"prod".parse().unwrap(), document, &version, text)
        .await
        .unwrap();
    eventually(async || nodes().await == Some(3)).await;
    // An edit with kubectl: the controller's watch reports the change with `input_changed`.
    let edited = json!({"data": {crd::KEY_HOSTS: "all: {hosts: {a: {}}}\n"}});
    world.config_maps().patch("prod-hosts-conf", &PatchParams::default(), &Patch::Merge(edited)).await.unwrap();
    world.console.input_changed(NAMESPACE, "prod-hosts-conf");
    eventually(async || nodes().await == Some(1)).await;
}

/// The list must be fast, because users have it open all day.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_clusters_are_listed_from_memory() {
    let world = World::standalone().await;
    let at = |name: &str| DataRef::new(NAMESPACE, name);
    stream::iter(0..1000)
        .for_each_concurrent(64, |n| {
            let spec = ClusterSpec {
                hosts_conf_ref: at(&format!("c{n}-hosts")),
                vars_conf_ref: at(&format!("c{n}-vars")),
                ..Default::default()
            };
            let operation = ClusterOperationSpec {
                cluster: format!("c{n}"),
                action: "ping.yml".into(),
                image: "i".into(),
                ..Default::default()
            };
            let (clusters, operations) = (world.clusters(), world.operations());
            async move {
                clusters.create(&PostParams::default(), &Cluster::new(&format!("c{n}"), spec)).await.unwrap();
                operations
                    .create(&PostParams::default(), &ClusterOperation::new(&format!("c{n}-ping"), operation))
                    .await
                    .unwrap();
            }
        })
        .await;
    let list = async |filter: ClusterFilter| Clusters::list(&world.console, &world.user, &filter).await.unwrap();
    eventually(async || {
        let all = list(ClusterFilter::default()).await.totals;
        (all.all, all.queued) == (1000, 1000)
    })
    .await;
    // A list that needs a request would now wait forever.
    world.silence_api();
    let first = timeout(PATIENCE, list(ClusterFilter::default())).await.expect("the list waits for the API");
    assert_eq!((first.rows.len(), first.matching, first.pages, first.page), (100, 1000, 10, 1));
    let last = list(ClusterFilter { page: 99, sort: "-name".into(), ..Default::default() }).await;
    assert_eq!((last.page, last.rows.last().unwrap().name.as_str()), (10, "c0"));
    assert_eq!(list(ClusterFilter { q: "C99".into(), ..Default::default() }).await.matching, 11);
    assert_eq!(list(ClusterFilter { show: "attention".into(), ..Default::default() }).await.matching, 0);
    let operations =
        Operations::list(&world.console, &world.user, &OperationFilter { cluster: "c7".into(), ..Default::default() })
            .await
            .unwrap();
    assert_eq!(operations.matching, 1);
}

#[tokio::test]
async fn each_machine_shows_its_result_in_the_last_run() {
    let world = World::standalone().await;
    // The record fails, because the list must not read whole logs.
    let runs = FakeRuns::default();
    let recap_of_run = runs.recap.clone();
    world.console.ask_runs(Arc::new(runs));
    world.register(&new_cluster("prod")).await.unwrap();
    let results = async || {
        let list = world.console.nodes(&world.user, &"prod".parse().unwrap()).await.unwrap();
        let shown: Vec<_> = list.nodes.into_iter().map(|node| node.last_result.unwrap_or_default()).collect();
        (list.results, shown.join(" "))
    };
    assert_eq!(results().await, (NodeResults::NoRun, " ".to_owned()));
    let name = world.submit(&new_operation("prod")).await.unwrap();
    let unreachable = HostStats { unreachable: 1, ..HostStats::default() };
    let hosts = [("m1".to_owned(), HostStats { ok: 1, ..HostStats::default() }), ("w1".to_owned(), unreachable)].into();
    recap_of_run.set((name.clone(), hosts)).unwrap();
    let recap = json!({"status": {"recap": crd::Recap { hosts: 2, unreachable: 1, ..Default::default() }}});
    world.operations().patch_status(name.as_str(), &PatchParams::default(), &Patch::Merge(recap)).await.unwrap();
    world.set_phase(name.as_str(), crd::Phase::Failed, "Unreachable").await;
    let shown = (NodeResults::NewestRun, "ok unreachable".to_owned());
    assert_eq!(results().await, shown);
    // A newer operation without a recap, such as a refused one, doesn't replace these results.
    let refused = world.submit(&new_operation("prod")).await.unwrap();
    world.set_phase(refused.as_str(), crd::Phase::Failed, "Refused").await;
    assert_eq!(results().await, shown);
}
