//! Secret results: the kubeconfig that a run leaves.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crd::{ClusterOperation, Phase};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use crate::relay::Relay;
use crate::secret_log::KUBECONFIG;
use crate::world::{NAMESPACE, World, eventually, message, phase};

#[tokio::test]
async fn a_kubeconfig_is_stored_for_operation_and_cluster() {
    let world = prepared(|_| {}).await;
    submit(&world, "a", "result").await;
    let a = world.ended("a").await;
    assert_eq!((phase(&a), told(&a).0), (Phase::Succeeded, ("True".into(), "Stored".into())), "{}", message(&a));
    let cluster = world.clusters().get("prod").await.unwrap();
    for (name, owner) in [("a-result", a.uid()), ("prod-kubeconfig", cluster.uid())] {
        let secret = secrets(&world).get(name).await.unwrap();
        assert_eq!(text(&secret), KUBECONFIG, "{name}");
        assert_eq!(Some(&secret.owner_references()[0].uid), owner.as_ref(), "{name}");
    }
    assert_eq!(cluster.spec.kube_conf_ref, None, "the controller never writes spec");
    let pods = Api::<Pod>::all(world.client.clone()).list(&ListParams::default()).await.unwrap();
    for said in [format!("{a:?}"), format!("{:?}", world.story("a").await), format!("{pods:?}"), format!("{cluster:?}")]
    {
        assert!(!said.contains("canary-of-the-kubeconfig"), "{said}");
    }
    world.delete("a").await;
    eventually(async || secrets(&world).get_opt("a-result").await.unwrap().is_none().then_some(()))
        .await
        .expect("gone");
    assert!(secrets(&world).get_opt("prod-kubeconfig").await.unwrap().is_some(), "the cluster keeps its own");
}

#[tokio::test]
async fn a_newer_kubeconfig_replaces_that_of_the_cluster() {
    let world = prepared(|_| {}).await;
    for name in ["a", "b"] {
        submit(&world, name, "result").await;
        world.ended(name).await;
    }
    let secret = secrets(&world).get("prod-kubeconfig").await.unwrap();
    assert_eq!(secret.labels()[crd::LABEL_OPERATION], "b");
}

#[tokio::test]
async fn a_lost_result_is_said_and_the_run_stays_succeeded() {
    let world = prepared(|config| config.result_patience = std::time::Duration::ZERO).await;
    for (name, image, why) in [
        ("cut", "result-cut", "the log was rotated"),
        ("forged", "result-forged", "not encrypted with the key of this operation"),
        ("large", "result-large", "has 20000 bytes"),
    ] {
        submit(&world, name, image).await;
        let lost = world.ended(name).await;
        assert_eq!((phase(&lost), told(&lost).0), (Phase::Succeeded, ("False".into(), "ResultLost".into())));
        assert!(told(&lost).1.contains(why) && message(&lost).contains(why), "{}", message(&lost));
        assert!(secrets(&world).get_opt(&crd::result_name(name)).await.unwrap().is_none());
    }
    submit(&world, "none", "result-unwritten").await;
    assert_eq!(told(&world.ended("none").await).0, ("False".into(), "NoResult".into()));
}

#[tokio::test]
async fn a_deleted_pod_loses_the_result_visibly() {
    let mut world = prepared(|_| {}).await;
    submit(&world, "a", "hold-result").await;
    run_without_controller(&mut world, "a").await;
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), NAMESPACE);
    pods.delete_collection(&DeleteParams::default().grace_period(0), &ListParams::default()).await.unwrap();
    world.start_controller().await;
    let a = world.ended("a").await;
    assert!(message(&a).contains("left no summary"), "{}", message(&a));
    assert_eq!(phase(&a), Phase::Failed);
}

#[tokio::test]
async fn a_restart_after_the_end_of_the_job_loses_nothing() {
    let mut world = prepared(|_| {}).await;
    submit(&world, "a", "hold-result").await;
    run_without_controller(&mut world, "a").await;
    world.start_controller().await;
    let a = world.ended("a").await;
    assert_eq!(told(&a).0, ("True".into(), "Stored".into()), "{}", message(&a));
    assert_eq!(text(&secrets(&world).get("a-result").await.unwrap()), KUBECONFIG);
}

#[tokio::test]
async fn a_log_that_cannot_be_read_is_read_again() {
    let world = prepared(|_| {}).await;
    let relay = &world.controller().relay;
    relay.refuse("/log?", "not yet");
    submit(&world, "a", "result").await;
    eventually(async || relay.asked("/log?").then_some(())).await.expect("it tries");
    relay.allow();
    assert_eq!(told(&world.ended("a").await).0.0, "True");
}

