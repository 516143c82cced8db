//! Servers and runs are killed with `kill -9`. Processes and ansible are real.

mod once;
mod processes;
mod restore;
mod run;
mod server;
mod storm;
mod viewer;
mod wholeness;
mod world;

#[path = "../ansible/mod.rs"]
mod ansible;
#[path = "../panics/mod.rs"]
mod panics;
#[path = "../patience/mod.rs"]
mod patience;
#[path = "../plain_http/mod.rs"]
mod plain_http;
#[path = "../skipped/mod.rs"]
mod skipped;
#[path = "../start/mod.rs"]
mod start;

use std::env;

use crd::Phase;

use crate::run::Run;
use crate::storm::Storm;
use crate::world::{World, eventually, skipped};

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_the_server_lose_and_repeat_nothing() {
    if skipped("kills_of_the_server_lose_and_repeat_nothing") {
        return;
    }
    let mut world = World::new(&["north", "south", "west"]).await;
    let cookie = world.server().sign_in().await;
    // The gate always uses the same pauses and operations; --full draws new ones.
    let (kills, seed) = if env::var_os("KUBEONKUBE_FULL").is_some() { (50, rand::random()) } else { (10, 1) };
    let submitted = Storm::of(kills, seed).run(&mut world).await;

    world.start().await;
    for run in &submitted {
        let status = world.ended(&run.name).await.status.expect("a status");
        assert_eq!(status.status, Phase::Succeeded, "{}: {status:#?}", run.name);
        assert_eq!(world.starts(run), 1, "how often {} was started", run.name);
    }
    for run in &submitted {
        assert_eq!(run.ticks_in(&world.pod_log(&run.name).await), run.ticks(), "the pod's log of {}", run.name);
        let kept = world.server().download(&run.name, &cookie).await;
        assert_eq!(run.ticks_in(&kept), run.ticks(), "the kept log of {}", run.name);
        let shown = viewer::read(world.server(), &cookie, &run.name).await;
        assert_eq!((run.ticks_in(&shown.text), shown.missing), (run.ticks(), 0), "what a page shows of {}", run.name);
    }
    wholeness::every_object_is_whole(&world, &submitted).await;
    world.only_the_server_is_left().await;
    assert_eq!(world.stop().await, Some(0));
    wholeness::every_file_is_whole(world.data());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_fails_because_its_process_is_gone() {
    if skipped("a_killed_run_fails_because_its_process_is_gone") {
        return;
    }
    let names = ["whole", "shim", "command", "unseen"];
    let mut world = World::new(&names).await;
    let mut folders = Vec::new();
    for name in names {
        let run = Run::shell(name, name, 10_000);
        world.submit(&run).await;
        eventually("the run to start", async || (world.starts(&run) == 1).then_some(())).await;
        folders.push(world.folder_of(name).await);
    }
    let [whole, shim, command, unseen] = &folders[..] else { unreachable!() };
    processes::kill_all_of(whole);
    processes::kill(processes::shim_of(shim));
    processes::kill(processes::command_of(command));
    // No server runs when this run is killed.
    world.kill().await;
    processes::kill_all_of(unseen);
    world.start().await;
    for name in names {
        let status = world.ended(name).await.status.expect("a status");
        let message = status.message.unwrap_or_default();
        assert_eq!(status.status, Phase::Failed, "{name}: {message}");
        assert!(message.contains("the process is gone"), "{name}: {message}");
    }
    world.only_the_server_is_left().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_with_open_sockets_and_runs_continue() {
    if skipped("a_stop_ends_with_open_sockets_and_runs_continue") {
        return;
    }
    let mut world = World::new(&["north"]).await;
    let cookie = world.server().sign_in().await;
    let run = Run::held("long", "north", 20);
    world.submit(&run).await;
    eventually("its first lines", async || (world.printed(&run) > 0).then_some(())).await;
    // A page that watches it, and `kubectl logs -f`.
    let watching = viewer::open(world.server(), &cookie, "long").await;
    let following = world.follow_pod_log("long").await;

    assert_eq!(world.stop().await, Some(0));
    drop((watching, following));
    assert_eq!(world.printed(&run), 1, "the stop waits for no run");
    world.release(&run);
    eventually("the run to continue", async || (world.printed(&run) > 1).then_some(())).await;

    world.start().await;
    assert_eq!(world.ended("long").await.status.expect("a status").status, Phase::Succeeded);
    let kept = world.server().download("long", &cookie).await;
    assert_eq!(run.ticks_in(&kept), run.ticks());
    assert_eq!(world.starts(&run), 1);
    world.only_the_server_is_left().await;
}
