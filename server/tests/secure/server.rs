//! The program as a process, and requests to it.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};

use crate::plain_http;
use crate::skipped::skip;

/// The longest time to wait for anything on a loaded machine.
const SOON: Duration = Duration::from_secs(60);

/// The process is killed when this is dropped.
pub(crate) struct Server {
    _child: Child,
    pub(crate) data: TempDir,
    banner: String,
    address: SocketAddr,
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
        let data = tempfile::tempdir().expect("a directory");
        // A shell action needs no ansible, but without an installed one the server would download it.
        let tools = data.path().join("tools");
        fs::create_dir(&tools).expect("made");
        fs::write(tools.join("ansible-playbook"), "#!/bin/sh\n").expect("written");
        let (output, log) = (tools.join("banner"), tools.join("log"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubeonkube"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("USER", "ann");
        command.env("KUBEONKUBE_ANSIBLE", &tools).args(["--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(data.path().join("data")).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        command.stdout(File::create(&output).expect("a banner")).stderr(File::create(&log).expect("a log"));
        let mut child = command.spawn().expect("started");
        let (mut banner, mut tick) = (String::new(), interval(Duration::from_millis(20)));
        let started = async {
            // The last line of the banner is about signing in.
            while !banner.contains("/login?token=") && !banner.contains("Kubernetes token") {
                tick.tick().await;
                banner = fs::read_to_string(&output).unwrap_or_default();
                if child.try_wait().expect("our child").is_some() {
                    panic!("it ended: {}", fs::read_to_string(&log).unwrap_or_default());
                }
            }
        };
        timeout(SOON, started).await.expect("a banner");
        let address = banner.lines().find_map(|line| line.trim().strip_prefix("Address")).expect("an address");
        let address = address.trim().strip_prefix("http://").and_then(|it| it.parse().ok()).expect("ip and port");
        let server = Self { _child: child, data, banner, address };
        server.eventually("readiness", async || server.get("/readyz", "").await.status == 200).await;
        server
    }

    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.data.path().join("data").join(name)
    }

    /// Signs in with the banner's link.
    pub(crate) async fn sign_in_by_link(&self) -> String {
        let token = self.banner.split("/login?token=").nth(1).and_then(|rest| rest.split_whitespace().next());
        self.sign_in(token.expect("a link")).await
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

    /// Posts a form as a browser does on our own page.
    pub(crate) async fn post(&self, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Got {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(&format!("POST {path}"), cookie, &body).await
    }

    /// Reviews an operation that runs `script`, and submits the reviewed operation.
    pub(crate) async fn submit(&self, cookie: &str, cluster: &str, name: &str, script: &str) -> Got {
        let typed = [("cluster", cluster), ("kind", "script"), ("script", script), ("name", name)];
        let review =
            self.post("/operations/new", cookie, &[&typed[..], &[("form", "review_operation")]].concat()).await;
        assert_eq!(review.status, 200, "no review: {review:?}");
        let hidden = |name: &str| {
            let field = review.body.split("<input").find(|field| field.contains(&format!("name=\"{name}\"")));
            let value = field.and_then(|field| field.split("value=\"").nth(1)?.split('"').next());
            value.unwrap_or_else(|| panic!("no {name} in the review: {}", review.body)).to_owned()
        };
        let (reviewed, inputs) = (hidden("reviewed"), hidden("expected_inputs"));
        let confirmed = [("form", "submit_operation"), ("reviewed", &*reviewed), ("expected_inputs", &*inputs)];
        self.post("/operations/new", cookie, &[&typed[..], &confirmed].concat()).await
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
        let (head, body) = plain_http::send(self.address, what, cookie, body).await;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Got { status, head, body }
    }

    /// Waits until `holds`.
    pub(crate) async fn eventually(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let mut tick = interval(Duration::from_millis(20));
        let wait = async {
            while !holds().await {
                tick.tick().await;
            }
        };
        timeout(SOON, wait).await.unwrap_or_else(|_| panic!("waited too long for {what}"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.data.path().join("tools/log")).unwrap_or_default();
            let from = log.lines().count().saturating_sub(40);
            eprintln!("the end of the server's log:\n{}", log.lines().skip(from).collect::<Vec<_>>().join("\n"));
        }
    }
}

/// A client for a kubeconfig.
pub(crate) async fn kube(kubeconfig: &Path) -> kube::Client {
    let read = kube::config::Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(read, &Default::default()).await.expect("a context");
    kube::Client::try_from(config).expect("a client")
}
