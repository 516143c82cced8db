//! One connection to a managed cluster's API server. No proxy, no redirect, no other address than the checked ones.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use api::Time;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HOST, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::kubeconfig::Target;
use crate::{address, certificate};

/// For the connection with its TLS handshake, and for each request.
const WITHIN: Duration = Duration::from_secs(SECONDS);
const SECONDS: u64 = 4;
/// The longest answer that is read.
const ANSWER: usize = 8 * 1024 * 1024;

/// Why a request got no answer; a sentence for pages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("The name {0} can't be resolved.")]
    NoSuchName(String),
    #[error("kubeonkube doesn't connect to {0}, which the kubeconfig names: {1}.")]
    Address(String, &'static str),
    #[error("{0} doesn't answer within {SECONDS} s.")]
    Timeout(String),
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
    let host = target.server.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = target.server.port_u16().unwrap_or(443);
    let at = format!("{host}:{port}");
    let connecting = async {
        let found = lookup_host((host.as_str(), port)).await.map_err(|_| Failed::NoSuchName(host.clone()))?;
        let addresses: Vec<_> = found.collect();
        if let Some(why) = addresses.iter().find_map(|found| address::refused(found.ip(), loopback)) {
            return Err(Failed::Address(at.clone(), why));
        }
        // The addresses that were checked, not the name, which may have others a moment later.
        let stream = TcpStream::connect(addresses.as_slice()).await.map_err(|error| Failed::Io(at.clone(), error))?;
        let name = target.server_name.as_deref().unwrap_or(&host).to_owned();
        let name = ServerName::try_from(name).map_err(|_| Failed::NoSuchName(host.clone()))?;
        let client = target.client.as_ref().and_then(|(chain, _)| certificate::expires(chain.first()?));
        let config = config(target.authorities, target.client)?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        let stream = stream.map_err(|error| Failed::Io(at.clone(), error))?;
        let serving = stream.get_ref().1.peer_certificates().and_then(|chain| certificate::expires(chain.first()?));
        let shaken = handshake(TokioIo::new(stream)).await;
        let (sender, driver) = shaken.map_err(|error| Failed::Io(at.clone(), io::Error::other(error)))?;
        let driver = tokio::spawn(async {
            // The request that fails says so.
            let _ = driver.await;
        });
        Ok((sender, driver, serving, client))
    };
    let (sender, driver, serving, client) = match timeout(WITHIN, connecting).await {
        Ok(connected) => connected?,
        Err(_) => return Err(Failed::Timeout(at)),
    };
    let prefix = target.server.path().trim_end_matches('/').to_owned();
    let host = target.server.authority().map(ToString::to_string).unwrap_or_default();
    Ok(Connection { sender, driver, host, prefix, token: target.token, serving, client })
}

fn config(
    authorities: Vec<tokio_rustls::rustls::pki_types::CertificateDer<'static>>,
    client: Option<(
        Vec<tokio_rustls::rustls::pki_types::CertificateDer<'static>>,
        tokio_rustls::rustls::pki_types::PrivateKeyDer<'static>,
    )>,
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
    Ok(config)
}

impl Connection {
    /// The answer to a GET. `what` names it in errors.
    pub(crate) async fn get(&mut self, what: &'static str, path: &str) -> Result<(StatusCode, Bytes), Failed> {
        let mut request = Request::get(format!("{}{path}", self.prefix))
            .header(HOST, &self.host)
            .header(ACCEPT, "application/json, text/plain")
            .header(USER_AGENT, crd::PRODUCT);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Empty::new()).map_err(|_| Failed::Answer(what))?;
        let asked = async {
            self.sender.ready().await.map_err(|_| Failed::Answer(what))?;
            let answer = self.sender.send_request(request).await.map_err(|_| Failed::Answer(what))?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), ANSWER).collect().await.map_err(|_| Failed::Answer(what))?;
            Ok((status, body.to_bytes()))
        };
        match timeout(WITHIN, asked).await {
            Ok(Ok((status, _))) if matches!(status.as_u16(), 401 | 403) => Err(Failed::Credentials(status.as_u16())),
            Ok(answer) => answer,
            Err(_) => Err(Failed::Timeout(self.host.clone())),
        }
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
