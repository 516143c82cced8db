//! What the tests of verbs don't cover: Tables, OpenAPI, protobuf, reviews and the HTTPS port.

use connections::Limits;
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::patience::PATIENCE;
use crate::world::{Answer, CONFIG_MAPS, WIDGETS, World, config_map, job, widget_named};

pub(crate) const TABLE: &str =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

pub(crate) async fn accepting(world: &World, path: &str, accept: &str) -> Answer {
    world.ask(Method::GET, path, &[("accept", accept)], "").await
}

#[tokio::test]
async fn tables_have_the_columns_of_the_kind() {
    let world = World::new();
    world.post(WIDGETS, widget_named("a")).await.ok();
    let status = json!({"status": {"conditions": [{"type": "Complete", "status": "True"}]}});
    world.patch(&format!("{WIDGETS}/a/status"), crate::world::MERGE, status).await.ok();
    let answer = accepting(&world, &format!("{WIDGETS}?limit=500"), TABLE).await;
    assert_eq!(answer.head["content-type"], "application/json");
    let table = answer.ok();
    let titles = |table: &Value| {
        table["columnDefinitions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(titles(&table), ["Name", "Size", "Done", "Color", "Age"]);
    let row = &table["rows"][0];
    assert_eq!(
        (&row["cells"][0], &row["cells"][1], &row["cells"][2], &row["cells"][3]),
        (&json!("a"), &json!(1), &json!("True"), &json!("red"))
    );
    assert!(row["cells"][4].as_str().unwrap().ends_with('s'), "{row}");
    assert_eq!(
        (&row["object"]["kind"], &row["object"]["metadata"]["name"]),
        (&json!("PartialObjectMetadata"), &json!("a"))
    );
    let full = accepting(&world, &format!("{WIDGETS}?includeObject=Object"), TABLE).await.ok();
    assert_eq!(full["rows"][0]["object"]["spec"]["size"], 1);

    world.post("/apis/batch/v1/namespaces/default/jobs", job("j")).await.ok();
    let jobs = accepting(&world, "/apis/batch/v1/namespaces/default/jobs", TABLE).await.ok();
    assert_eq!(titles(&jobs)[..5], ["Name", "Status", "Completions", "Duration", "Age"]);
    assert_eq!((&jobs["rows"][0]["cells"][1], &jobs["rows"][0]["cells"][2]), (&json!("Running"), &json!("0/1")));
    let watched = accepting(&world, &format!("{WIDGETS}?watch=true&timeoutSeconds=1"), TABLE).await;
    let event: Value = serde_json::from_str(watched.text.lines().next().unwrap()).unwrap();
    assert_eq!((&event["object"]["kind"], &event["object"]["rows"][0]["cells"][0]), (&json!("Table"), &json!("a")));
    accepting(&world, WIDGETS, "application/json;as=Table;v=v9;g=meta.k8s.io").await.refused(406, "NotAcceptable");
}

#[tokio::test]
async fn openapi_lists_every_kind_with_server_side_validation() {
    let world = World::new();
    let index = world.get("/openapi/v3").await.ok();
    for path in ["api/v1", "apis/batch/v1", "apis/example.clay.io/v1"] {
        let url = index["paths"][path]["serverRelativeURL"].as_str().unwrap();
        let document = world.get(url).await.ok();
        let patches = document["paths"].as_object().unwrap().values().map(|path| &path["patch"]);
        assert!(patches.clone().count() > 0);
        for patch in patches {
            assert!(
                patch["parameters"].as_array().unwrap().iter().any(|parameter| parameter["name"] == "fieldValidation"),
                "{patch}"
            );
            let gvk = &patch["x-kubernetes-group-version-kind"];
            let schemas = document["components"]["schemas"].as_object().unwrap();
            assert!(
                schemas.values().any(|schema| &schema["x-kubernetes-group-version-kind"][0] == gvk),
                "no schema for {gvk}"
            );
        }
    }
}

#[tokio::test]
async fn the_openapi_v2_document_is_empty_in_both_encodings() {
    let world = World::new();
    let json = world.get("/openapi/v2").await;
    assert_eq!(json.head["content-type"], "application/json");
    let document = json.ok();
    assert_eq!((&document["swagger"], &document["paths"]), (&json!("2.0"), &json!({})));
    let info = [field(1, b"kubeonkube"), field(2, b"v1.36.4")].concat();
    let wanted = [field(1, b"2.0"), field(2, &info), field(8, b"")].concat();
    for separator in ['@', '.'] {
        let accept = format!("application/com.github.proto-openapi.spec.v2{separator}v1.0+protobuf");
        let protobuf = accepting(&world, "/openapi/v2", &accept).await;
        assert_eq!((protobuf.code, protobuf.text.as_bytes()), (200, &*wanted));
        assert_eq!(protobuf.head["content-type"], "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    }
}

/// A field of a protobuf message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
}

#[tokio::test]
async fn protobuf_bodies_of_kubectl_create_are_read() {
    let world = World::new();
    let envelope = |kind: &str, object: &[u8]| {
        let types = [field(1, b"v1"), field(2, kind.as_bytes())].concat();
        [b"k8s\0".to_vec(), field(1, &types), field(2, object)].concat()
    };
    let protobuf = [
        ("content-type", "application/vnd.kubernetes.protobuf"),
        ("accept", "application/vnd.kubernetes.protobuf,application/json"),
    ];
    let entry = [field(1, b"k"), field(2, b"v")].concat();
    let meta = [field(1, b"pb"), field(2, b""), field(3, b"")].concat();
    let map = [field(1, &meta), field(2, &entry)].concat();
    let made = world.ask(Method::POST, CONFIG_MAPS, &protobuf, envelope("ConfigMap", &map)).await.ok();
    assert_eq!((&made["metadata"]["name"], &made["data"]), (&json!("pb"), &json!({"k": "v"})));
    let secret = [field(1, &meta), field(2, &entry), field(3, b"Opaque")].concat();
    let made = world
        .ask(Method::POST, "/api/v1/namespaces/default/secrets", &protobuf, envelope("Secret", &secret))
        .await
        .ok();
    assert_eq!(made["data"]["k"], "dg==");
    let broken = world.ask(Method::POST, CONFIG_MAPS, &protobuf, envelope("ConfigMap", &[0x0a, 0x7f])).await;
    broken.refused(400, "BadRequest");
    world
        .ask(Method::POST, WIDGETS, &protobuf[..1], envelope("Widget", &[]))
        .await
        .refused(415, "UnsupportedMediaType");
}

#[tokio::test]
async fn subresources_that_are_not_served_are_refused_with_a_reason() {
    let world = World::new();
    for (path, says) in [
        (
            "pods/a/exec",
            "pods/exec is not served: pods of standalone mode are processes of this machine, not containers",
        ),
        ("pods/a/attach", "pods/attach is not served"),
        ("pods/a/portforward", "pods/portforward is not served"),
        ("pods/a/ephemeralcontainers", "pods/ephemeralcontainers is not served"),
        ("serviceaccounts/a/token", "the only token of standalone mode is the one in the kubeconfig"),
        ("configmaps/a/status", "the server could not find the requested resource"),
    ] {
        let answer = world.post(&format!("/api/v1/namespaces/default/{path}"), json!({})).await;
        let message = answer.refused(404, "NotFound");
        assert!(message.contains(says), "{path}: {message}");
        assert_eq!(answer.json()["details"], json!({}), "kubectl debug reads a name in the details");
    }
}

#[tokio::test]
async fn bodies_may_be_yaml() {
    let world = World::new();
    let yaml = [("content-type", "application/yaml; charset=utf-8")];
    let map = |value: &str| {
        format!(
            "# written by hand\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: typed, labels: {{a: \"1\"}}}}\ndata:\n  k: |\n    {value}\n"
        )
    };
    let path = format!("{CONFIG_MAPS}/typed");
    let made = world.ask(Method::POST, CONFIG_MAPS, &yaml, map("one")).await;
    assert_eq!((made.code, &made.json()["data"]["k"]), (201, &json!("one\n")), "{}", made.text);
    let replaced = world.ask(Method::PUT, &path, &yaml, map("two") + "---\n").await.ok();
    assert_eq!(replaced["data"]["k"], "two\n");
    let apply = [("content-type", "application/apply-patch+yaml")];
    let query = format!("{path}?fieldManager=me&force=true");
    let applied = world.ask(Method::PATCH, &query, &apply, map("three")).await.ok();
    assert_eq!((&applied["data"]["k"], &applied["metadata"]["labels"]["a"]), (&json!("three\n"), &json!("1")));
    let widget = "{apiVersion: example.clay.io/v1, kind: Widget, metadata: {name: typed}, spec: {size: 0x2}}";
    let widget = world.ask(Method::POST, WIDGETS, &yaml, widget).await;
    assert_eq!((widget.code, &widget.json()["spec"]["size"]), (201, &json!(2)));
    let laughs = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
        format!("{text}a{n}: &a{n} [{0}, {0}, {0}]\n", format!("*a{}", n - 1))
    });
    for bad in ["a: [", "a: 1\n---\nb: 2\n", &laughs, &"[".repeat(5000)] {
        world.ask(Method::POST, CONFIG_MAPS, &yaml, bad.to_owned()).await.refused(400, "BadRequest");
    }
    world.ask(Method::DELETE, &path, &yaml, "propagationPolicy: Foreground\n").await.ok();
}

#[tokio::test]
async fn other_media_types_are_refused() {
    let world = World::new();
    world
        .ask(Method::POST, WIDGETS, &[("content-type", "text/html")], "a: b")
        .await
        .refused(415, "UnsupportedMediaType");
    accepting(&world, WIDGETS, "application/yaml").await.refused(406, "NotAcceptable");
    accepting(&world, WIDGETS, "text/plain").await.refused(406, "NotAcceptable");
}

#[tokio::test]
async fn reviews_answer_for_the_token_and_its_user() {
    let world = World::new();
    let review = world
        .post(
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            json!({"spec": {"resourceAttributes": {"verb": "get"}}}),
        )
        .await;
    assert_eq!((review.code, &review.json()["status"]["allowed"]), (201, &json!(true)));
    let me = world.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", json!({})).await.ok();
    assert_eq!(me["status"]["userInfo"]["username"], "tester");
    let token = |token: &str| json!({"spec": {"token": token}});
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    assert_eq!(world.post(path, token(world.api.token())).await.ok()["status"]["authenticated"], true);
    assert_eq!(world.post(path, token("x")).await.ok()["status"], json!({"user": {}, "error": "invalid bearer token"}));
}

#[tokio::test]
async fn definitions_can_only_be_read() {
    let world = World::new();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let crds: kube::Api<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> =
        kube::Api::all(world.client.clone());
    let established = crds.get("widgets.example.clay.io").await.unwrap().status.unwrap().conditions.unwrap();
    assert!(established.iter().any(|condition| condition.type_ == "Established" && condition.status == "True"));
    world.delete(&format!("{path}/widgets.example.clay.io"), json!({})).await.refused(405, "MethodNotAllowed");
    world.post(path, json!({})).await.refused(405, "MethodNotAllowed");
}

#[tokio::test]
async fn the_https_port_requires_the_token_and_ends_at_shutdown() {
    let world = World::new();
    world.post(CONFIG_MAPS, config_map("a", json!({}))).await.ok();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let identity = world.api.identity(&[]).unwrap();
    let path = world.dir.path().join("kubeconfig");
    world.api.write_kubeconfig(&path, &url, &identity).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let (api, shutdown) = (world.api.clone(), CancellationToken::new());
    let ends = shutdown.clone();
    let port = tokio::spawn(async move { api.serve_https(listener, identity, Limits::kubernetes(1024), ends).await });

    let kubeconfig = kube::config::Kubeconfig::read_from(&path).unwrap();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &Default::default()).await.unwrap();
    let client = kube::Client::try_from(config.clone()).unwrap();
    let maps: kube::Api<k8s_openapi::api::core::v1::ConfigMap> = kube::Api::default_namespaced(client);
    assert!(maps.get_opt("a").await.unwrap().is_some());
    for (token, code) in [(None, 403), (Some("wrong"), 401)] {
        let mut config = config.clone();
        config.auth_info.token = token.map(|token: &str| token.to_owned().into());
        let client = kube::Client::try_from(config).unwrap();
        let maps: kube::Api<k8s_openapi::api::core::v1::ConfigMap> = kube::Api::default_namespaced(client);
        assert!(matches!(maps.get("a").await, Err(kube::Error::Api(status)) if status.code == code), "{code}");
    }
    // A client that never finishes its handshake must not delay the shutdown.
    let mut silent = tokio::net::TcpStream::connect(url.trim_start_matches("https://")).await.unwrap();
    silent.write_all(b"x").await.unwrap();
    shutdown.cancel();
    tokio::time::timeout(PATIENCE, port).await.expect("ends in time").unwrap();
    drop(silent.read(&mut [0; 8]).await);
}

