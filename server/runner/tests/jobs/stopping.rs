//! Suspending, deleting and running out of time.

use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::json;

use crate::stage::{Settings, Stage, holds, is_running};

#[tokio::test]
async fn suspending_a_job_stops_its_run_and_deletes_its_pod() {
    let stage = Stage::new();
    let script = "trap 'echo asked; echo last words > $KUBEONKUBE_ROOT/dev/termination-log; exit 143' TERM; echo ready; while :; do sleep 0.05; done";
    stage.job("grow", script, json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    stage.wait("its first line", async || stage.log(&pod).await.contains("ready").then_some(())).await;
    assert_eq!(stage.jobs().get("grow").await.unwrap().status.unwrap().active, Some(1));
    stage.suspend("grow").await;
    let suspended = stage.job_that_is("grow", "Suspended").await;
    assert_eq!(suspended.status.unwrap().active, Some(0));
    stage.wait("its pod to go", async || stage.pods_of("grow").await.is_empty().then_some(())).await;
    stage.wait("its folder to go", async || (!stage.run_dir(&pod).exists()).then_some(())).await;
    assert!(!is_running(&pod));
    let job = stage.jobs().get("grow").await.unwrap();
    assert_eq!((holds(&job, "Failed"), job.status.as_ref().unwrap().failed), (None, None));
}

#[tokio::test]
async fn a_run_that_outlasts_its_grace_period_is_killed() {
    let stage = Stage::new();
    let more = json!({"template": {"spec": {"terminationGracePeriodSeconds": 1}}});
    stage
        .job("grow", "trap '' TERM; echo ready; (while :; do sleep 0.1; done) & while :; do sleep 0.1; done", more)
        .await;
    let pod = stage.pod_that_is("grow", "Running").await;
    stage.wait("its first line", async || stage.log(&pod).await.contains("ready").then_some(())).await;
    stage.pods().delete(&pod.name_any(), &DeleteParams::default()).await.unwrap();
    let failed = stage.job_that_is("grow", "Failed").await;
    assert_eq!(failed.status.unwrap().failed, Some(1));
    stage.wait("its processes to go", async || (!is_running(&pod)).then_some(())).await;
}

#[tokio::test]
async fn deleting_a_job_ends_its_run_and_removes_its_folder() {
    let stage = Stage::new();
    stage.job("grow", "echo ready; sleep 600", json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    stage.delete_job("grow").await;
    stage.wait("its pod to go", async || stage.pods_of("grow").await.is_empty().then_some(())).await;
    stage.wait("its folder to go", async || (!stage.run_dir(&pod).exists()).then_some(())).await;
    assert!(!is_running(&pod));
}

#[tokio::test]
async fn a_job_over_its_deadline_fails() {
    let stage = Stage::new();
    stage.job("grow", "sleep 600", json!({"activeDeadlineSeconds": 1})).await;
    let failed = stage.job_that_is("grow", "Failed").await;
    assert_eq!(holds(&failed, "Failed"), Some("DeadlineExceeded"));
}

#[tokio::test]
async fn a_pod_deleted_before_it_starts_never_starts() {
    let stage = Stage::with(&Settings { max_parallel: 1, ..Settings::default() });
    stage.job("first", "sleep 600", json!({})).await;
    stage.pod_that_is("first", "Running").await;
    stage.job("second", "echo never", json!({})).await;
    stage.wait("the second's pod", async || stage.pods_of("second").await.pop()).await;
    stage.suspend("second").await;
    stage.wait("its pod to go", async || stage.pods_of("second").await.is_empty().then_some(())).await;
    stage.delete_job("first").await;
    stage.wait("the first's pod to go", async || stage.pods_of("first").await.is_empty().then_some(())).await;
}
