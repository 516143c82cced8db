//! The disk of the data directory is full before a run, during a run, and at its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::small_disk::SmallDisk;
use crate::stage::{Settings, Stage, ended, is_running, pid, signal};

/// A stage on a small disk, and a folder on another disk for files that the test and its runs exchange.
struct Full {
    stage: Stage,
    notes: TempDir,
    // The last field, because it is unmounted when the others are gone.
    disk: SmallDisk,
}

impl Full {
    fn new(test: &str) -> Option<Self> {
        let disk = SmallDisk::of(16, test)?;
        let stage = Stage::at(Arc::new(tempfile::tempdir_in(disk.path()).unwrap()), &Settings::default());
        Some(Self { stage, notes: tempfile::tempdir().unwrap(), disk })
    }

    fn note(&self, name: &str) -> PathBuf {
        self.notes.path().join(name)
    }

    async fn until_exists(&self, path: &Path) {
        self.stage.wait("a note of the run", async || path.exists().then_some(())).await;
    }
}

/// Waits until a shim has looked for room several times. It does so twice a second.
async fn until_tried(stage: &Stage, check: impl Fn()) {
    let started = std::time::Instant::now();
    let tried = async || {
        check();
        (started.elapsed().as_secs() >= 2).then_some(())
    };
    stage.wait("some tries of the shim", tried).await;
}

#[tokio::test]
async fn a_run_waits_to_start_until_the_disk_has_room() {
    let Some(full) = Full::new("a_run_waits_to_start_until_the_disk_has_room") else { return };
    full.disk.fill();
    full.stage.job("grow", "echo begun", json!({})).await;
    let reason = async || {
        let pod = full.stage.pods_of("grow").await.pop()?;
        let waiting = pod.status?.container_statuses?.pop()?.state?.waiting?;
        (waiting.reason.as_deref() == Some("DiskFull")).then_some(waiting.message.unwrap_or_default())
    };
    let message = full.stage.wait("the reason", reason).await;
    assert!(message.to_lowercase().contains(disk::FULL), "{message}");
    full.disk.free();
    full.stage.job_that_is("grow", "Complete").await;
    assert_eq!(full.stage.log(&full.stage.pods_of("grow").await[0]).await, "begun\n");
}

#[tokio::test]
async fn no_output_is_lost_while_the_disk_is_full() {
    const LINES: usize = 20_000;
    let Some(full) = Full::new("no_output_is_lost_while_the_disk_is_full") else { return };
    let (go, printing) = (full.note("go"), full.note("printing"));
    let script = format!(
        "echo begun; while [ ! -e {} ]; do sleep 0.02; done; \
         i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo line $i of the run; [ $i != 1000 ] || touch {}; done",
        go.display(),
        printing.display()
    );
    full.stage.job("grow", &script, json!({})).await;
    let pod = full.stage.pod_that_is("grow", "Running").await;
    full.stage.wait("its first line", async || (full.stage.log(&pod).await == "begun\n").then_some(())).await;
    full.disk.fill();
    std::fs::write(&go, "").unwrap();
    full.until_exists(&printing).await;
    assert!(is_running(&pod), "the run doesn't wait for room");
    full.disk.free();
    full.stage.job_that_is("grow", "Complete").await;
    let wanted: String =
        std::iter::once("begun\n".to_owned()).chain((1..=LINES).map(|n| format!("line {n} of the run\n"))).collect();
    assert!(full.stage.log(&pod).await == wanted, "the log is not complete");
}

#[tokio::test]
async fn a_run_that_ends_on_a_full_disk_keeps_its_result() {
    let Some(full) = Full::new("a_run_that_ends_on_a_full_disk_keeps_its_result") else { return };
    let go = full.note("go");
    for (name, code) in [("good", 0), ("bad", 7)] {
        let script = format!("while [ ! -e {} ]; do sleep 0.02; done; echo last words; exit {code}", go.display());
        full.stage.job(name, &script, json!({})).await;
    }
    let pods = [full.stage.pod_that_is("good", "Running").await, full.stage.pod_that_is("bad", "Running").await];
    let run = |at: usize| full.stage.run_dir(&pods[at]);
    let commands = [0, 1].map(|at| pid(&run(at), "command").unwrap());
    let shims = [0, 1].map(|at| pid(&run(at), "shim").unwrap());
    full.disk.fill();
    std::fs::write(&go, "").unwrap();
    let is_alive = |pid: i32| Path::new(&format!("/proc/{pid}")).exists();
    full.stage.wait("the commands to end", async || (!commands.into_iter().any(is_alive)).then_some(())).await;
    // A shim that can't write its error file either must not give up.
    until_tried(&full.stage, || assert!(shims.into_iter().all(is_alive), "a shim gave up")).await;
    full.disk.free();
    full.stage.job_that_is("good", "Complete").await;
    full.stage.job_that_is("bad", "Failed").await;
    assert_eq!(ended(&full.stage.pods_of("good").await[0]).0, 0);
    assert_eq!(ended(&full.stage.pods_of("bad").await[0]).0, 7);
    for pod in &pods {
        assert_eq!(full.stage.log(pod).await, "last words\n");
    }
}

/// The server stops and starts again while the shim waits for room.
#[tokio::test]
async fn a_result_that_waits_for_room_survives_a_restart() {
    let Some(full) = Full::new("a_result_that_waits_for_room_survives_a_restart") else { return };
    let go = full.note("go");
    full.stage.job("grow", &format!("while [ ! -e {} ]; do sleep 0.02; done", go.display()), json!({})).await;
    let pod = full.stage.pod_that_is("grow", "Running").await;
    let [command, shim] = ["command", "shim"].map(|process| pid(&full.stage.run_dir(&pod), process).unwrap());
    full.disk.fill();
    std::fs::write(&go, "").unwrap();
    let ended = || !Path::new(&format!("/proc/{command}")).exists();
    full.stage.wait("the command to end", async || ended().then_some(())).await;
    let Full { stage, disk, notes: _notes } = full;
    // The database frees room when it closes. The shim must not find it before the disk is full again.
    signal(shim, Signal::STOP);
    let dir = stage.shut_down().await;
    // The files of the first stage: there is no room for new ones.
    let settings = Settings {
        shim: Some(dir.path().join("shim.sh")),
        ansible: Some(dir.path().to_owned()),
        ..Settings::default()
    };
    let stage = Stage::at(dir, &settings);
    assert_eq!(stage.pod_that_is("grow", "Running").await.metadata.uid, pod.metadata.uid);
    disk.fill();
    signal(shim, Signal::CONT);
    // The shim may find room and end, because a server that has just started frees some.
    until_tried(&stage, || ()).await;
    disk.free();
    stage.job_that_is("grow", "Complete").await;
    assert_eq!(stage.pods_of("grow").await.len(), 1);
}
