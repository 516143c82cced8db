//! Crashes and restarts of the server, the shim and the command.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use kube::api::PostParams;
use serde_json::json;

use crate::stage::{Settings, Stage, ended, is_running, job, kill, pid, run_dir, server_program, shim_program};

#[tokio::test]
async fn killing_the_shim_ends_the_run_and_reports_it() {
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
async fn killing_the_command_ends_the_run_and_reports_it() {
    let stage = Stage::new();
    // Ansible, too, starts processes in another session. Killing the first process must end those as well.
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
    let again = || Command::new(shim_program(stage.dir.path())).arg("run-job").arg("--dir").arg(&run).output().unwrap();
    assert!(again().status.success());
    std::fs::write(run.join("root/scratch/go"), "").unwrap();
    stage.job_that_is("grow", "Complete").await;
    assert!(again().status.success());
    assert_eq!(stage.log(&pod).await, "once\n");
}

#[tokio::test]
async fn a_run_continues_after_a_shutdown_until_the_next_server() {
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
async fn runs_that_end_while_no_server_runs_are_reported_later() {
    let stage = Stage::new();
    stage.job("done", "until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done; exit 5", json!({})).await;
    stage.job("lost", "sleep 600", json!({})).await;
    let (done, lost) = (stage.pod_that_is("done", "Running").await, stage.pod_that_is("lost", "Running").await);
    let dir = stage.shut_down().await;
    std::fs::write(run_dir(dir.path(), &done).join("root/scratch/go"), "").unwrap();
    let lost_run = run_dir(dir.path(), &lost);
    kill(pid(&lost_run, "shim").unwrap());
    // The folder of a pod that the API doesn't have any more.
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

/// The last server may have been killed before it removed them, or failed to do so.
#[tokio::test]
async fn leftover_files_are_removed_by_the_next_server() {
    let stage = Stage::new();
    stage.job("done", "true", json!({})).await;
    let pod = stage.pod_that_is("done", "Succeeded").await;
    let root = stage.run_dir(&pod).join("root");
    stage.wait("its files to go", async || (!root.exists()).then_some(())).await;
    let dir = stage.shut_down().await;
    for part in ["auth", "conf", "work-kubeonkube"] {
        std::fs::create_dir_all(root.join(part)).unwrap();
        std::fs::write(root.join(part).join("key"), "secret").unwrap();
    }
    let stage = Stage::at(dir, &Settings::default());
    stage.wait("the files to go", async || (!root.exists()).then_some(())).await;
    assert!(root.parent().unwrap().join("log").exists(), "the log stays");
}

#[tokio::test]
async fn a_start_interrupted_before_the_shim_is_repeated() {
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

/// Kills the server each time the runs have written a certain number of lines, so that it is hit in every phase of a run.
#[tokio::test]
async fn repeated_server_kills_neither_end_nor_double_a_run() {
    const RUNS: usize = 4;
    const LINES: usize = 300;
    const KILLS: usize = 12;
    let stage = Stage::new();
    let dir = stage.shut_down().await;
    // The Jobs exist before the first server starts, so a kill may also interrupt the creation of their pods.
    let api = Stage::at(dir.clone(), &Settings { shim: Some("/nonexistent/shim".into()), ..Settings::default() });
    for n in 0..RUNS {
        let script =
            format!("echo begun; i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo {n} line $i; sleep 0.01; done");
        api.jobs().create(&PostParams::default(), &job(&format!("run-{n}"), &script, json!({}))).await.unwrap();
    }
    let dir = api.shut_down().await;
    let program = server_program(dir.path());
    for round in 0..KILLS {
        let mut server = Command::new(&program).env("RUST_BACKTRACE", "0").stdout(Stdio::null()).spawn().unwrap();
        let target = (RUNS * (LINES + 1) * round) / KILLS;
        let started = Instant::now();
        while logged(dir.path()) < target {
            assert!(started.elapsed().as_secs() < 60, "round {round}: {} of {target} lines", logged(dir.path()));
            assert!(server.try_wait().unwrap().is_none(), "the server exited in round {round}");
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

/// The number of lines in all logs.
fn logged(data: &Path) -> usize {
    let runs = std::fs::read_dir(data.join("runs")).into_iter().flatten().flatten();
    runs.map(|run| {
        std::fs::read(run.path().join("log")).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count()
    })
    .sum()
}

/// An older state file that is restored has pods whose runs may have ended long ago.
#[tokio::test]
async fn a_run_whose_folder_is_gone_does_not_start_again() {
    let stage = Stage::new();
    stage.job("grow", "sleep 600", json!({})).await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let dir = stage.shut_down().await;
    let run = run_dir(dir.path(), &pod);
    for process in ["shim", "command"] {
        kill(pid(&run, process).unwrap());
    }
    std::fs::remove_dir_all(&run).unwrap();
    let stage = Stage::at(dir, &Settings::default());
    stage.job_that_is("grow", "Failed").await;
    let (code, _, message) = ended(&stage.pods_of("grow").await[0]);
    assert!(code == 137 && message.contains("the process is gone"), "{code} {message}");
    assert!(!is_running(&pod));
}
