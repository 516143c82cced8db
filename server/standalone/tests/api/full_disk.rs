//! The state file is on a disk that is full.

use std::sync::Arc;

use serde_json::json;

use crate::small_disk::SmallDisk;
use crate::world::{CONFIG_MAPS, MERGE, World, config_map};

fn large(name: &str) -> serde_json::Value {
    config_map(name, json!({"text": "x".repeat(900_000)}))
}

#[tokio::test]
async fn a_write_without_room_is_refused_and_later_ones_succeed() {
    let Some(disk) = SmallDisk::of(8, "a_write_without_room_is_refused_and_later_ones_succeed") else { return };
    let world = World::at(Arc::new(tempfile::tempdir_in(disk.path()).unwrap()));
    world.post(CONFIG_MAPS, config_map("kept", json!({"n": "0"}))).await.ok();
    disk.fill();
    // The reserve for small writes has room for one of them.
    let mut stored = 0;
    let refused = loop {
        let answer = world.post(CONFIG_MAPS, large(&format!("large{stored}"))).await;
        if answer.code >= 300 {
            break answer;
        }
        stored += 1;
        assert!(stored < 4, "the disk was not full");
    };
    let why = refused.refused(507, "InsufficientStorage");
    assert!(why.contains(disk::FULL) && why.contains("nothing was stored"), "{why}");
    let kept = format!("{CONFIG_MAPS}/kept");
    assert_eq!(world.get(&kept).await.ok()["data"]["n"], "0", "a refused write must not hide what is stored");
    disk.free();
    world.post(CONFIG_MAPS, large("large")).await.ok();
    world.patch(&kept, MERGE, json!({"data": {"n": "1"}})).await.ok();
    let world = world.reopened().await;
    assert_eq!(world.get(&kept).await.ok()["data"]["n"], "1");
    world.get(&format!("{CONFIG_MAPS}/large")).await.ok();
}

#[tokio::test]
async fn small_writes_go_on_while_the_disk_is_full() {
    let Some(disk) = SmallDisk::of(8, "small_writes_go_on_while_the_disk_is_full") else { return };
    let world = World::at(Arc::new(tempfile::tempdir_in(disk.path()).unwrap()));
    world.post(CONFIG_MAPS, config_map("kept", json!({}))).await.ok();
    disk.fill();
    // More than the log of the state file holds at once.
    for n in 0..500 {
        world.patch(&format!("{CONFIG_MAPS}/kept"), MERGE, json!({"data": {"n": n.to_string()}})).await.ok();
    }
    for n in 0..20 {
        let text = json!({"text": "x".repeat(5000)});
        world.post(CONFIG_MAPS, config_map(&format!("m{n}"), text)).await.ok();
    }
    // Until nothing more fits.
    let mut stored = 20;
    while world.post(CONFIG_MAPS, config_map(&format!("m{stored}"), json!({"text": "x".repeat(50_000)}))).await.code
        < 300
    {
        stored += 1;
    }
    assert!(stored < 100, "the disk was not full");
    disk.free();
    let all = world.get(CONFIG_MAPS).await.ok()["items"].as_array().unwrap().len();
    assert_eq!(all, stored + 1);
    for n in 0..stored {
        world.delete(&format!("{CONFIG_MAPS}/m{n}"), json!({})).await.ok();
    }
}

#[tokio::test]
async fn a_restart_on_a_full_disk_keeps_every_object() {
    let Some(disk) = SmallDisk::of(8, "a_restart_on_a_full_disk_keeps_every_object") else { return };
    let world = World::at(Arc::new(tempfile::tempdir_in(disk.path()).unwrap()));
    disk.fill();
    for n in 0..20 {
        world.post(CONFIG_MAPS, config_map(&format!("m{n}"), json!({}))).await.ok();
    }
    let world = world.reopened().await;
    for n in 0..20 {
        world.get(&format!("{CONFIG_MAPS}/m{n}")).await.ok();
    }
}
