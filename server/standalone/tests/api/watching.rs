use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use http::Method;
use http_body_util::BodyExt;
use kube::api::{DynamicObject, WatchEvent, WatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::{Value, json};

use crate::patience::PATIENCE;
use crate::world::{MERGE, WIDGETS, World, widget_named};

/// The lines of a watch, read one by one.
struct Lines {
    body: kube::client::Body,
    rest: String,
}

impl Lines {
    async fn open(world: &World, query: &str) -> Self {
        let response = world.send(Method::GET, &format!("{WIDGETS}?watch=true&{query}"), &[], "").await;
        assert_eq!(response.status(), 200);
        Self { body: response.into_body(), rest: String::new() }
    }

    /// The next event, or `None` at the end of the watch.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.rest.split_once('\n') {
                let event = serde_json::from_str(line).unwrap();
                self.rest = rest.to_owned();
                return Some(event);
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("an event in time")?;
            self.rest += std::str::from_utf8(frame.unwrap().data_ref().unwrap()).unwrap();
        }
    }

    async fn short(&mut self) -> (String, String, String) {
        let event = self.next().await.expect("an event");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &event["object"]["metadata"];
        (text(&event["type"]), text(&metadata["name"]), text(&metadata["resourceVersion"]))
    }
}

fn revision(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_watch_sends_existing_objects_and_then_every_change() {
    let world = World::new();
    let a = world.post(WIDGETS, widget_named("a")).await.ok();
    let mut watch = Lines::open(&world, "").await;
    assert_eq!(watch.short().await, ("ADDED".into(), "a".into(), revision(&a)));
    let changed = world.patch(&format!("{WIDGETS}/a"), MERGE, json!({"spec": {"size": 2}})).await.ok();
    assert_eq!(watch.short().await, ("MODIFIED".into(), "a".into(), revision(&changed)));
    world.delete(&format!("{WIDGETS}/a"), json!({})).await.ok();
    let (kind, name, at) = watch.short().await;
    assert_eq!((kind.as_str(), name.as_str()), ("DELETED", "a"));
    assert_eq!(at, revision(&world.get(WIDGETS).await.ok()));
}

#[tokio::test]
async fn a_watch_resumes_after_the_given_revision() {
    let world = World::new();
    let a = world.post(WIDGETS, widget_named("a")).await.ok();
    let b = world.post(WIDGETS, widget_named("b")).await.ok();
    let mut watch = Lines::open(&world, &format!("resourceVersion={}", revision(&a))).await;
    assert_eq!(watch.short().await, ("ADDED".into(), "b".into(), revision(&b)));
    let named = Lines::open(&world, &format!("resourceVersion={}&fieldSelector=metadata.name%3Dc", revision(&a))).await;
    let (mut named, c) = (named, world.post(WIDGETS, widget_named("c")).await.ok());
    assert_eq!(named.short().await, ("ADDED".into(), "c".into(), revision(&c)));
}

#[tokio::test]
async fn a_watch_from_before_the_history_gets_410_in_an_event() {
    let world = World::new();
    for n in 0..3 {
        world.post(WIDGETS, widget_named(&format!("w{n}"))).await.ok();
    }
    let world = world.reopened().await;
    let mut watch = Lines::open(&world, "resourceVersion=1").await;
    let event = watch.next().await.unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["code"], &event["object"]["reason"]),
        (&json!("ERROR"), &json!(410), &json!("Expired"))
    );
    assert!(watch.next().await.is_none());
    for wrong in ["abc", "-1"] {
        let message =
            world.get(&format!("{WIDGETS}?watch=true&resourceVersion={wrong}")).await.refused(400, "BadRequest");
        assert_eq!(message, format!("invalid resource version \"{wrong}\": must be a number"));
    }
}

#[tokio::test]
async fn a_selected_watch_shows_entering_and_leaving_objects() {
    let world = World::new();
    let mut watch = Lines::open(&world, "labelSelector=on%3Dyes").await;
    world.post(WIDGETS, widget_named("a")).await.ok();
    let entering =
        world.patch(&format!("{WIDGETS}/a"), MERGE, json!({"metadata": {"labels": {"on": "yes"}}})).await.ok();
    assert_eq!(watch.short().await, ("ADDED".into(), "a".into(), revision(&entering)));
    let leaving = world.patch(&format!("{WIDGETS}/a"), MERGE, json!({"metadata": {"labels": {"on": "no"}}})).await.ok();
    let event = watch.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["metadata"]["labels"]["on"]), (&json!("DELETED"), &json!("yes")));
    assert_eq!(revision(&event["object"]), revision(&leaving));
}

