//! A cluster that authenticates users by token and records their requests, in front of the embedded API. The console has the rights of
//! deploy/kubernetes/rbac.yaml.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use crd::ClusterOperation;
use http::{HeaderValue, Method, StatusCode, header};
use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::{Patch, PatchParams};
use runner::{Ansible, Isolation, LocalLogs, RunnerOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::patience::PATIENCE;
use crate::rights::{CLUSTERS, Right, Rights, SYSTEM};

/// The token of the console's own service account.
pub(crate) const CONSOLE: &str = "token-of-the-console";

/// One recorded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) user: String,
    pub(crate) method: Method,
    pub(crate) path: String,
}

pub(crate) struct Cluster {
    api: Arc<standalone::Api>,
    /// Token → name.
    people: Mutex<BTreeMap<String, String>>,
    /// Users who may only list.
    readers: Mutex<Vec<String>>,
    asked: Mutex<Vec<Asked>>,
    rights: Rights,
    /// The console's rights that it has used.
    used: Mutex<BTreeSet<Right>>,
    /// The console's requests for which it has no right.
    without_right: Mutex<Vec<String>>,
    folder: TempDir,
    stop: CancellationToken,
    runner: Mutex<Option<JoinHandle<()>>>,
}

impl Cluster {
    /// Listens on loopback. Only the console's token is known at first.
    pub(crate) async fn start() -> Arc<Self> {
        let folder = tempfile::tempdir().expect("a directory");
        let options = standalone::Options {
            data_dir: folder.path().join("data"),
            crds: crd::all(),
            logs: Arc::new(LocalLogs::new(folder.path())),
        };
        let api = standalone::Api::open(options).expect("an API");
        std::fs::write(folder.path().join("ansible-playbook"), "").expect("written");
        let runner = RunnerOptions {
            data_dir: folder.path().into(),
            shim: env!("CARGO_BIN_EXE_kubeonkube").into(),
            ansible: Arc::new(Ansible::new(folder.path(), Some(folder.path().into()), "python3")),
            max_parallel: 4,
            isolation: Isolation::detect(),
            descriptors: None,
        };
        let stop = CancellationToken::new();
        let running = runner::run(api.client("kubelet"), runner, stop.clone());
        let runner = Mutex::new(Some(tokio::spawn(async move { running.await.expect("it runs") })));
        let people = Mutex::new(BTreeMap::from([(CONSOLE.to_owned(), "console".to_owned())]));
        let cluster = Arc::new(Self {
            api,
            people,
            readers: Mutex::default(),
            asked: Mutex::default(),
            rights: Rights::shipped(),
            used: Mutex::default(),
            without_right: Mutex::default(),
            folder,
            stop,
            runner,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": format!("http://{address}")}}],
            "users": [{"name": "c", "user": {"token": CONSOLE}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c", "namespace": "default"}}]});
        std::fs::write(cluster.kubeconfig(), config.to_string()).expect("written");
        let router = Router::new().fallback(answer).with_state(cluster.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        cluster
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// Adds a user who may do everything.
    pub(crate) fn add_user(&self, token: &str, name: &str) {
        self.people.lock().expect("no panic").insert(token.into(), name.into());
    }

    /// Adds a user who may only list clusters and operations.
    pub(crate) fn add_reader(&self, token: &str, name: &str) {
        self.add_user(token, name);
        self.readers.lock().expect("no panic").push(name.into());
    }

    /// Revokes the token.
    pub(crate) fn revoke(&self, token: &str) {
        self.people.lock().expect("no panic").remove(token);
    }

    /// The requests of `user` since the last call.
    pub(crate) fn requests_of(&self, user: &str) -> Vec<String> {
        let mut asked = self.asked.lock().expect("no panic");
        let (theirs, others) = asked.drain(..).partition(|asked| asked.user == user);
        *asked = others;
        let theirs: Vec<Asked> = theirs;
        theirs.into_iter().map(|Asked { method, path, .. }| format!("{method} {path}")).collect()
    }

    /// The console's rights that it hasn't used yet.
    pub(crate) fn unused_rights(&self) -> BTreeSet<Right> {
        self.rights.all().difference(&self.used.lock().expect("no panic")).cloned().collect()
    }

    /// Whether the console may make this request.
    fn may(&self, request: &Request) -> bool {
        match self.rights.allow(request.method(), request.uri(), meaning) {
            Ok(right) => {
                self.used.lock().expect("no panic").insert(right);
                true
            }
            Err(why) => {
                self.without_right.lock().expect("no panic").push(why);
                false
            }
        }
    }

    /// Cancels `runs`, waits for their ends, and stops: no process may outlive the test. Fails if the console made a request for which
    /// it has no right.
    pub(crate) async fn end(&self, runs: &[&str]) {
        let operations: Api<ClusterOperation> = Api::all(self.admin());
        let jobs: Api<Job> = Api::default_namespaced(self.admin());
        for run in runs {
            let cancel = Patch::Merge(json!({"spec": {"cancel": true}}));
            let _ = operations.patch(run, &PatchParams::default(), &cancel).await;
            let job = format!("kubeonkube-{run}-job");
            let mut tick = interval(Duration::from_millis(20));
            let ended = async {
                while jobs.get_opt(&job).await.expect("an answer").is_some_and(|job| is_active(&job)) {
                    tick.tick().await;
                }
            };
            timeout(PATIENCE, ended).await.expect("the cancelled run ends");
        }
        self.stop.cancel();
        let runner = self.runner.lock().expect("no panic").take();
        if let Some(runner) = runner {
            runner.await.expect("the runner ends without a panic");
        }
        let without = self.without_right.lock().expect("no panic");
        assert!(without.is_empty(), "{without:#?}");
    }

    /// A client with all rights, directly on the embedded API.
    pub(crate) fn admin(&self) -> kube::Client {
        self.api.client("tester")
    }
}

/// The namespaces of the shipped rights that a namespace of these tests stands for: they have only one.
fn meaning(_: &str) -> Vec<&'static str> {
    vec![SYSTEM, CLUSTERS, "default"]
}

fn is_active(job: &Job) -> bool {
    job.status
        .as_ref()
        .is_some_and(|status| status.active.unwrap_or_default() + status.terminating.unwrap_or_default() > 0)
}

async fn answer(State(cluster): State<Arc<Cluster>>, mut request: Request) -> Response {
    let headers = request.headers();
    // The console has no right to impersonate users, so it must never try.
    let impersonates = headers.keys().any(|name| name.as_str().starts_with("impersonate-"));
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let user = token.and_then(|token| cluster.people.lock().expect("no panic").get(token).cloned());
    let Some(user) = user else { return refusal(StatusCode::UNAUTHORIZED, "Unauthorized") };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let asked = Asked { user: user.clone(), method: method.clone(), path: path.clone() };
    cluster.asked.lock().expect("no panic").push(asked);
    if impersonates || user == "console" && !cluster.may(&request) {
        return refusal(StatusCode::FORBIDDEN, "Forbidden");
    }
    let is_reader = cluster.readers.lock().expect("no panic").contains(&user);
    if path.ends_with("/tokenreviews") {
        let review: Value = body(request).await;
        let token = review.pointer("/spec/token").and_then(Value::as_str).unwrap_or_default();
        let status = match cluster.people.lock().expect("no panic").get(token) {
            Some(name) => json!({"authenticated": true, "user": {"username": name}}),
            None => json!({"user": {}, "error": "invalid bearer token"}),
        };
        return created(
            json!({"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {}, "spec": {}, "status": status}),
        );
    }
    if path.ends_with("/selfsubjectaccessreviews") {
        let review: Value = body(request).await;
        let attributes = &review["spec"]["resourceAttributes"];
        let allowed = !is_reader || attributes["verb"] == "list";
        return created(
            json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": {}, "status": {"allowed": allowed}}),
        );
    }
    if is_reader {
        return refusal(StatusCode::FORBIDDEN, "Forbidden");
    }
    let admin = HeaderValue::try_from(format!("Bearer {}", cluster.api.token())).expect("ascii");
    request.headers_mut().insert(header::AUTHORIZATION, admin);
    cluster.api.service().oneshot(request).await.into_response()
}

async fn body(request: Request) -> Value {
    let bytes = to_bytes(request.into_body(), 1 << 20).await.expect("small");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn created(review: Value) -> Response {
    (StatusCode::CREATED, axum::Json(review)).into_response()
}

fn refusal(code: StatusCode, reason: &str) -> Response {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason,
        "code": code.as_u16(), "message": format!("{reason}, the cluster says")});
    (code, axum::Json::<Value>(status)).into_response()
}
