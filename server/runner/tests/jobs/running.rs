//! What a pod sees while it runs, and what the API shows of it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures::AsyncReadExt;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::LogParams;
use serde_json::json;
use tokio::time::timeout;

use crate::patience::PATIENCE;
use crate::stage::{Settings, Stage, ended, holds};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

fn start_time(pod: &Pod) -> Option<String> {
    Some(pod.status.as_ref()?.start_time.as_ref()?.0.to_string())
}

#[tokio::test]
async fn a_job_runs_as_a_process_and_completes() {
    let stage = Stage::new();
    let script =
        "echo hello; echo to stderr >&2; printf '{\"v\":1}' > $KUBEONKUBE_ROOT/dev/termination-log; printf unfinished";
    stage.job("grow", script, json!({})).await;
    let done = stage.job_that_is("grow", "Complete").await;
    let status = done.status.clone().unwrap();
    assert_eq!(
        (holds(&done, "SuccessCriteriaMet"), status.succeeded, status.active, status.failed),
        (Some("CompletionsReached"), Some(1), None, None)
    );
    assert!(status.start_time.is_some() && status.completion_time >= status.start_time);
    let pod = stage.pod_that_is("grow", "Succeeded").await;
    assert_eq!(ended(&pod), (0, "Completed".into(), "{\"v\":1}".into()));
    assert!(start_time(&pod).is_some());
    assert_eq!(stage.log(&pod).await, "hello\nto stderr\nunfinished\n");
    let released = stage
        .wait("the pod to be counted", async || {
            stage.pods_of("grow").await.pop().filter(|pod| pod.finalizers().is_empty())
        })
        .await;
    assert_eq!(released.uid(), pod.uid());
    let reasons = |events: Vec<(String, String)>| events.into_iter().map(|(reason, _)| reason).collect::<Vec<_>>();
    stage
        .wait("its events", async || {
            let (job, pod) = (reasons(stage.events("grow").await), reasons(stage.events(&pod.name_any()).await));
            (job.contains(&"SuccessfulCreate".into())
                && job.contains(&"Completed".into())
                && pod.contains(&"Started".into()))
            .then_some(())
        })
        .await;
}

#[tokio::test]
async fn a_failing_process_fails_the_job_once() {
    let stage = Stage::new();
    stage.job("grow", "echo no; exit 3", json!({})).await;
    let failed = stage.job_that_is("grow", "Failed").await;
    assert_eq!(
        (holds(&failed, "Failed"), failed.status.clone().unwrap().failed),
        (Some("BackoffLimitExceeded"), Some(1))
    );
    let pods = stage.pods_of("grow").await;
    assert_eq!((pods.len(), ended(&pods[0]).0, ended(&pods[0]).1.as_str()), (1, 3, "Error"));
}

#[tokio::test]
async fn a_missing_command_is_a_start_error() {
    let stage = Stage::new();
    let container = json!([{"name": "main", "image": "local", "command": ["no-such-program"]}]);
    stage.job("grow", "", json!({"template": {"spec": {"containers": container}}})).await;
    stage.job_that_is("grow", "Failed").await;
    let (code, reason, message) = ended(&stage.pods_of("grow").await[0]);
    assert_eq!((code, reason.as_str()), (128, "StartError"));
    assert!(message.contains("no-such-program"), "{message}");
}

