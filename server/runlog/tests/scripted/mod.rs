//! An API server with one pod, whose log the test writes. It answers like a real one: it truncates `sinceTime` to seconds,
//! and ends a follow with the container. Connections break when the test says so.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::backend::{Frames, Runs};
use api::log::{LogEnd, LogFrame, LogLine};
use api::{OperationName, User};
use bytes::Bytes;
use crd::{ClusterOperation, ClusterOperationStatus, JobRef, Phase};
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use kube::Client;
use kube::client::Body;
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{self, Store};
use kube::runtime::watcher;
use kubeonkube_runlog::{Everybody, Options, Readers, RunLog};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) const TOKEN: &str = "0123456789abcdef";
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// How a connection breaks after this many bytes.
#[derive(Clone, Copy)]
pub(crate) enum Break {
    /// With a transport error.
    Error(usize),
    /// With an orderly end in the middle of a line, as a restarting API server does.
    Quiet(usize),
}

#[derive(Default)]
struct State {
    /// Timestamp in nanoseconds, bytes.
    lines: Vec<(i64, Vec<u8>)>,
    /// Lines before this index were rotated away.
    rotated: usize,
    ended: bool,
    deleted: bool,
    inputs_gone: bool,
    breaks: VecDeque<Break>,
    connections: usize,
}

