use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::world::{CONFIG_MAPS, JSON_PATCH, MERGE, STRATEGIC, WIDGETS, World, config_map, job, widget_named};

#[tokio::test]
async fn a_stale_write_conflicts_with_every_verb() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    let mut first = world.post(WIDGETS, widget_named("a")).await.ok();
    world.patch(&path, MERGE, json!({"spec": {"size": 2}})).await.ok();
    first["spec"]["size"] = json!(3);
    let message = world.put(&path, first.clone()).await.refused(409, "Conflict");
    assert_eq!(
        message,
        "Operation cannot be fulfilled on widgets.example.clay.io \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    let stale = json!({"metadata": {"resourceVersion": first["metadata"]["resourceVersion"]}, "spec": {"size": 4}});
    world.patch(&path, MERGE, stale).await.refused(409, "Conflict");
    first["metadata"]["uid"] = json!("other");
    world.put(&path, first.clone()).await.refused(409, "Conflict");
    first["metadata"]["name"] = json!("b");
    let message = world.put(&path, first.clone()).await.refused(400, "BadRequest");
    assert_eq!(message, "the name of the object (b) does not match the name on the URL (a)");
    first["metadata"] = json!({"name": "a"});
    let message = world.put(&path, first).await.refused(422, "Invalid");
    assert!(
        message.contains("metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
        "{message}"
    );
    let missing = json!({"apiVersion": "example.clay.io/v1", "kind": "Widget", "metadata": {"name": "z", "resourceVersion": "1"}, "spec": {"size": 1}});
    assert_eq!(
        world.put(&format!("{WIDGETS}/z"), missing).await.refused(404, "NotFound"),
        "widgets.example.clay.io \"z\" not found"
    );
}

#[tokio::test]
async fn a_config_map_may_be_replaced_without_a_revision() {
    let world = World::new();
    world.post(CONFIG_MAPS, config_map("a", json!({"x": "1"}))).await.ok();
    let replaced = world.put(&format!("{CONFIG_MAPS}/a"), config_map("a", json!({"x": "2"}))).await.ok();
    assert_eq!(replaced["data"]["x"], "2");
}

#[tokio::test]
async fn a_write_that_changes_nothing_has_no_new_revision() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    let made = world.post(WIDGETS, widget_named("a")).await.ok();
    assert_eq!(world.put(&path, made.clone()).await.ok(), made);
    assert_eq!(world.patch(&path, MERGE, json!({"spec": {"size": 1}})).await.ok(), made);
    let list = world.get(WIDGETS).await.ok();
    assert_eq!(list["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
}

#[tokio::test]
async fn status_and_spec_are_written_separately() {
    let world = World::new();
    let (path, status) = (format!("{WIDGETS}/a"), format!("{WIDGETS}/a/status"));
    let mut made = world.post(WIDGETS, widget_named("a")).await.ok();
    let main = json!({"spec": {"size": 2}, "status": {"phase": "no"}});
    let changed = world.patch(&path, MERGE, main).await.ok();
    assert_eq!((&changed["metadata"]["generation"], changed.get("status")), (&json!(2), None));
    let other = json!({"spec": {"size": 9}, "metadata": {"labels": {"a": "b"}}, "status": {"phase": "yes"}});
    let changed = world.patch(&status, MERGE, other).await.ok();
    assert_eq!((&changed["spec"]["size"], &changed["status"]["phase"]), (&json!(2), &json!("yes")));
    assert!(changed["metadata"].get("labels").is_none());
    assert_eq!(changed["metadata"]["generation"], 2);
    let manager = |entry: &serde_json::Value| entry["subresource"] == "status";
    assert!(changed["metadata"]["managedFields"].as_array().unwrap().iter().any(manager));
    made["metadata"]["resourceVersion"] = changed["metadata"]["resourceVersion"].clone();
    made["status"] = json!({"phase": "put"});
    assert_eq!(world.put(&status, made).await.ok()["status"]["phase"], "put");
}

#[tokio::test]
async fn kube_rs_status_patches_and_replacements_work() {
    let world = World::new();
    let jobs: Api<k8s_openapi::api::batch::v1::Job> = Api::default_namespaced(world.client.clone());
    let made = jobs.create(&PostParams::default(), &serde_json::from_value(job("j")).unwrap()).await.unwrap();
    let status = json!({"status": {"active": 1, "startTime": "2026-01-01T00:00:00Z"}});
    let patched = jobs.patch_status("j", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    assert_eq!((patched.status.unwrap().active, patched.metadata.generation), (Some(1), made.metadata.generation));
    let suspended =
        jobs.patch("j", &PatchParams::default(), &Patch::Merge(json!({"spec": {"suspend": true}}))).await.unwrap();
    assert_eq!(suspended.metadata.generation, Some(2));
}

#[tokio::test]
async fn merge_patches_delete_with_null_and_defaults_come_back() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    world.post(WIDGETS, widget_named("a")).await.ok();
    world.patch(&path, MERGE, json!({"spec": {"color": "green", "code": "abc"}})).await.ok();
    let patched = world.patch(&path, MERGE, json!({"spec": {"color": null, "code": null}})).await.ok();
    assert_eq!((&patched["spec"]["color"], patched["spec"].get("code")), (&json!("red"), None));
    world.patch(&format!("{path}?force=true"), MERGE, json!({})).await.refused(422, "Invalid");
    world.patch(&path, "application/json", json!({})).await.refused(415, "UnsupportedMediaType");
    world.patch(&path, STRATEGIC, json!({})).await.refused(415, "UnsupportedMediaType");
}

#[tokio::test]
async fn json_patch_is_as_lenient_as_the_finalizer_helper_needs() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    world.post(WIDGETS, widget_named("a")).await.ok();
    let add = json!([{"op": "test", "path": "/metadata/finalizers", "value": null}, {"op": "add", "path": "/metadata/finalizers", "value": ["x/y"]}]);
    let patched = world.patch(&path, JSON_PATCH, add.clone()).await.ok();
    assert_eq!(patched["metadata"]["finalizers"], json!(["x/y"]));
    let failed = world.patch(&path, JSON_PATCH, add).await;
    let message = failed.refused(422, "Invalid");
    assert_eq!(message, "the server rejected our request due to an error in our request");
    assert_eq!(failed.json()["details"], json!({}), "a real API server doesn't say more");
    let replaced = json!([{"op": "replace", "path": "/spec/code", "value": "new"}]);
    assert_eq!(world.patch(&path, JSON_PATCH, replaced).await.ok()["spec"]["code"], "new");
    world.patch(&path, JSON_PATCH, json!([{"op": "remove", "path": "/spec/zone"}])).await.refused(422, "Invalid");
    world.patch(&path, JSON_PATCH, json!({})).await.refused(400, "BadRequest");
    let remove = json!([{"op": "test", "path": "/metadata/finalizers/0", "value": "x/y"}, {"op": "remove", "path": "/metadata/finalizers/0"}]);
    world.patch(&path, JSON_PATCH, remove).await.ok();
}

#[tokio::test]
async fn strategic_patches_merge_the_lists_of_built_in_kinds() {
    let world = World::new();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    world
        .post(leases, json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "a", "leaseTransitions": 1}}))
        .await
        .ok();
    let released = world
        .patch(
            &format!("{leases}/l"),
            STRATEGIC,
            json!({"spec": {"holderIdentity": null, "renewTime": "2026-01-01T00:00:00.000001Z"}}),
        )
        .await
        .ok();
    assert_eq!(released["spec"], json!({"leaseTransitions": 1, "renewTime": "2026-01-01T00:00:00.000001Z"}));
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}});
    world.post(pods, pod).await.ok();
    let patched = world
        .patch(&format!("{pods}/p"), STRATEGIC, json!({"spec": {"containers": [{"name": "b", "image": "z"}]}}))
        .await
        .ok();
    assert_eq!(
        (&patched["spec"]["containers"][0]["image"], &patched["spec"]["containers"][1]["image"]),
        (&json!("x"), &json!("z"))
    );
}

