use serde_json::{Value, json};

use crate::world::{CONFIG_MAPS, WIDGETS, World, config_map, job, widget_named};

const PODS: &str = "/api/v1/namespaces/default/pods";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

fn owned_by(owner: &Value, mut child: Value) -> Value {
    child["metadata"]["ownerReferences"] = json!([{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true}]);
    child
}

async fn is_gone(world: &World, path: &str) -> bool {
    world.get(path).await.code == 404
}

#[tokio::test]
async fn children_of_a_cluster_scoped_owner_are_collected() {
    let world = World::new();
    let owner = world.post(WIDGETS, widget_named("a")).await.ok();
    let job = world.post(JOBS, owned_by(&owner, job("j"))).await.ok();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "x"}]}});
    world.post(PODS, owned_by(&job, pod)).await.ok();
    world.post(CONFIG_MAPS, config_map("bystander", json!({}))).await.ok();
    world.delete(&format!("{WIDGETS}/a"), json!({})).await.ok();
    world
        .until("job and pod are collected", async |w| {
            is_gone(w, &format!("{JOBS}/j")).await && is_gone(w, &format!("{PODS}/p")).await
        })
        .await;
    world.get(&format!("{CONFIG_MAPS}/bystander")).await.ok();
}

#[tokio::test]
async fn a_child_is_collected_only_if_its_owner_is_known_to_be_gone() {
    let world = World::new();
    let gone = json!({"apiVersion": "example.clay.io/v1", "kind": "Widget", "metadata": {"name": "x", "uid": "none"}});
    world.post(CONFIG_MAPS, owned_by(&gone, config_map("orphan", json!({})))).await.ok();
    let unknown = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "uid": "none"}});
    world.post(CONFIG_MAPS, owned_by(&unknown, config_map("kept", json!({})))).await.ok();
    world.until("the orphan is collected", async |w| is_gone(w, &format!("{CONFIG_MAPS}/orphan")).await).await;
    world.get(&format!("{CONFIG_MAPS}/kept")).await.ok();
}

#[tokio::test]
async fn an_owner_deleted_in_the_foreground_waits_for_its_children() {
    let world = World::new();
    let owner = world.post(WIDGETS, widget_named("a")).await.ok();
    let mut child = owned_by(&owner, config_map("child", json!({})));
    child["metadata"]["finalizers"] = json!(["x/y"]);
    world.post(CONFIG_MAPS, child).await.ok();
    let ending = world.delete(&format!("{WIDGETS}/a"), json!({"propagationPolicy": "Foreground"})).await.ok();
    assert_eq!(ending["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let path = format!("{CONFIG_MAPS}/child");
    world
        .until("the child is being deleted", async |w| {
            w.get(&path).await.json()["metadata"]["deletionTimestamp"].is_string()
        })
        .await;
    world.get(&format!("{WIDGETS}/a")).await.ok();
    world.patch(&path, crate::world::MERGE, json!({"metadata": {"finalizers": null}})).await.ok();
    world.until("the owner goes too", async |w| is_gone(w, &format!("{WIDGETS}/a")).await).await;
}

#[tokio::test]
async fn orphaned_children_stay_without_owner_references() {
    let world = World::new();
    let job = world.post(JOBS, job("j")).await.ok();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "x"}]}});
    world.post(PODS, owned_by(&job, pod)).await.ok();
    let answer = world.delete(&format!("{JOBS}/j"), json!({})).await;
    assert!(answer.warnings()[0].contains("child pods are preserved by default"), "{:?}", answer.warnings());
    world.until("the job is gone", async |w| is_gone(w, &format!("{JOBS}/j")).await).await;
    let pod = world.get(&format!("{PODS}/p")).await.ok();
    assert!(pod["metadata"].get("ownerReferences").is_none());
}

#[tokio::test]
async fn deleting_a_namespace_deletes_everything_in_it() {
    let world = World::new();
    world.post("/api/v1/namespaces", json!({"metadata": {"name": "n"}})).await.ok();
    let inside = "/api/v1/namespaces/n/configmaps";
    let mut held = config_map("held", json!({}));
    held["metadata"]["finalizers"] = json!(["x/y"]);
    world.post(inside, held).await.ok();
    world.post(inside, config_map("free", json!({}))).await.ok();
    let ending = world.delete("/api/v1/namespaces/n", json!({})).await.ok();
    assert_eq!(ending["status"]["phase"], "Terminating");
    let refused = world.post(inside, config_map("late", json!({}))).await;
    refused.refused(403, "Forbidden");
    assert_eq!(refused.json()["details"]["causes"][0]["reason"], "NamespaceTerminating");
    world.until("the object without a finalizer is gone", async |w| is_gone(w, &format!("{inside}/free")).await).await;
    world.get("/api/v1/namespaces/n").await.ok();
    world.patch(&format!("{inside}/held"), crate::world::MERGE, json!({"metadata": {"finalizers": null}})).await.ok();
    world.until("the namespace is gone", async |w| is_gone(w, "/api/v1/namespaces/n").await).await;
}

#[tokio::test]
async fn garbage_left_at_shutdown_is_collected_after_a_restart() {
    let world = World::new();
    let owner = world.post(WIDGETS, widget_named("a")).await.ok();
    world.post(CONFIG_MAPS, owned_by(&owner, config_map("child", json!({})))).await.ok();
    // The collector may or may not be faster than the close. In both cases the child must be gone in the end.
    world.delete(&format!("{WIDGETS}/a"), json!({})).await.ok();
    let world = world.reopened().await;
    world.until("the child is collected", async |w| is_gone(w, &format!("{CONFIG_MAPS}/child")).await).await;
}

#[tokio::test]
async fn events_are_deleted_an_hour_after_they_were_last_seen() {
    let world = World::new();
    let events = "/api/v1/namespaces/default/events";
    for name in ["old", "new"] {
        let about = json!({"kind": "Widget", "name": "w"});
        let event = json!({"metadata": {"name": name}, "involvedObject": about, "reason": "R", "lastTimestamp": "2001-01-01T00:00:00Z"});
        world.post(events, event).await.ok();
    }
    world.api.close().await;
    let file = rusqlite::Connection::open(world.dir.path().join("state.db")).unwrap();
    let aged = "UPDATE objects SET body = json_set(body, '$.metadata.creationTimestamp', '2001-01-01T00:00:00Z') WHERE resource = 'events' AND name = 'old'";
    assert_eq!(file.execute(aged, []).unwrap(), 1);
    drop(file);
    let world = world.reopened().await;
    world.until("the old event is gone", async |w| is_gone(w, &format!("{events}/old")).await).await;
    world.get(&format!("{events}/new")).await.ok();
}
