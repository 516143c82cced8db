//! A killed server loses no acknowledged write.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;

use crate::embedded_api;
use crate::world::{CONFIG_MAPS, MERGE, World, config_map};

/// Set in the environment of the writing child process.
const DIRECTORY: &str = "KUBEONKUBE_TEST_WRITE_UNTIL_KILLED";

/// The child process of the test below, not a test. It prints the name of each object when its writes are acknowledged.
#[tokio::test]
async fn child_writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIRECTORY) else { return };
    let api = embedded_api::open(dir.as_ref(), Vec::new()).unwrap();
    let client = api.client("writer");
    let maps: kube::Api<k8s_openapi::api::core::v1::ConfigMap> = kube::Api::default_namespaced(client);
    for n in 0.. {
        let tasks = (0..8).map(|side| {
            let maps = maps.clone();
            tokio::spawn(async move {
                let name = format!("m{n}-{side}");
                let body = config_map(&name, json!({"text": "x".repeat(2000), "end": name}));
                maps.create(&Default::default(), &serde_json::from_value(body).unwrap()).await.unwrap();
                let patch = kube::api::Patch::Merge(json!({"data": {"patched": "yes"}}));
                maps.patch(&name, &Default::default(), &patch).await.unwrap();
                // A single write, so that a line is complete or missing. The test harness would capture println!.
                std::io::stderr().write_all(format!("{name}\n").as_bytes()).unwrap();
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
    }
}

#[tokio::test]
async fn every_acknowledged_write_survives_kill_9_in_full() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    let mut acknowledged = Vec::new();
    for round in 0..5_usize {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "durability::child_writes_until_it_is_killed", "--nocapture"])
            .env(DIRECTORY, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Each round deletes all objects at its end, so the next child can start at m0 again.
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first: Vec<String> = lines.by_ref().take(20 + round * 7).map(Result::unwrap).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(first.into_iter().chain(lines.map_while(Result::ok)).filter(|line| line.starts_with('m')));

        let world = World::at(dir.clone());
        let list = world.get(CONFIG_MAPS).await.ok();
        let items = list["items"].as_array().unwrap();
        for item in items {
            assert_eq!(item["data"]["end"], item["metadata"]["name"], "an incomplete object: {item}");
        }
        for name in acknowledged.drain(..) {
            let found = items.iter().find(|item| item["metadata"]["name"] == name.as_str());
            assert_eq!(
                found.unwrap_or_else(|| panic!("{name} was acknowledged and is lost"))["data"]["patched"],
                "yes"
            );
        }
        let before: u64 = list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
        let next = world.post(CONFIG_MAPS, config_map("after", json!({}))).await.ok();
        assert!(next["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() > before);
        world.delete(CONFIG_MAPS, json!({})).await.ok();
        world.api.close().await;
    }
}

#[tokio::test]
async fn reopening_keeps_objects_token_and_revision() {
    let world = World::new();
    let made = world.post(CONFIG_MAPS, config_map("a", json!({"x": "1"}))).await.ok();
    let token = world.api.token().to_owned();
    let world = world.reopened().await;
    assert_eq!(world.get(&format!("{CONFIG_MAPS}/a")).await.ok(), made);
    assert_eq!(world.api.token(), token);
    world.patch(&format!("{CONFIG_MAPS}/a"), MERGE, json!({"data": {"x": "2"}})).await.ok();
}

#[tokio::test]
async fn a_state_file_of_a_newer_format_is_refused() {
    let world = World::new();
    world.api.close().await;
    let file = world.dir.path().join("state.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let refused = embedded_api::open(world.dir.path(), Vec::new()).err().unwrap().to_string();
    assert!(refused.contains("newer kubeonkube (format 99"), "{refused}");
}
