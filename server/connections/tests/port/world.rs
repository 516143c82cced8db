//! A port on loopback, and raw connections to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::routing::{get, post};
use axum::{Router, body};
use futures::stream;
use hyper_util::rt::TokioIo;
use kubeonkube_connections::{Limits, Peer, plain, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The longest time to wait for anything on a loaded machine.
pub(crate) const SOON: Duration = Duration::from_secs(120);

/// Short limits. A connection may be silent for 0.2 s at first and for 0.4 s after an answer.
pub(crate) fn limits() -> Limits {
    Limits {
        connections: 64,
        strangers: 48,
        first_request: Duration::from_millis(200),
        next_request: Duration::from_millis(400),
        body: Duration::from_millis(400),
        write: Duration::from_millis(400),
        grace: Duration::from_secs(20),
        ..Limits::console(1024)
    }
}

/// Limits under which nothing ends by time.
pub(crate) fn patient() -> Limits {
    Limits { first_request: SOON, next_request: SOON, body: SOON, write: SOON, ..limits() }
}

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    /// Lets `/wait` and `/socket` send a word.
    pub(crate) go: Arc<Notify>,
    /// An answer of `/endless` was dropped.
    pub(crate) dropped: Arc<Notify>,
    pub(crate) stop: CancellationToken,
    pub(crate) server: JoinHandle<()>,
}

impl World {
    pub(crate) async fn new(limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let (go, dropped, stop) = (Arc::new(Notify::new()), Arc::new(Notify::new()), CancellationToken::new());
        let router = Router::new()
            .route("/", get(hello))
            .route("/take", post(|body: Body| async { take(body).await }))
            .route("/big", get(|| async { vec![b'x'; BIG] }))
            .route("/endless", get(endless))
            .route("/wait", get(wait))
            .route("/socket", get(socket))
            .with_state((go.clone(), dropped.clone()));
        let server = tokio::spawn(serve(listener, limits, plain, router, stop.clone()));
        Self { address, go, dropped, stop, server }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.expect("connected"))
    }

    /// A connection on which a request of a signed-in user was answered.
    pub(crate) async fn signed_in(&self) -> Client {
        let mut client = self.connect().await;
        assert_eq!(client.ask("GET / HTTP/1.1\r\nauthorization: yes").await, "hello");
        client
    }

    /// Waits for longer than any limit of [`limits`]: a silent connection has been closed three times.
    pub(crate) async fn let_the_limits_pass(&self) {
        for _ in 0..3 {
            self.connect().await.is_closed().await;
        }
    }
}

/// The size of `/big`, in bytes: more than the kernel keeps for a client that doesn't read.
pub(crate) const BIG: usize = 8 << 20;

type Signals = State<(Arc<Notify>, Arc<Notify>)>;

async fn hello(Extension(peer): Extension<Peer>, headers: HeaderMap) -> &'static str {
    if headers.contains_key("authorization") {
        peer.signed_in();
    }
    "hello"
}

async fn take(sent: Body) -> (StatusCode, String) {
    match body::to_bytes(sent, usize::MAX).await {
        Ok(bytes) => (StatusCode::OK, bytes.len().to_string()),
        Err(error) => (StatusCode::REQUEST_TIMEOUT, error.to_string()),
    }
}

struct Reports(Arc<Notify>);

impl Drop for Reports {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn endless(State((_, dropped)): Signals) -> Body {
    let reports = Reports(dropped);
    Body::from_stream(stream::repeat_with(move || {
        let _until_dropped = &reports;
        Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 4096]))
    }))
}

async fn wait(State((go, _)): Signals) -> Body {
    Body::from_stream(stream::once(async move {
        go.notified().await;
        Ok::<_, std::io::Error>("go")
    }))
}

/// Upgrades, sends one word when it may, and then returns each byte.
async fn socket(State((go, _)): Signals, mut request: Request<Body>) -> Response<Body> {
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut stream = TokioIo::new(upgrade.await.expect("upgraded"));
        go.notified().await;
        stream.write_all(b"go").await.expect("written");
        let mut byte = [0];
        while stream.read(&mut byte).await.is_ok_and(|read| read == 1) {
            stream.write_all(&byte).await.expect("written");
        }
    });
    let response = Response::builder().status(StatusCode::SWITCHING_PROTOCOLS);
    response.header("upgrade", "echo").header("connection", "upgrade").body(Body::empty()).expect("a response")
}

pub(crate) struct Client(pub(crate) TcpStream);

impl Client {
    pub(crate) async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.expect("sent");
    }

    /// Reads until `end` arrives.
    pub(crate) async fn reads(&mut self, end: &str) -> String {
        let read = async {
            let mut text = String::new();
            while !text.ends_with(end) {
                text.push(char::from(self.0.read_u8().await.unwrap_or_else(|error| panic!("{error} after {text:?}"))));
            }
            text
        };
        timeout(SOON, read).await.expect("in time")
    }

    /// Sends a head without its end; returns the body of the answer, which has a content-length.
    pub(crate) async fn ask(&mut self, head: &str) -> String {
        self.send(&format!("{head}\r\nhost: localhost\r\n\r\n")).await;
        self.answer().await
    }

    pub(crate) async fn answer(&mut self) -> String {
        let head = self.reads("\r\n\r\n").await;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let mut body = vec![0; length.parse().expect("a number")];
        timeout(SOON, self.0.read_exact(&mut body)).await.expect("in time").expect("a body");
        String::from_utf8(body).expect("text")
    }

    /// Waits until the server has closed the connection.
    pub(crate) async fn is_closed(&mut self) {
        let mut rest = Vec::new();
        // An error is a reset: the server closed the connection before it had read everything.
        let _ = timeout(SOON, self.0.read_to_end(&mut rest)).await.expect("closed in time");
    }
}
