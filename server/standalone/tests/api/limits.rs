//! The limits on the size of patches and objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::world::{
    APPLY, Answer, CONFIG_MAPS, JSON_PATCH, MERGE, STRATEGIC, WIDGETS, World, config_map, widget_named,
};

/// The limit on an object, in bytes of JSON.
const OBJECT: usize = 1_572_864;

/// The message of a 413.
#[track_caller]
fn too_large(answer: &Answer) -> String {
    answer.refused(413, "RequestEntityTooLarge")
}

fn text(bytes: usize) -> Value {
    "x".repeat(bytes).into()
}

#[tokio::test]
async fn a_json_patch_that_doubles_an_object_is_refused() {
    let world = World::new();
    let path = format!("{CONFIG_MAPS}/a");
    let made = world.post(CONFIG_MAPS, config_map("a", json!({}))).await.ok();
    let mut steps = vec![json!({"op": "add", "path": "/data", "value": {"a": "x"}})];
    steps.extend((0..25).map(|n| json!({"op": "copy", "from": "/data", "path": format!("/data/k{n}")})));
    let message = too_large(&world.patch(&path, JSON_PATCH, Value::from(steps)).await);
    assert!(message.contains("can copy and move 3145728 bytes in total"), "{message}");
    assert_eq!(world.get(&path).await.ok(), made);
}

/// Otherwise the client sees a broken pipe instead of the answer.
#[tokio::test]
async fn a_body_that_is_too_large_is_read_to_its_end() {
    const PIECE: usize = 1 << 20;
    let world = World::new();
    let token = format!("Bearer {}", world.api.token());
    // A body of 20 MiB is read; of 200 MiB, 3 MiB and another 64 MiB.
    for (pieces, wanted) in [(20, 20..=20), (200, 67..=69)] {
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = sent.clone();
        let body = futures::stream::iter((0..pieces).map(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(bytes::Bytes::from_static(&[b' '; PIECE]))
        }));
        let request = http::Request::post(CONFIG_MAPS).header("authorization", &token);
        let request = request.header("content-type", "application/json").body(axum::body::Body::from_stream(body));
        let answer = world.api.service().oneshot(request.unwrap()).await.unwrap();
        assert_eq!(answer.status(), 413);
        let sent = sent.load(Ordering::Relaxed);
        assert!(wanted.contains(&sent), "{sent} of {pieces} MiB were read");
    }
}

#[tokio::test]
async fn a_json_patch_has_at_most_ten_thousand_operations() {
    let world = World::new();
    let path = format!("{CONFIG_MAPS}/a");
    world.post(CONFIG_MAPS, config_map("a", json!({}))).await.ok();
    let patch =
        |operations: usize| Value::from(vec![json!({"op": "test", "path": "/kind", "value": "ConfigMap"}); operations]);
    world.patch(&path, JSON_PATCH, patch(10_000)).await.ok();
    let message = too_large(&world.patch(&path, JSON_PATCH, patch(10_001)).await);
    assert!(message.ends_with("The allowed maximum operations in a JSON patch is 10000, got 10001"), "{message}");
}

/// Without a limit, the value below would be 150,000 levels deep, and dropping it would overflow the stack of its thread.
#[tokio::test]
async fn a_json_patch_cannot_nest_objects_without_end() {
    let world = World::new();
    let path = format!("{CONFIG_MAPS}/a");
    world.post(CONFIG_MAPS, config_map("a", json!({}))).await.ok();
    let levels = 60;
    let deep = (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    let bottom = format!("/t{}", "/a".repeat(levels));
    let mut steps = vec![json!({"op": "add", "path": "/x", "value": {}})];
    for _ in 0..2500 {
        steps.push(json!({"op": "add", "path": "/t", "value": deep}));
        steps.push(json!({"op": "move", "from": "/x", "path": format!("{bottom}/a")}));
        steps.push(json!({"op": "move", "from": "/t", "path": "/x"}));
    }
    let message = too_large(&world.patch(&path, JSON_PATCH, Value::from(steps)).await);
    assert!(message.contains("nested 100 levels deep"), "{message}");
    world.get(&path).await.ok();
}

#[tokio::test]
async fn every_verb_refuses_an_object_above_the_limit() {
    let world = World::new();
    let (path, leases) = (format!("{WIDGETS}/w"), "/apis/coordination.k8s.io/v1/namespaces/default/leases");
    let made = world.post(WIDGETS, widget_named("w")).await.ok();
    world.post(leases, json!({"metadata": {"name": "l"}, "spec": {}})).await.ok();
    let with = |mut widget: Value, bytes: usize| {
        widget["spec"]["free"] = json!({"text": text(bytes)});
        widget
    };
    let big = |name: &str| with(widget_named(name), OBJECT);
    let apply = async |name: &str| {
        let (path, headers) = (format!("{WIDGETS}/{name}?fieldManager=m&force=true"), [("content-type", APPLY)]);
        world.ask(Method::PATCH, &path, &headers, big(name).to_string()).await
    };
    for answer in [
        world.post(WIDGETS, big("new")).await,
        world.put(&path, with(made.clone(), OBJECT)).await,
        world.patch(&path, MERGE, json!({"spec": {"free": {"text": text(OBJECT)}}})).await,
        world
            .patch(&path, JSON_PATCH, json!([{"op": "add", "path": "/spec/free", "value": {"text": text(OBJECT)}}]))
            .await,
        world.patch(&format!("{leases}/l"), STRATEGIC, json!({"spec": {"holderIdentity": text(OBJECT)}})).await,
        apply("w").await,
        apply("new").await,
        world.patch(&format!("{path}/status"), MERGE, json!({"status": {"phase": text(OBJECT)}})).await,
    ] {
        let message = too_large(&answer);
        assert!(message.contains("the limit is 1572864; split it into several objects"), "{message}");
    }
    assert_eq!(world.get(WIDGETS).await.ok()["items"], json!([made]));
    // What is stored can be read back.
    world.post(WIDGETS, with(widget_named("near"), OBJECT - 1500)).await.ok();
    let world = world.reopened().await;
    world.get(&format!("{WIDGETS}/near")).await.ok();
}

/// Field ownership keeps the path of every leaf: 100,000 leaves below 90 objects would take gigabytes.
#[tokio::test]
async fn objects_with_very_long_paths_are_refused() {
    let world = World::new();
    world.post(WIDGETS, widget_named("w")).await.ok();
    let leaves: Value = (0..100_000).map(|n| (format!("f:{n}"), json!({}))).collect::<serde_json::Map<_, _>>().into();
    // Not by `json!`, which would copy all leaves for each level.
    let tree = (0..90).fold(leaves, |inner, _| [("f:a".to_owned(), inner)].into_iter().collect());
    let mut widget = widget_named("w");
    widget["spec"]["free"] = tree.clone();
    let managed = json!({"metadata": {"managedFields": [{"manager": "m", "operation": "Update", "fieldsV1": tree}]}});
    let headers = [("content-type", APPLY)];
    for answer in [
        world.patch(&format!("{WIDGETS}/w"), MERGE, managed).await,
        world.ask(Method::PATCH, &format!("{WIDGETS}/w?fieldManager=m"), &headers, widget.to_string()).await,
        world.post(WIDGETS, widget).await,
    ] {
        let message = too_large(&answer);
        assert!(message.contains("use fewer or less nested fields"), "{message}");
    }
}
