//! A process without free descriptors. The only test of its program, because the limit is that of the process.

use std::fs;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use kubeonkube_connections::{Limits, descriptors, plain, serve};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const SOON: Duration = Duration::from_secs(120);

#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn count(&self, words: &str) -> usize {
        String::from_utf8_lossy(&self.0.lock().expect("a log")).matches(words).count()
    }
}

async fn hello(stream: &mut TcpStream) -> io::Result<bool> {
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await??;
    Ok(answer.ends_with("hello"))
}

#[tokio::test]
async fn no_free_descriptor_is_reported_once_and_ends() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt().with_writer(move || writer.clone()).init();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let router = Router::new().route("/", get(|| async { "hello" }));
    let limits = Limits { connections: 1000, strangers: 999, ..Limits::console(1024) };
    tokio::spawn(serve(listener, limits, plain, router, CancellationToken::new()));

    let open = fs::read_dir("/proc/self/fd").expect("the list of descriptors").count() as u64;
    let before = getrlimit(Resource::Nofile);
    let low = Rlimit { current: Some(open + 20), ..before };
    setrlimit(Resource::Nofile, low).expect("lowered");
    // Both ends of each connection are in this process. The last descriptors are those of the clients.
    let mut clients = Vec::new();
    while log.count("no connection can be accepted") == 0 {
        match TcpStream::connect(address).await {
            Ok(client) => clients.push(client),
            Err(_) => tokio::task::yield_now().await,
        }
    }
    // The silent connections are closed one by one, and the last client is answered.
    let mut last = clients.pop().expect("a client");
    assert!(hello(&mut last).await.expect("an answer"));
    assert_eq!(log.count("no connection can be accepted"), 1);

    drop(clients);
    let raised = descriptors::raise();
    assert_eq!((raised.before, Some(raised.now)), (low.current, before.maximum.or(Some(u64::MAX))));
    descriptors::restore(open + 20);
    assert_eq!(getrlimit(Resource::Nofile).current, low.current);
}