#[tokio::test]
async fn a_users_own_secrets_are_never_replaced() {
    let world = prepared(|config| config.result_patience = std::time::Duration::ZERO).await;
    world.secret("prod-kubeconfig", "kubeconfig", "mine").await;
    world.secret("b-result", "kubeconfig", "mine, too").await;
    submit(&world, "a", "result").await;
    let a = world.ended("a").await;
    assert!(told(&a).1.contains("Secret lab/prod-kubeconfig was not replaced"), "{:?}", told(&a));
    submit(&world, "b", "result").await;
    let b = world.ended("b").await;
    assert_eq!(told(&b).0, ("False".into(), "ResultLost".into()));
    assert!(told(&b).1.contains("Secret lab/b-result exists already"), "{:?}", told(&b));
    assert_eq!(text(&secrets(&world).get("prod-kubeconfig").await.unwrap()), "mine");
    assert_eq!(text(&secrets(&world).get("b-result").await.unwrap()), "mine, too");
}

#[tokio::test]
async fn a_reset_of_the_whole_cluster_deletes_its_kubeconfig() {
    let world = prepared(|_| {}).await;
    submit(&world, "made", "result").await;
    world.ended("made").await;
    let is_kept = async || secrets(&world).get_opt("prod-kubeconfig").await.unwrap().is_some();
    for (name, image, arguments) in
        [("dry", "ok", "--check"), ("part", "ok", "--limit=n1"), ("failed", "fail", ""), ("none", "nohost", "")]
    {
        reset(&world, name, image, arguments).await;
        assert!(is_kept().await, "{name}");
    }
    let whole = reset(&world, "whole", "ok", "-e reset_confirmation=yes").await;
    assert_eq!((phase(&whole), is_kept().await), (Phase::Succeeded, false), "{}", message(&whole));
    assert!(
        message(&whole).contains("Secret lab/prod-kubeconfig with the kubeconfig of the former cluster was deleted.")
    );
    submit(&world, "again", "result").await;
    world.ended("again").await;
    assert!(is_kept().await, "a new cluster has a new one");
}

const DELETE: &str = "DELETE /api/v1/namespaces/lab/secrets/prod-kubeconfig";

#[tokio::test]
async fn a_kubeconfig_that_may_not_be_deleted_is_told() {
    let world = prepared(|_| {}).await;
    submit(&world, "made", "result").await;
    world.ended("made").await;
    world.controller().relay.refuse(DELETE, "not today");
    let told = reset(&world, "whole", "ok", "").await;
    assert_eq!(phase(&told), Phase::Succeeded, "the machines are clean");
    let expected = "Secret lab/prod-kubeconfig with the kubeconfig of the former cluster could not be deleted";
    assert!(message(&told).contains(expected), "{}", message(&told));
}

#[tokio::test]
async fn a_kubeconfig_of_the_user_survives_a_reset() {
    let world = prepared(|_| {}).await;
    world.secret("prod-kubeconfig", "kubeconfig", "mine").await;
    let kept = async || text(&secrets(&world).get("prod-kubeconfig").await.unwrap());
    reset(&world, "a", "ok", "").await;
    assert_eq!(kept().await, "mine");
    let owner = world.clusters().get("prod").await.unwrap().controller_owner_ref(&()).unwrap();
    let adopted = json!({"metadata": {"ownerReferences": [owner]}});
    secrets(&world).patch("prod-kubeconfig", &PatchParams::default(), &Patch::Merge(adopted)).await.unwrap();
    reset(&world, "b", "ok", "").await;
    assert_eq!(kept().await, "mine", "the Cluster has only adopted it");
}

#[tokio::test]
async fn a_crash_after_any_request_of_a_reset_deletes_the_kubeconfig() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let mut cuts = 0;
    for n in 1..40 {
        world.start_controller().await;
        let (made, name) = (format!("made-{n:02}"), format!("op-{n:02}"));
        submit(&world, &made, "result").await;
        world.ended(&made).await;
        world.stop_controller().await;
        let relay = Arc::new(Relay::default());
        world.start_controller_behind(relay.clone()).await;
        relay.cut_after(n);
        submit_reset(&world, &name, "ok", "").await;
        let over = async || (relay.cut.load(Ordering::SeqCst) || world.tells_end(&name).await).then_some(());
        eventually(over).await.expect("it is cut or has ended");
        let cut = relay.cut.load(Ordering::SeqCst);
        world.kill_controller();
        if !cut {
            break;
        }
        cuts = n;
        world.start_controller().await;
        let operation = world.ended(&name).await;
        assert_eq!(phase(&operation), Phase::Succeeded, "cut after {n}: {}", message(&operation));
        assert!(secrets(&world).get_opt("prod-kubeconfig").await.unwrap().is_none(), "cut after {n}");
        world.stop_controller().await;
    }
    assert!(cuts >= 10, "only {cuts} requests were cut");
}

