//! A state file that is missing, empty or older than the runs, and its restore, during a run.

use std::fs;
use std::path::Path;
use std::process::Output;

use crd::Phase;
use tokio::process::Command;
use tokio::time::timeout;

use crate::patience::PATIENCE;
use crate::run::Run;
use crate::start;
use crate::world::{World, eventually, skipped};

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_state_file_is_restored_while_a_run_continues() {
    if skipped("a_lost_state_file_is_restored_while_a_run_continues") {
        return;
    }
    let mut world = World::new(&["north"]).await;
    let cookie = world.server().sign_in().await;
    let backups = tempfile::tempdir().expect("a directory");
    let (early, late) = (backups.path().join("early.db"), backups.path().join("late.db"));
    succeeds(&world, &["backup", text(&early)]).await;
    let run = Run::held("long", "north", 20);
    world.submit(&run).await;
    eventually("its first lines", async || (world.printed(&run) > 0).then_some(())).await;
    succeeds(&world, &["backup", text(&late)]).await;
    world.kill().await;

    let state = world.data().join("state.db");
    let (start, empty) = (&["--listen", "127.0.0.1:0"][..], &["--listen", "127.0.0.1:0", "--start-empty"][..]);
    for (content, why) in [(None, "is missing"), (Some(Vec::new()), "is empty"), (fs::read(&early).ok(), "is older")] {
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", state.display()));
        }
        if let Some(content) = content {
            fs::write(&state, content).expect("written");
        }
        let refused = fails(&world, start).await;
        assert!(refused.contains(why) && refused.contains("--start-empty"), "{why}: {refused}");
        assert!(refused.contains(&format!("kubeonkube restore {}", late.display())), "{why}: {refused}");
        assert!(fails(&world, empty).await.contains("have not ended"), "{why}");
    }
    let refused = fails(&world, &["restore", text(&early)]).await;
    assert!(refused.contains("doesn't know"), "{refused}");
    assert!(fails(&world, &["restore", "/dev/null"]).await.contains("is not a backup"));
    assert_eq!(world.printed(&run), 1);
    world.release(&run);
    eventually("the run to continue", async || (world.printed(&run) > 1).then_some(())).await;

    let restored = succeeds(&world, &["restore", text(&late)]).await;
    assert!(restored.contains("The server continues them: long\n"), "{restored}");
    world.start().await;
    assert_eq!(world.ended("long").await.status.expect("a status").status, Phase::Succeeded);
    let kept = world.server().download("long", &cookie).await;
    assert_eq!(run.ticks_in(&kept), run.ticks());
    assert_eq!(world.starts(&run), 1);
    assert!(fails(&world, &["restore", text(&late)]).await.contains("is in use"), "a server runs");
    world.only_the_server_is_left().await;
}

/// Runs the program with the data directory of `world`.
async fn output(world: &World, arguments: &[&str]) -> Output {
    let mut command = Command::from(start::program(world.data()));
    command.args(arguments).kill_on_drop(true);
    let ended = timeout(PATIENCE, command.output()).await;
    ended.unwrap_or_else(|_| panic!("{arguments:?} doesn't end")).expect("ran")
}

/// What a command prints that must succeed.
async fn succeeds(world: &World, arguments: &[&str]) -> String {
    let output = output(world, arguments).await;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The errors of a command that must fail.
async fn fails(world: &World, arguments: &[&str]) -> String {
    let output = output(world, arguments).await;
    assert!(!output.status.success(), "{arguments:?} should fail");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}
