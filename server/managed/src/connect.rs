//! Connections to a managed cluster's API server. No proxy, no redirect, no other address than the checked ones.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use api::Time;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HOST, USER_AGENT};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::kubeconfig::Target;
use crate::{address, certificate};

/// For the connection with its TLS handshake, and for each request.
const WITHIN: Duration = Duration::from_secs(4);
/// The longest answer that is read.
const ANSWER: usize = 8 * 1024 * 1024;
/// Names that are resolved at once. The system's resolver can't be interrupted: without a limit, a name server that doesn't answer would
/// take all of tokio's 512 threads for blocking work.
static LOOKUPS: Semaphore = Semaphore::const_new(32);

/// Why a request got no answer; a sentence for pages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("The name {0} can't be resolved.")]
    NoSuchName(String),
    #[error("kubeonkube doesn't connect to {at}, which {named_by} names: {why}.")]
    Address { at: String, named_by: &'static str, why: &'static str },
    #[error("{0} doesn't answer within {within} s.", within = .1.as_secs())]
    Timeout(String, Duration),
    #[error("{0} can't be reached: {why}.", why = plain(.1))]
    Io(String, io::Error),
    #[error("The kubeconfig's certificates can't be used: {0}.")]
    Certificates(String),
    #[error("The API server refuses the kubeconfig's credentials ({0}).")]
    Credentials(u16),
    #[error("The API server answers {0} to {1}.")]
    Status(u16, &'static str),
    #[error("The API server's answer to {0} can't be read.")]
    Answer(&'static str),
    #[error("{0} closes the connection before its answer, or its answer is not HTTP.")]
    NotHttp(String),
}

/// Without the number of the operating system's error.
fn plain(error: &io::Error) -> String {
    if error.raw_os_error().is_some() { error.kind().to_string() } else { error.to_string() }
}

/// A connection, and when the certificates of both sides expire.
pub(crate) struct Connection {
    sender: SendRequest<Empty<Bytes>>,
    driver: JoinHandle<()>,
    host: String,
    prefix: String,
    token: Option<String>,
    pub(crate) serving: Option<Time>,
    pub(crate) client: Option<Time>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Connects to the target. `loopback`: loopback addresses are allowed.
pub(crate) async fn connect(target: Target, loopback: bool) -> Result<Connection, Failed> {
    Way::new(target)?.connect(loopback).await
}

/// The way to an API server: its address, and what both sides prove themselves with. One way is enough for many connections.
pub(crate) struct Way {
    host: String,
    port: u16,
    name: ServerName<'static>,
    tls: TlsConnector,
    /// What requests name as host.
    authority: String,
    prefix: String,
    token: Option<String>,
    /// When the client's certificate expires.
    client: Option<Time>,
}

impl Way {
    pub(crate) fn new(target: Target) -> Result<Self, Failed> {
        let host = target.server.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = target.server_name.unwrap_or_else(|| host.clone());
        let client = target.client.as_ref().and_then(|(chain, _)| certificate::expires(chain.first()?));
        Ok(Self {
            name: ServerName::try_from(name).map_err(|_| Failed::NoSuchName(host.clone()))?,
            tls: TlsConnector::from(Arc::new(config(target.authorities, target.client)?)),
            host,
            port: target.server.port_u16().unwrap_or(443),
            authority: target.server.authority().map(ToString::to_string).unwrap_or_default(),
            prefix: target.server.path().trim_end_matches('/').to_owned(),
            token: target.token,
            client,
        })
    }

    /// `host:port`, for errors.
    pub(crate) fn at(&self) -> String {
        at(&self.host, self.port)
    }

    /// A new connection. `loopback`: loopback addresses are allowed.
    pub(crate) async fn connect(&self, loopback: bool) -> Result<Connection, Failed> {
        let broken = |error| Failed::Io(self.at(), error);
        let connecting = async {
            let stream = tcp(&self.host, self.port, loopback, "the kubeconfig").await?;
            let stream = self.tls.connect(self.name.clone(), stream).await.map_err(broken)?;
            let serving = stream.get_ref().1.peer_certificates().and_then(|chain| certificate::expires(chain.first()?));
            let shaken = handshake(TokioIo::new(stream)).await;
            let (sender, driver) = shaken.map_err(|error| broken(io::Error::other(error)))?;
            let driver = tokio::spawn(async {
                // The request that fails says so.
                let _ = driver.await;
            });
            let (host, prefix, token) = (self.authority.clone(), self.prefix.clone(), self.token.clone());
            Ok(Connection { sender, driver, host, prefix, token, serving, client: self.client })
        };
        timeout(WITHIN, connecting).await.unwrap_or_else(|_| Err(Failed::Timeout(self.at(), WITHIN)))
    }
}

/// `host:port`, for errors.
pub(crate) fn at(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Connects to a host, if all its addresses are allowed. `named_by` names the source of the host in errors.
pub(crate) async fn tcp(host: &str, port: u16, loopback: bool, named_by: &'static str) -> Result<TcpStream, Failed> {
    let addresses = resolve(host, port).await?;
    if let Some(why) = addresses.iter().find_map(|found| address::refused(found.ip(), loopback)) {
        return Err(Failed::Address { at: at(host, port), named_by, why });
    }
    // The addresses that were checked, not the name, which may have others a moment later.
    TcpStream::connect(addresses.as_slice()).await.map_err(|error| Failed::Io(at(host, port), error))
}

async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, Failed> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let unknown = || Failed::NoSuchName(host.to_owned());
    let permit = LOOKUPS.acquire().await.map_err(|_| unknown())?;
    let name = host.to_owned();
    let looking = spawn_blocking(move || {
        // Until the thread is free again, even if the caller has given up.
        let _permit = permit;
        (name.as_str(), port).to_socket_addrs().map(Vec::from_iter)
    });
    looking.await.ok().and_then(Result::ok).ok_or_else(unknown)
}

fn config(
    authorities: Vec<CertificateDer<'static>>,
    client: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
) -> Result<ClientConfig, Failed> {
    let unusable = |error: tokio_rustls::rustls::Error| Failed::Certificates(error.to_string());
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority).map_err(unusable)?;
    }
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(unusable)?.with_root_certificates(roots);
    let mut config = match client {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(unusable)?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Each connection proves that a new client can connect: with the certificate that the server has now.
    config.resumption = Resumption::disabled();
    Ok(config)
}

impl Connection {
    /// The answer to a GET. `what` names it in errors.
    pub(crate) async fn get(&mut self, what: &'static str, path: &str) -> Result<(StatusCode, Bytes), Failed> {
        let asked = async {
            let answer = self.send(what, path).await?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), ANSWER).collect().await.map_err(|_| Failed::Answer(what))?;
            Ok((status, body.to_bytes()))
        };
        match timeout(WITHIN, asked).await {
            Ok(Ok((status, _))) if matches!(status.as_u16(), 401 | 403) => Err(Failed::Credentials(status.as_u16())),
            Ok(answer) => answer,
            Err(_) => Err(Failed::Timeout(self.host.clone(), WITHIN)),
        }
    }

    /// The status of the answer to a GET, and its body if that is an error of the server. The caller limits the time.
    pub(crate) async fn status(&mut self, path: &'static str) -> Result<(StatusCode, Bytes), Failed> {
        let answer = self.send(path, path).await?;
        let status = answer.status();
        if !status.is_server_error() {
            return Ok((status, Bytes::new()));
        }
        let body = Limited::new(answer.into_body(), ANSWER).collect().await.map_err(|_| Failed::Answer(path))?;
        Ok((status, body.to_bytes()))
    }

    async fn send(&mut self, what: &'static str, path: &str) -> Result<Response<Incoming>, Failed> {
        let mut request = Request::get(format!("{}{path}", self.prefix))
            .header(HOST, &self.host)
            .header(ACCEPT, "application/json, text/plain")
            .header(USER_AGENT, crd::PRODUCT);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Empty::new()).map_err(|_| Failed::Answer(what))?;
        self.sender.ready().await.map_err(|_| Failed::Answer(what))?;
        self.sender.send_request(request).await.map_err(|_| Failed::Answer(what))
    }

    /// As [`Self::get`], for JSON.
    pub(crate) async fn json<T: serde::de::DeserializeOwned>(
        &mut self,
        what: &'static str,
        path: &str,
    ) -> Result<T, Failed> {
        let (status, body) = self.get(what, path).await?;
        if !status.is_success() {
            return Err(Failed::Status(status.as_u16(), what));
        }
        serde_json::from_slice(&body).map_err(|_| Failed::Answer(what))
    }
}