/// The scripted server.
#[derive(Clone)]
pub(crate) struct Script {
    state: Arc<Mutex<State>>,
    /// Changes with every change of the state, and wakes follows and watches.
    version: watch::Sender<u64>,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self { state: Arc::default(), version: watch::Sender::new(1) }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.version.send_modify(|v| *v += 1);
    }

    pub(crate) fn write(&self, lines: impl IntoIterator<Item = (i64, Vec<u8>)>) {
        self.change(|s| s.lines.extend(lines));
    }

    pub(crate) fn breaks(&self, breaks: impl IntoIterator<Item = Break>) {
        self.change(|s| s.breaks.extend(breaks));
    }

    pub(crate) fn rotate(&self) {
        self.change(|s| s.rotated = s.lines.len());
    }

    pub(crate) fn end(&self) {
        self.change(|s| s.ended = true);
    }

    pub(crate) fn delete_pod(&self) {
        self.change(|s| {
            s.ended = true;
            s.deleted = true;
        });
    }

    pub(crate) fn delete_inputs(&self) {
        self.change(|s| s.inputs_gone = true);
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    pub(crate) fn breaks_left(&self) -> usize {
        self.state.lock().unwrap().breaks.len()
    }

    pub(crate) fn client(&self) -> Client {
        let script = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let answer = script.answer(&request);
            async move { Ok::<_, Infallible>(answer) }
        });
        Client::new(service, "default")
    }

    fn answer(&self, request: &Request<Body>) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
        let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
        match path {
            "/api/v1/pods" if query.contains("watch=true") => self.watch_pods(),
            "/api/v1/pods" => {
                let items: Vec<_> = self.pod().into_iter().collect();
                json_body(
                    200,
                    &json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": self.version.borrow().to_string()}, "items": items}),
                )
            }
            "/api/v1/namespaces/kube-system" => json_body(
                200,
                &json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "kube-system", "uid": "this-api"}}),
            ),
            "/api/v1/namespaces/lab/secrets/grow-inputs" if !self.state.lock().unwrap().inputs_gone => {
                let data = |text: &str| k8s_openapi::ByteString(text.as_bytes().to_vec());
                let hosts = "all: {hosts: {m1: {ansible_password: hunter2222}}}";
                json_body(
                    200,
                    &json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "grow-inputs"},
                    "data": {"token": data(TOKEN), "hosts.yml": data(hosts), "group_vars.yml": data("registry_token: opensesame")}}),
                )
            }
            "/api/v1/namespaces/lab/pods/grow-1/log" if self.pod().is_some() => self.log(query),
            _ => json_body(
                404,
                &json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": format!("{path} not found")}),
            ),
        }
    }

    fn pod(&self) -> Option<Value> {
        let state = self.state.lock().unwrap();
        let container = if state.ended { json!({"terminated": {"exitCode": 0}}) } else { json!({"running": {}}) };
        (!state.deleted).then(|| pod(&self.version.borrow().to_string(), &container))
    }

    fn watch_pods(&self) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
        let events =
            stream::unfold((self.clone(), self.version.subscribe(), false), |(script, mut version, gone)| async move {
                version.changed().await.ok()?;
                let event = match script.pod() {
                    Some(pod) => json!({"type": "MODIFIED", "object": pod}),
                    None if gone => std::future::pending().await,
                    None => {
                        json!({"type": "DELETED", "object": pod("999999", &json!({"terminated": {"exitCode": 0}}))})
                    }
                };
                let gone = event["type"] == "DELETED";
                Some((format!("{event}\n"), (script, version, gone)))
            });
        body(events.map(|event| Ok(Bytes::from(event))))
    }

    fn log(&self, query: &str) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
        assert!(
            query.contains("follow=true")
                && query.contains("timestamps=true")
                && query.contains("container=kubeonkube"),
            "{query}"
        );
        let since = query.split('&').find_map(|pair| pair.strip_prefix("sinceTime=")).map_or(i64::MIN, |time| {
            let time: jiff::Timestamp = time.replace("%3A", ":").parse().unwrap();
            time.as_second() * 1_000_000_000
        });
        let break_after = {
            let mut state = self.state.lock().unwrap();
            state.connections += 1;
            state.breaks.pop_front()
        };
        let start = self.state.lock().unwrap().rotated;
        let version = self.version.subscribe();
        let text = stream::unfold((self.clone(), version, start), move |(script, mut version, mut at)| async move {
            loop {
                version.borrow_and_update();
                let (chunk, ended) = {
                    let state = script.state.lock().unwrap();
                    let until = state.lines.len().min(at + 500);
                    let chunk: Vec<u8> =
                        state.lines[at..until].iter().filter(|(t, _)| *t >= since).flat_map(line).collect();
                    at = until;
                    (chunk, state.ended && until == state.lines.len())
                };
                if !chunk.is_empty() {
                    return Some((chunk, (script, version, at)));
                }
                if at < script.state.lock().unwrap().lines.len() {
                    continue;
                }
                if ended || version.changed().await.is_err() {
                    return None;
                }
            }
        });
        let mut left = break_after.map(|b| match b {
            Break::Error(n) | Break::Quiet(n) => n,
        });
        let broken = text.boxed().flat_map(move |mut chunk| {
            let mut pieces = Vec::new();
            if let Some(left) = &mut left {
                let over = chunk.len() > *left;
                chunk.truncate(*left);
                *left -= chunk.len();
                pieces.push(Ok(Bytes::from(chunk)));
                if over {
                    pieces.push(Err(std::io::Error::other("broken by the test")));
                }
            } else {
                pieces.push(Ok(Bytes::from(chunk)));
            }
            stream::iter(pieces)
        });
        let quiet = matches!(break_after, Some(Break::Quiet(_)));
        body(broken.scan(false, move |stopped, piece| {
            let stops = *stopped || (quiet && piece.is_err());
            *stopped |= piece.is_err();
            futures::future::ready((!stops).then_some(piece))
        }))
    }
}

fn line((at, bytes): &(i64, Vec<u8>)) -> Vec<u8> {
    let stamp = jiff::Timestamp::from_nanosecond(i128::from(*at)).unwrap();
    [format!("{stamp:.9} ").as_bytes(), bytes, b"\n"].concat()
}

fn pod(version: &str, container: &Value) -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "grow-1", "namespace": "lab", "uid": "pod-1", "resourceVersion": version,
            "labels": {"kubeonkube.clay.io/operation": "grow"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "kubeonkube-grow-job", "uid": "job-1", "controller": true}]},
        "spec": {"containers": [], "volumes": [{"name": "inputs", "secret": {"secretName": "grow-inputs"}}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "kubeonkube", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": container}]},
    })
}

