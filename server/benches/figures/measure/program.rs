//! The real program in a separate process, with a temporary data directory.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use kube::Client;
use kube::config::Kubeconfig;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::eventually;
use crate::start;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The process is killed when this is dropped.
pub(crate) struct Program {
    child: Child,
    data: TempDir,
    pub(crate) address: SocketAddr,
    token: String,
}

impl Program {
    /// Starts it with these arguments and waits until it is ready.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let tools = start::no_ansible(&data.path().join("tools"));
        let banner = data.path().join("banner");
        let home = data.path().join("data");
        // A key that is younger than the operations of `objects::ended`, so that their status counts although it isn't signed.
        fs::create_dir(&home).expect("a folder");
        fs::write(home.join("lock"), "").expect("written");
        fs::write(home.join("signing.key"), format!("4102444800 {}=\n", "A".repeat(43))).expect("written");
        let mut command = start::server(&home, &tools);
        command.env("RUST_LOG", "warn").args(arguments).stdout(File::create(&banner).expect("a file"));
        let child = command.spawn().expect("started");
        let ready = async || {
            let banner = fs::read_to_string(&banner).ok()?;
            let (address, token) = (start::address(&banner)?, start::token(&banner).map(ToOwned::to_owned));
            (!banner.contains("Sign in with") || token.is_some()).then_some((address, token.unwrap_or_default()))
        };
        let (address, token) = eventually("the banner", ready).await;
        let program = Self { child, data, address, token };
        eventually("readiness", async || {
            program.get("/readyz", "").await.head.starts_with("HTTP/1.0 200").then_some(())
        })
        .await;
        program
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.data.path().join("data/kubeconfig")
    }

    /// The temporary folder, which is removed with the program.
    pub(crate) fn folder(&self) -> &Path {
        self.data.path()
    }

    /// A client for the program's kubeconfig.
    pub(crate) async fn client(&self) -> Client {
        let read = Kubeconfig::read_from(self.kubeconfig()).expect("a kubeconfig");
        let config = kube::Config::from_custom_kubeconfig(read, &Default::default()).await.expect("a context");
        Client::try_from(config).expect("a client")
    }

    /// The token in the program's kubeconfig.
    pub(crate) fn kube_token(&self) -> String {
        let read = Kubeconfig::read_from(self.kubeconfig()).expect("a kubeconfig");
        let exposed = serde_json::to_value(&read.auth_infos[0].auth_info).expect("plain data");
        exposed["token"].as_str().expect("a token").to_owned()
    }

    /// Signs in with the banner's link; returns the cookie.
    pub(crate) async fn sign_in(&self) -> String {
        self.sign_in_with(&self.token).await
    }

    pub(crate) async fn sign_in_with(&self, token: &str) -> String {
        let answer = self.send("POST /login", "", &format!("token={token}")).await;
        let cookie = answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        cookie.split(';').next().expect("a pair").to_owned()
    }

    pub(crate) async fn get(&self, path: &str, cookie: &str) -> Answer {
        self.send(&format!("GET {path}"), cookie, "").await
    }

    /// A tab's `/live` socket.
    pub(crate) async fn live(&self, cookie: &str) -> Socket {
        let address = self.address;
        let mut request = format!("ws://{address}/live").into_client_request().expect("a request");
        request.headers_mut().insert("cookie", cookie.parse().expect("ascii"));
        request.headers_mut().insert("origin", format!("http://{address}").parse().expect("ascii"));
        connect_async(request).await.expect("connected").0
    }

    /// Opens a new connection. HTTP/1.0, so that the response ends with the connection.
    async fn send(&self, what: &str, cookie: &str, body: &str) -> Answer {
        let (address, length) = (self.address, body.len());
        let request = format!(
            "{what} HTTP/1.0\r\nhost: {address}\r\norigin: http://{address}\r\ncookie: {cookie}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let started = Instant::now();
        let mut stream = TcpStream::connect(address).await.expect("connected");
        stream.set_nodelay(true).expect("set");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = vec![0; 16 * 1024];
        let first = stream.read(&mut answer).await.expect("answered");
        let first_byte = started.elapsed();
        answer.truncate(first);
        stream.read_to_end(&mut answer).await.expect("whole");
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        Answer { head: head.to_owned(), body: body.to_owned(), first_byte, whole: started.elapsed() }
    }

    /// The anonymous and the resident memory of the process, in MB.
    pub(crate) fn memory(&self) -> Memory {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a field");
            line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<f64>().expect("a number") * 1024.0 / 1e6
        };
        Memory { anonymous: field("RssAnon"), resident: field("VmRSS") }
    }

    /// Processor time used so far, in seconds.
    pub(crate) fn processor(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it runs");
        let mut fields = stat.rsplit(')').next().expect("fields").split_ascii_whitespace().skip(11);
        let mut ticks = || fields.next().and_then(|field| field.parse::<f64>().ok()).expect("ticks");
        // Linux counts in hundredths of a second (USER_HZ).
        (ticks() + ticks()) / 100.0
    }

    /// Waits until the program has processed all new objects: until it hardly uses the processor for two seconds.
    pub(crate) async fn idle(&self) {
        let mut tick = tokio::time::interval(Duration::from_millis(500));
        let (mut before, mut quiet) = (self.processor(), 0);
        tick.tick().await;
        while quiet < 4 {
            tick.tick().await;
            let now = self.processor();
            quiet = if now - before < 0.02 { quiet + 1 } else { 0 };
            before = now;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: String,
    /// The time to the first byte, including opening the connection.
    pub(crate) first_byte: Duration,
    /// The time to the complete response.
    pub(crate) whole: Duration,
}

/// In MB (10⁶ bytes).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) anonymous: f64,
    pub(crate) resident: f64,
}
