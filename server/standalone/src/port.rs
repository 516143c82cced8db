//! The HTTPS port for kubectl.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::api::{Api, ApiService};
use crate::identity::TlsIdentity;

/// Maximum open connections. Further ones wait to be accepted.
const CONNECTIONS: usize = 512;
/// The time a client has for the TLS handshake, and for the head of each request.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time that running requests get to end at shutdown. Most need milliseconds; watches and followed logs never end.
const GRACE: Duration = Duration::from_secs(1);

impl Api {
    /// Serves kubectl on `listener` until `shutdown`, or until the API closes. Running requests then get a second to end.
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
                            tracing::debug!(%error, "a connection to the Kubernetes port failed");
                        }
                        drop(slot);
                    });
                }
                (_, Err(error)) => {
                    // Usually out of file descriptors. Wait until another connection ends.
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
    service: ApiService<Incoming>,
    acceptor: TlsAcceptor,
    stream: TcpStream,
    closing: CancellationToken,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await.map_err(io::Error::other)??;
    let connection = Builder::new()
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
