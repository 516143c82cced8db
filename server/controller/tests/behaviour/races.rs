//! Two controllers, one of them late: the next operation never gets the turn while a Job may still run.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crd::{Cluster, Phase};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, PropagationPolicy};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::kubelet::end_pods_of;
use crate::relay::Relay;
use crate::world::{HOSTS, NAMESPACE, World, eventually, message, phase, reason};

pub(crate) const JOBS: &str = "POST /apis/batch/v1/namespaces/lab/jobs";

/// Starts a controller that has taken the turn for `a` and is about to create its Job.
pub(crate) async fn about_to_create(world: &mut World) -> Arc<Relay> {
    let late = Arc::new(Relay::default());
    late.hold_back(JOBS);
    world.start_controller_behind(late.clone()).await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    eventually(async || late.asked(JOBS).then_some(())).await.expect("it is about to create the Job");
    late
}

/// The turn goes to `b`. The late controller then continues and finds the name of its Job taken.
async fn only_b_runs(world: &World, late: &Relay) {
    eventually(async || (world.kubelet.runs_of("b") == 1).then_some(())).await.expect("b has the turn");
    late.let_through();
    eventually(async || late.asked("GET /apis/batch/v1/namespaces/lab/jobs/kubeonkube-a-job").then_some(()))
        .await
        .expect("it finds the name taken");
    world.kubelet.release("b");
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("a"), 0);
}

#[tokio::test]
async fn k2_a_cancel_blocks_the_job_of_a_late_controller() {
    let mut world = World::without_controller().await;
    let late = about_to_create(&mut world).await;
    world.submit("b", "prod", "hold").await;
    world.cancel("a").await;
    world.start_controller().await;
    assert_eq!(reason(&world.ended("a").await), "Cancelled");
    only_b_runs(&world, &late).await;
    assert_eq!(reason(&world.ended("a").await), "Cancelled");
}

#[tokio::test]
async fn k2_a_refusal_blocks_the_job_of_a_late_controller() {
    let mut world = World::without_controller().await;
    let late = about_to_create(&mut world).await;
    world.config_map("prod-hosts", &[("hosts.yml", "all: [oops")]).await;
    world.start_controller().await;
    assert_eq!(reason(&world.ended("a").await), "InventoryInvalid");
    world.config_map("prod-hosts", &[("hosts.yml", HOSTS)]).await;
    world.submit("b", "prod", "hold").await;
    only_b_runs(&world, &late).await;
}

#[tokio::test]
async fn k2_a_cancel_blocks_a_late_job_on_a_recreated_cluster() {
    let mut world = World::without_controller().await;
    let late = about_to_create(&mut world).await;
    let spec = world.clusters().get("prod").await.unwrap().spec;
    world.clusters().delete("prod", &DeleteParams::default()).await.unwrap();
    world.clusters().create(&PostParams::default(), &Cluster::new("prod", spec)).await.unwrap();
    world.cancel("a").await;
    world.start_controller().await;
    assert_eq!(reason(&world.ended("a").await), "Cancelled");
    world.submit("b", "prod", "hold").await;
    only_b_runs(&world, &late).await;
}

#[tokio::test]
async fn k2_a_deleted_operation_frees_its_turn_after_its_inputs() {
    let mut world = World::without_controller().await;
    let late = about_to_create(&mut world).await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    let finalizers = |all: serde_json::Value| Patch::Merge(json!({"metadata": {"finalizers": all}}));
    let params = PatchParams::default();
    // The garbage collector is slow.
    secrets.patch("a-inputs", &params, &finalizers(json!(["example.com/slow"]))).await.unwrap();
    world.delete("a").await;
    world.submit("b", "prod", "hold").await;
    let relay = world.start_controller().await.relay.clone();
    let looked = "GET /api/v1/namespaces/lab/secrets/a-inputs";
    eventually(async || (relay.asked(looked) || world.kubelet.runs_of("b") > 0).then_some(()))
        .await
        .expect("it checks the snapshot");
    assert_eq!(world.kubelet.runs_of("b"), 0, "a Job of a would still find its inputs");
    secrets.patch("a-inputs", &params, &finalizers(json!([]))).await.unwrap();
    eventually(async || (world.kubelet.runs_of("b") == 1).then_some(())).await.expect("b has the turn");
    late.let_through();
    world.kubelet.release("b");
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("a"), 0);
}

#[tokio::test]
async fn k5_a_turn_is_bound_to_its_namespace() {
    let mut world = World::without_controller().await;
    let late = about_to_create(&mut world).await;
    move_cluster(&world).await;
    world.start_controller().await;
    let a = world.ended("a").await;
    assert_eq!(reason(&a), "NamespaceChanged");
    assert!(message(&a).contains("“lab”") && message(&a).contains("“elsewhere”"), "{}", message(&a));
    late.let_through();
    world.submit("b", "prod", "ok").await;
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
    assert_eq!(world.kubelet.runs_of("a"), 0);
}

#[tokio::test]
async fn k5_a_turn_is_freed_by_its_own_namespace() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    move_cluster(&world).await;
    world.submit("b", "prod", "ok").await;
    world.operation_that("b", "wait", |b| reason(b) == "ClusterBusy").await;
    // Its Job and pod outlive the operation.
    let orphan = DeleteParams { propagation_policy: Some(PropagationPolicy::Orphan), ..DeleteParams::default() };
    world.operations().delete("a", &orphan).await.unwrap();
    let relay = world.controller().relay.clone();
    eventually(async || {
        (relay.asked("GET /api/v1/namespaces/lab/pods?") || world.kubelet.runs_of("b") > 0).then_some(())
    })
    .await
    .expect("it checks whether a still runs");
    assert_eq!(world.kubelet.runs_of("b"), 0, "a still runs");
    world.kubelet.release("a");
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
}

