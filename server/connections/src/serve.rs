//! Accepts connections and serves HTTP on them.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

use crate::Limits;
use crate::arriving::Arriving;
use crate::peers::{Peer, Peers};
use crate::socket::{Socket, configure};

/// The largest head of a request, in bytes.
const HEAD: usize = 64 * 1024;
/// The pause after the system has refused to accept a connection.
const PAUSE: Duration = Duration::from_millis(100);
/// The shortest time between two reports of that.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// The handshake of a port without TLS.
pub async fn plain(socket: Socket) -> io::Result<Socket> {
    Ok(socket)
}

/// Serves HTTP/1.1 on `listener` until `stop`, and then until the running requests have ended, for at most [`Limits::grace`].
/// `handshake` makes the stream that carries HTTP: [`plain`], or TLS.
pub async fn serve<H, F, T, S>(listener: TcpListener, limits: Limits, handshake: H, service: S, stop: CancellationToken)
where
    H: Fn(Socket) -> F,
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    configure(&listener);
    let peers = Peers::new(limits.port, limits.connections, limits.strangers);
    let closing = CancellationToken::new();
    let mut connections = JoinSet::new();
    let mut reported: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(ended) = connections.join_next() => {
                log_panic(&limits, ended);
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_about_one_client(&error) => continue,
            Err(error) => {
                // Usually there are no descriptors left. The next attempts would fail, too, until one is closed.
                if reported.is_none_or(|at| at.elapsed() >= REPORT_EVERY) {
                    tracing::error!(port = limits.port, %error, "no connection can be accepted; still trying");
                    reported = Some(Instant::now());
                }
                peers.close_one().await;
                tokio::select! { () = stop.cancelled() => break, () = sleep(PAUSE) => continue }
            }
        };
        let place = tokio::select! { () = stop.cancelled() => break, place = peers.place() => place };
        // Without TCP_NODELAY, a streamed page waits up to 40 ms for a delayed acknowledgement.
        let _ = stream.set_nodelay(true);
        let peer = peers.arrives(address.ip());
        let shaking = handshake(Socket::new(stream, limits.write, peer.clone(), place));
        let connection = Connection { peer, limits: limits.clone(), closing: closing.clone() };
        connections.spawn(connection.run(shaking, service.clone()));
    }
    drop(listener);
    closing.cancel();
    let all = async {
        while let Some(ended) = connections.join_next().await {
            log_panic(&limits, ended);
        }
    };
    if timeout(limits.grace, all).await.is_err() {
        tracing::debug!(port = limits.port, left = connections.len(), "requests didn't end in time and are aborted");
        connections.shutdown().await;
    }
}

/// The client has closed its connection before it was accepted.
fn is_about_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn log_panic(limits: &Limits, ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(port = limits.port, %error, "a connection failed");
    }
}

struct Connection {
    peer: Peer,
    limits: Limits,
    /// Cancelled when the port stops.
    closing: CancellationToken,
}

impl Connection {
    async fn run<F, T, S>(self, handshake: F, service: S)
    where
        F: Future<Output = io::Result<T>>,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone,
    {
        if let Err(error) = self.serve(handshake, service).await {
            tracing::debug!(port = self.limits.port, %error, "a connection was closed");
        }
    }

    async fn serve<F, T, S>(&self, handshake: F, service: S) -> io::Result<()>
    where
        F: Future<Output = io::Result<T>>,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone,
    {
        let first_request = sleep(self.limits.first_request);
        tokio::pin!(first_request);
        let stream = tokio::select! {
            stream = handshake => stream?,
            () = first_request.as_mut() => return Err(ended("the TLS handshake took too long")),
            () = self.peer.closed() => return Err(ended("closed to make room for another connection")),
            () = self.closing.cancelled() => return Ok(()),
        };
        let answer = service_fn(move |request: Request<Incoming>| {
            self.peer.asks();
            let mut request = request.map(|body| Body::new(Arriving::new(body, self.limits.body)));
            request.extensions_mut().insert(self.peer.clone());
            service.clone().oneshot(request)
        });
        let connection = Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.next_request)
            .max_buf_size(HEAD)
            .serve_connection(TokioIo::new(stream), answer)
            .with_upgrades();
        tokio::pin!(connection);
        let (mut is_first, mut is_closing) = (true, false);
        loop {
            tokio::select! {
                ended = connection.as_mut() => return ended.map_err(io::Error::other),
                () = self.peer.closed() => return Err(ended("closed to make room for another connection")),
                () = first_request.as_mut(), if is_first => {
                    if !self.peer.has_asked() {
                        return Err(ended("no request came"));
                    }
                    is_first = false;
                }
                () = self.closing.cancelled(), if !is_closing => {
                    // hyper would wait for the first request.
                    if !self.peer.has_asked() {
                        return Ok(());
                    }
                    connection.as_mut().graceful_shutdown();
                    is_closing = true;
                }
            }
        }
    }
}

fn ended(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, why)
}
