//! A client in front of the real one that counts, delays or cuts requests, and refuses those for which the controller has no right.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use kube::Client;
use kube::client::Body;

use crate::rights::{CLUSTERS, Rights, SYSTEM};
use crate::world::OWN_NAMESPACE;

/// The rights of every controller.
static RIGHTS: LazyLock<Rights> = LazyLock::new(Rights::shipped);
/// The requests of all controllers for which they have no right.
static WITHOUT_RIGHT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Fails if a controller made a request for which it has no right.
pub(crate) fn check_rights() {
    let without = WITHOUT_RIGHT.lock().unwrap();
    assert!(without.is_empty(), "{without:#?}");
}

/// The namespaces of the shipped rights that a namespace of these tests stands for.
fn meaning(namespace: &str) -> Vec<&'static str> {
    match namespace {
        OWN_NAMESPACE => vec![SYSTEM],
        "default" => vec!["default"],
        _ => vec![CLUSTERS],
    }
}

type Answer = Response<UnsyncBoxBody<bytes::Bytes, kube::Error>>;

/// The requests that passed, and what to do with further ones.
#[derive(Default)]
pub(crate) struct Relay {
    /// Method and URL of all requests except watches.
    pub(crate) requests: Mutex<Vec<String>>,
    /// Those of them that met a conflict. The controller repeats them.
    conflicts: Mutex<Vec<String>>,
    passed: AtomicUsize,
    cut_after: Mutex<Option<usize>>,
    /// The connection is lost: no request passes.
    pub(crate) cut: AtomicBool,
    /// Watch events of ConfigMaps arrive this much later.
    pub(crate) delay_config_maps: Mutex<Option<Duration>>,
    /// Watch events of pods never arrive.
    pub(crate) hide_pods: AtomicBool,
    /// Requests that contain this text wait until it is removed.
    gate: tokio::sync::watch::Sender<Option<String>>,
    /// Requests that contain the first text are refused with 403 and the second one.
    refused: Mutex<Vec<(String, String)>>,
    /// When requests were refused.
    pub(crate) refusals: Mutex<Vec<Instant>>,
    /// All watch events arrive this much later.
    pub(crate) delay_watches: Mutex<Option<Duration>>,
}

