//! Discovery in both forms, and the kinds that are only in discovery.

use http::Method;
use serde_json::json;

use crate::wire::{TABLE, accepting};
use crate::world::{APPLY, CONFIG_MAPS, MERGE, World};

const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

#[tokio::test]
async fn discovery_is_one_document() {
    let world = World::new();
    let answer = accepting(&world, "/apis", DISCOVERY).await;
    assert_eq!(answer.head["content-type"], "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let groups = answer.ok();
    let group = groups["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|group| group["metadata"]["name"] == "example.clay.io")
        .unwrap();
    let widgets = &group["versions"][0]["resources"][0];
    assert_eq!(
        (&widgets["resource"], &widgets["scope"], &widgets["shortNames"]),
        (&json!("widgets"), &json!("Cluster"), &json!(["wd"]))
    );
    assert_eq!(widgets["subresources"][0]["subresource"], "status");
    assert_eq!(accepting(&world, "/api", DISCOVERY).await.ok()["items"][0]["metadata"], json!({}));
    let aggregated = kube::Discovery::new(world.client.clone()).run_aggregated().await.unwrap();
    assert!(aggregated.resolve_gvk(&kube::core::GroupVersionKind::gvk("batch", "v1", "Job")).is_some());
    assert_eq!(world.client.apiserver_version().await.unwrap().minor, "36");
    let unknown = world.get("/apis/example.clay.io/v1/gadgets").await;
    assert_eq!((unknown.code, unknown.text.as_str()), (404, "404 page not found\n"));
    assert_eq!(
        world.get("/api/v1/gadgets").await.refused(404, "NotFound"),
        "the server could not find the requested resource"
    );
}

#[tokio::test]
async fn the_older_discovery_has_a_document_for_each_list() {
    let world = World::new();
    let shown = async |path: &str| {
        let answer = world.get(path).await;
        assert_eq!(answer.head["content-type"], "application/json");
        answer.ok()
    };
    let core = json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []});
    assert_eq!(shown("/api").await, core);
    let group = |name: &str| {
        let version = json!({"groupVersion": format!("{name}/v1"), "version": "v1"});
        json!({"name": name, "versions": [version], "preferredVersion": version})
    };
    let list = shown("/apis").await;
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("APIGroupList"), &json!("v1")));
    let groups = list["groups"].as_array().unwrap();
    for name in ["batch", "example.clay.io", "authorization.k8s.io"] {
        assert!(groups.contains(&group(name)), "{groups:?}");
        let mut one = group(name);
        one["kind"] = "APIGroup".into();
        one["apiVersion"] = "v1".into();
        assert_eq!(shown(&format!("/apis/{name}")).await, one);
    }
    assert!(groups.iter().all(|group| group["name"] != ""), "the core group is not below /apis");

    let all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    let jobs = json!({"name": "jobs", "singularName": "job", "namespaced": true, "kind": "Job", "verbs": all, "categories": ["all"]});
    let status = json!({"name": "jobs/status", "singularName": "", "namespaced": true, "kind": "Job",
        "verbs": ["get", "patch", "update"]});
    let cron_jobs = json!({"name": "cronjobs", "singularName": "cronjob", "namespaced": true, "kind": "CronJob",
        "verbs": ["delete", "deletecollection", "get", "list", "watch"], "shortNames": ["cj"]});
    let batch = json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "batch/v1",
        "resources": [jobs, status, cron_jobs]});
    assert_eq!(shown("/apis/batch/v1").await, batch);
    let core = shown("/api/v1").await;
    assert_eq!((&core["kind"], &core["groupVersion"]), (&json!("APIResourceList"), &json!("v1")));
    assert_eq!(core.get("apiVersion"), None, "as in the API server");
    let entry = |name: &str| core["resources"].as_array().unwrap().iter().find(|entry| entry["name"] == name).cloned();
    let log = json!({"name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"]});
    assert_eq!(entry("pods/log"), Some(log));
    assert_eq!(entry("namespaces/finalize").unwrap()["verbs"], json!(["update"]));
    assert_eq!(entry("configmaps").unwrap()["shortNames"], json!(["cm"]));
    let reviews = shown("/apis/authentication.k8s.io/v1").await;
    let review = json!({"name": "tokenreviews", "singularName": "tokenreview", "namespaced": false, "kind": "TokenReview", "verbs": ["create"]});
    assert_eq!(reviews["resources"][1], review);

    for path in ["/apis/none.clay.io", "/apis/none.clay.io/v1", "/apis/batch/v2", "/api/v2"] {
        let none = world.get(path).await;
        assert_eq!((none.code, none.text.as_str()), (404, "404 page not found\n"), "{path}");
    }
    world.post("/apis/batch/v1", json!({})).await.refused(405, "MethodNotAllowed");
    let listed = kube::Discovery::new(world.client.clone()).run().await.unwrap();
    assert!(listed.resolve_gvk(&kube::core::GroupVersionKind::gvk("example.clay.io", "v1", "Widget")).is_some());
}

