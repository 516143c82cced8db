use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

use crate::world::{CONFIG_MAPS, MERGE, WIDGETS, World, config_map, widget_named};

#[tokio::test]
async fn deleting_reports_the_deleted_object() {
    let world = World::new();
    let made = world.post(WIDGETS, widget_named("a")).await.ok();
    let status = world.delete(&format!("{WIDGETS}/a"), json!({})).await.ok();
    assert_eq!((&status["kind"], &status["status"]), (&json!("Status"), &json!("Success")));
    assert_eq!(
        status["details"],
        json!({"name": "a", "kind": "widgets", "uid": made["metadata"]["uid"], "group": "example.clay.io"})
    );
    world.delete(&format!("{WIDGETS}/a"), json!({})).await.refused(404, "NotFound");
    let maps: Api<k8s_openapi::api::core::v1::ConfigMap> = Api::default_namespaced(world.client.clone());
    maps.create(&PostParams::default(), &serde_json::from_value(config_map("a", json!({}))).unwrap()).await.unwrap();
    assert!(maps.delete("a", &DeleteParams::default()).await.unwrap().is_right());
}

#[tokio::test]
async fn a_finalizer_keeps_an_object_until_it_is_removed() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    let mut body = widget_named("a");
    body["metadata"]["finalizers"] = json!(["x/y"]);
    world.post(WIDGETS, body).await.ok();
    let ending = world.delete(&path, json!({})).await.ok();
    assert!(ending["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(
        (&ending["metadata"]["deletionGracePeriodSeconds"], &ending["metadata"]["generation"]),
        (&json!(0), &json!(2))
    );
    assert_eq!(world.delete(&path, json!({})).await.ok(), ending);
    world.post(WIDGETS, widget_named("a")).await.refused(409, "AlreadyExists");
    let message =
        world.patch(&path, MERGE, json!({"metadata": {"finalizers": ["x/y", "z/z"]}})).await.refused(422, "Invalid");
    assert!(message.contains("no new finalizers can be added if the object is being deleted"), "{message}");
    let changed =
        world.patch(&path, MERGE, json!({"spec": {"size": 3}, "metadata": {"deletionTimestamp": null}})).await.ok();
    assert_eq!(changed["metadata"]["deletionTimestamp"], ending["metadata"]["deletionTimestamp"]);
    world.patch(&path, MERGE, json!({"metadata": {"finalizers": null}})).await.ok();
    world.get(&path).await.refused(404, "NotFound");
}

#[tokio::test]
async fn preconditions_prevent_deleting_the_wrong_object() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    let made = world.post(WIDGETS, widget_named("a")).await.ok();
    let message = world.delete(&path, json!({"preconditions": {"uid": "x"}})).await.refused(409, "Conflict");
    assert!(message.contains("the UID in the precondition (x) does not match the UID in record"), "{message}");
    world.delete(&path, json!({"preconditions": {"resourceVersion": "1"}})).await.refused(409, "Conflict");
    world.delete(&path, json!({"propagationPolicy": "Sideways"})).await.refused(422, "Invalid");
    assert_eq!(world.delete(&format!("{path}?dryRun=All"), json!({})).await.code, 200);
    world.delete(&path, json!({"preconditions": {"uid": made["metadata"]["uid"]}})).await.ok();
}

