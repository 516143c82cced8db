//! What the local runner promises about Jobs, on the real embedded API with real processes.

#[path = "../../tests/skipped/mod.rs"]
mod skipped;
#[path = "runner/stage.rs"]
mod stage;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use futures::AsyncReadExt;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{DeleteParams, LogParams};
use serde_json::json;

use stage::{Settings, Stage, ended, holds, is_running, job, kill, pid, python_that_pretends, run_dir, server_program};

/// Not a claim: this program, started as the shim of a run.
#[test]
fn shim_process() {
    stage::be_the_shim();
}

/// Not a claim: this program, started as a server that will be killed.
#[test]
fn server_process() {
    stage::be_the_server();
}

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
async fn a_command_that_is_not_there_is_a_start_error() {
    let stage = Stage::new();
    let container = json!([{"name": "main", "image": "local", "command": ["no-such-program"]}]);
    stage.job("grow", "", json!({"template": {"spec": {"containers": container}}})).await;
    stage.job_that_is("grow", "Failed").await;
    let (code, reason, message) = ended(&stage.pods_of("grow").await[0]);
    assert_eq!((code, reason.as_str()), (128, "StartError"));
    assert!(message.contains("no-such-program"), "{message}");
}

#[tokio::test]
async fn what_a_run_is_given_is_private_and_goes_with_it_and_its_environment_is_clean() {
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
    let names = "CLUSTER_NAME HOME HOSTNAME KUBEONKUBE_ROOT KUBEONKUBE_RUN LANG PATH PWD";
    assert_eq!(lines[lines.len() - 2].trim(), names);
    let run = stage.run_dir(&pod);
    let root = run.join("root");
    let modes = [run.clone(), root.clone(), root.join("conf/deep/key"), root.join("conf/hosts.yml"), run.join("log")];
    assert_eq!(modes.map(|path| mode(&path)), [0o700, 0o700, 0o400, 0o600, 0o600]);
    std::fs::write(root.join("scratch/go"), "").unwrap();
    stage.pod_that_is("grow", "Succeeded").await;
    assert!(!root.join("conf").exists(), "keys and passwords outlived the run");
}