impl Relay {
    /// A client whose requests go through this relay.
    pub(crate) fn client(self: &Arc<Self>, behind: &Client) -> Client {
        let (relay, behind) = (self.clone(), behind.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (relay, behind) = (relay.clone(), behind.clone());
            async move { relay.pass(&behind, request).await }
        });
        Client::new(service, "default")
    }

    /// Loses the answer to the n-th request from now (without watches), and the connection.
    pub(crate) fn cut_after(&self, requests: usize) {
        self.passed.store(0, Ordering::SeqCst);
        *self.cut_after.lock().unwrap() = Some(requests);
    }

    /// Holds back the requests that contain `text`, such as `POST /apis/batch/v1/`.
    pub(crate) fn hold_back(&self, text: &str) {
        self.gate.send_replace(Some(text.to_owned()));
    }

    /// Lets the held requests through.
    pub(crate) fn let_through(&self) {
        self.gate.send_replace(None);
    }

    /// Refuses the requests that contain `text`, as an admission policy or a quota would.
    pub(crate) fn refuse(&self, text: &str, why: &str) {
        self.refused.lock().unwrap().push((text.to_owned(), why.to_owned()));
    }

    /// Stops refusing.
    pub(crate) fn allow(&self) {
        self.refused.lock().unwrap().clear();
    }

    /// The requests after the first `before`, without those that met a conflict.
    pub(crate) fn requests_since(&self, before: usize) -> Vec<String> {
        let mut requests = self.requests.lock().unwrap()[before..].to_vec();
        for repeated in &*self.conflicts.lock().unwrap() {
            if let Some(at) = requests.iter().position(|request| request == repeated) {
                requests.remove(at);
            }
        }
        requests
    }

    /// Whether a request with this text was made, even if it is held back.
    pub(crate) fn asked(&self, text: &str) -> bool {
        self.requests.lock().unwrap().iter().any(|request| request.contains(text))
    }

    async fn pass(&self, behind: &Client, request: Request<Body>) -> Result<Answer, kube::Error> {
        let lost = || kube::Error::Service("the connection is gone".into());
        let what = format!("{} {}", request.method(), request.uri());
        if let Err(why) = RIGHTS.allow(request.method(), request.uri(), meaning) {
            WITHOUT_RIGHT.lock().unwrap().push(format!("{what}: {why}"));
            return Ok(forbidden(&why));
        }
        let watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        if self.cut.load(Ordering::SeqCst) {
            return Err(lost());
        }
        if watch {
            let delay = if what.contains("/configmaps") { *self.delay_config_maps.lock().unwrap() } else { None };
            let delay = delay.or(*self.delay_watches.lock().unwrap());
            if self.hide_pods.load(Ordering::SeqCst) && what.contains("/pods") {
                std::future::pending::<()>().await;
            }
            let response = behind.send(request).await?;
            return Ok(match delay {
                Some(delay) => response.map(|body| later(body, delay)),
                None => response.map(|body| body.map_err(kube_error).boxed_unsync()),
            });
        }
        // The first lists of watches belong to the start of the controller, not to an operation.
        let counts = !what.contains("limit=500");
        if counts {
            self.requests.lock().unwrap().push(what.clone());
        }
        let open = |held: &Option<String>| held.as_ref().is_none_or(|text| !what.contains(text));
        drop(self.gate.subscribe().wait_for(open).await);
        let refused = self.refused.lock().unwrap().iter().find(|(text, _)| what.contains(text)).cloned();
        if let Some((_, why)) = refused {
            self.refusals.lock().unwrap().push(Instant::now());
            return Ok(forbidden(&why));
        }
        let response = behind.send(request).await;
        if counts && response.as_ref().is_ok_and(|response| response.status() == StatusCode::CONFLICT) {
            self.conflicts.lock().unwrap().push(what.clone());
        }
        let limit = *self.cut_after.lock().unwrap();
        if counts && limit.is_some_and(|limit| self.passed.fetch_add(1, Ordering::SeqCst) + 1 >= limit) {
            self.cut.store(true, Ordering::SeqCst);
            return Err(lost());
        }
        Ok(response?.map(|body| body.map_err(kube_error).boxed_unsync()))
    }
}

fn forbidden(why: &str) -> Answer {
    let status = serde_json::json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": 403, "reason": "Forbidden", "message": why});
    let body = http_body_util::Full::new(bytes::Bytes::from(status.to_string()));
    let body = body.map_err(|never: std::convert::Infallible| match never {}).boxed_unsync();
    Response::builder().status(403).header("content-type", "application/json").body(body).unwrap()
}

fn kube_error(error: impl std::error::Error + Send + Sync + 'static) -> kube::Error {
    kube::Error::Service(Box::new(error))
}

fn later(body: Body, delay: Duration) -> UnsyncBoxBody<bytes::Bytes, kube::Error> {
    // Each piece has its own due time, so that delays don't add up.
    let (sender, receiver) = tokio::sync::mpsc::channel(4096);
    tokio::spawn(async move {
        let mut pieces = std::pin::pin!(body.into_data_stream());
        while let Some(piece) = pieces.next().await {
            if sender.send((tokio::time::Instant::now() + delay, piece)).await.is_err() {
                return;
            }
        }
    });
    let delayed = futures::stream::unfold(receiver, |mut receiver| async move {
        let (due, piece) = receiver.recv().await?;
        tokio::time::sleep_until(due).await;
        Some((piece.map(http_body::Frame::data).map_err(kube_error), receiver))
    });
    StreamBody::new(delayed).boxed_unsync()
}