#[tokio::test]
async fn immutable_fields_cannot_be_changed() {
    let world = World::new();
    let mut fixed = config_map("a", json!({"x": "1"}));
    fixed["immutable"] = json!(true);
    world.post(CONFIG_MAPS, fixed).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let message = world.patch(&path, MERGE, json!({"data": {"x": "2"}})).await.refused(422, "Invalid");
    assert!(message.contains("data: Forbidden: field is immutable when `immutable` is set"), "{message}");
    world.patch(&path, MERGE, json!({"immutable": false})).await.refused(422, "Invalid");
    world.patch(&path, MERGE, json!({"metadata": {"labels": {"a": "b"}}})).await.ok();
    let secrets = "/api/v1/namespaces/default/secrets";
    world.post(secrets, json!({"metadata": {"name": "s"}})).await.ok();
    world.patch(&format!("{secrets}/s"), MERGE, json!({"type": "x/y"})).await.refused(422, "Invalid");
    let pods = "/api/v1/namespaces/default/pods";
    world
        .post(pods, json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "x"}]}}))
        .await
        .ok();
    world.patch(&format!("{pods}/p"), MERGE, json!({"spec": {"hostname": "h"}})).await.refused(422, "Invalid");
}

#[tokio::test]
async fn concurrent_patches_are_all_kept() {
    let world = World::new();
    let made = world.post(CONFIG_MAPS, config_map("a", json!({}))).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let path = &path;
    let world = &world;
    let patches =
        (0..50).map(|n| async move { world.patch(path, MERGE, json!({"data": {format!("k{n}"): "v"}})).await.ok() });
    futures::future::join_all(patches).await;
    let all = world.get(path).await.ok();
    assert_eq!(all["data"].as_object().unwrap().len(), 50);
    assert_ne!(all["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
}
