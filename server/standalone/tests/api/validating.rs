use serde_json::{Value, json};

use crate::embedded_api;
use crate::world::{CONFIG_MAPS, MERGE, WIDGETS, World, config_map, widget_named};

fn with_spec(spec: Value) -> Value {
    json!({"apiVersion": "example.clay.io/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec})
}

#[tokio::test]
async fn schema_violations_have_the_messages_of_kubernetes() {
    let world = World::new();
    let cases = [
        (json!({}), "FieldValueRequired", "spec.size: Required value"),
        (
            json!({"size": "x"}),
            "FieldValueTypeInvalid",
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"",
        ),
        (
            json!({"size": 11}),
            "FieldValueInvalid",
            "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10",
        ),
        (
            json!({"size": 1, "color": "z"}),
            "FieldValueNotSupported",
            "spec.color: Unsupported value: \"z\": supported values: \"red\", \"green\"",
        ),
        (
            json!({"size": 1, "code": "A"}),
            "FieldValueInvalid",
            "spec.code: Invalid value: \"A\": spec.code in body should match '^[a-z]+$'",
        ),
        (json!({"size": 1, "code": "abcdef"}), "FieldValueTooLong", "spec.code: Too long"),
        (json!({"size": 1, "tags": ["a", "a"]}), "FieldValueDuplicate", "spec.tags[1]: Duplicate value: \"a\""),
        (
            json!({"size": 1, "parts": [{"name": "a"}, {"name": "a"}]}),
            "FieldValueDuplicate",
            "spec.parts[1]: Duplicate value: {\"name\":\"a\"}",
        ),
        (json!({"size": null}), "FieldValueTypeInvalid", "spec.size: Invalid value: \"null\""),
        (json!({"size": 1, "zone": "z"}), "FieldValueForbidden", "spec.zone: Forbidden: zones need size 2"),
    ];
    for (spec, reason, text) in cases {
        let answer = world.post(WIDGETS, with_spec(spec)).await;
        let message = answer.refused(422, "Invalid");
        assert!(
            message.starts_with("Widget.example.clay.io \"a\" is invalid: ") && message.contains(text),
            "{message}"
        );
        let causes = answer.json()["details"]["causes"].clone();
        assert!(causes.as_array().unwrap().iter().any(|cause| cause["reason"] == reason), "{causes}");
    }
}

#[tokio::test]
async fn cel_rules_are_skipped_until_the_types_are_right() {
    let world = World::new();
    let answer = world.post(WIDGETS, with_spec(json!({"zone": "z"}))).await;
    let message = answer.refused(422, "Invalid");
    assert!(message.contains("<nil>: Invalid value: null: some validation rules were not checked"), "{message}");
    let beside = world.post(WIDGETS, with_spec(json!({"size": -1, "zone": "z"}))).await.refused(422, "Invalid");
    assert!(beside.contains("greater than or equal to 0") && beside.contains("zones need size 2"), "{beside}");
}

#[tokio::test]
async fn rules_about_the_old_value_apply_to_updates_only() {
    let world = World::new();
    world.post(WIDGETS, with_spec(json!({"size": 1, "fixed": "a"}))).await.ok();
    let path = format!("{WIDGETS}/a");
    let message = world.patch(&path, MERGE, json!({"spec": {"fixed": "b"}})).await.refused(422, "Invalid");
    assert!(message.contains("spec.fixed: Invalid value: \"b\": fixed can't change"), "{message}");
    world.patch(&path, MERGE, json!({"spec": {"size": 2}})).await.ok();
}

#[tokio::test]
async fn unknown_fields_are_dropped_with_a_warning_or_refused() {
    let world = World::new();
    let mut body =
        with_spec(json!({"size": 1, "zz": 1, "free": {"any": {"thing": 1}}, "parts": [{"name": "p", "q": 1}]}));
    body["bog"] = json!(1);
    let strict =
        world.post(&format!("{WIDGETS}?fieldValidation=Strict"), body.clone()).await.refused(400, "BadRequest");
    let start = "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field ";
    assert!(strict.starts_with(start), "{strict}");
    for field in ["\"bog\"", "\"spec.zz\"", "\"spec.parts[0].q\""] {
        assert!(strict.contains(&format!("unknown field {field}")), "{strict}");
    }
    let answer = world.post(WIDGETS, body).await;
    assert!(
        answer.warnings().contains(&"299 - \"unknown field \\\"spec.zz\\\"\"".to_owned()),
        "{:?}",
        answer.warnings()
    );
    let made = answer.ok();
    assert_eq!(made["spec"]["free"], json!({"any": {"thing": 1}}));
    assert!(
        made.get("bog").is_none() && made["spec"].get("zz").is_none() && made["spec"]["parts"][0].get("q").is_none()
    );
    let path = format!("{WIDGETS}/a?fieldValidation=Strict");
    let refused = world.patch(&path, MERGE, json!({"spec": {"zz": 1}})).await;
    let message = refused.refused(422, "Invalid");
    assert!(message.starts_with(" \"\" is invalid: patch: Invalid value: \"{\\\"apiVersion\\\":"), "{message}");
    assert!(message.ends_with("\\\"zz\\\":1}}\": strict decoding error: unknown field \"spec.zz\""), "{message}");
    assert!(refused.json()["details"].get("name").is_none(), "as kubectl needs it to say “The request is invalid”");
    let ignored = world.patch(&format!("{WIDGETS}/a?fieldValidation=Ignore"), MERGE, json!({"spec": {"zz": 1}})).await;
    assert!(ignored.warnings().is_empty());
    let mut map = config_map("m", json!({}));
    map["dta"] = json!({});
    let strict = world.post(&format!("{CONFIG_MAPS}?fieldValidation=Strict"), map).await.refused(400, "BadRequest");
    assert!(strict.contains("unknown field \"dta\""), "{strict}");
}

#[tokio::test]
async fn invalid_owners_and_finalizers_are_refused() {
    let world = World::new();
    let owner =
        |uid: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": uid, "controller": true});
    for owners in [json!([owner("1"), owner("2")]), json!([owner("")])] {
        let mut body = widget_named("a");
        body["metadata"]["ownerReferences"] = owners;
        world.post(WIDGETS, body).await.refused(422, "Invalid");
    }
    let mut map = config_map("a", json!({}));
    map["metadata"]["finalizers"] = json!(["bare"]);
    world.post(CONFIG_MAPS, map).await.refused(422, "Invalid");
    let mut widget = widget_named("a");
    widget["metadata"]["finalizers"] = json!(["bare"]);
    let answer = world.post(WIDGETS, widget).await;
    assert!(answer.warnings()[0].contains("prefer a domain-qualified finalizer name"), "{:?}", answer.warnings());
}

#[tokio::test]
async fn sizes_have_limits() {
    let world = World::new();
    let big = config_map("a", json!({"x": "y".repeat((1 << 20) + 1)}));
    let answer = world.post(CONFIG_MAPS, big).await;
    answer.refused(422, "Invalid");
    assert_eq!(answer.json()["details"]["causes"][0]["reason"], "FieldValueTooLong");
    let message = "ConfigMap \"a\" is invalid: []: Too long: may not be more than 1048576 bytes";
    assert_eq!(answer.json()["message"], message);
    let mut annotated = config_map("a", json!({}));
    annotated["metadata"]["annotations"] = json!({"x": "y".repeat(256 << 10)});
    let message = world.post(CONFIG_MAPS, annotated).await.refused(422, "Invalid");
    assert!(message.ends_with("metadata.annotations: Too long: may not be more than 262144 bytes"), "{message}");
    let huge = config_map("a", json!({"x": "y".repeat(4 << 20)}));
    world.post(CONFIG_MAPS, huge).await.refused(413, "RequestEntityTooLarge");
}

#[tokio::test]
async fn a_stricter_definition_blocks_neither_status_nor_labels() {
    let world = World::new();
    world.post(WIDGETS, with_spec(json!({"size": 9, "code": "abc"}))).await.ok();
    world.api.close().await;
    let text = include_str!("widget.yaml")
        .replace("maximum: 10", "maximum: 5")
        .replace("zone: {type: string}", "zone: {type: string}\n                rack: {type: string, default: r1}");
    let api = embedded_api::open(world.dir.path(), vec![serde_saphyr::from_str(&text).unwrap()]).unwrap();
    let world = World { client: api.client("tester"), api, dir: world.dir.clone() };
    let path = format!("{WIDGETS}/a");
    let filled = world.get(&path).await.ok();
    assert_eq!((&filled["spec"]["rack"], &filled["metadata"]["generation"]), (&json!("r1"), &json!(1)));
    let status = world.patch(&format!("{path}/status"), MERGE, json!({"status": {"phase": "x"}})).await.ok();
    assert_eq!(status["metadata"]["generation"], 1);
    world.patch(&path, MERGE, json!({"metadata": {"labels": {"a": "b"}}})).await.ok();
    world.patch(&path, MERGE, json!({"spec": {"code": "abd"}})).await.refused(422, "Invalid");
    world.patch(&path, MERGE, json!({"spec": {"size": 5}})).await.ok();
}