#[tokio::test]
async fn a_missing_secret_holds_the_pod_back_until_it_is_there() {
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
async fn a_suspended_job_is_stopped_in_an_orderly_way_and_its_pod_goes() {
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
async fn what_does_not_end_within_its_grace_period_is_killed() {
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
async fn deleting_a_job_ends_its_run_and_removes_every_trace() {
    let stage = Stage::new();
    stage.job("grow", "echo ready; sleep 600", json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    stage.delete_job("grow").await;
    stage.wait("its pod to go", async || stage.pods_of("grow").await.is_empty().then_some(())).await;
    stage.wait("its folder to go", async || (!stage.run_dir(&pod).exists()).then_some(())).await;
    assert!(!is_running(&pod));
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
async fn a_job_over_its_deadline_is_stopped_and_says_so() {
    let stage = Stage::new();
    stage.job("grow", "sleep 600", json!({"activeDeadlineSeconds": 1})).await;
    let failed = stage.job_that_is("grow", "Failed").await;
    assert_eq!(holds(&failed, "Failed"), Some("DeadlineExceeded"));
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
async fn a_followed_log_arrives_line_by_line_and_ends_with_the_run() {
    let stage = Stage::new();
    let step = |n: u32| format!("echo line {n}; until [ -e $KUBEONKUBE_ROOT/scratch/{n} ]; do sleep 0.02; done;");
    stage.job("grow", &(1..4).map(step).collect::<String>(), json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let follow = LogParams { follow: true, ..LogParams::default() };
    let mut log = Box::pin(stage.pods().log_stream(&pod.name_any(), &follow).await.unwrap());
    for n in 1..4 {
        let mut line = [0; 7];
        tokio::time::timeout(std::time::Duration::from_secs(20), log.read_exact(&mut line)).await.unwrap().unwrap();
        assert_eq!(line, *format!("line {n}\n").as_bytes());
        std::fs::write(stage.run_dir(&pod).join(format!("root/scratch/{n}")), "").unwrap();
    }
    let mut rest = Vec::new();
    tokio::time::timeout(std::time::Duration::from_secs(20), log.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn killing_the_shim_ends_the_run_and_says_that_it_is_gone() {
    let stage = Stage::new();
    stage.job("grow", "echo ready; sleep 600 & sleep 600", json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    kill(pid(&stage.run_dir(&pod), "shim").unwrap());
    stage.job_that_is("grow", "Failed").await;
    let (code, reason, message) = ended(&stage.pods_of("grow").await[0]);
    assert_eq!((code, reason.as_str()), (137, "Error"));
    assert!(message.contains("the process is gone"), "{message}");
    stage.wait("its processes to go", async || (!is_running(&pod)).then_some(())).await;
}

#[tokio::test]
async fn killing_the_command_ends_the_run_and_says_that_it_is_gone() {
    let stage = Stage::new();
    // In a session of its own, as ansible has it: killing the first process must end that one too.
    stage.job("grow", "setsid sleep 600 & echo ready; sleep 600", json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    stage.wait("its first line", async || stage.log(&pod).await.contains("ready").then_some(())).await;
    kill(pid(&stage.run_dir(&pod), "command").unwrap());
    stage.job_that_is("grow", "Failed").await;
    let (code, _, message) = ended(&stage.pods_of("grow").await[0]);
    assert!(code == 137 && message.contains("the process is gone"), "{code} {message}");
    assert!(!is_running(&pod));
}

#[tokio::test]
async fn a_second_shim_for_a_run_does_nothing() {
    let stage = Stage::new();
    stage.job("grow", "echo once; until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done", json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let run = stage.run_dir(&pod);
    let again =
        || Command::new(stage::shim_program(stage.dir.path())).arg("run-job").arg("--dir").arg(&run).output().unwrap();
    assert!(again().status.success());
    std::fs::write(run.join("root/scratch/go"), "").unwrap();
    stage.job_that_is("grow", "Complete").await;
    assert!(again().status.success());
    assert_eq!(stage.log(&pod).await, "once\n");
}

#[tokio::test]
async fn an_orderly_shutdown_leaves_the_run_going_and_the_next_server_finds_it() {
    let stage = Stage::new();
    stage
        .job(
            "grow",
            "echo before; until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done; echo after",
            json!({}),
        )
        .await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let dir = stage.shut_down().await;
    assert!(is_running(&pod));
    let stage = Stage::at(dir, &Settings::default());
    std::fs::write(stage.run_dir(&pod).join("root/scratch/go"), "").unwrap();
    stage.job_that_is("grow", "Complete").await;
    assert_eq!(stage.log(&pod).await, "before\nafter\n");
    assert_eq!(stage.pods_of("grow").await.len(), 1);
}

#[tokio::test]
async fn a_pod_says_which_ansible_it_waits_for() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("slow"), "").unwrap();
    let settings = Settings { python: Some(python_that_pretends(dir.path())), ..Settings::default() };
    let stage = Stage::at(dir, &settings);
    stage.job("grow", "true", json!({})).await;
    let said = "Installing ansible-core 2.18.19 for first use. This takes about a minute.";
    stage
        .wait("the pod to say it", async || {
            let pod = stage.pods_of("grow").await.pop()?;
            let waiting = pod.status?.container_statuses?.pop()?.state?.waiting?;
            assert_eq!(waiting.reason.as_deref(), Some("InstallingAnsible"));
            (waiting.message.as_deref() == Some(said)).then_some(())
        })
        .await;
    std::fs::remove_file(stage.dir.path().join("slow")).unwrap();
    stage.job_that_is("grow", "Complete").await;
}

#[tokio::test]
async fn a_newer_ansible_is_installed_beside_the_one_of_a_run_that_goes_on() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    let settings = Settings { python: Some(python_that_pretends(dir.path())), ..Settings::default() };
    let stage = Stage::at(dir, &settings);
    stage
        .job("grow", "until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done; command -v python3", json!({}))
        .await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let dir = stage.shut_down().await;
    let ansibles = dir.path().join("ansible");
    let current: serde_json::Value =
        serde_json::from_slice(&std::fs::read(ansibles.join("current.json")).unwrap()).unwrap();
    let old = ansibles.join(current["folder"].as_str().unwrap());
    let older = json!({"folder": current["folder"], "version": "2.16.0"});
    std::fs::write(ansibles.join("current.json"), older.to_string()).unwrap();

    let stage = Stage::at(dir, &settings);
    stage.job("next", "command -v python3", json!({})).await;
    stage.job_that_is("next", "Complete").await;
    let next = stage.pods_of("next").await.remove(0);
    assert!(!stage.log(&next).await.starts_with(old.to_str().unwrap()), "the newer one was not installed");
    assert!(old.exists(), "it was taken from a run");
    std::fs::write(stage.run_dir(&pod).join("root/scratch/go"), "").unwrap();
    stage.job_that_is("grow", "Complete").await;
    assert_eq!(stage.log(&pod).await, format!("{}/bin/python3\n", old.display()));
    stage.wait("the old one to go", async || (!old.exists()).then_some(())).await;
}

#[tokio::test]
async fn what_ended_or_was_deleted_while_no_server_ran_is_settled_by_the_next() {
    let stage = Stage::new();
    stage.job("done", "until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done; exit 5", json!({})).await;
    stage.job("lost", "sleep 600", json!({})).await;
    let (done, lost) = (stage.pod_that_is("done", "Running").await, stage.pod_that_is("lost", "Running").await);
    let dir = stage.shut_down().await;
    std::fs::write(run_dir(dir.path(), &done).join("root/scratch/go"), "").unwrap();
    let lost_run = run_dir(dir.path(), &lost);
    kill(pid(&lost_run, "shim").unwrap());
    // A folder of a pod that nobody knows any more.
    std::fs::create_dir_all(dir.path().join("runs/00000000-dead/root")).unwrap();
    let stage = Stage::at(dir, &Settings::default());
    stage.job_that_is("done", "Failed").await;
    assert_eq!(ended(&stage.pods_of("done").await[0]).0, 5);
    stage.job_that_is("lost", "Failed").await;
    assert!(ended(&stage.pods_of("lost").await[0]).2.contains("the process is gone"));
    stage
        .wait("the unknown folder to go", async || {
            (!stage.dir.path().join("runs/00000000-dead").exists()).then_some(())
        })
        .await;
    assert!(!is_running(&lost));
}

/// The last server may have been killed in between, or its disk refused.
#[tokio::test]
async fn keys_that_outlived_their_run_are_removed_by_the_next_server() {
    let stage = Stage::new();
    stage.job("done", "true", json!({})).await;
    let pod = stage.pod_that_is("done", "Succeeded").await;
    let dir = stage.shut_down().await;
    let root = run_dir(dir.path(), &pod).join("root");
    for part in ["auth", "conf"] {
        std::fs::create_dir_all(root.join(part)).unwrap();
        std::fs::write(root.join(part).join("key"), "secret").unwrap();
    }
    let stage = Stage::at(dir, &Settings::default());
    let gone = async || (!root.join("auth").exists() && !root.join("conf").exists()).then_some(());
    stage.wait("the keys to go", gone).await;
    assert!(root.exists(), "the record of the run stays");
}

#[tokio::test]
async fn a_start_that_was_interrupted_before_the_shim_is_repeated() {
    let broken = Settings { shim: Some("/nonexistent/shim".into()), ..Settings::default() };
    let stage = Stage::with(&broken);
    stage.job("grow", "echo once", json!({})).await;
    let pod = stage
        .wait("its folder", async || {
            let pod = stage.pods_of("grow").await.pop()?;
            stage.run_dir(&pod).join("run.json").exists().then_some(pod)
        })
        .await;
    let dir = stage.shut_down().await;
    let stage = Stage::at(dir, &Settings::default());
    stage.job_that_is("grow", "Complete").await;
    assert_eq!(stage.log(&pod).await, "once\n");
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

/// Kills the server at moments given by how far the runs are, so that every phase of a run is met.
#[tokio::test]
async fn killing_the_server_again_and_again_neither_ends_nor_doubles_a_run() {
    const RUNS: usize = 4;
    const LINES: usize = 300;
    const KILLS: usize = 12;
    let stage = Stage::new();
    let dir = stage.shut_down().await;
    // Jobs that exist before the first server looks: creation, too, is cut off by a kill.
    let api = Stage::at(dir.clone(), &Settings { shim: Some("/nonexistent/shim".into()), ..Settings::default() });
    for n in 0..RUNS {
        let script =
            format!("echo begun; i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo {n} line $i; sleep 0.01; done");
        api.jobs()
            .create(&kube::api::PostParams::default(), &job(&format!("run-{n}"), &script, json!({})))
            .await
            .unwrap();
    }
    let dir = api.shut_down().await;
    let program = server_program(dir.path());
    for round in 0..KILLS {
        let mut server =
            Command::new(&program).env("RUST_BACKTRACE", "0").stdout(std::process::Stdio::null()).spawn().unwrap();
        let target = (RUNS * (LINES + 1) * round) / KILLS;
        let begun = std::time::Instant::now();
        while logged(dir.path()) < target {
            assert!(begun.elapsed().as_secs() < 60, "round {round}: {} of {target} lines", logged(dir.path()));
            assert!(server.try_wait().unwrap().is_none(), "the server ended by itself in round {round}");
            tokio::task::yield_now().await;
            std::thread::yield_now();
        }
        server.kill().unwrap();
        server.wait().unwrap();
    }
    let stage = Stage::at(dir, &Settings::default());
    for n in 0..RUNS {
        let name = format!("run-{n}");
        stage.job_that_is(&name, "Complete").await;
        let pods = stage.pods_of(&name).await;
        assert_eq!(pods.len(), 1);
        let wanted: String =
            std::iter::once("begun\n".to_owned()).chain((1..=LINES).map(|i| format!("{n} line {i}\n"))).collect();
        assert_eq!(stage.log(&pods[0]).await, wanted);
        assert!(!is_running(&pods[0]));
    }
}

fn logged(data: &Path) -> usize {
    let runs = std::fs::read_dir(data.join("runs")).into_iter().flatten().flatten();
    runs.map(|run| {
        std::fs::read(run.path().join("log")).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count()
    })
    .sum()
}

/// The whole chain with the real ansible: what the controller's Job would hold, run on this machine.
#[tokio::test]
async fn a_playbook_runs_with_the_real_ansible() {
    let Some(bin) = std::env::var_os("KUBEONKUBE_TEST_ANSIBLE") else {
        return skipped::skip("a_playbook_runs_with_the_real_ansible", "KUBEONKUBE_TEST_ANSIBLE names no ansible");
    };
    let stage = Stage::with(&Settings { ansible: Some(bin.into()), ..Settings::default() });
    let steps = json!({"operation": "look", "cluster": "c", "steps": [{"role": "main", "kind": "playbook", "path": "kubespray/ping.yml", "title": "ping.yml", "args": []}]});
    stage.secret("look-inputs", json!({
        "hosts.yml": "all:\n  hosts:\n    m1: {ansible_connection: local}\n", "group_vars.yml": "", "token": "5f0c8e1d2b3a49687766554433221100",
        "steps.json": steps.to_string(),
        "entrypoint.py": include_str!("../../../deploy/runner/entrypoint.py"),
        "kubeonkube_events.py": include_str!("../../../deploy/runner/callback/kubeonkube_events.py"),
    }))
    .await;
    let paths = ["hosts.yml", "group_vars.yml", "token", "steps.json", "entrypoint.py"]
        .map(|key| json!({"key": key, "path": key}));
    let items: Vec<_> = paths
        .into_iter()
        .chain([json!({"key": "kubeonkube_events.py", "path": "callback/kubeonkube_events.py"})])
        .collect();
    let volumes = json!([{"name": "inputs", "secret": {"secretName": "look-inputs", "items": items}}, {"name": "work", "emptyDir": {}}]);
    let mounts = json!([{"name": "inputs", "mountPath": "/conf"}, {"name": "work", "mountPath": "/work-kubeonkube"}]);
    let container = json!([{"name": "kubeonkube", "image": "local", "command": ["python3", "$(KUBEONKUBE_ROOT)/conf/entrypoint.py"],
        "env": [{"name": "KUBEONKUBE_ROOT", "value": ""}], "volumeMounts": mounts}]);
    stage.job("look", "", json!({"template": {"spec": {"containers": container, "volumes": volumes}}})).await;
    stage.job_that_is("look", "Complete").await;
    let pod = stage.pods_of("look").await.pop().unwrap();
    let said: serde_json::Value = serde_json::from_str(&ended(&pod).2).unwrap();
    assert_eq!((&said["rc"], &said["steps"][0]["recap"]["ok"]), (&json!(0), &json!(1)));
    let log = stage.log(&pod).await;
    assert!(log.contains("PLAY RECAP") && log.contains("\u{1e}5f0c8e1d2b3a49687766554433221100 {\"n\":1,"), "{log}");
}
