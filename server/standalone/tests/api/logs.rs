use std::sync::{Arc, Mutex};

use futures::StreamExt;
use kubeonkube_standalone::{LogQuery, LogRefusal, LogSource, LogStream, Options, PodLogs};
use serde_json::json;

use crate::world::World;

const PODS: &str = "/api/v1/namespaces/default/pods";

/// Records the queries and answers with two lines.
#[derive(Default)]
pub(crate) struct Scripted(Mutex<Vec<(String, LogQuery)>>);

#[async_trait::async_trait]
impl PodLogs for Scripted {
    async fn open(&self, source: &LogSource, query: &LogQuery) -> Result<LogStream, LogRefusal> {
        self.0.lock().unwrap().push((source.container.clone(), query.clone()));
        match source.pod.as_str() {
            "waiting" => Err(LogRefusal::NotStarted("ContainerCreating".into())),
            _ if query.previous => Err(LogRefusal::NoPrevious),
            _ => Ok(futures::stream::iter(["one\n", "two\n"]).map(|line| Ok(line.into())).boxed()),
        }
    }
}

pub(crate) async fn world() -> (World, Arc<Scripted>) {
    let (logs, dir) = (Arc::new(Scripted::default()), Arc::new(tempfile::tempdir().unwrap()));
    let options = Options { data_dir: dir.path().into(), crds: Vec::new(), logs: logs.clone() };
    let api = kubeonkube_standalone::Api::open(options).unwrap();
    let world = World { client: api.client("tester"), api, dir };
    for (name, node, containers) in [
        ("p", "here", vec!["main"]),
        ("two", "here", vec!["main", "side"]),
        ("pending", "", vec!["main"]),
        ("waiting", "here", vec!["main"]),
    ] {
        let containers: Vec<_> = containers.into_iter().map(|name| json!({"name": name, "image": "x"})).collect();
        world
            .post(PODS, json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": containers}}))
            .await
            .ok();
    }
    (world, logs)
}

#[tokio::test]
async fn a_log_is_plain_text_and_obeys_every_parameter() {
    let (world, logs) = world().await;
    let answer = world
        .get(&format!(
            "{PODS}/p/log?follow=yes&timestamps=1&tailLines=3&limitBytes=9&sinceTime=2026-01-01T00:00:00.9Z&nonsense=1"
        ))
        .await;
    assert_eq!(
        (answer.code, answer.text.as_str(), answer.head["content-type"].to_str().unwrap()),
        (200, "one\ntwo\n", "text/plain")
    );
    let asked = logs.0.lock().unwrap().pop().unwrap();
    let since = Some("2026-01-01T00:00:00Z".parse().unwrap());
    let expected =
        LogQuery { follow: true, previous: false, timestamps: true, tail_lines: Some(3), limit_bytes: Some(9), since };
    assert_eq!(asked, ("main".into(), expected));
}

#[tokio::test]
async fn invalid_log_requests_are_refused_with_the_reason() {
    let (world, _) = world().await;
    let get = async |path: &str| world.get(&format!("{PODS}/{path}")).await;
    assert_eq!(
        get("two/log").await.refused(400, "BadRequest"),
        "a container name must be specified for pod two, choose one of: [main side]"
    );
    assert_eq!(
        get("two/log?container=nope").await.refused(400, "BadRequest"),
        "container nope is not valid for pod two"
    );
    get("missing/log").await.refused(404, "NotFound");
    for query in [
        "tailLines=-1",
        "limitBytes=0",
        "sinceSeconds=0",
        "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
        "stream=Stdout",
    ] {
        get(&format!("p/log?{query}")).await.refused(422, "Invalid");
    }
    get("p/log?tailLines=x").await.refused(400, "BadRequest");
    get("p/log?sinceTime=yesterday").await.refused(400, "BadRequest");
    let pending = get("pending/log").await;
    assert_eq!((pending.code, pending.text.as_str()), (204, ""));
    let message = get("waiting/log").await.refused(400, "BadRequest");
    assert_eq!(message, "container \"main\" in pod \"waiting\" is waiting to start: ContainerCreating");
    get("p/log?previous=true").await.refused(400, "BadRequest");
    world
        .ask(http::Method::GET, &format!("{PODS}/p/log"), &[("accept", "text/plain")], "")
        .await
        .refused(406, "NotAcceptable");
}

struct Panicking;

#[async_trait::async_trait]
impl PodLogs for Panicking {
    async fn open(&self, _: &LogSource, _: &LogQuery) -> Result<LogStream, LogRefusal> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_panic_fails_one_request_only() {
    let (world, _) = world().await;
    world.api.close().await;
    let options = Options { data_dir: world.dir.path().into(), crds: Vec::new(), logs: Arc::new(Panicking) };
    let api = kubeonkube_standalone::Api::open(options).unwrap();
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::default_namespaced(api.client("tester"));
    let refused = pods.logs("p", &Default::default()).await;
    let is_status = |status: &kube::core::Status| status.code == 500 && status.message.contains("the server has a bug");
    assert!(matches!(&refused, Err(kube::Error::Api(status)) if is_status(status)), "{refused:?}");
    assert_eq!(api.panics(), 1);
    pods.get("p").await.expect("the next request is answered");
    assert_eq!(api.panics(), 1);
}
