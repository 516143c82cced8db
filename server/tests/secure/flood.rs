//! More silent and slow connections than the process has descriptors.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use connections::Limits;
use futures::{SinkExt, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, WatchEvent, WatchParams};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, interval_at, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::patience::PATIENCE;
use crate::server::{Server, kube};
use crate::skipped::skip;

/// The limit of the server, soft and hard.
const DESCRIPTORS: usize = 1024;
/// On each port: connections that send nothing, and connections that send one byte a second.
const SILENT: usize = 1200;
const SLOW: usize = 200;

/// How soon a client that was disconnected connects again.
const AGAIN: Duration = Duration::from_secs(5);

/// The start of a request and of a ClientHello. The server waits for the rest.
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: ";
const HELLO: &[u8] = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03";

/// The clients of one port. Each connects again when it was disconnected.
struct Flood {
    connected: Arc<AtomicUsize>,
    _clients: JoinSet<()>,
}

impl Flood {
    fn start(address: SocketAddr, beginning: &'static [u8]) -> Self {
        let (connected, mut clients) = (Arc::new(AtomicUsize::new(0)), JoinSet::new());
        for number in 0..SILENT + SLOW {
            let connected = connected.clone();
            clients.spawn(async move {
                // Spread over the five seconds, so that there is always a client that connects.
                let first = Instant::now() + AGAIN.mul_f64(number as f64 / (SILENT + SLOW) as f64);
                let (mut again, mut tick) = (interval_at(first, AGAIN), interval(Duration::from_secs(1)));
                loop {
                    again.tick().await;
                    let Ok(mut stream) = TcpStream::connect(address).await else { continue };
                    connected.fetch_add(1, Ordering::Relaxed);
                    if number < SILENT {
                        let _ = stream.read(&mut [0]).await;
                        continue;
                    }
                    for byte in beginning.iter().chain(std::iter::repeat(&b'a')) {
                        if stream.write_all(&[*byte]).await.is_err() {
                            break;
                        }
                        tick.tick().await;
                    }
                }
            });
        }
        Self { connected, _clients: clients }
    }
}

/// Asks ten times, each time on a new connection, and again after a reset: on a loaded machine, a client of this test may be silent for
/// too long. A silent connection is closed after [`Limits::first_request`]. A median below that shows that the answers don't wait for it.
async fn is_answered_soon(what: &str, mut is_answered: impl AsyncFnMut() -> bool) {
    let mut times = Vec::new();
    for _ in 0..10 {
        let started = Instant::now();
        let asks = async { while !is_answered().await {} };
        timeout(PATIENCE, asks).await.unwrap_or_else(|_| panic!("{what}: no answer"));
        times.push(started.elapsed());
    }
    times.sort();
    eprintln!("{what}: {times:?}");
    assert!(times[5] < Limits::console(DESCRIPTORS as u64).first_request, "{what}: {times:?}");
}

/// Whether a page that needs a session answers: with 404, because the operation doesn't exist.
async fn page(address: SocketAddr, cookie: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /operations/none/log.txt HTTP/1.0\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer.starts_with(b"HTTP/1.0 404"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_who_are_signed_in_are_answered_during_a_flood() {
    let needed = 2 * (SILENT + SLOW) as u64 + 100;
    if connections::descriptors::raise().now < needed {
        let missing = format!("a hard limit of {needed} open descriptors for the test itself");
        return skip("people_who_are_signed_in_are_answered_during_a_flood", &missing);
    }
    let server = Server::start_with_descriptors(DESCRIPTORS).await;
    let cookie = server.sign_in_by_link().await;
    let client = kube(&server.file("kubeconfig")).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let mut watch = maps.watch(&WatchParams::default(), "0").await.expect("a watch").boxed();
    let mut tab = server.tab(&cookie).await;

    let kubeconfig = std::fs::read(server.file("kubeconfig")).expect("a kubeconfig");
    let kubeconfig: serde_json::Value = serde_json::from_slice(&kubeconfig).expect("JSON");
    let kubernetes = kubeconfig["clusters"][0]["cluster"]["server"].as_str().expect("an address");
    let kubernetes = kubernetes.trim_start_matches("https://").parse().expect("ip and port");
    let floods = [Flood::start(server.address, REQUEST), Flood::start(kubernetes, HELLO)];
    let all_connected = || floods.iter().all(|flood| flood.connected.load(Ordering::Relaxed) >= SILENT + SLOW);
    server.eventually("the flood", async || all_connected()).await;

    is_answered_soon("a page", async || page(server.address, &cookie).await.unwrap_or(false)).await;
    is_answered_soon("kubectl", async || {
        let namespaces: Api<Namespace> = Api::all(kube(&server.file("kubeconfig")).await);
        namespaces.get("default").await.is_ok()
    })
    .await;
    // Only root may read the list of descriptors of a server that is protected from runs.
    if let Ok(open) = std::fs::read_dir(format!("/proc/{}/fd", server.pid())) {
        let open = open.count();
        assert!(open < DESCRIPTORS - 100, "{open} descriptors are open");
    }

    // What was open before is still open.
    let map = serde_json::from_value(serde_json::json!({"metadata": {"name": "new"}})).expect("a map");
    server.eventually("a new object", async || maps.create(&Default::default(), &map).await.is_ok()).await;
    let seen = async {
        while !matches!(watch.next().await, Some(Ok(WatchEvent::Added(map))) if map.metadata.name.as_deref() == Some("new"))
        {
        }
    };
    timeout(PATIENCE, seen).await.expect("the watch is still open");
    tab.send(Message::text(r#"{"do":"topics","topics":[{"topic":"clusters"}]}"#)).await.expect("sent");
    timeout(PATIENCE, tab.next()).await.expect("in time").expect("open").expect("a frame");
}
