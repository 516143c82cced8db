//! The HTTPS port for kubectl.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::AUTHORIZATION;
use ::http::{Request, Response};
use axum::body::Body;
use bytes::Bytes;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use sha2::{Digest, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::failure::Failure;
use crate::http::Server;
use crate::identity::TlsIdentity;

/// Connections at a time; more wait to be accepted.
const CONNECTIONS: usize = 512;
/// Time a client has for its handshake and for the head of each request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time running requests get to end after shutdown. Most take milliseconds; a watch or a followed log would take for ever.
const GRACE: Duration = Duration::from_secs(1);

impl Api {
    /// Serves kubectl on `listener` until `shutdown` (or the API closes), then lets running requests end.
    pub async fn serve_https(&self, listener: TcpListener, identity: TlsIdentity, shutdown: CancellationToken) {
        let acceptor = TlsAcceptor::from(identity.config);
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        let closing = CancellationToken::new();
        let mut connections = JoinSet::new();
        loop {
            let ended = async {
                tokio::select! { () = shutdown.cancelled() => {}, () = self.shutdown().cancelled() => {} }
            };
            let accepted = tokio::select! {
                () = ended => break,
                Some(_) = connections.join_next() => continue,
                accepted = async {
                    let slot = slots.clone().acquire_owned().await;
                    (slot, listener.accept().await)
                } => accepted,
            };
            match accepted {
                (Ok(slot), Ok((stream, _))) => {
                    let connection = connection(self.service(), acceptor.clone(), stream, closing.clone());
                    connections.spawn(async move {
                        if let Err(error) = connection.await {
                            tracing::debug!(%error, "a connection to the Kubernetes port ended");
                        }
                        drop(slot);
                    });
                }
                (_, Err(error)) => {
                    // Out of file descriptors, usually: the next connection that ends makes room.
                    tracing::warn!(%error, "a connection to the Kubernetes port could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                (Err(_), _) => break,
            }
        }
        closing.cancel();
        let all = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            connections.shutdown().await;
        }
    }
}

async fn connection(
    service: crate::api::ApiService<hyper::body::Incoming>,
    acceptor: TlsAcceptor,
    stream: TcpStream,
    closing: CancellationToken,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await.map_err(io::Error::other)??;
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    tokio::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended.map_err(io::Error::other),
        () = closing.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    connection.await.map_err(io::Error::other)
}

impl Server {
    /// Answers a request that has to bring the token along.
    pub(crate) async fn authenticated<B>(self: &Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let header = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
        let token = header.and_then(|header| header.split_once(' '));
        let path = request.uri().path();
        match token {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && self.is_token(token.trim()) => {
                self.answer(crate::ADMIN.into(), request).await
            }
            Some(_) => Self::refused(&Failure::new(401, "Unauthorized", "Unauthorized")),
            None if matches!(path, "/healthz" | "/livez" | "/readyz" | "/version") => {
                self.answer("system:anonymous".into(), request).await
            }
            None => {
                let message = format!("forbidden: User \"system:anonymous\" cannot access path \"{path}\"");
                Self::refused(&Failure::forbidden(message))
            }
        }
    }

    /// Compares digests, so that the time it takes says nothing about the token.
    pub(crate) fn is_token(&self, given: &str) -> bool {
        Sha256::digest(given) == Sha256::digest(&self.token)
    }
}
