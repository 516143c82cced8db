use http::Method;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use crate::world::{CONFIG_MAPS, WIDGETS, World, config_map, job, widget_named};

#[tokio::test]
async fn a_name_can_be_created_only_once() {
    let world = World::new();
    let maps: Api<ConfigMap> = Api::default_namespaced(world.client.clone());
    let map: ConfigMap = serde_json::from_value(config_map("a", json!({"k": "v"}))).unwrap();
    let made = maps.create(&PostParams::default(), &map).await.unwrap();
    assert!(
        made.metadata.uid.is_some()
            && made.metadata.creation_timestamp.is_some()
            && made.metadata.resource_version.is_some()
    );
    assert_eq!(made.metadata.generation, None);
    let again = maps.create(&PostParams::default(), &map).await.unwrap_err();
    assert!(matches!(again, kube::Error::Api(status) if status.is_already_exists()));
    assert!(maps.get_opt("b").await.unwrap().is_none());
}

#[tokio::test]
async fn create_overwrites_server_fields_and_refuses_a_revision() {
    let world = World::new();
    let mut body = widget_named("a");
    for (field, value) in [
        ("uid", json!("x")),
        ("creationTimestamp", json!("2001-01-01T00:00:00Z")),
        ("generation", json!(7)),
        ("namespace", json!("n")),
    ] {
        body["metadata"][field] = value;
    }
    body["status"] = json!({"phase": "x"});
    let made = world.post(WIDGETS, body.clone()).await.ok();
    assert_ne!(made["metadata"]["uid"], "x");
    assert_ne!(made["metadata"]["creationTimestamp"], "2001-01-01T00:00:00Z");
    assert_eq!(made["metadata"]["generation"], 1);
    assert!(made["metadata"].get("namespace").is_none() && made.get("status").is_none());
    body["metadata"]["resourceVersion"] = json!("1");
    world.post(WIDGETS, body).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn names_are_checked_and_generated() {
    let world = World::new();
    let mut body = config_map("", json!({}));
    body["metadata"] = json!({});
    let message = world.post(CONFIG_MAPS, body.clone()).await.refused(422, "Invalid");
    assert!(message.contains("metadata.name: Required value: name or generateName is required"), "{message}");
    body["metadata"] = json!({"generateName": "g-"});
    let made = world.post(CONFIG_MAPS, body.clone()).await.ok();
    let name = made["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("g-") && name.len() == 7 && made["metadata"]["generateName"] == "g-", "{made}");
    body["metadata"] = json!({"name": "A"});
    let message = world.post(CONFIG_MAPS, body.clone()).await.refused(422, "Invalid");
    assert!(
        message.contains(r#"metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of"#),
        "{message}"
    );
    body["metadata"] = json!({"name": "a".repeat(254)});
    world.post(CONFIG_MAPS, body).await.refused(422, "Invalid");
}

#[tokio::test]
async fn type_and_namespace_must_match_the_path() {
    let world = World::new();
    let wrong_version = json!({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let message = world.post(CONFIG_MAPS, wrong_version).await.refused(400, "BadRequest");
    assert!(
        message.contains("the API version in the data (v2) does not match the expected API version (v1)"),
        "{message}"
    );
    let mut other = widget_named("a");
    other["kind"] = json!("Foo");
    assert!(world.post(WIDGETS, other.clone()).await.refused(422, "Invalid").contains("must be Widget"));
    other.as_object_mut().unwrap().remove("kind");
    world.post(WIDGETS, other).await.refused(400, "BadRequest");
    let untyped = json!({"metadata": {"name": "untyped"}});
    assert_eq!(world.post(CONFIG_MAPS, untyped).await.ok()["kind"], "ConfigMap");

    let mut elsewhere = config_map("a", json!({}));
    elsewhere["metadata"]["namespace"] = json!("other");
    world.post(CONFIG_MAPS, elsewhere).await.refused(400, "BadRequest");
    let missing = world.post("/api/v1/namespaces/n/configmaps", config_map("a", json!({}))).await;
    assert_eq!(missing.refused(404, "NotFound"), "namespaces \"n\" not found");
    assert_eq!(world.get("/api/v1/namespaces/n/configmaps").await.ok()["items"], json!([]));
}

#[tokio::test]
async fn wrong_json_types_are_bad_requests() {
    let world = World::new();
    let message = world.post(CONFIG_MAPS, config_map("a", json!({"x": true}))).await.refused(400, "BadRequest");
    assert!(message.starts_with("ConfigMap in version \"v1\" cannot be handled as a ConfigMap"), "{message}");
    let mut labels = widget_named("a");
    labels["metadata"]["labels"] = json!({"a": 1});
    world.post(WIDGETS, labels).await.refused(400, "BadRequest");
    let broken = world.ask(Method::POST, CONFIG_MAPS, &[("content-type", "application/json")], "{").await;
    broken.refused(400, "BadRequest");
}

#[tokio::test]
async fn a_dry_run_checks_everything_and_stores_nothing() {
    let world = World::new();
    let path = format!("{WIDGETS}?dryRun=All");
    let made = world.post(&path, widget_named("a")).await.ok();
    assert!(made["metadata"]["uid"].is_string() && made["metadata"].get("resourceVersion").is_none(), "{made}");
    world.get(&format!("{WIDGETS}/a")).await.refused(404, "NotFound");
    world
        .post(
            &path,
            json!({"apiVersion": "example.clay.io/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {}}),
        )
        .await
        .refused(422, "Invalid");
    world.post(&format!("{WIDGETS}?dryRun=Some"), widget_named("a")).await.refused(422, "Invalid");
    world.post(WIDGETS, widget_named("a")).await.ok();
    world.post(&path, widget_named("a")).await.refused(409, "AlreadyExists");
}

#[tokio::test]
async fn secrets_take_plain_text_and_keep_base64() {
    let world = World::new();
    let secrets: Api<Secret> = Api::default_namespaced(world.client.clone());
    let secret: Secret = serde_json::from_value(
        json!({"metadata": {"name": "s"}, "data": {"a": "eA==", "b": "eQ=="}, "stringData": {"b": "plain"}}),
    )
    .unwrap();
    let made = secrets.create(&PostParams::default(), &secret).await.unwrap();
    assert_eq!(made.type_.as_deref(), Some("Opaque"));
    assert_eq!(made.data.unwrap()["b"].0, b"plain");
    assert!(made.string_data.is_none());
    let bad = json!({"metadata": {"name": "t"}, "data": {"a": "not base64!"}});
    world.post("/api/v1/namespaces/default/secrets", bad).await.refused(400, "BadRequest");
    let key = json!({"metadata": {"name": "t"}, "stringData": {"a/b": "x"}});
    world.post("/api/v1/namespaces/default/secrets", key).await.refused(422, "Invalid");
}

#[tokio::test]
async fn secrets_of_a_known_type_need_its_keys() {
    let world = World::new();
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = |kind: &str, data: Value| {
        json!({"metadata": {"name": "s", "annotations": {"kubernetes.io/service-account.name": data["account"].as_str().unwrap_or_default()}},
            "type": format!("kubernetes.io/{kind}"), "stringData": data})
    };
    let redacted = |key: &str, why: &str| format!("data[{key}]: Invalid value: \"<secret contents redacted>\": {why}");
    let eof = redacted(".dockercfg", "unexpected end of JSON input");
    let list =
        redacted(".dockerconfigjson", "json: cannot unmarshal array into Go value of type map[string]interface {}");
    let refused = [
        ("ssh-auth", json!({"ssh-privatekey": ""}), "data[ssh-privatekey]: Required value"),
        ("tls", json!({"tls.crt": ""}), "data[tls.key]: Required value"),
        ("tls", json!({}), "[data[tls.crt]: Required value, data[tls.key]: Required value]"),
        ("basic-auth", json!({}), "[data[username]: Required value, data[password]: Required value]"),
        ("dockercfg", json!({}), "data[.dockercfg]: Required value"),
        ("dockercfg", json!({".dockercfg": ""}), &eof),
        ("dockerconfigjson", json!({}), "data[.dockerconfigjson]: Required value"),
        ("dockerconfigjson", json!({".dockerconfigjson": "[]"}), &list),
        (
            "service-account-token",
            json!({}),
            "metadata.annotations[kubernetes.io/service-account.name]: Required value",
        ),
    ];
    for (kind, data, why) in refused {
        let message = world.post(secrets, secret(kind, data)).await.refused(422, "Invalid");
        assert_eq!(message, format!("Secret \"s\" is invalid: {why}"));
    }
    let accepted = [
        ("tls", json!({"tls.crt": "", "tls.key": ""})),
        ("basic-auth", json!({"password": ""})),
        ("dockerconfigjson", json!({".dockerconfigjson": "{}"})),
        ("service-account-token", json!({"account": "robot"})),
        ("ssh-auth", json!({"ssh-privatekey": "x"})),
    ];
    for (kind, data) in accepted {
        world.post(&format!("{secrets}?dryRun=All"), secret(kind, data)).await.ok();
    }
    world.post(secrets, secret("ssh-auth", json!({"ssh-privatekey": "x"}))).await.ok();
    let emptied = json!({"data": {"ssh-privatekey": null}});
    world.patch(&format!("{secrets}/s"), crate::world::MERGE, emptied).await.refused(422, "Invalid");
}

/// Such as one that was exported with `kubectl get job -o yaml`. The words are those of the API server.
#[tokio::test]
async fn a_job_with_the_labels_of_another_is_refused() {
    let world = World::new();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let made = world.post(jobs, job("j")).await.ok();
    let uid = made["metadata"]["uid"].as_str().unwrap();
    let mut exported = job("k");
    exported["spec"]["selector"] = made["spec"]["selector"].clone();
    exported["spec"]["template"]["metadata"] = made["spec"]["template"]["metadata"].clone();
    let message = world.post(jobs, exported.clone()).await.refused(422, "Invalid");
    for why in [
        "spec.template.metadata.labels[controller-uid]: Invalid value: {",
        "spec.template.metadata.labels[batch.kubernetes.io/job-name]: Invalid value: {",
        "}: must be 'k'",
        "spec.selector: Invalid value: {\"matchLabels\":{\"batch.kubernetes.io/controller-uid\":",
        "}: `selector` not auto-generated",
    ] {
        assert!(message.contains(why), "{message}");
    }
    assert!(!message.contains("does not match"), "{message}");

    let mut selected = job("k");
    selected["spec"]["selector"] = json!({"matchLabels": {"app": "x"}});
    let message = world.post(jobs, selected.clone()).await.refused(422, "Invalid");
    assert!(
        message.contains("`selector` not auto-generated, spec.template.metadata.labels: Invalid value: {"),
        "{message}"
    );
    assert!(message.contains("`selector` does not match template `labels`"), "{message}");
    selected["spec"]["manualSelector"] = true.into();
    let message = world.post(jobs, selected.clone()).await.refused(422, "Invalid");
    assert!(message.contains("does not match template") && !message.contains("not auto-generated"), "{message}");
    selected["spec"]["template"]["metadata"] = json!({"labels": {"app": "x"}});
    let manual = world.post(jobs, selected).await.ok();
    assert_eq!(manual["spec"]["template"]["metadata"]["labels"], json!({"app": "x"}));
    assert_eq!(manual["spec"]["selector"], json!({"matchLabels": {"app": "x"}}));
    exported["spec"]["template"]["metadata"]["labels"] = json!({"job-name": "k", "app": "y"});
    exported["spec"]["selector"] = Value::Null;
    exported["metadata"]["name"] = "l".into();
    let message = world.post(jobs, exported.clone()).await.refused(422, "Invalid");
    assert!(message.contains("labels[job-name]") && !message.contains(uid), "{message}");
}

/// A Job without labels gets those of its template, also when it is created. One with labels keeps them.
#[tokio::test]
async fn a_job_with_labels_gets_no_others() {
    let world = World::new();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let mut labelled = job("j");
    labelled["metadata"]["labels"] = json!({"team": "a"});
    assert_eq!(world.post(jobs, labelled).await.ok()["metadata"]["labels"], json!({"team": "a"}));
    let mut template = job("k");
    template["spec"]["template"]["metadata"] = json!({"labels": {"app": "x"}});
    let made = world.post(jobs, template).await.ok();
    assert_eq!(made["metadata"]["labels"], made["spec"]["template"]["metadata"]["labels"]);
    assert_eq!(
        (&made["metadata"]["labels"]["app"], &made["metadata"]["labels"]["job-name"]),
        (&json!("x"), &json!("k"))
    );
}

#[tokio::test]
async fn jobs_get_their_defaults_labels_and_selector() {
    let world = World::new();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let made = world.post(jobs, job("j")).await.ok();
    let (spec, uid) = (&made["spec"], &made["metadata"]["uid"]);
    assert_eq!((&spec["parallelism"], &spec["completions"], &spec["backoffLimit"]), (&json!(1), &json!(1), &json!(6)));
    assert_eq!(
        (&spec["completionMode"], &spec["suspend"], &spec["podReplacementPolicy"]),
        (&json!("NonIndexed"), &json!(false), &json!("TerminatingOrFailed"))
    );
    assert_eq!(&spec["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"], uid);
    for labels in [&made["metadata"]["labels"], &spec["template"]["metadata"]["labels"]] {
        assert_eq!(
            (&labels["controller-uid"], &labels["batch.kubernetes.io/job-name"], &labels["job-name"]),
            (uid, &json!("j"), &json!("j"))
        );
    }
    let mut forever = job("k");
    for policy in [Value::Null, json!("Always")] {
        forever["spec"]["template"]["spec"]["restartPolicy"] = policy;
        let message = world.post(jobs, forever.clone()).await.refused(422, "Invalid");
        let why = "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"";
        assert_eq!(message, format!("Job.batch \"k\" is invalid: {why}"));
    }
    let message = world.post(jobs, job(&"x".repeat(64))).await.refused(422, "Invalid");
    assert!(message.contains("spec.template.labels"), "{message}");
    let mut template = made.clone();
    template["spec"]["template"]["spec"]["containers"][0]["image"] = json!("y");
    world.put(&format!("{jobs}/j"), template).await.refused(422, "Invalid");
}

#[tokio::test]
async fn an_event_is_one_object_in_two_views() {
    let world = World::new();
    let old = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Job", "name": "j", "namespace": "default"},
        "reason": "R", "message": "m", "type": "Normal", "count": 2});
    world.post("/api/v1/namespaces/default/events", old).await.ok();
    let new = world.get("/apis/events.k8s.io/v1/namespaces/default/events/e").await.ok();
    assert_eq!(
        (&new["note"], &new["regarding"]["name"], &new["deprecatedCount"]),
        (&json!("m"), &json!("j"), &json!(2))
    );
    assert_eq!(new["apiVersion"], "events.k8s.io/v1");
    let series = json!({"series": {"count": 3, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}});
    world.patch("/apis/events.k8s.io/v1/namespaces/default/events/e", crate::world::MERGE, series).await.ok();
    let selected =
        world.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=j,reason=R").await.ok();
    assert_eq!(selected["items"][0]["series"]["count"], 3);
    let elsewhere =
        json!({"metadata": {"name": "f"}, "involvedObject": {"kind": "Widget", "name": "w", "namespace": "x"}});
    world.post("/api/v1/namespaces/default/events", elsewhere).await.refused(422, "Invalid");
    let bare = json!({"metadata": {"name": "f"}, "regarding": {"kind": "Widget", "name": "w"}, "reason": "R"});
    world.post("/apis/events.k8s.io/v1/namespaces/default/events", bare).await.refused(422, "Invalid");
}

#[tokio::test]
async fn a_lease_without_a_spec_gets_one() {
    let world = World::new();
    let made = world
        .post("/apis/coordination.k8s.io/v1/namespaces/default/leases", json!({"metadata": {"name": "l"}}))
        .await
        .ok();
    assert_eq!(made["spec"], json!({}));
}

#[tokio::test]
async fn the_standard_namespaces_exist_and_stay() {
    let world = World::new();
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let names: Vec<_> = namespaces
        .list(&Default::default())
        .await
        .unwrap()
        .items
        .into_iter()
        .filter_map(|ns| ns.metadata.name)
        .collect();
    assert_eq!(names, ["default", "kube-public", "kube-system"]);
    world.delete("/api/v1/namespaces/default", json!({})).await.refused(403, "Forbidden");
}

#[tokio::test]
async fn a_client_that_lost_a_race_can_read_the_winner() {
    let world = World::new();
    for round in 0..100 {
        let name = format!("w-{round}");
        let create = async || {
            let code = world.post(WIDGETS, widget_named(&name)).await.code;
            // Read at once, like a client that checks whether the existing object is from its own earlier attempt.
            (code, world.get(&format!("{WIDGETS}/{name}")).await.code)
        };
        let mut seen = futures::future::join_all((0..4).map(|_| create())).await;
        seen.sort_unstable();
        assert_eq!(seen, [(201, 200), (409, 200), (409, 200), (409, 200)]);
    }
}