#[tokio::test]
async fn options_that_can_not_be_read_delete_nothing() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    world.post(WIDGETS, widget_named("a")).await.ok();
    for options in [
        json!({"dryRun": "All"}),
        json!({"propagationPolicy": 1}),
        json!({"preconditions": {"uid": 1}}),
        json!({"preconditions": "x"}),
        json!({"gracePeriodSeconds": "0"}),
        json!({"orphanDependents": "yes"}),
        json!(["All"]),
    ] {
        let message = world.delete(&path, options.clone()).await.refused(400, "BadRequest");
        assert!(message.starts_with("the body is not a DeleteOptions object: "), "{options}: {message}");
    }
    for query in ["dryRun", "dryRun=", "dryRun=all", "dryRun=All&dryRun=None", "dryRun=None&dryRun=All"] {
        world.delete(&format!("{path}?{query}"), json!({})).await.refused(422, "Invalid");
    }
    world.delete(&path, json!({"dryRun": ["All", "None"]})).await.refused(422, "Invalid");
    world.delete(&format!("{path}?gracePeriodSeconds=soon"), json!({})).await.refused(400, "BadRequest");
    let both = json!({"orphanDependents": true, "propagationPolicy": "Background"});
    let message = world.delete(&path, both).await.refused(422, "Invalid");
    assert!(message.contains("orphanDependents and deletionPropagation cannot be both set"), "{message}");
    assert_eq!(world.get(&path).await.ok()["metadata"].get("deletionTimestamp"), None);
}

/// Older clients send it instead of `propagationPolicy`.
#[tokio::test]
async fn orphan_dependents_is_a_propagation_policy() {
    let world = World::new();
    let path = format!("{WIDGETS}/a");
    for query in ["?orphanDependents=true&dryRun=All", "?orphanDependents&dryRun=All"] {
        world.post(WIDGETS, widget_named("a")).await.ok();
        let ending = world.delete(&format!("{path}{query}"), json!({})).await.ok();
        assert_eq!(ending["metadata"]["finalizers"], json!(["orphan"]));
        let gone = world.delete(&path, json!({"orphanDependents": false})).await.ok();
        assert_eq!(gone["status"], "Success");
    }
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector() {
    let world = World::new();
    for (name, keep) in [("a", "no"), ("b", "no"), ("c", "yes")] {
        let mut body = config_map(name, json!({}));
        body["metadata"]["labels"] = json!({"keep": keep});
        world.post(CONFIG_MAPS, body).await.ok();
    }
    let gone = world.delete(&format!("{CONFIG_MAPS}?labelSelector=keep%3Dno"), json!({})).await.ok();
    assert_eq!(gone["items"].as_array().unwrap().len(), 2);
    let left = world.get(CONFIG_MAPS).await.ok();
    assert_eq!((left["items"].as_array().unwrap().len(), &left["items"][0]["metadata"]["name"]), (1, &json!("c")));
}

#[tokio::test]
async fn only_a_scheduled_pod_has_a_grace_period() {
    let world = World::new();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = |name: &str, node: &str| json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "a", "image": "x"}]}});
    world.post(pods, pod("pending", "")).await.ok();
    assert_eq!(world.delete(&format!("{pods}/pending"), json!({})).await.ok()["kind"], "Pod");
    world.get(&format!("{pods}/pending")).await.refused(404, "NotFound");
    world.post(pods, pod("running", "here")).await.ok();
    let ending = world.delete(&format!("{pods}/running"), json!({})).await.ok();
    assert_eq!(ending["metadata"]["deletionGracePeriodSeconds"], 30);
    let sooner = world.delete(&format!("{pods}/running"), json!({"gracePeriodSeconds": 2})).await.ok();
    assert_eq!(sooner["metadata"]["deletionGracePeriodSeconds"], 2);
    world.delete(&format!("{pods}/running"), json!({"gracePeriodSeconds": 0})).await.ok();
    world.get(&format!("{pods}/running")).await.refused(404, "NotFound");
}

/// The period isn't validated. The end of a period of -292 billion years isn't a valid time.
#[tokio::test]
async fn a_pod_with_an_absurd_grace_period_can_be_deleted() {
    let world = World::new();
    let pods = "/api/v1/namespaces/default/pods";
    for (name, seconds) in [("before", i64::MIN), ("after", i64::MAX)] {
        let spec = json!({"nodeName": "here", "terminationGracePeriodSeconds": seconds, "containers": [{"name": "a", "image": "x"}]});
        world.post(pods, json!({"metadata": {"name": name}, "spec": spec})).await.ok();
        world.delete(&format!("{pods}/{name}"), json!({})).await.ok();
    }
    world.get(&format!("{pods}/before")).await.refused(404, "NotFound");
}