#[tokio::test]
async fn a_crash_after_any_request_loses_no_result() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let mut cuts = 0;
    for n in 1..40 {
        let name = format!("op-{n:02}");
        let relay = Arc::new(Relay::default());
        world.start_controller_behind(relay.clone()).await;
        relay.cut_after(n);
        submit(&world, &name, "result").await;
        let over = async || (relay.cut.load(Ordering::SeqCst) || world.tells_end(&name).await).then_some(());
        eventually(over).await.expect("it is cut or has ended");
        let cut = relay.cut.load(Ordering::SeqCst);
        world.kill_controller();
        if !cut {
            break;
        }
        cuts = n;
        world.start_controller().await;
        let operation = world.ended(&name).await;
        assert_eq!(told(&operation).0.0, "True", "cut after {n}: {}", message(&operation));
        assert_eq!(text(&secrets(&world).get(&crd::result_name(&name)).await.unwrap()), KUBECONFIG, "cut after {n}");
        let of_cluster = secrets(&world).get("prod-kubeconfig").await.unwrap();
        assert_eq!(of_cluster.labels()[crd::LABEL_OPERATION], name, "cut after {n}");
        world.stop_controller().await;
    }
    assert!(cuts >= 12, "only {cuts} requests were cut");
}

#[tokio::test]
async fn only_runs_with_a_secret_result_get_a_key() {
    let world = prepared(|_| {}).await;
    world.submit("ping", "prod", "ok").await;
    submit(&world, "build", "result").await;
    for (name, has_key) in [("ping", false), ("build", true)] {
        world.ended(name).await;
        let data = secrets(&world).get(&crd::inputs_name(name)).await.unwrap().data.unwrap();
        assert_eq!(data.contains_key(crd::KEY_SECRET_RESULT), has_key, "{name}");
        assert_eq!(data.contains_key("kubeonkube_secret_result.py"), has_key, "{name}");
    }
}

async fn prepared(change: impl FnOnce(&mut kubeonkube_controller::Config)) -> World {
    let mut world = World::without_controller().await;
    change(&mut world.config);
    world.start_controller().await;
    world.cluster("prod").await;
    world
}

async fn submit(world: &World, name: &str, image: &str) {
    let change =
        |spec: &mut crd::ClusterOperationSpec| (spec.action, spec.image) = ("cluster.yml".into(), image.into());
    world.submit_with(name, "prod", change).await;
}

/// Runs `reset.yml` with these arguments.
async fn reset(world: &World, name: &str, image: &str, arguments: &str) -> ClusterOperation {
    submit_reset(world, name, image, arguments).await;
    world.ended(name).await
}

async fn submit_reset(world: &World, name: &str, image: &str, arguments: &str) {
    let change = |spec: &mut crd::ClusterOperationSpec| {
        (spec.action, spec.image) = ("reset.yml".into(), image.into());
        spec.extra_args = Some(arguments.into()).filter(|text: &String| !text.is_empty());
    };
    world.submit_with(name, "prod", change).await;
}

/// Lets a run end while no controller runs.
async fn run_without_controller(world: &mut World, name: &str) {
    world.operation_that(name, "run", |operation| phase(operation) == Phase::Running).await;
    eventually(async || (world.kubelet.runs_of(name) == 1).then_some(())).await.expect("it runs");
    world.stop_controller().await;
    world.kubelet.release(name);
    let complete = async || {
        let job = world.jobs().get(&crd::job_name(name)).await.unwrap();
        job.status.and_then(|status| status.completion_time)
    };
    eventually(complete).await.expect("the Job completes");
}

/// Status, reason and message of the condition about the result.
fn told(operation: &ClusterOperation) -> ((String, String), String) {
    let conditions = operation.status.as_ref().map(|status| status.conditions.clone()).unwrap_or_default();
    let found = conditions
        .into_iter()
        .find(|c| c.type_ == crd::condition::RESULT_STORED)
        .unwrap_or_else(|| panic!("{operation:#?}"));
    ((found.status, found.reason), found.message)
}

fn secrets(world: &World) -> Api<Secret> {
    Api::namespaced(world.client.clone(), NAMESPACE)
}

fn text(secret: &Secret) -> String {
    String::from_utf8(secret.data.as_ref().unwrap()[crd::KEY_KUBECONFIG].0.clone()).unwrap()
}