#[tokio::test]
async fn k2_a_recreated_cluster_learns_what_runs() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    let a = world.operation_that("a", "run", |a| phase(a) == Phase::Running).await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    let spec = world.clusters().get("prod").await.unwrap().spec;
    world.clusters().delete("prod", &DeleteParams::default()).await.unwrap();
    world.clusters().create(&PostParams::default(), &Cluster::new("prod", spec)).await.unwrap();
    let entry = |cluster: &Cluster| cluster.status.as_ref()?.conditions.first().cloned();
    let prod = world.cluster_that("prod", "know that a runs", |cluster| entry(cluster).is_some()).await;
    let entry = entry(&prod).unwrap();
    assert_eq!((entry.uid, entry.status), (a.uid(), Phase::Running));
    assert_eq!(entry.namespace.as_deref(), Some(NAMESPACE));
    world.submit("b", "prod", "ok").await;
    world.operation_that("b", "wait", |b| reason(b) == "ClusterBusy").await;
    world.kubelet.release("a");
    assert_eq!(phase(&world.ended("a").await), Phase::Succeeded);
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
    assert_eq!(world.ran_beside_others(), [] as [String; 0]);
}

#[tokio::test]
async fn k14_a_job_is_gone_only_when_no_pod_of_it_runs() {
    let mut world = World::without_controller().await;
    let blind = Arc::new(Relay::default());
    blind.hide_pods.store(true, Ordering::SeqCst);
    world.start_controller_behind(blind.clone()).await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    world.operation_that("a", "run", |a| phase(a) == Phase::Running).await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(world.client.clone(), NAMESPACE);
    eventually(async || (!pods.list(&Default::default()).await.unwrap().items.is_empty()).then_some(())).await.unwrap();
    world.submit("b", "prod", "ok").await;
    let orphan = DeleteParams { propagation_policy: Some(PropagationPolicy::Orphan), ..DeleteParams::default() };
    world.jobs().delete("kubeonkube-a-job", &orphan).await.unwrap();
    let ended = async || phase(&world.operations().get("a").await.unwrap()).is_final();
    eventually(async || (blind.asked("GET /api/v1/namespaces/lab/pods?") || ended().await).then_some(()))
        .await
        .expect("it asks the API");
    assert!(!ended().await, "the pod still runs");
    assert_eq!(world.kubelet.runs_of("b"), 0);
    end_pods_of(&world.client, NAMESPACE, "a").await;
    assert_eq!(reason(&world.ended("a").await), "JobGone");
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded);
}

#[tokio::test]
async fn k6_a_recreated_operation_waits_for_its_running_namesake() {
    let world = World::new().await;
    world.cluster("prod").await;
    let first = world.submit("a", "prod", "hold").await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    let old = world.jobs().get("kubeonkube-a-job").await.unwrap().uid();
    world.delete("a").await;
    world.submit("a", "prod", "ok").await;
    let second = world.ended("a").await;
    assert_ne!(first.uid(), second.uid());
    assert_eq!(phase(&second), Phase::Succeeded, "{}", message(&second));
    assert_eq!(world.kubelet.runs_of("a"), 2);
    assert_ne!(second.status.unwrap().job_ref.unwrap().uid, old, "it has its own Job");
    assert_eq!(world.ran_beside_others(), [] as [String; 0]);
}

#[tokio::test]
async fn k6_a_name_in_the_reference_controllers_history_runs_again() {
    let world = World::new().await;
    world.cluster("prod").await;
    let entries = json!([
        {"clusterOps": "a", "status": "Succeeded", "startTime": "2024-01-01T00:00:00Z", "endTime": "2024-01-01T01:00:00Z"},
        {"clusterOps": "b", "status": ""},
        {"clusterOps": "c", "status": "Running", "startTime": "2024-01-02T00:00:00Z"},
    ]);
    let patch = json!({"status": {"conditions": entries}});
    world.clusters().patch_status("prod", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    for name in ["a", "b", "c"] {
        world.submit(name, "prod", "ok").await;
        let operation = world.ended(name).await;
        assert_eq!(phase(&operation), Phase::Succeeded, "{name}: {}", message(&operation));
        assert_eq!(world.kubelet.runs_of(name), 1);
    }
}

/// Lets the Cluster refer to copies of its inputs in another namespace.
async fn move_cluster(world: &World) {
    use k8s_openapi::api::core::v1::ConfigMap;
    let maps = |namespace: &str| Api::<ConfigMap>::namespaced(world.client.clone(), namespace);
    let secrets = |namespace: &str| Api::<Secret>::namespaced(world.client.clone(), namespace);
    for name in ["prod-hosts", "prod-vars"] {
        let mut map = maps(NAMESPACE).get(name).await.unwrap();
        map.metadata = json_metadata(name);
        maps("elsewhere").create(&PostParams::default(), &map).await.unwrap();
    }
    let mut key = secrets(NAMESPACE).get("prod-ssh").await.unwrap();
    key.metadata = json_metadata("prod-ssh");
    secrets("elsewhere").create(&PostParams::default(), &key).await.unwrap();
    let at = |name: &str| json!({"namespace": "elsewhere", "name": name});
    let spec = json!({"hostsConfRef": at("prod-hosts"), "varsConfRef": at("prod-vars"), "sshAuthRef": at("prod-ssh")});
    let patch = json!({"spec": spec});
    world.clusters().patch("prod", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

fn json_metadata(name: &str) -> kube::api::ObjectMeta {
    kube::api::ObjectMeta { name: Some(name.into()), ..Default::default() }
}
