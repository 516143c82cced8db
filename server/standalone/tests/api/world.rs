//! An API in an empty directory, with one small custom resource.

use std::sync::Arc;
use std::time::Duration;

use connections::Limits;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::embedded_api;
use crate::patience::PATIENCE;

pub(crate) const WIDGETS: &str = "/apis/example.clay.io/v1/widgets";
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

pub(crate) struct World {
    pub(crate) dir: Arc<tempfile::TempDir>,
    pub(crate) api: Arc<standalone::Api>,
    pub(crate) client: Client,
}

/// Status code, headers and body of an answer.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) head: http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// The object in the answer, which must be a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.code < 300, "{} {}", self.code, self.text);
        self.json()
    }

    /// The message of the answer, which must be a Status with this code and reason.
    #[track_caller]
    pub(crate) fn refused(&self, code: u16, reason: &str) -> String {
        let status = self.json();
        assert_eq!(
            (self.code, status["kind"].as_str(), status["reason"].as_str()),
            (code, Some("Status"), Some(reason)),
            "{}",
            self.text
        );
        assert_eq!(status["code"], code);
        status["message"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        self.head.get_all("warning").iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()))
    }

    pub(crate) fn at(dir: Arc<tempfile::TempDir>) -> Self {
        Self::with(dir, vec![widget()])
    }

    pub(crate) fn with(dir: Arc<tempfile::TempDir>, definitions: Vec<CustomResourceDefinition>) -> Self {
        let api = embedded_api::open(dir.path(), definitions).unwrap();
        let client = api.client("tester");
        Self { dir, api, client }
    }

    /// Serves the API on a port, which the file `kubeconfig` in the directory names, until the token is cancelled.
    pub(crate) async fn on_a_port(&self) -> CancellationToken {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let identity = self.api.identity(&[]).unwrap();
        self.api.write_kubeconfig(&self.dir.path().join("kubeconfig"), &url, &identity).unwrap();
        let (api, shutdown) = (self.api.clone(), CancellationToken::new());
        let ends = shutdown.clone();
        tokio::spawn(async move { api.serve_https(listener, identity, Limits::kubernetes(1024), ends).await });
        shutdown
    }

    /// Closes the API and opens its directory again.
    pub(crate) async fn reopened(self) -> Self {
        self.api.close().await;
        Self::at(self.dir.clone())
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Response<kube::client::Body> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.client.send(request.body(body.into().into()).unwrap()).await.unwrap()
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let (parts, body) = self.send(method, path, headers, body).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { code: parts.status.as_u16(), head: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask(Method::POST, path, &[("content-type", "application/json")], body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.ask(Method::PUT, path, &[("content-type", "application/json")], body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, media_type: &str, body: Value) -> Answer {
        self.ask(Method::PATCH, path, &[("content-type", media_type)], body.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str, options: Value) -> Answer {
        self.ask(Method::DELETE, path, &[("content-type", "application/json")], options.to_string()).await
    }

    pub(crate) fn widgets(&self) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk("example.clay.io", "v1", "Widget");
        Api::all_with(self.client.clone(), &ApiResource::from_gvk(&gvk))
    }

    /// Waits until `holds`, or fails after [`PATIENCE`].
    pub(crate) async fn until<F: AsyncFn(&World) -> bool>(&self, what: &str, holds: F) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !holds(self).await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        assert!(waited.await.is_ok(), "timed out waiting for: {what}");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A second panic would abort the whole test binary.
        if !std::thread::panicking() {
            assert_eq!(self.api.panics(), 0, "requests panicked");
        }
    }
}

pub(crate) fn widget_named(name: &str) -> Value {
    json!({"apiVersion": "example.clay.io/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 1}})
}

pub(crate) fn config_map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

pub(crate) fn job(name: &str) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "main", "image": "x:1"}]}}}})
}

/// See `widget.yaml`.
pub(crate) fn widget() -> CustomResourceDefinition {
    serde_saphyr::from_str(include_str!("widget.yaml")).unwrap()
}