/// The answer of the HTTPS port, without TLS.
async fn at_port(world: &World, target: &str, headers: &[(&str, &str)]) -> Answer {
    let request =
        headers.iter().fold(http::Request::get(target), |request, (name, value)| request.header(*name, *value));
    let request = request.body(axum::body::Body::empty()).unwrap();
    let (parts, body) = world.api.service().oneshot(request).await.unwrap().into_parts();
    let bytes = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
    Answer { code: parts.status.as_u16(), head: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
}

/// The session of `docs/kubectl.md` shows what a real API server answers.
#[tokio::test]
async fn a_request_to_act_as_another_user_is_refused() {
    let world = World::new();
    let token = format!("Bearer {}", world.api.token());
    let bearer = ("authorization", token.as_str());
    for (header, value, says) in [
        (
            "Impersonate-User",
            "guest",
            r#"users "guest" is forbidden: User "kubeonkube:admin" cannot impersonate resource "users" in API group "" at"#,
        ),
        (
            "Impersonate-Group",
            "viewers",
            r#"groups "viewers" is forbidden: User "kubeonkube:admin" cannot impersonate resource "groups" in"#,
        ),
        ("Impersonate-Uid", "1", r#"uids.authentication.k8s.io "1" is forbidden"#),
        (
            "Impersonate-Extra-Scopes",
            "all",
            r#"cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io""#,
        ),
        ("impersonate-new", "x", "cannot impersonate"),
        ("impersonate-user", "", "cannot impersonate"),
    ] {
        for path in [CONFIG_MAPS, "/version", "/no-such-path"] {
            let message = at_port(&world, path, &[bearer, (header, value)]).await.refused(403, "Forbidden");
            assert!(message.contains(says) && message.ends_with("no impersonation"), "{message}");
        }
        let wrong = [("authorization", "Bearer wrong"), (header, value)];
        at_port(&world, CONFIG_MAPS, &wrong).await.refused(401, "Unauthorized");
        for path in ["/version", "/healthz", CONFIG_MAPS] {
            let message = at_port(&world, path, &[(header, value)]).await.refused(403, "Forbidden");
            assert!(message.contains("User \"system:anonymous\" cannot impersonate"), "{message}");
        }
    }
    // The user is named first, as in the API server.
    let both = [bearer, ("impersonate-group", "viewers"), ("impersonate-user", "guest")];
    assert!(at_port(&world, CONFIG_MAPS, &both).await.refused(403, "Forbidden").starts_with("users \"guest\""));
}

/// A real API server ignores these, too, unless the request comes with the client certificate of the front proxy.
#[tokio::test]
async fn headers_of_a_front_proxy_give_no_rights() {
    let world = World::new();
    let proxied =
        [("x-remote-user", "kubeonkube:admin"), ("x-remote-group", "system:masters"), ("x-remote-extra-a", "b")];
    at_port(&world, CONFIG_MAPS, &proxied).await.refused(403, "Forbidden");
    assert_eq!(at_port(&world, "/version", &proxied).await.code, 200);
    let token = format!("Bearer {}", world.api.token());
    let signed_in = [&[("authorization", token.as_str())][..], &proxied].concat();
    assert_eq!(at_port(&world, CONFIG_MAPS, &signed_in).await.code, 200);
    for scheme in ["Basic", "Negotiate"] {
        let other = token.replace("Bearer", scheme);
        at_port(&world, CONFIG_MAPS, &[("authorization", &other)]).await.refused(401, "Unauthorized");
    }
    let path = format!("{CONFIG_MAPS}?access_token={}", world.api.token());
    at_port(&world, &path, &[]).await.refused(403, "Forbidden");
}

#[tokio::test]
async fn strange_targets_and_two_hosts_are_refused() {
    let world = World::new();
    let token = format!("Bearer {}", world.api.token());
    let ask = async |target: &str, hosts: &[&str]| {
        let hosts = hosts.iter().map(|host| ("host", *host));
        at_port(&world, target, &hosts.chain([("authorization", token.as_str())]).collect::<Vec<_>>()).await
    };
    let message = ask("/version", &["localhost", "evil.example"]).await.refused(400, "BadRequest");
    assert_eq!(message, "the request has more than one Host header");
    for target in ["*", "localhost:80"] {
        assert_eq!(ask(target, &["localhost"]).await.code, 404, "{target}");
    }
    // The port of the API uses no Host, so any text will do.
    assert_eq!(ask("/version", &["127.0.0.1:99999"]).await.code, 200);
}

#[tokio::test]
async fn a_handshake_that_stops_halfway_is_not_awaited() {
    let world = World::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let identity = world.api.identity(&[]).unwrap();
    let limits = Limits { first_request: std::time::Duration::from_millis(200), ..Limits::kubernetes(1024) };
    let api = world.api.clone();
    tokio::spawn(async move { api.serve_https(listener, identity, limits, CancellationToken::new()).await });
    // Nothing at all, the first bytes of a ClientHello, and a record of which only the length has come.
    for sent in [&b""[..], b"\x16\x03\x01\x02\x00\x01\x00", b"\x16\x03\x01\x40\x00"] {
        let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
        client.write_all(sent).await.unwrap();
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, client.read_to_end(&mut rest)).await.expect("closed in time");
    }
}
