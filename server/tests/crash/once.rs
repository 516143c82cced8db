//! Defect K14 of the reference controller (`docs/defects-of-the-reference.md`) doesn't exist here: a run whose pod is deleted never
//! runs its playbook again, however the pod is deleted.

use crd::Phase;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::run::Run;
use crate::world::{World, eventually, skipped};

/// How a pod is deleted.
#[derive(Debug, Clone, Copy)]
enum Deletion {
    /// `kubectl delete pod`.
    Graceful,
    /// `kubectl delete pod --grace-period=0 --force`.
    Forced,
    /// A drained node: the pod gets the condition DisruptionTarget and is then deleted.
    Evicted,
    /// A graceful deletion at the moment when the server is killed.
    WithServerKill,
}

#[tokio::test(flavor = "multi_thread")]
async fn k14_a_run_whose_pod_is_deleted_fails_and_never_restarts() {
    if skipped("k14_a_run_whose_pod_is_deleted_fails_and_never_restarts") {
        return;
    }
    let ways = [
        ("graceful", Deletion::Graceful),
        ("forced", Deletion::Forced),
        ("evicted", Deletion::Evicted),
        ("unseen", Deletion::WithServerKill),
    ];
    let mut world = World::new(&ways.map(|(name, _)| name)).await;
    let mut runs = Vec::new();
    for (n, (name, how)) in ways.into_iter().enumerate() {
        // Alternate scripts and playbooks.
        let run = if n % 2 == 0 { Run::playbook(name, name, 10_000) } else { Run::shell(name, name, 10_000) };
        world.submit(&run).await;
        eventually("the run to start", async || (world.starts(&run) == 1).then_some(())).await;
        delete(&world, name, how).await;
        runs.push((run, how));
    }
    world.kill().await;
    world.start().await;
    for (run, how) in &runs {
        let operation = world.ended(&run.name).await;
        let status = operation.status.expect("a status");
        assert_eq!(status.status, Phase::Failed, "{how:?}: {:?}", status.message);
        assert!(status.message.is_some_and(|message| message.len() > 20), "{how:?}: the status has no reason");
    }
    // Nothing is left that could start the run again: the Jobs have ended, and none of their pods is alive.
    world.only_the_server_is_left().await;
    for (run, how) in &runs {
        assert_eq!(world.starts(run), 1, "{how:?}: how often it was started");
        assert!(!world.has_ended(run), "{how:?}: it ran until its end");
        let job = job(&world, &run.name).await;
        let counted = job.status.as_ref().map(|status| (status.failed, status.active.unwrap_or_default()));
        assert_eq!(counted, Some((Some(1), 0)), "{how:?}: {:#?}", job.status);
        let living = pods(&world, &run.name).await.into_iter().filter(is_alive).map(|pod| pod.name_any());
        assert_eq!(living.collect::<Vec<_>>(), Vec::<String>::new(), "{how:?}");
    }
    assert_eq!(world.stop().await, Some(0));
}

async fn delete(world: &World, operation: &str, how: Deletion) {
    let pods: Api<Pod> = Api::default_namespaced(world.client().clone());
    let pod = world.pod_of(operation).await.name_any();
    let grace = if matches!(how, Deletion::Forced) { Some(0) } else { None };
    if matches!(how, Deletion::Evicted) {
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
