use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

use crate::world::{CONFIG_MAPS, WIDGETS, World, config_map, widget_named};

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn lists_are_ordered_and_carry_their_revision() {
    let world = World::new();
    for name in ["b", "a", "c"] {
        world.post(WIDGETS, widget_named(name)).await.ok();
        world.post(CONFIG_MAPS, config_map(name, json!({}))).await.ok();
    }
    let widgets = world.get(WIDGETS).await.ok();
    assert_eq!((names(&widgets), &widgets["kind"]), (vec!["a", "b", "c"], &json!("WidgetList")));
    assert_eq!(widgets["items"][0]["kind"], "Widget");
    let maps = world.get("/api/v1/configmaps").await.ok();
    assert_eq!((names(&maps), maps["items"][0].get("kind")), (vec!["a", "b", "c"], None));
    assert_eq!(maps["metadata"]["resourceVersion"], maps["items"][2]["metadata"]["resourceVersion"]);
    let typed: Api<ConfigMap> = Api::all(world.client.clone());
    assert_eq!(typed.list(&ListParams::default()).await.unwrap().items.len(), 3);
}

#[tokio::test]
async fn a_list_is_complete_despite_a_limit() {
    let world = World::new();
    for n in 0..5 {
        world.post(WIDGETS, widget_named(&format!("w{n}"))).await.ok();
    }
    let all = world.get(&format!("{WIDGETS}?&limit=2")).await.ok();
    assert_eq!((names(&all).len(), all["metadata"].get("continue")), (5, None));
    assert_eq!(all["metadata"].get("remainingItemCount"), None);
    let listed = world.widgets().list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!((listed.items.len(), listed.metadata.continue_), (5, None));
    world.get(&format!("{WIDGETS}?limit=2&continue=garbage")).await.refused(400, "BadRequest");
}

/// The API server reads switches in the same way: an empty value is true, and the first one counts.
#[tokio::test]
async fn parameters_are_read_as_in_the_api_server() {
    let world = World::new();
    world.post(WIDGETS, widget_named("a")).await.ok();
    for query in ["watch", "watch=", "watch=1", "watch=yes", "watch=true&watch=false"] {
        let event = world.get(&format!("{WIDGETS}?{query}&timeoutSeconds=1")).await;
        assert!(event.text.starts_with(r#"{"type":"ADDED""#), "{query}: {}", event.text);
    }
    for query in [
        "watch=0",
        "watch=FALSE",
        "watch=false&watch=true",
        "fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Db",
    ] {
        assert_eq!(names(&world.get(&format!("{WIDGETS}?{query}")).await.ok()), ["a"], "{query}");
    }
    for query in ["limit=many", "timeoutSeconds=soon", "fieldSelector=spec.nothing%3Da", "labelSelector=%3D"] {
        world.get(&format!("{WIDGETS}?{query}")).await.refused(400, "BadRequest");
    }
    for query in ["sendInitialEvents", "resourceVersionMatch=Newest&resourceVersion=1"] {
        world.get(&format!("{WIDGETS}?{query}")).await.refused(422, "Invalid");
    }
}

#[tokio::test]
async fn a_list_is_of_the_newest_revision_only() {
    let world = World::new();
    let made = world.post(WIDGETS, widget_named("a")).await.ok();
    let then = made["metadata"]["resourceVersion"].as_str().unwrap();
    world.delete(&format!("{WIDGETS}/a"), json!({})).await.ok();
    let exact = |at: &str| format!("{WIDGETS}?resourceVersion={at}&resourceVersionMatch=Exact");
    world.get(&exact(then)).await.refused(410, "Expired");
    let now = world.get(WIDGETS).await.ok()["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    assert!(names(&world.get(&exact(&now)).await.ok()).is_empty());
    assert!(names(&world.get(&format!("{WIDGETS}?resourceVersion=0")).await.ok()).is_empty());
    let future = world.get(&format!("{WIDGETS}?resourceVersion=99999")).await;
    assert!(future.refused(504, "Timeout").starts_with("Timeout: Too large resource version: 99999, current: "));
    assert_eq!(future.json()["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    world.get(&format!("{WIDGETS}?resourceVersion=abc")).await.refused(400, "BadRequest");
    world.get(&format!("{WIDGETS}?resourceVersionMatch=Exact")).await.refused(422, "Invalid");
}

#[tokio::test]
async fn selectors_match_labels_and_the_fields_of_the_kind() {
    let world = World::new();
    for (name, color) in [("a", "red"), ("b", "green")] {
        let mut body = widget_named(name);
        body["metadata"]["labels"] = json!({"team": name});
        body["spec"]["color"] = json!(color);
        world.post(WIDGETS, body).await.ok();
    }
    let list = async |query: &str| world.get(&format!("{WIDGETS}?{query}")).await;
    assert_eq!(names(&list("labelSelector=team%20in%20(a,c)").await.ok()), ["a"]);
    assert_eq!(names(&list("labelSelector=team!%3Da").await.ok()), ["b"]);
    assert_eq!(names(&list("fieldSelector=metadata.name%3Db").await.ok()), ["b"]);
    assert_eq!(names(&list("fieldSelector=spec.color!%3Dgreen").await.ok()), ["a"]);
    assert_eq!(
        list("fieldSelector=spec.size%3D1").await.refused(400, "BadRequest"),
        "field label not supported: spec.size"
    );
    assert!(list("labelSelector=a%20b").await.refused(400, "BadRequest").starts_with("unable to parse requirement:"));
    assert_eq!(
        world.get(&format!("{}?fieldSelector=data.a%3D1", crate::world::CONFIG_MAPS)).await.refused(400, "BadRequest"),
        "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
    let secrets = "/api/v1/namespaces/default/secrets";
    world.post(secrets, json!({"metadata": {"name": "s"}, "type": "x/y"})).await.ok();
    assert_eq!(names(&world.get(&format!("{secrets}?fieldSelector=type=x/y")).await.ok()), ["s"]);
}

#[tokio::test]
async fn metadata_alone_can_be_requested() {
    let world = World::new();
    world.post(WIDGETS, widget_named("a")).await.ok();
    let items = world.widgets().list_metadata(&ListParams::default()).await.unwrap().items;
    assert_eq!(items[0].metadata.name.as_deref(), Some("a"));
    let one = world.widgets().get_metadata("a").await.unwrap();
    assert!(one.metadata.uid.is_some());
}
