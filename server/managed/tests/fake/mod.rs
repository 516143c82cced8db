//! An API server with `/version`, `/readyz`, nodes, and a pod with its budget, behind TLS.

#![allow(dead_code, reason = "each suite uses a part")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

#[derive(Default)]
struct Answers {
    nodes: BTreeMap<&'static str, bool>,
    failing: Vec<&'static str>,
    endless: bool,
    connections: usize,
    tokens: Vec<String>,
}

pub(crate) struct FakeCluster {
    address: SocketAddr,
    authority: String,
    answers: Arc<Mutex<Answers>>,
    acceptor: TlsAcceptor,
    router: Router,
    serving: JoinHandle<()>,
}

impl FakeCluster {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (config, authority) = tls();
        let answers =
            Arc::new(Mutex::new(Answers { nodes: [("cp1", true), ("w1", true)].into(), ..Answers::default() }));
        let router = Router::new()
            .route("/version", get(version))
            .route("/readyz", get(readyz))
            .route("/api/v1/nodes", get(nodes))
            .route("/api/v1/pods", get(pods))
            .route("/apis/policy/v1/poddisruptionbudgets", get(budgets))
            .layer(axum::middleware::from_fn_with_state(answers.clone(), check_token))
            .with_state(answers.clone());
        let address = listener.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(config);
        let serving = tokio::spawn(serve(listener, acceptor.clone(), router.clone(), answers.clone()));
        Self { address, authority, answers, acceptor, router, serving }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn kubeconfig(&self) -> String {
        self.kubeconfig_with_authority_of(self)
    }

    pub(crate) fn kubeconfig_with_authority_of(&self, other: &Self) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: c\n  cluster: {{server: 'https://{}', certificate-authority-data: {}}}\nusers:\n- name: u\n  user: {{token: good-token}}\ncontexts:\n- name: x\n  context: {{cluster: c, user: u}}\n",
            self.address, other.authority
        )
    }

    pub(crate) fn set_ready(&self, node: &'static str, ready: bool) {
        self.answers.lock().unwrap().nodes.insert(node, ready);
    }

    pub(crate) fn fail_check(&self, check: &'static str) {
        self.answers.lock().unwrap().failing.push(check);
    }

    pub(crate) fn send_endlessly(&self) {
        self.answers.lock().unwrap().endless = true;
    }

    pub(crate) fn connections(&self) -> usize {
        self.answers.lock().unwrap().connections
    }

    /// How many requests carried this token.
    pub(crate) fn seen(&self, token: &str) -> usize {
        self.answers.lock().unwrap().tokens.iter().filter(|seen| seen.ends_with(token)).count()
    }

    /// Closes the port.
    pub(crate) async fn stop(&mut self) {
        self.serving.abort();
        let _ = (&mut self.serving).await;
    }

    /// Opens the port again.
    pub(crate) async fn start_again(&mut self) {
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        let binding = async {
            loop {
                tick.tick().await;
                // Another process may use the port for a moment.
                if let Ok(listener) = TcpListener::bind(self.address).await {
                    return listener;
                }
            }
        };
        let listener = tokio::time::timeout(Duration::from_secs(60), binding).await.expect("the port is free");
        let (acceptor, router) = (self.acceptor.clone(), self.router.clone());
        self.serving = tokio::spawn(serve(listener, acceptor, router, self.answers.clone()));
    }
}

impl Drop for FakeCluster {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, router: Router, answers: Arc<Mutex<Answers>>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        answers.lock().unwrap().connections += 1;
        let (tls, router) = (tls.clone(), router.clone());
        connections.spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let service = TowerToHyperService::new(router);
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// A server certificate for loopback, and its authority in base64.
fn tls() -> (Arc<ServerConfig>, String) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(authority, key);
    let own = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&own, &issuer).unwrap();
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    (Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap()), STANDARD.encode(pem))
}

async fn check_token(
    State(answers): State<Arc<Mutex<Answers>>>,
    request: Request,
    next: axum::middleware::Next,
) -> Response {
    let token =
        request.headers().get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    answers.lock().unwrap().tokens.push(token.clone());
    if token == "Bearer good-token" { next.run(request).await } else { http::StatusCode::UNAUTHORIZED.into_response() }
}

async fn version(State(answers): State<Arc<Mutex<Answers>>>) -> Response {
    if answers.lock().unwrap().endless {
        let piece = bytes::Bytes::from(vec![b' '; 1 << 16]);
        let pieces = futures::stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone()));
        return Body::from_stream(pieces).into_response();
    }
    axum::Json(json!({"major": "1", "minor": "34", "gitVersion": "v1.34.4"})).into_response()
}

async fn readyz(State(answers): State<Arc<Mutex<Answers>>>) -> Response {
    let failing = answers.lock().unwrap().failing.clone();
    let line = |check: &str| {
        if failing.contains(&check) {
            format!("[-]{check} failed: reason withheld\n")
        } else {
            format!("[+]{check} ok\n")
        }
    };
    let text: String = ["ping", "etcd", "informer-sync"].map(line).concat();
    let status = if failing.is_empty() { http::StatusCode::OK } else { http::StatusCode::INTERNAL_SERVER_ERROR };
    (status, text).into_response()
}

async fn nodes(State(answers): State<Arc<Mutex<Answers>>>) -> axum::Json<Value> {
    let nodes = answers.lock().unwrap().nodes.clone();
    let item = |(name, ready): (&str, bool)| {
        let labels =
            if name.starts_with("cp") { json!({"node-role.kubernetes.io/control-plane": ""}) } else { json!({}) };
        json!({"metadata": {"name": name, "labels": labels, "creationTimestamp": "2026-11-20T10:00:00Z"},
            "status": {"conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }, "message": "the kubelet said so"}],
                "nodeInfo": {"kubeletVersion": "v1.34.4", "architecture": "", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
                    "kubeProxyVersion": "", "machineID": "", "operatingSystem": "", "osImage": "", "systemUUID": ""},
                "addresses": [{"type": "InternalIP", "address": "10.0.0.7"}]}})
    };
    axum::Json(
        json!({"kind": "NodeList", "metadata": {"continue": ""}, "items": nodes.into_iter().map(item).collect::<Vec<_>>()}),
    )
}

/// One pod, on the node that the request names.
async fn pods(RawQuery(query): RawQuery) -> axum::Json<Value> {
    let of_w1 = query.unwrap_or_default().contains("spec.nodeName%3Dw1");
    let pod = json!({"metadata": {"namespace": "shop", "name": "web-1", "labels": {"app": "web"}}, "status": {"phase": "Running"}});
    axum::Json(json!({"metadata": {}, "items": if of_w1 { vec![pod] } else { vec![] }}))
}

async fn budgets() -> axum::Json<Value> {
    axum::Json(json!({"metadata": {}, "items": [{"metadata": {"namespace": "shop", "name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}]}))
}
