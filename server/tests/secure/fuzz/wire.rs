//! Requests as bytes, so that they may be wrong in any way.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mutation::Mutator;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::patience::PATIENCE;
use crate::server::Server;

/// A request that announces more than it contains gets no answer. After this time its end is sent.
const WHOLE: Duration = Duration::from_millis(700);
/// How long the body of an answer is read. A watch doesn't end.
const BODY: Duration = Duration::from_millis(100);

/// The name of the port for kubectl.
pub(super) const KUBERNETES: &str = "the Kubernetes port";

/// A port of the program.
pub(super) struct Target {
    pub(super) name: &'static str,
    address: SocketAddr,
    tls: Option<TlsConnector>,
    /// The header that authenticates.
    pub(super) signed_in: (&'static str, String),
}

impl Target {
    pub(super) async fn console(server: &Server) -> Self {
        let cookie = server.sign_in_by_link().await;
        Self { name: "the console", address: server.address, tls: None, signed_in: ("cookie", cookie) }
    }

    pub(super) fn kubernetes(server: &Server) -> Self {
        let kubeconfig = std::fs::read(server.file("kubeconfig")).expect("a kubeconfig");
        let kubeconfig: serde_json::Value = serde_json::from_slice(&kubeconfig).expect("JSON");
        let text = |pointer: &str| kubeconfig.pointer(pointer).and_then(|value| value.as_str()).expect("a text");
        let address = text("/clusters/0/cluster/server").trim_start_matches("https://").parse().expect("an address");
        let pem = BASE64_STANDARD.decode(text("/clusters/0/cluster/certificate-authority-data")).expect("base64");
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&pem).expect("PEM")).expect("a certificate");
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let token = format!("Bearer {}", text("/users/0/user/token"));
        let tls = Some(TlsConnector::from(Arc::new(config)));
        Self { name: KUBERNETES, address, tls, signed_in: ("authorization", token) }
    }

    /// A request without a body.
    pub(super) fn get(&self, path: &str) -> Request {
        self.request("GET", path, "", "")
    }

    /// A request as an ordinary client sends it.
    pub(super) fn request(&self, method: &str, path: &str, kind: &str, body: impl Into<Vec<u8>>) -> Request {
        let (name, value) = &self.signed_in;
        let mut headers = vec![
            ("host".to_owned(), self.address.to_string()),
            ((*name).to_owned(), value.clone()),
            ("accept".to_owned(), "application/json".to_owned()),
            ("connection".to_owned(), "close".to_owned()),
        ];
        if method != "GET" {
            headers.push(("origin".to_owned(), format!("http://{}", self.address)));
            headers.push(("content-type".to_owned(), kind.to_owned()));
        }
        Request { method: method.to_owned(), path: path.to_owned(), headers, body: body.into() }
    }

    /// Sends a request that is complete on a new connection; returns the status of the answer. `None` if the connection was closed
    /// without one.
    pub(super) async fn send(&self, request: &[u8]) -> Option<u16> {
        self.send_within(PATIENCE, request).await
    }

    /// The same for a request that may be incomplete.
    pub(super) async fn send_incomplete(&self, request: &[u8]) -> Option<u16> {
        self.send_within(WHOLE, request).await
    }

    async fn send_within(&self, whole: Duration, request: &[u8]) -> Option<u16> {
        let stream = TcpStream::connect(self.address).await.expect("connected");
        let Some(tls) = &self.tls else { return exchange(stream, whole, request).await };
        let name = ServerName::from(self.address.ip());
        let stream = timeout(PATIENCE, tls.connect(name, stream)).await.expect("in time").expect("a handshake");
        exchange(stream, whole, request).await
    }
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, limit: Duration, request: &[u8]) -> Option<u16> {
    let mut answer = Vec::new();
    let whole = async {
        // An error means that the server has refused the request before it had read all of it.
        let _ = stream.write_all(request).await;
        let _ = stream.flush().await;
        read_head(&mut stream, &mut answer).await;
    };
    if timeout(limit, whole).await.is_err() {
        let _ = timeout(PATIENCE, stream.shutdown()).await;
        timeout(PATIENCE, read_head(&mut stream, &mut answer)).await.expect("an answer, or the end of the connection");
    }
    let _ = timeout(BODY, stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok())
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin), answer: &mut Vec<u8>) {
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        if !stream.read_buf(answer).await.is_ok_and(|read| read > 0) {
            return;
        }
    }
}

#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

const METHODS: &[&str] =
    &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", "X", ""];
const HEADERS: &[(&str, &str)] = &[
    ("host", "127.0.0.1:99999"),
    ("host", "x:abc"),
    ("host", ""),
    ("host", "[::1"),
    ("host", "evil.example"),
    ("content-length", "-1"),
    ("content-length", "99999999999999999999"),
    ("content-length", "5"),
    ("transfer-encoding", "chunked"),
    ("transfer-encoding", "gzip, chunked"),
    ("expect", "100-continue"),
    ("expect", "200-maybe"),
    ("upgrade", "websocket"),
    ("connection", "upgrade"),
    ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
    ("accept", "*/*;q=x"),
    ("accept", ""),
    ("accept-encoding", "gzip;q=9, br"),
    ("content-type", "application/vnd.kubernetes.protobuf"),
    ("content-type", "multipart/form-data; boundary="),
    ("content-type", "application/json; charset=\"utf-16"),
    ("if-none-match", "\"\", W/\"a"),
    ("range", "bytes=-9999999999999999999"),
    ("cookie", "a=b; =; ;;"),
    ("cookie", "kubeonkube-=x"),
    ("authorization", "Bearer"),
    ("authorization", "Bearer \u{e4}"),
    ("origin", "null"),
    ("sec-fetch-site", "cross-site"),
    ("x-forwarded-host", "evil.example"),
];

impl Request {
    /// Changes the request line or the headers.
    pub(super) fn change_head(&mut self, mutator: &mut Mutator) {
        match mutator.below(7) {
            0 => self.method = (*mutator.pick(METHODS)).to_owned(),
            1 => self.path = mutator.text(&self.path).replace(' ', "%20"),
            2 => {
                self.path =
                    (*mutator.pick(&["*", "/", "//", "http://evil.example/", "/%", "/\u{e4}", "?", "/..", "a"]))
                        .to_owned();
            }
            3 => {
                let at = mutator.below(self.headers.len());
                self.headers[at].1 = mutator.text(&self.headers[at].1);
            }
            4 => {
                let again = mutator.pick(&self.headers).clone();
                self.headers.push(again);
            }
            5 => drop(self.headers.remove(mutator.below(self.headers.len()))),
            _ => {
                let (name, value) = *mutator.pick(HEADERS);
                if mutator.one_in(2) {
                    self.headers.retain(|(known, _)| known != name);
                }
                self.headers.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let is_framed =
            self.headers.iter().any(|(name, _)| matches!(name.as_str(), "content-length" | "transfer-encoding"));
        if !is_framed && !self.body.is_empty() {
            head += &format!("content-length: {}\r\n", self.body.len());
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        write!(f, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]).escape_debug())
    }
}
