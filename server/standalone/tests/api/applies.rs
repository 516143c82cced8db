use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use crate::world::{APPLY, CONFIG_MAPS, JSON_PATCH, MERGE, WIDGETS, World, config_map, widget_named};

fn with_spec(spec: Value) -> Value {
    json!({"apiVersion": "example.clay.io/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec})
}

async fn apply(world: &World, manager: &str, spec: Value) -> crate::world::Answer {
    world.patch(&format!("{WIDGETS}/a?fieldManager={manager}&force=false"), APPLY, with_spec(spec)).await
}

fn entry<'a>(object: &'a Value, manager: &str) -> &'a Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    entries.iter().find(|entry| entry["manager"] == manager).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn an_apply_creates_and_a_repeated_one_changes_nothing() {
    let world = World::new();
    let created = apply(&world, "one", json!({"size": 1, "parts": [{"name": "p", "n": 1}], "tags": ["t"]})).await;
    assert_eq!(created.code, 201);
    let created = created.json();
    let fields = &entry(&created, "one")["fieldsV1"]["f:spec"];
    assert_eq!(fields["f:parts"][r#"k:{"name":"p"}"#], json!({".": {}, "f:name": {}, "f:n": {}}));
    assert_eq!(fields["f:tags"], json!({"v:\"t\"": {}}));
    assert!(fields.get("f:color").is_none(), "a default has no owner: {fields}");
    assert_eq!(entry(&created, "one")["operation"], "Apply");
    let again = apply(&world, "one", json!({"size": 1, "parts": [{"name": "p", "n": 1}], "tags": ["t"]})).await;
    assert_eq!((again.code, again.json()), (200, created));
}

#[tokio::test]
async fn managers_share_an_equal_value_and_conflict_over_others() {
    let world = World::new();
    apply(&world, "one", json!({"size": 1, "code": "x"})).await.ok();
    apply(&world, "two", json!({"size": 1})).await.ok();
    let refused = apply(&world, "two", json!({"size": 2})).await;
    assert_eq!(refused.refused(409, "Conflict"), "Apply failed with 1 conflict: conflict with \"one\": .spec.size");
    let cause = &refused.json()["details"]["causes"][0];
    assert_eq!((&cause["reason"], &cause["field"]), (&json!("FieldManagerConflict"), &json!(".spec.size")));
    let forced = world
        .patch(&format!("{WIDGETS}/a?fieldManager=two&force=true"), APPLY, with_spec(json!({"size": 2})))
        .await
        .ok();
    assert_eq!(forced["spec"]["size"], 2);
    assert!(entry(&forced, "one")["fieldsV1"]["f:spec"].get("f:size").is_none());

    world.patch(&format!("{WIDGETS}/a?fieldManager=hand"), MERGE, json!({"spec": {"size": 3}})).await.ok();
    let message = apply(&world, "two", json!({"size": 4})).await.refused(409, "Conflict");
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"hand\" using example.clay.io/v1: .spec.size");
}

#[tokio::test]
async fn a_field_is_removed_when_its_last_manager_drops_it() {
    let world = World::new();
    apply(&world, "one", json!({"size": 1, "code": "x", "color": "green", "parts": [{"name": "p", "n": 1}, {"name": "q"}], "tags": ["a", "b"], "labels": {"l": "1"}})).await.ok();
    apply(&world, "two", json!({"size": 1, "parts": [{"name": "q", "n": 2}]})).await.ok();
    let left = apply(&world, "one", json!({"size": 1, "tags": ["b"]})).await.ok();
    assert_eq!(left["spec"], json!({"size": 1, "color": "red", "parts": [{"name": "q", "n": 2}], "tags": ["b"]}));
}

#[tokio::test]
async fn an_apply_needs_manager_version_and_kind() {
    let world = World::new();
    let message =
        world.patch(&format!("{WIDGETS}/a"), APPLY, with_spec(json!({"size": 1}))).await.refused(422, "Invalid");
    assert!(message.contains("fieldManager: Required value: is required for apply patch"), "{message}");
    let path = format!("{WIDGETS}/a?fieldManager=one");
    world.patch(&path, APPLY, json!({"spec": {"size": 1}})).await.refused(400, "BadRequest");
    let mut managed = with_spec(json!({"size": 1}));
    managed["metadata"]["managedFields"] = json!([]);
    world.patch(&path, APPLY, managed).await.refused(400, "BadRequest");
    let message = apply(&world, "one", json!({"size": 1, "zz": 1})).await.refused(400, "BadRequest");
    assert!(message.contains(".spec.zz: field not declared in schema"), "{message}");
    let status =
        world.patch(&format!("{WIDGETS}/a/status?fieldManager=one"), APPLY, with_spec(json!({"size": 1}))).await;
    status.refused(404, "NotFound");
    let created = apply(&world, "one", json!({"size": 1})).await.ok();
    let mut stale = with_spec(json!({"size": 2}));
    stale["metadata"]["resourceVersion"] = json!("1");
    world.patch(&path, APPLY, stale).await.refused(409, "Conflict");
    let mut fresh = with_spec(json!({"size": 2}));
    fresh["metadata"]["resourceVersion"] = created["metadata"]["resourceVersion"].clone();
    world.patch(&path, APPLY, fresh).await.ok();
}

#[tokio::test]
async fn updates_take_ownership_of_what_they_change() {
    let world = World::new();
    let path = format!("{CONFIG_MAPS}/a");
    let agent = [("content-type", "application/json"), ("user-agent", "kubectl/v1.36 (linux)")];
    world
        .ask(http::Method::POST, CONFIG_MAPS, &agent, config_map("a", json!({"x": "1", "y": "1"})).to_string())
        .await
        .ok();
    let patched = world.patch(&format!("{path}?fieldManager=hand"), MERGE, json!({"data": {"x": "2"}})).await.ok();
    assert_eq!(entry(&patched, "kubectl")["fieldsV1"]["f:data"], json!({".": {}, "f:y": {}}));
    assert_eq!(entry(&patched, "hand")["fieldsV1"]["f:data"], json!({"f:x": {}}));
    let unnamed = world.patch(&path, MERGE, json!({"data": {"z": "1"}})).await.ok();
    assert_eq!(entry(&unnamed, "unknown")["operation"], "Update");
    world.patch(&format!("{path}?fieldManager={}", "m".repeat(129)), MERGE, json!({})).await.refused(422, "Invalid");
    let cleared = world.patch(&path, MERGE, json!({"metadata": {"managedFields": [{}]}})).await.ok();
    assert!(cleared["metadata"].get("managedFields").is_none());
}

#[tokio::test]
async fn kubectl_can_move_an_object_to_server_side_apply() {
    let world = World::new();
    let made = world.post(&format!("{WIDGETS}?fieldManager=kubectl-client-side-apply"), widget_named("a")).await.ok();
    let mut managed = made["metadata"]["managedFields"].clone();
    managed[0]["manager"] = json!("kubectl");
    managed[0]["operation"] = json!("Apply");
    let move_over = json!([{"op": "replace", "path": "/metadata/managedFields", "value": managed},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": made["metadata"]["resourceVersion"]}]);
    let moved = world.patch(&format!("{WIDGETS}/a"), JSON_PATCH, move_over).await.ok();
    assert_eq!(entry(&moved, "kubectl")["operation"], "Apply");
    let applied = apply(&world, "kubectl", json!({"size": 5})).await.ok();
    assert_eq!(applied["spec"]["size"], 5);
}

#[tokio::test]
async fn kubectl_may_apply_over_its_client_side_apply() {
    const LAST: &str = "kubectl.kubernetes.io/last-applied-configuration";
    let world = World::new();
    let path = format!("{CONFIG_MAPS}/a");
    let mut made = config_map("a", json!({"x": "1", "y": "1", "z": "1"}));
    made["metadata"]["annotations"] = json!({LAST: config_map("a", json!({"x": "1", "y": "1"})).to_string()});
    world.post(&format!("{CONFIG_MAPS}?fieldManager=kubectl-client-side-apply"), made).await.ok();
    let apply = async |manager: &str, data: Value| {
        world.patch(&format!("{path}?fieldManager={manager}&force=false"), APPLY, config_map("a", data)).await
    };
    apply("another", json!({"x": "2"})).await.refused(409, "Conflict");
    // `z` isn't in the annotation, and `y` was changed by hand afterwards.
    let message = apply("kubectl", json!({"x": "2", "z": "2"})).await.refused(409, "Conflict");
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.z");
    world.patch(&format!("{path}?fieldManager=hand"), MERGE, json!({"data": {"y": "9"}})).await.ok();
    let message = apply("kubectl", json!({"x": "2", "y": "2"})).await.refused(409, "Conflict");
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"hand\" using v1: .data.y");

    let taken = apply("kubectl", json!({"x": "<2>"})).await.ok();
    assert_eq!(taken["data"], json!({"x": "<2>", "y": "9", "z": "1"}));
    assert_eq!(entry(&taken, "kubectl")["fieldsV1"]["f:data"], json!({"f:x": {}}));
    assert_eq!(entry(&taken, "kubectl-client-side-apply")["fieldsV1"]["f:data"], json!({".": {}, "f:z": {}}));
    let kept = "{\"apiVersion\":\"v1\",\"data\":{\"x\":\"\\u003c2\\u003e\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n";
    assert_eq!(taken["metadata"]["annotations"][LAST], kept);
}

#[tokio::test]
async fn status_is_applied_separately() {
    let world = World::new();
    apply(&world, "one", json!({"size": 1})).await.ok();
    let mut body = with_spec(json!({"size": 9}));
    body["status"] = json!({"phase": "done"});
    let applied = world.patch(&format!("{WIDGETS}/a/status?fieldManager=ctl"), APPLY, body).await.ok();
    assert_eq!((&applied["spec"]["size"], &applied["status"]["phase"]), (&json!(1), &json!("done")));
    assert_eq!(entry(&applied, "ctl")["subresource"], "status");
}

#[tokio::test]
async fn a_held_lease_cannot_be_taken_by_apply() {
    let world = World::new();
    let leases: Api<k8s_openapi::api::coordination::v1::Lease> = Api::default_namespaced(world.client.clone());
    world.post("/apis/coordination.k8s.io/v1/namespaces/default/leases", json!({"metadata": {"name": "l"}})).await.ok();
    let take = |holder: &str| {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
        "spec": {"holderIdentity": holder, "acquireTime": "2026-01-01T00:00:00.000001Z", "leaseDurationSeconds": 10}})
    };
    leases.patch("l", &PatchParams::apply("one"), &Patch::Apply(take("one"))).await.unwrap();
    let second = leases.patch("l", &PatchParams::apply("two"), &Patch::Apply(take("two"))).await.unwrap_err();
    assert!(matches!(second, kube::Error::Api(status) if status.is_conflict()));
}