#[tokio::test]
async fn files_of_a_run_are_private_and_removed_at_its_end() {
    let stage = Stage::new();
    stage.secret("inputs", json!({"hosts.yml": "all: {}", "key": "secret"})).await;
    let items = json!([{"key": "hosts.yml", "path": "hosts.yml"}, {"key": "key", "path": "deep/key", "mode": 0o400}]);
    let volumes = json!([{"name": "inputs", "secret": {"secretName": "inputs", "items": items}}, {"name": "work", "emptyDir": {}}]);
    let mounts = json!([{"name": "inputs", "mountPath": "/conf"}, {"name": "work", "mountPath": "/scratch"}]);
    let script = "cat $KUBEONKUBE_ROOT/conf/hosts.yml $KUBEONKUBE_ROOT/conf/deep/key; echo; ls $KUBEONKUBE_ROOT/kubespray; env | cut -d= -f1 | sort | tr '\\n' ' '; echo; echo end; until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done";
    let container = json!([{"name": "main", "image": "local", "command": ["sh", "-c", script], "volumeMounts": mounts,
        "env": [{"name": "KUBEONKUBE_ROOT", "value": ""}, {"name": "CLUSTER_NAME", "value": "prod"}]}]);
    stage.job("grow", "", json!({"template": {"spec": {"containers": container, "volumes": volumes}}})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let whole = async || Some(stage.log(&pod).await).filter(|log| log.ends_with("end\n"));
    let log = stage.wait("its output", whole).await;
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!((lines[0], lines[1]), ("all: {}secret", "ansible.cfg"));
    assert!(log.contains("ping.yml") && log.contains("facts.yml"), "{log}");
    let names = "CLUSTER_NAME HOME HOSTNAME KUBEONKUBE_ROOT KUBEONKUBE_RUN LANG PATH PWD TMPDIR";
    assert_eq!(lines[lines.len() - 2].trim(), names);
    let run = stage.run_dir(&pod);
    let root = run.join("root");
    let modes = [run.clone(), root.clone(), root.join("conf/deep/key"), root.join("conf/hosts.yml"), run.join("log")];
    assert_eq!(modes.map(|path| mode(&path)), [0o700, 0o700, 0o400, 0o600, 0o600]);
    std::fs::write(root.join("scratch/go"), "").unwrap();
    stage.pod_that_is("grow", "Succeeded").await;
    stage.wait("its files to go", async || (!root.exists()).then_some(())).await;
    assert_eq!(stage.log(&pod).await, log, "the log stays");
}

#[tokio::test]
async fn a_pod_waits_for_a_missing_secret() {
    let stage = Stage::new();
    let volumes = json!([{"name": "inputs", "secret": {"secretName": "late"}}]);
    let container = json!([{"name": "main", "image": "local", "command": ["cat", "$(KUBEONKUBE_ROOT)/conf/a"], "volumeMounts": [{"name": "inputs", "mountPath": "/conf"}]}]);
    stage.job("grow", "", json!({"template": {"spec": {"containers": container, "volumes": volumes}}})).await;
    let waiting = |pod: &Pod| pod.status.as_ref()?.container_statuses.as_ref()?[0].state.as_ref()?.waiting.clone();
    let (pod, why) = stage
        .wait("a waiting pod", async || {
            let pod = stage.pods_of("grow").await.pop()?;
            let why = waiting(&pod)?;
            Some((pod, why))
        })
        .await;
    assert_eq!(
        (why.reason.as_deref(), why.message.as_deref()),
        (Some("CreateContainerConfigError"), Some("secret \"late\" not found"))
    );
    stage
        .wait("a FailedMount event", async || {
            let events = stage.events(&pod.name_any()).await;
            events
                .iter()
                .any(|(reason, message)| reason == "FailedMount" && message.contains("secret \"late\" not found"))
                .then_some(())
        })
        .await;
    stage.secret("late", json!({"a": "now"})).await;
    let pod = stage.pod_that_is("grow", "Succeeded").await;
    assert_eq!(stage.log(&pod).await, "now\n");
}

#[tokio::test]
async fn a_finished_pod_keeps_its_log_until_it_is_deleted() {
    let stage = Stage::new();
    stage.job("grow", "echo kept", json!({})).await;
    stage.job_that_is("grow", "Complete").await;
    let pod = stage.pods_of("grow").await.pop().unwrap();
    assert_eq!(stage.log(&pod).await, "kept\n");
    stage.delete_job("grow").await;
    stage.wait("its pod to go", async || stage.pods_of("grow").await.is_empty().then_some(())).await;
    stage.wait("its folder to go", async || (!stage.run_dir(&pod).exists()).then_some(())).await;
}

#[tokio::test]
async fn no_more_pods_run_at_once_than_allowed() {
    let stage = Stage::with(&Settings { max_parallel: 1, ..Settings::default() });
    stage.job("first", "until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done", json!({})).await;
    let first = stage.pod_that_is("first", "Running").await;
    stage.job("second", "true", json!({})).await;
    let waiting = stage
        .wait("the second to wait", async || {
            let pod = stage.pods_of("second").await.pop()?;
            let conditions = pod.status.as_ref()?.conditions.clone()?;
            conditions
                .iter()
                .any(|c| {
                    c.type_ == "PodScheduled" && c.status == "False" && c.reason.as_deref() == Some("Unschedulable")
                })
                .then_some(pod)
        })
        .await;
    assert_eq!(waiting.spec.unwrap().node_name, None);
    std::fs::write(stage.run_dir(&first).join("root/scratch/go"), "").unwrap();
    stage.job_that_is("first", "Complete").await;
    stage.job_that_is("second", "Complete").await;
}

#[tokio::test]
async fn a_followed_log_arrives_by_line_and_ends_with_the_run() {
    let stage = Stage::new();
    let step = |n: u32| format!("echo line {n}; until [ -e $KUBEONKUBE_ROOT/scratch/{n} ]; do sleep 0.02; done;");
    stage.job("grow", &(1..4).map(step).collect::<String>(), json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let follow = LogParams { follow: true, ..LogParams::default() };
    let mut log = Box::pin(stage.pods().log_stream(&pod.name_any(), &follow).await.unwrap());
    for n in 1..4 {
        let mut line = [0; 7];
        timeout(PATIENCE, log.read_exact(&mut line)).await.unwrap().unwrap();
        assert_eq!(line, *format!("line {n}\n").as_bytes());
        std::fs::write(stage.run_dir(&pod).join(format!("root/scratch/{n}")), "").unwrap();
    }
    let mut rest = Vec::new();
    timeout(PATIENCE, log.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, b"");
}
