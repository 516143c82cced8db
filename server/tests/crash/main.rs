//! Servers and runs that are killed: with real processes, real ansible, and `kill -9`.

mod processes;
mod server;
mod storm;
mod viewer;
mod world;

use std::time::{Duration, Instant};

use crd::Phase;
use rustix::process::Signal;

use crate::{
    storm::Storm,
    world::{World, eventually, skipped},
};

/// How long a stop may take with open sockets and a run going.
const A_FEW_SECONDS: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_of_the_server_lose_and_double_nothing() {
    if skipped("fifty_kills_of_the_server_lose_and_double_nothing") {
        return;
    }
    let mut world = World::new(&["north", "south", "west"]).await;
    let cookie = world.server().sign_in().await;
    let storm = Storm::new(50);
    let submitted = storm.rage(&mut world).await;

    world.start().await;
    for run in &submitted {
        let operation = world.finished(&run.name).await;
        let status = operation.status.expect("a status");
        assert_eq!(status.status, Phase::Succeeded, "{}: {status:#?}", run.name);
        assert_eq!(world.beginnings(&run.name), 1, "{} was begun more than once, or never", run.name);
    }
    for run in &submitted {
        assert_eq!(run.numbered(&world.pod_log(&run.name).await), run.expected(), "the pod's log of {}", run.name);
        let downloaded = world.server().download(&run.name, &cookie).await;
        assert_eq!(run.numbered(&downloaded), run.expected(), "the kept log of {}", run.name);
        let (lines, missing) = viewer::read(world.server(), &cookie, &run.name).await;
        assert_eq!((run.numbered(&lines), missing), (run.expected(), 0), "what a page shows of {}", run.name);
    }
    world.every_object_is_whole(&submitted).await;
    world.nothing_is_left_but_the_server().await;
    assert_eq!(world.stop().await, Some(0));
    world.the_state_file_is_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_killed_failed_because_its_process_is_gone() {
    if skipped("a_run_that_was_killed_failed_because_its_process_is_gone") {
        return;
    }
    let mut world = World::new(&["whole", "shim", "command", "unseen"]).await;
    for cluster in ["whole", "shim", "command", "unseen"] {
        world.submit(&world::Run::endless(cluster)).await;
    }
    for run in ["whole", "shim", "command", "unseen"] {
        eventually("every run has begun", async || (world.beginnings(run) == 1).then_some(())).await;
    }
    let of = |world: &World, run: &str| (processes::shim(&world.folder(run)), processes::command(&world.folder(run)));
    let folder = world.folder_of("whole").await;
    processes::kill_all_below(&folder);
    let folder = world.folder_of("shim").await;
    processes::kill(processes::shim(&folder));
    let folder = world.folder_of("command").await;
    processes::kill(processes::command(&folder));
    let _ = of;
    // Nobody of ours is there to see this one end.
    let folder = world.folder_of("unseen").await;
    world.kill().await;
    processes::kill_all_below(&folder);
    world.start().await;
    for run in ["whole", "shim", "command", "unseen"] {
        let status = world.finished(run).await.status.expect("a status");
        let message = status.message.unwrap_or_default();
        assert_eq!(status.status, Phase::Failed, "{run}: {message}");
        assert!(message.contains("the process is gone"), "{run}: {message}");
        assert_eq!(world.beginnings(run), 1, "{run} was begun again");
    }
    world.nothing_is_left_but_the_server().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_is_quick_and_leaves_runs_going() {
    if skipped("a_stop_is_quick_and_leaves_runs_going") {
        return;
    }
    let mut world = World::new(&["north"]).await;
    let cookie = world.server().sign_in().await;
    let run = world::Run::shell("long", "north", 60);
    world.submit(&run).await;
    eventually("its first lines", async || (!world.said("long").is_empty()).then_some(())).await;
    // A page that watches it, and `kubectl logs -f`.
    let watching = viewer::open(world.server(), &cookie, "long").await;
    let following = world.follow_pod_log("long").await;

    let asked = Instant::now();
    world.server().signal(Signal::TERM);
    assert_eq!(world.ended().await, Some(0));
    assert!(asked.elapsed() < A_FEW_SECONDS, "it took {:?}", asked.elapsed());
    drop((watching, following));
    let then = world.said("long").len();
    assert!(then < 60, "the run had ended already, so that this shows nothing");
    eventually("the run to go on", async || (world.said("long").len() > then).then_some(())).await;

    world.start().await;
    assert_eq!(world.finished("long").await.status.expect("a status").status, Phase::Succeeded);
    let kept = world.server().download("long", &cookie).await;
    assert_eq!(run.numbered(&kept), run.expected());
    assert_eq!(world.beginnings("long"), 1);
    world.nothing_is_left_but_the_server().await;
}