fn json_body(status: u16, value: &Value) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
    let mut response = body(stream::iter([Ok(Bytes::from(value.to_string()))]));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
    response
}

fn body(
    chunks: impl futures::Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
    Response::new(StreamBody::new(chunks.map(|chunk| chunk.map(Frame::data))).boxed_unsync())
}

/// A running collector over a script.
pub(crate) struct World {
    pub(crate) runs: Arc<RunLog>,
    _operations: Writer<ClusterOperation>,
    stop: CancellationToken,
    work: tokio::task::JoinHandle<()>,
}

impl World {
    pub(crate) fn start(script: &Script, dir: &Path) -> Self {
        Self::read_by(script, dir, Arc::new(Everybody))
    }

    /// With these rights to read.
    pub(crate) fn read_by(script: &Script, dir: &Path, readers: Arc<dyn Readers>) -> Self {
        let (store, mut operations): (Store<ClusterOperation>, _) = reflector::store();
        operations.apply_watcher_event(&watcher::Event::Init);
        operations.apply_watcher_event(&watcher::Event::InitApply(operation()));
        operations.apply_watcher_event(&watcher::Event::InitDone);
        let stop = CancellationToken::new();
        let options = Options { dir: dir.to_owned(), readers, is_unread: Arc::new(|_| false) };
        let (runs, work) = kubeonkube_runlog::start(script.client(), options, store, stop.clone());
        Self { runs, _operations: operations, stop, work: tokio::spawn(work) }
    }

    /// Like `kill -9`: nothing is flushed, and viewers get no end.
    pub(crate) async fn kill(self) {
        self.stop.cancel();
        let _ = self.work.await;
    }

    pub(crate) async fn follow(&self, from: u64) -> Frames<LogFrame> {
        self.runs.follow(&user(), &run(), from, 1).await.unwrap()
    }

    /// Waits until this many lines are stored.
    pub(crate) async fn lines(&self, wanted: u64) {
        until(async || self.runs.page(&user(), &run(), 1, 0).await.unwrap().total >= wanted).await;
    }
}

/// Waits for a condition with a deadline.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, wait).await.expect("the condition holds before the deadline");
}

fn operation() -> ClusterOperation {
    let mut operation = ClusterOperation::new("grow", crd::ClusterOperationSpec::default());
    let job = JobRef { namespace: "lab".into(), name: "kubeonkube-grow-job".into(), uid: Some("job-1".into()) };
    operation.status =
        Some(ClusterOperationStatus { status: Phase::Running, job_ref: Some(job), ..Default::default() });
    operation
}

pub(crate) fn user() -> User {
    User { name: "ada".into(), token: None }
}

pub(crate) fn run() -> OperationName {
    "grow".parse().unwrap()
}

/// All lines and events of a follow, and how it ended.
pub(crate) async fn drain(frames: Frames<LogFrame>) -> (Vec<LogLine>, Vec<api::run::RunEvent>, Option<LogEnd>) {
    let mut frames = frames;
    let (mut lines, mut events, mut end) = (Vec::new(), Vec::new(), None);
    let mut first_line = None;
    let all = async {
        while let Some(frame) = frames.next().await {
            match frame {
                LogFrame::Lines { first, lines: more } => {
                    let start = *first_line.get_or_insert(first);
                    assert_eq!(first, start + lines.len() as u64, "no line is missing between two frames");
                    lines.extend(more);
                }
                LogFrame::Events(more) => events.extend(more),
                LogFrame::Gap { from, to } => panic!("a gap {from}..{to}"),
                LogFrame::End(e) => end = Some(e),
                LogFrame::Closed(problem) => panic!("closed: {problem}"),
            }
        }
    };
    tokio::time::timeout(DEADLINE, all).await.expect("the run ends before the deadline");
    (lines, events, end)
}
