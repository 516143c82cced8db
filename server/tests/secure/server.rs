//! The program as a process, and requests to it.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::patience::PATIENCE;
use crate::skipped::skip;
use crate::{panics, plain_http, start};

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The process is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) data: TempDir,
    banner: String,
    pub(crate) address: SocketAddr,
}

#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        let named = |line: &&str| line.split_once(": ").is_some_and(|(found, _)| found.eq_ignore_ascii_case(name));
        self.head.lines().find(named).and_then(|line| line.split_once(": ")).map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

impl Server {
    /// Starts it with these arguments and waits until it is ready.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        Self::start_as(|mut command| {
            command.args(arguments);
            command
        })
        .await
    }

    /// Starts it with a soft and hard limit of open descriptors.
    pub(crate) async fn start_with_descriptors(limit: usize) -> Self {
        Self::start_as(|command| start::under_ulimit(&format!("-n {limit}"), &command)).await
    }

    /// Starts it with a real ansible, whose programs are in `folder`.
    pub(crate) async fn start_with_ansible(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self::start_as(move |mut command| {
            command.env("KUBEONKUBE_ANSIBLE", folder);
            command
        })
        .await
    }

    async fn start_as(change: impl FnOnce(std::process::Command) -> std::process::Command) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let tools = start::no_ansible(&data.path().join("tools"));
        let command = change(start::server(&data.path().join("data"), &tools));
        let (output, log) = (tools.join("banner"), tools.join("log"));
        let mut command = Command::from(command);
        command.kill_on_drop(true);
        command.stdout(File::create(&output).expect("a banner")).stderr(File::create(&log).expect("a log"));
        let mut child = command.spawn().expect("started");
        let (mut banner, mut tick) = (String::new(), interval(Duration::from_millis(20)));
        let started = async {
            // The last line of the banner is about signing in.
            while start::token(&banner).is_none() && !banner.contains("Kubernetes token") {
                tick.tick().await;
                banner = fs::read_to_string(&output).unwrap_or_default();
                if child.try_wait().expect("our child").is_some() {
                    panic!("it ended: {}", fs::read_to_string(&log).unwrap_or_default());
                }
            }
        };
        timeout(PATIENCE, started).await.expect("a banner");
        let address = start::address(&banner).expect("an address");
        let server = Self { child, data, banner, address };
        server.eventually("readiness", async || server.get("/readyz", "").await.status == 200).await;
        server
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.data.path().join("tools/log")).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.data.path().join("data").join(name)
    }

    /// Signs in with the banner's link.
    pub(crate) async fn sign_in_by_link(&self) -> String {
        self.sign_in(start::token(&self.banner).expect("a link")).await
    }

    /// Signs in; returns the cookie as a browser sends it.
    pub(crate) async fn sign_in(&self, token: &str) -> String {
        let got = self.post("/login", "", &[("token", token)]).await;
        let cookie = got.header("set-cookie").split(';').next().unwrap_or_default();
        assert!(!cookie.is_empty(), "not signed in: {got:?}");
        cookie.to_owned()
    }

    pub(crate) async fn get(&self, path: &str, cookie: &str) -> Got {
        self.send(&format!("GET {path}"), cookie, "").await
    }

    /// The figures for Prometheus.
    pub(crate) async fn figures(&self) -> Got {
        let address = start::probes(&self.banner).expect("a port for probes");
        got(plain_http::send(address, "GET /metrics", "", "").await)
    }

    /// Posts a form as a browser does on our own page.
    pub(crate) async fn post(&self, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Got {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(&format!("POST {path}"), cookie, &body).await
    }

    /// Reviews an operation that runs `script`, and submits the reviewed operation.
    pub(crate) async fn submit(&self, cookie: &str, cluster: &str, name: &str, script: &str) -> Got {
        let typed = [("cluster", cluster), ("kind", "script"), ("script", script), ("name", name)];
        self.submit_typed(cookie, &typed).await
    }

    /// Reviews and submits an operation with these fields.
    pub(crate) async fn submit_typed(&self, cookie: &str, typed: &[(&str, &str)]) -> Got {
        let review = self.post("/operations/_new", cookie, &[typed, &[("form", "review_operation")]].concat()).await;
        assert_eq!(review.status, 200, "no review: {review:?}");
        let hidden = |name: &str| {
            let field = review.body.split("<input").find(|field| field.contains(&format!("name=\"{name}\"")));
            let value = field.and_then(|field| field.split("value=\"").nth(1)?.split('"').next());
            value.unwrap_or_else(|| panic!("no {name} in the review: {}", review.body)).to_owned()
        };
        let (reviewed, inputs) = (hidden("reviewed"), hidden("expected_inputs"));
        let confirmed = [("form", "submit_operation"), ("reviewed", &*reviewed), ("expected_inputs", &*inputs)];
        self.post("/operations/_new", cookie, &[typed, &confirmed].concat()).await
    }

    /// Whether this test must be skipped, because the program contains no pages. Records the skipped test.
    pub(crate) async fn has_no_pages(&self, test: &str) -> bool {
        let is_missing = self.get("/login", "").await.status == 503;
        if is_missing {
            skip(test, "the pages were not built: cargo xtask site");
        }
        is_missing
    }

    async fn send(&self, what: &str, cookie: &str, body: &str) -> Got {
        got(plain_http::send(self.address, what, cookie, body).await)
    }

    /// A live socket, as a tab opens it.
    pub(crate) async fn tab(&self, cookie: &str) -> Socket {
        let mut request = format!("ws://{}/live", self.address).into_client_request().expect("a request");
        request.headers_mut().insert("cookie", cookie.parse().expect("ascii"));
        request.headers_mut().insert("origin", format!("http://{}", self.address).parse().expect("ascii"));
        connect_async(request).await.expect("a socket").0
    }

    /// Waits until `holds`.
    pub(crate) async fn eventually(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let mut tick = interval(Duration::from_millis(20));
        let wait = async {
            while !holds().await {
                tick.tick().await;
            }
        };
        timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("waited too long for {what}"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let log = self.log();
        if std::thread::panicking() {
            let from = log.lines().count().saturating_sub(40);
            eprintln!("the end of the server's log:\n{}", log.lines().skip(from).collect::<Vec<_>>().join("\n"));
        }
        panics::check_none(&log);
    }
}

fn got((head, body): (String, String)) -> Got {
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Got { status, head, body }
}

/// A client for a kubeconfig.
pub(crate) async fn kube(kubeconfig: &Path) -> kube::Client {
    let read = kube::config::Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(read, &Default::default()).await.expect("a context");
    kube::Client::try_from(config).expect("a client")
}