#[tokio::test]
async fn a_watch_ends_at_its_timeout_after_a_bookmark() {
    let world = World::new();
    world.post(WIDGETS, widget_named("a")).await.ok();
    let now = revision(&world.get(WIDGETS).await.ok());
    let mut watch =
        Lines::open(&world, &format!("resourceVersion={now}&timeoutSeconds=2&allowWatchBookmarks=true")).await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!((&bookmark["type"], &bookmark["object"]["kind"]), (&json!("BOOKMARK"), &json!("Widget")));
    assert_eq!(revision(&bookmark["object"]), now);
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_streaming_list_ends_with_a_bookmark() {
    let world = World::new();
    world.post(WIDGETS, widget_named("a")).await.ok();
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0&allowWatchBookmarks=true";
    let mut watch = Lines::open(&world, query).await;
    assert_eq!(watch.next().await.unwrap()["type"], "ADDED");
    let end = watch.next().await.unwrap();
    assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    world.get(&format!("{WIDGETS}?watch=true&sendInitialEvents=true")).await.refused(422, "Invalid");
    world.get(&format!("{WIDGETS}?watch=true&resourceVersionMatch=NotOlderThan")).await.refused(422, "Invalid");
    world.get(&format!("{WIDGETS}?sendInitialEvents=true")).await.refused(422, "Invalid");
}

#[tokio::test]
async fn kube_rs_watchers_work_with_both_kinds_of_lists() {
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let world = World::new();
        world.post(WIDGETS, widget_named("a")).await.ok();
        let stream = watcher(world.widgets(), config).applied_objects();
        futures::pin_mut!(stream);
        let mut next = async || tokio::time::timeout(PATIENCE, stream.try_next()).await.unwrap().unwrap().unwrap();
        assert_eq!(next().await.metadata.name.as_deref(), Some("a"));
        world.post(WIDGETS, widget_named("b")).await.ok();
        assert_eq!(next().await.metadata.name.as_deref(), Some("b"));
    }
}

#[tokio::test]
async fn kube_rs_watches_metadata_alone() {
    let world = World::new();
    world.post(WIDGETS, widget_named("a")).await.ok();
    let widgets = world.widgets();
    let mut events = widgets.watch_metadata(&WatchParams::default(), "0").await.unwrap().boxed();
    let event = events.try_next().await.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Added(object) if object.metadata.name.as_deref() == Some("a")));
    let mut full = widgets.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    let event: WatchEvent<DynamicObject> = full.try_next().await.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Added(object) if object.data["spec"]["size"] == 1));
}

#[tokio::test]
async fn closing_the_api_ends_its_watches() {
    let world = World::new();
    let mut watch = Lines::open(&world, "").await;
    world.api.close().await;
    assert!(watch.next().await.is_none());
    let late = world.post(WIDGETS, widget_named("a")).await;
    late.refused(503, "ServiceUnavailable");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resumed_watches_neither_lose_nor_repeat_a_change() {
    let world = Arc::new(World::new());
    let start = revision(&world.get(WIDGETS).await.ok());
    let writers = (0..4).map(|writer| {
        let world = world.clone();
        tokio::spawn(async move {
            let name = format!("w{writer}");
            let mut written = vec![revision(&world.post(WIDGETS, widget_named(&name)).await.ok())];
            for round in 0..50 {
                let patch = json!({"metadata": {"labels": {"round": round.to_string()}}});
                written.push(revision(&world.patch(&format!("{WIDGETS}/{name}"), MERGE, patch).await.ok()));
            }
            written
        })
    });
    let writers: Vec<_> = writers.collect();
    let (mut seen, mut cursor) = (Vec::new(), start);
    while seen.len() < 4 * 51 {
        let mut watch = Lines::open(&world, &format!("resourceVersion={cursor}")).await;
        // Dropped after a few events, while the writers are still busy.
        for _ in 0..7.min(4 * 51 - seen.len()) {
            cursor = watch.short().await.2;
            seen.push(cursor.clone());
        }
    }
    let mut written: Vec<String> = Vec::new();
    for writer in writers {
        written.extend(writer.await.unwrap());
    }
    written.sort_by_key(|revision| revision.parse::<u64>().unwrap());
    assert_eq!(seen, written);
}