/// As in the API server.
#[tokio::test]
async fn discovery_is_aggregated_only_if_asked_for() {
    let world = World::new();
    let aggregated = DISCOVERY.split(',').next().unwrap();
    let beta = aggregated.replace("v=v2", "v=v2beta1");
    let kind = async |path: &str, accept: &str| accepting(&world, path, accept).await.ok()["kind"].clone();
    for (path, older) in [("/api", "APIVersions"), ("/apis", "APIGroupList")] {
        for accept in ["", "*/*", "application/json", "application/vnd.kubernetes.protobuf, application/json"] {
            assert_eq!(kind(path, accept).await, older, "{accept}");
        }
        assert_eq!(kind(path, &format!("{beta},application/json")).await, older);
        assert_eq!(kind(path, &format!("{beta},{aggregated},application/json")).await, "APIGroupDiscoveryList");
        assert_eq!(kind(path, &format!("application/json,{aggregated}")).await, older, "the first form wins");
        accepting(&world, path, "application/yaml").await.refused(406, "NotAcceptable");
    }
    for path in ["/api/v1", "/apis/batch", "/apis/batch/v1", CONFIG_MAPS] {
        accepting(&world, path, aggregated).await.refused(406, "NotAcceptable");
        assert_ne!(kind(path, DISCOVERY).await, "APIGroupDiscoveryList");
    }
    accepting(&world, "/api/v1", TABLE.split(',').next().unwrap()).await.refused(406, "NotAcceptable");
    assert_eq!(accepting(&world, "/healthz", "text/plain").await.text, "ok");
    assert_eq!(accepting(&world, "/version", "text/plain").await.ok()["minor"], "36");
}

#[tokio::test]
async fn both_forms_of_discovery_list_the_same() {
    let world = World::new();
    let older = kube::Discovery::new(world.client.clone()).run().await.unwrap();
    let aggregated = kube::Discovery::new(world.client.clone()).run_aggregated().await.unwrap();
    let listed = |discovery: &kube::Discovery| {
        let all = discovery.groups().flat_map(kube::discovery::ApiGroup::recommended_resources);
        let mut all: Vec<_> = all
            .map(|(resource, about)| {
                let below =
                    about.subresources.iter().map(|(sub, about)| format!("{} {:?}", sub.plural, about.operations));
                let below: Vec<_> = below.collect();
                format!(
                    "{}/{} {:?} {:?} {below:?}",
                    resource.api_version, resource.plural, about.scope, about.operations
                )
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(listed(&older), listed(&aggregated));
    assert!(listed(&older).len() > 20);
}

/// `kubectl apply --prune` stops at the first of its kinds that can't be listed.
#[tokio::test]
async fn kinds_without_objects_can_be_listed_but_not_created() {
    let world = World::new();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    for (path, kind) in [
        (deployments, "DeploymentList"),
        ("/apis/apps/v1/deployments", "DeploymentList"),
        ("/api/v1/nodes", "NodeList"),
    ] {
        let list = world.get(path).await.ok();
        assert_eq!((&list["kind"], &list["items"]), (&json!(kind), &json!([])));
    }
    let table = accepting(&world, deployments, TABLE).await.ok();
    assert_eq!((&table["kind"], &table["rows"]), (&json!("Table"), &json!([])));
    let watched = world.get("/api/v1/services?watch=true&timeoutSeconds=1").await;
    assert_eq!((watched.code, watched.text.as_str()), (200, ""));

    let item = format!("{deployments}/web");
    let none = "deployments.apps \"web\" not found";
    assert_eq!(world.get(&item).await.refused(404, "NotFound"), none);
    assert_eq!(world.delete(&item, json!({})).await.refused(404, "NotFound"), none);
    assert_eq!(world.delete(deployments, json!({})).await.ok()["items"], json!([]));
    assert_eq!(world.get(&format!("{item}/scale")).await.refused(404, "NotFound"), none);
    world.get("/api/v1/namespaces/default/nodes").await.refused(404, "NotFound");

    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}});
    let why =
        "this API can't store deployments.apps, because standalone mode runs only Jobs. Use a real Kubernetes cluster.";
    let apply = format!("{item}?fieldManager=tester");
    // `kubectl create deployment` sends protobuf.
    let protobuf = [("content-type", "application/vnd.kubernetes.protobuf")];
    for refused in [
        world.post(deployments, web.clone()).await,
        world.post(&format!("{deployments}?dryRun=All"), web.clone()).await,
        world.put(&item, web.clone()).await,
        world.patch(&item, MERGE, web.clone()).await,
        world.patch(&apply, APPLY, web).await,
        world.ask(Method::POST, deployments, &protobuf, b"k8s\0".to_vec()).await,
    ] {
        assert_eq!(refused.refused(405, "MethodNotAllowed"), why);
    }
}
