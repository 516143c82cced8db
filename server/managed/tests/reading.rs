//! Reads a fake managed cluster, whose kubeconfig is in the embedded API.

#[path = "../../tests/embedded_api/mod.rs"]
mod embedded_api;
mod fake;

use std::time::Duration;

use api::cluster::LiveState;
use crd::{Cluster, ClusterSpec, DataRef};
use fake::FakeCluster;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client};
use kubeonkube_managed::{Clusters, Evictions, Reading, Settings};
use serde_json::json;
use tokio_util::sync::CancellationToken;

struct World {
    client: Client,
    clusters: Clusters,
    stop: CancellationToken,
    _api: std::sync::Arc<standalone::Api>,
    _data: tempfile::TempDir,
}

impl World {
    /// A cluster `prod` that is read every 50 ms if it is looked at.
    async fn new(loopback: bool) -> Self {
        Self::read_every(Duration::from_millis(50), loopback).await
    }

    async fn read_every(open: Duration, loopback: bool) -> Self {
        let data = tempfile::tempdir().unwrap();
        let api = embedded_api::open(data.path(), crd::all()).expect("the API opens");
        let client = api.client("test");
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "lab"}})).unwrap();
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
        let at = |name: &str| DataRef::new("lab", name);
        let spec = ClusterSpec { hosts_conf_ref: at("hosts"), vars_conf_ref: at("vars"), ..ClusterSpec::default() };
        Api::all(client.clone()).create(&PostParams::default(), &Cluster::new("prod", spec)).await.unwrap();
        let (store, writer) = reflector::store();
        let watched = watcher(Api::<Cluster>::all(client.clone()), watcher::Config::default());
        let stop = CancellationToken::new();
        let filled = reflector(writer, watched).default_backoff();
        let stopped = stop.clone();
        tokio::spawn(async move {
            use futures::StreamExt;
            let _ = stopped.run_until_cancelled(filled.for_each(|_| async {})).await;
        });
        store.wait_until_ready().await.unwrap();
        let settings = Settings { open, closed: 20 * open, ..Settings::new(client.clone(), store, loopback) };
        let (clusters, work) = Clusters::start(settings, Box::new(|_| {}), stop.clone());
        tokio::spawn(work);
        Self { client, clusters, stop, _api: api, _data: data }
    }

    async fn kubeconfig(&self, text: &str) {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "prod-kubeconfig"}, "stringData": {"kubeconfig": text}});
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "lab");
        secrets.patch("prod-kubeconfig", &PatchParams::apply("test").force(), &Patch::Apply(secret)).await.unwrap();
    }

    /// Says in the status of the cluster that an operation has ended.
    async fn operation_ends(&self, name: &str, end: &str) {
        let ended =
            |name: &str, end: &str| json!({"clusterOps": name, "uid": name, "status": "Succeeded", "endTime": end});
        // One that was queued and refused before that stands above it.
        let refused = ended("refused", "2026-01-31T11:00:00Z");
        let status = json!({"status": {"conditions": [refused, ended(name, end)]}});
        let clusters: Api<Cluster> = Api::all(self.client.clone());
        clusters.patch_status("prod", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    }

    /// Looks until the reading is as wanted.
    async fn reading(&self, what: &str, holds: impl Fn(&Reading) -> bool) -> Reading {
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        let wait = async {
            loop {
                tick.tick().await;
                let reading = self.clusters.look("prod");
                if holds(&reading) {
                    return Reading::clone(&reading);
                }
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
        waited.unwrap_or_else(|_| panic!("it should {what}: {:#?}", self.clusters.look("prod")))
    }

    async fn in_state(&self, state: LiveState) -> Reading {
        self.reading("change its state", |reading| reading.cluster.state == state).await
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_read_with_the_kubeconfig_of_its_secret() {
    let world = World::new(true).await;
    world.in_state(LiveState::NoKubeconfig).await;
    let fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    let reading = world.in_state(LiveState::Healthy).await;
    assert_eq!((reading.cluster.version.as_str(), reading.cluster.nodes, reading.cluster.ready), ("v1.34.4", 2, 2));
    assert_eq!(
        reading.cluster.checks.iter().map(|check| check.name.as_str()).collect::<Vec<_>>(),
        ["Control plane", "etcd"]
    );
    assert_eq!(reading.cluster.certificates.len(), 1, "the token has no certificate");
    let names: Vec<_> = reading.nodes.iter().map(|node| (node.name.as_str(), node.roles.join(","))).collect();
    assert_eq!(names, [("cp1", "control plane".to_owned()), ("w1", "node".to_owned())]);
    fake.set_ready("w1", false);
    let reading = world.in_state(LiveState::Unhealthy).await;
    assert_eq!(reading.cluster.problem, "1 of 2 nodes is not ready: w1.");
    fake.set_ready("w1", true);
    fake.fail_check("etcd");
    let reading = world.reading("see etcd fail", |reading| reading.cluster.problem.contains("etcd")).await;
    assert_eq!(reading.cluster.problem, "etcd: Failing checks: etcd.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_read_again_when_an_operation_ends() {
    let world = World::read_every(Duration::from_secs(3600), true).await;
    world.in_state(LiveState::NoKubeconfig).await;
    let fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    world.operation_ends("create", "2026-01-31T12:00:00Z").await;
    world.in_state(LiveState::Healthy).await;
    fake.set_ready("w1", false);
    world.operation_ends("add", "2026-01-31T13:00:00Z").await;
    world.in_state(LiveState::Unhealthy).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pods_and_budgets_of_a_node_are_read_when_asked() {
    let world = World::new(true).await;
    let cluster = Api::<Cluster>::all(world.client.clone()).get("prod").await.unwrap();
    assert_eq!(world.clusters.evictions(&cluster, "w1").await, Err("It has no kubeconfig.".into()));
    let fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    let found = world.clusters.evictions(&cluster, "w1").await.unwrap();
    assert_eq!((found.pods.as_slice(), found.blocking.len()), (["shop/web-1".to_owned()].as_slice(), 1));
    assert_eq!(world.clusters.evictions(&cluster, "cp1").await.unwrap(), Evictions::default());
    let refused = world.clusters.evictions(&cluster, "w1&watch=1").await;
    assert_eq!(refused, Err("Its name can't be that of a node.".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_polls_gets_the_newest_pods_and_budgets() {
    let world = World::new(true).await;
    let fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    let cluster = std::sync::Arc::new(Api::<Cluster>::all(world.client.clone()).get("prod").await.unwrap());
    assert_eq!(world.clusters.evictions_soon(&cluster, "w1"), None, "the first reading has just started");
    let mut tick = tokio::time::interval(Duration::from_millis(20));
    let polling = async {
        loop {
            tick.tick().await;
            if let Some(result) = world.clusters.evictions_soon(&cluster, "w1") {
                return result;
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(60), polling).await.expect("a result").unwrap();
    assert_eq!((found.pods.as_slice(), found.ending.len()), (["shop/web-1".to_owned()].as_slice(), 0));
    assert_eq!(found.blocking[0].pods, ["shop/web-1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_cluster_keeps_its_values_with_their_time() {
    let world = World::new(true).await;
    let mut fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    let before = world.in_state(LiveState::Healthy).await;
    fake.stop().await;
    let after = world.in_state(LiveState::Unreachable).await;
    assert!(after.cluster.problem.contains("can't be reached"), "{}", after.cluster.problem);
    assert_eq!((after.cluster.version, after.nodes), (before.cluster.version, before.nodes));
    assert!(after.cluster.since >= after.cluster.read && after.cluster.read.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_and_foreign_authorities_are_told_apart() {
    let world = World::new(true).await;
    let (fake, other) = (FakeCluster::start().await, FakeCluster::start().await);
    world.kubeconfig(&fake.kubeconfig().replace("good-token", "bad-token")).await;
    let reading = world.in_state(LiveState::Unreachable).await;
    assert_eq!(reading.cluster.problem, "The API server refuses the kubeconfig's credentials (401).");
    world.kubeconfig(&fake.kubeconfig_with_authority_of(&other)).await;
    world.reading("distrust it", |reading| reading.cluster.problem.contains("certificate")).await;
    assert_eq!(fake.seen("good-token"), 0, "no token is sent to an unverified server");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsafe_kubeconfig_is_refused_and_runs_nothing() {
    let world = World::new(true).await;
    let fake = FakeCluster::start().await;
    let ran = tempfile::tempdir().unwrap();
    let mark = ran.path().join("ran");
    let exec =
        format!("exec: {{apiVersion: client.authentication.k8s.io/v1, command: touch, args: [{}]}}", mark.display());
    world.kubeconfig(&fake.kubeconfig().replace("token: good-token", &exec)).await;
    let reading = world.in_state(LiveState::Refused).await;
    assert!(reading.cluster.problem.contains("sets exec, which would run a program"), "{}", reading.cluster.problem);
    assert!(!mark.exists());
    assert_eq!(fake.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_cluster_loopback_is_not_contacted() {
    let world = World::new(false).await;
    let fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    let reading = world.in_state(LiveState::Refused).await;
    assert!(reading.cluster.problem.contains("kubeonkube's own pod"), "{}", reading.cluster.problem);
    assert_eq!(fake.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_answer_is_not_awaited() {
    let world = World::new(true).await;
    let fake = FakeCluster::start().await;
    fake.send_endlessly();
    world.kubeconfig(&fake.kubeconfig()).await;
    let reading = world.in_state(LiveState::Unreachable).await;
    assert!(reading.cluster.problem.contains("can't be read"), "{}", reading.cluster.problem);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_of_another_namespace_is_not_read() {
    let world = World::new(true).await;
    let patch = json!({"spec": {"kubeConfRef": {"namespace": "kube-system", "name": "admin"}}});
    Api::<Cluster>::all(world.client.clone())
        .patch("prod", &PatchParams::default(), &Patch::Merge(patch))
        .await
        .unwrap();
    let reading = world.in_state(LiveState::Refused).await;
    assert!(reading.cluster.problem.contains("another namespace"), "{}", reading.cluster.problem);
}
