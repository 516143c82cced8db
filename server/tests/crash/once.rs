//! K14 of the reference: a pod that goes away must not bring its playbook back. Whoever takes it away, and however.

use crd::Phase;
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::json;

use crate::{
    run::Run,
    world::{World, eventually, skipped},
};

/// How somebody takes a pod away.
#[derive(Debug, Clone, Copy)]
enum Takes {
    /// `kubectl delete pod`.
    Politely,
    /// `kubectl delete pod --grace-period=0 --force`.
    ByForce,
    /// A drained node: first the pod is said to be disrupted, then it is deleted.
    ByEviction,
    /// … and the server dies in the same moment.
    AsTheServerDies,
}

#[tokio::test(flavor = "multi_thread")]
async fn k14_a_run_whose_pod_is_taken_away_fails_and_is_never_begun_again() {
    if skipped("k14_a_run_whose_pod_is_taken_away_fails_and_is_never_begun_again") {
        return;
    }
    let ways = [
        ("polite", Takes::Politely),
        ("forced", Takes::ByForce),
        ("evicted", Takes::ByEviction),
        ("unseen", Takes::AsTheServerDies),
    ];
    let mut world = World::new(&ways.map(|(name, _)| name)).await;
    let mut runs = Vec::new();
    for (n, (name, how)) in ways.into_iter().enumerate() {
        // Scripts and playbooks alike.
        let run = if n % 2 == 0 { Run::playbook(name, name, 10_000) } else { Run::shell(name, name, 10_000) };
        world.submit(&run).await;
        eventually("the run to begin", async || (world.beginnings(&run) == 1).then_some(())).await;
        take(&world, name, how).await;
        runs.push((run, how));
    }
    world.kill().await;
    world.start().await;
    for (run, how) in &runs {
        let operation = world.finished(&run.name).await;
        let status = operation.status.expect("a status");
        assert_eq!(status.status, Phase::Failed, "{how:?}: {:?}", status.message);
        assert!(status.message.is_some_and(|message| message.len() > 20), "{how:?}: nobody says why");
    }
    // All that a second beginning could come from has settled: the Jobs are over, and no pod of them lives.
    world.only_the_server_is_left().await;
    for (run, how) in &runs {
        assert_eq!(world.beginnings(run), 1, "{how:?}: how often it was begun");
        assert!(!world.is_over(run), "{how:?}: it went on to its end");
        let job = job(&world, &run.name).await;
        let counted = job.status.as_ref().map(|status| (status.failed, status.active.unwrap_or_default()));
        assert_eq!(counted, Some((Some(1), 0)), "{how:?}: {:#?}", job.status);
        let living = pods(&world, &run.name).await.into_iter().filter(is_alive).map(|pod| pod.name_any());
        assert_eq!(living.collect::<Vec<_>>(), Vec::<String>::new(), "{how:?}");
    }
    assert_eq!(world.stop().await, Some(0));
}

async fn take(world: &World, operation: &str, how: Takes) {
    let pods: Api<Pod> = Api::default_namespaced(world.client().clone());
    let pod = world.pod_of(operation).await.name_any();
    let grace = if matches!(how, Takes::ByForce) { Some(0) } else { None };
    if matches!(how, Takes::ByEviction) {
        let disrupted = json!({"status": {"conditions": [{"type": "DisruptionTarget", "status": "True",
            "reason": "EvictionByEvictionAPI", "message": "the node is drained", "lastTransitionTime": null}]}});
        pods.patch_status(&pod, &PatchParams::default(), &Patch::Merge(disrupted)).await.expect("marked");
    }
    pods.delete(&pod, &DeleteParams { grace_period_seconds: grace, ..DeleteParams::default() }).await.expect("deleted");
}

async fn job(world: &World, operation: &str) -> Job {
    let jobs: Api<Job> = Api::default_namespaced(world.client().clone());
    jobs.get(&format!("kubeonkube-{operation}-job")).await.expect("the Job is kept")
}

async fn pods(world: &World, operation: &str) -> Vec<Pod> {
    let of_operation = ListParams::default().labels(&format!("{}={operation}", crd::LABEL_OPERATION));
    Api::<Pod>::all(world.client().clone()).list(&of_operation).await.expect("pods").items
}

fn is_alive(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    !matches!(phase, Some("Succeeded" | "Failed"))
}
