//! The program as a process: start, requests, stop, restart.

#[path = "embedded_api/mod.rs"]
mod embedded_api;
#[path = "full_disk/mod.rs"]
mod full_disk;
#[path = "panics/mod.rs"]
mod panics;
#[path = "restore/mod.rs"]
mod restore;
#[path = "skipped/mod.rs"]
mod skipped;
#[path = "small_disk/mod.rs"]
mod small_disk;
#[path = "start/mod.rs"]
mod start;

use std::collections::HashMap;
use std::fmt::Debug;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use api::live::{LiveFrame, Topic};
use crd::ClusterOperation;
use kube::Api;
use kube::config::Kubeconfig;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::stream::MaybeTlsStream;
use tokio_tungstenite::tungstenite::{Message, WebSocket, connect};

const SOON: Duration = Duration::from_secs(120);

fn command(data: &Path) -> Command {
    let mut command = start::program(data);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(data: &Path, args: &[&str]) -> Output {
    command(data).args(args).output().expect("ran")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A running server. It is killed when dropped.
struct Server {
    child: Child,
    log: Option<JoinHandle<String>>,
    banner: String,
    link: String,
    address: SocketAddr,
}

impl Server {
    fn start(data: &Path, args: &[&str]) -> Self {
        Self::start_with(data, args, &[])
    }

    fn start_with(data: &Path, args: &[&str], environment: &[(&str, &Path)]) -> Self {
        let mut command = command(data);
        command.args(args).envs(environment.iter().copied());
        Self::start_by(command)
    }

    fn start_by(mut command: Command) -> Self {
        command.args(["--listen", "127.0.0.1:0"]);
        let mut child = command.spawn().expect("started");
        let mut errors = child.stderr.take().expect("piped");
        // Read continuously: a full pipe would block the server.
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            let _ = errors.read_to_string(&mut log);
            log
        });
        let mut banner = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let link = loop {
            let Some(Ok(line)) = lines.next() else {
                let _ = child.kill();
                panic!("no link in the banner:\n{banner}\nlog:\n{}", log.join().unwrap_or_default());
            };
            banner += &format!("{line}\n");
            let is_last = ["Kubernetes token", "There is no sign-in link"].iter().any(|words| line.contains(words));
            if line.starts_with("http://") || is_last {
                break line;
            }
        };
        let address = start::address(&banner).expect("an address");
        Self { child, log: Some(log), banner, link, address }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let mut stream = TcpStream::connect(self.address).expect("connected");
        stream.set_read_timeout(Some(SOON)).expect("a timeout");
        let head: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let address = self.address;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\norigin: http://{address}\r\n{head}\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("answered");
        let answer = text(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let headers = lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_lowercase(), v.to_owned()));
        Got { status, headers: headers.collect(), body: body.to_owned() }
    }

    fn get(&self, path: &str, cookie: &str) -> Got {
        self.send("GET", path, &[("cookie", cookie)], "")
    }

    fn json(&self, path: &str, cookie: &str) -> serde_json::Value {
        let got = self.get(path, cookie);
        serde_json::from_str(&got.body).unwrap_or_else(|_| panic!("{path}: {got:?}"))
    }

    /// Signs in with a link; returns the cookie.
    fn sign_in(&self, link: &str) -> Option<String> {
        let token = link.split("token=").nth(1).expect("a token");
        let got = self.send("POST", "/login", &[], &format!("token={token}"));
        got.headers.get("set-cookie").and_then(|cookie| cookie.split(';').next().map(ToOwned::to_owned))
    }

    /// Signs in with the link of the banner and waits for the cluster of the demo; returns the cookie.
    fn sign_in_to_demo(&self) -> String {
        let cookie = self.sign_in(&self.link).expect("signed in");
        wait_for("the demo cluster", || self.json("/api/load_cluster?cluster=demo", &cookie)["row"]["nodes"] == 1);
        cookie
    }

    fn wait_ready(&self) {
        wait_for("readiness", || self.get("/readyz", "").status == 200);
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Stops it with SIGTERM and returns its exit code.
    fn stop(self) -> Option<i32> {
        self.stop_and_read().0
    }

    /// Stops it with SIGTERM and returns its exit code and its log.
    fn stop_and_read(mut self) -> (Option<i32>, String) {
        kill_process(self.pid(), Signal::TERM).expect("a signal");
        let mut status = None;
        wait_for("the end", || {
            status = self.child.try_wait().expect("our child");
            status.is_some()
        });
        let log = self.log.take().expect("read once").join().expect("read");
        panics::check_none(&log);
        (status.and_then(|status| status.code()), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(log) = self.log.take() {
            panics::check_none(&log.join().unwrap_or_default());
        }
    }
}

#[derive(Debug)]
struct Got {
    status: u16,
    headers: HashMap<String, String>,
    body: String,
}

/// The socket of a page.
struct Tab(WebSocket<MaybeTlsStream<TcpStream>>);

impl Tab {
    fn open(server: &Server, cookie: &str) -> Self {
        let mut request = format!("ws://{}/live", server.address).into_client_request().expect("a request");
        request.headers_mut().insert("cookie", cookie.parse().expect("ascii"));
        request.headers_mut().insert("origin", format!("http://{}", server.address).parse().expect("ascii"));
        let (socket, _) = connect(request).expect("a socket");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(SOON)).expect("a timeout");
        }
        Self(socket)
    }

    fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).expect("sent");
    }

    /// The next frame that isn't a beat.
    fn receive(&mut self) -> LiveFrame {
        // Beats keep the read below its timeout.
        let deadline = Instant::now() + SOON;
        loop {
            assert!(Instant::now() < deadline, "waited too long for a frame");
            match serde_json::from_str(self.0.read().expect("a frame").to_text().expect("text")).expect("a frame") {
                LiveFrame::Beat => {}
                frame => break frame,
            }
        }
    }
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !done() {
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn data() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn invalid_settings_are_refused_with_the_reason() {
    let data = data();
    for (args, why) in [
        (&["--listen", "0.0.0.0:7080"][..], "--public-url https://"),
        (&["--public-url", "http://console.example.com"], "loopback only"),
        (&["--max-running", "0"], "at least 1"),
        (&["--demo", "--in-cluster"], "standalone"),
        (&["--kubeconfig", "/nowhere"], "no such file"),
        (&["--standalone", "--in-cluster"], "cannot be used with"),
        (&["--listen", "somewhere"], "--listen"),
        (&["backup"], "<FILE>"),
        (&["login"], "no standalone server uses"),
    ] {
        let output = run(data.path(), args);
        assert!(!output.status.success(), "{args:?}");
        assert!(text(&output.stderr).contains(why), "{args:?}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("Error:"), "a debug dump: {}", text(&output.stderr));
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound").to_string();
    let output = run(data.path(), &["--listen", &address]);
    assert!(text(&output.stderr).contains(&format!("already listens on {address}")), "{}", text(&output.stderr));
    fs::write(data.path().join("file"), "").expect("written");
    let output = run(&data.path().join("file/below"), &[]);
    assert!(text(&output.stderr).contains("data directory"), "{}", text(&output.stderr));
}

#[test]
fn help_shows_examples_and_crd_prints_definitions() {
    let data = data();
    let help = text(&run(data.path(), &["--help"]).stdout);
    for word in [
        "serve",
        "login",
        "backup",
        "restore",
        "--listen",
        "--data-dir",
        "--demo",
        "doctor",
        "--isolation",
        "Examples:",
        "doesn't stop runs",
    ] {
        assert!(help.contains(word), "{word} is missing:\n{help}");
    }
    assert!(!help.contains("run-job"), "a command that only the server uses is listed");
    assert!(text(&run(data.path(), &["--version"]).stdout).starts_with("kubeonkube "));
    let crds = text(&run(data.path(), &["crd"]).stdout);
    assert!(crds.contains("clusteroperations.kubeonkube.clay.io") && crds.contains("kind: CustomResourceDefinition"));
}

#[test]
fn the_banner_shows_the_address_and_a_one_time_link() {
    let data = data();
    let server = Server::start(data.path(), &[]);
    for fact in ["Address", "standalone", &data.path().display().to_string(), "kubeconfig"] {
        assert!(server.banner.contains(fact), "{fact} is missing:\n{}", server.banner);
    }
    let cookie = server.sign_in(&server.link).expect("signed in");
    assert_eq!(server.sign_in(&server.link), None, "the link worked twice");
    assert_eq!(server.get("/operations/none/log.txt", "").status, 303);
    assert_eq!(server.get("/operations/none/log.txt", &cookie).status, 404);

    let another = run(data.path(), &["login"]);
    let another = text(&another.stdout).trim().to_owned();
    assert!(another.starts_with(&format!("http://{}/login?token=", server.address)), "{another}");
    assert!(server.sign_in(&another).is_some(), "the link of `kubeonkube login` doesn't work");
}

#[test]
fn only_the_owner_may_read_the_data_directory() {
    let data = data();
    let below = data.path().join("new/data");
    let server = Server::start(&below, &[]);
    server.wait_ready();
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&below), 0o700);
    for file in ["session.key", "kubeconfig"] {
        assert_eq!(mode(&below.join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&below.join("login")), 0o700);
}

#[test]
fn a_second_server_on_a_data_directory_is_refused_with_the_pid() {
    let data = data();
    let server = Server::start(data.path(), &[]);
    let second = run(data.path(), &["--listen", "127.0.0.1:0"]);
    assert!(!second.status.success());
    let pid = server.child.id().to_string();
    assert!(text(&second.stderr).contains(&pid), "no {pid} in {}", text(&second.stderr));
    assert_eq!(server.get("/healthz", "").status, 200, "the first server stopped");
}

#[test]
fn the_json_log_is_one_object_per_line() {
    let data = data();
    let server = Server::start(data.path(), &["--log-format", "json"]);
    server.wait_ready();
    server.sign_in(&server.link).expect("signed in");
    let (code, log) = server.stop_and_read();
    assert_eq!(code, Some(0));
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"))).collect();
    for line in &lines {
        assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
    }
    let logged = |message: &str| lines.iter().find(|line| line["message"] == message);
    assert_eq!(logged("signed in").expect("logged")["user"], "ann");
    assert_eq!(logged("stopping; runs continue").expect("logged")["signal"], "SIGTERM");
}

#[test]
fn a_stop_is_graceful_and_a_session_survives_it() {
    let data = data();
    let server = Server::start(data.path(), &[]);
    server.wait_ready();
    let cookie = server.sign_in(&server.link).expect("signed in");
    assert_eq!(server.stop(), Some(0));
    assert!(!data.path().join("address").exists(), "`kubeonkube login` would print a dead link");
    let again = Server::start(data.path(), &[]);
    assert_eq!(again.get("/operations/none/log.txt", &cookie).status, 404, "signed out by a restart");
}

#[test]
fn a_killed_server_starts_again() {
    let data = data();
    let mut server = Server::start(data.path(), &[]);
    server.wait_ready();
    server.child.kill().expect("killed");
    server.child.wait().expect("ended");
    Server::start(data.path(), &[]).wait_ready();
}

#[test]
fn the_demo_registers_its_cluster_once_and_keeps_it() {
    let data = data();
    let mut created = Vec::new();
    for _ in 0..2 {
        let server = Server::start(data.path(), &["--demo"]);
        let cookie = server.sign_in_to_demo();
        created.push(server.json("/api/load_cluster?cluster=demo", &cookie)["row"]["created"].clone());
        assert_eq!(server.stop(), Some(0));
    }
    assert_eq!(created[0], created[1], "the second start created it again");
}

/// Creates an operation as kubectl does: over HTTPS, by the kubeconfig that the server wrote.
fn apply(kubeconfig: &Path, operation: &ClusterOperation) {
    create(kubeconfig, Api::all, operation);
}

fn create<K: Clone + Debug + Serialize + DeserializeOwned>(
    kubeconfig: &Path,
    api: impl FnOnce(kube::Client) -> Api<K>,
    object: &K,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let read = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
        let config = kube::Config::from_custom_kubeconfig(read, &Default::default()).await.expect("a context");
        let objects = api(kube::Client::try_from(config).expect("a client"));
        objects.create(&Default::default(), object).await.expect("created");
    });
}

fn operation(name: &str, script: &str) -> ClusterOperation {
    let spec = serde_json::json!({"cluster": "demo", "actionType": "shell", "action": script, "image": "none"});
    ClusterOperation::new(name, serde_json::from_value(spec).expect("a specification"))
}

/// Prints one word, waits for a file, prints another.
const SCRIPT: &str = "echo before; while [ ! -e $GO ]; do sleep 0.05; done; echo after";

#[test]
fn a_run_continues_while_the_server_is_stopped() {
    let (data, tools) = (data(), tempfile::tempdir().expect("a directory"));
    let ansible = start::no_ansible(&tools.path().join("ansible"));
    let tools = [("KUBEONKUBE_ANSIBLE", ansible.as_path())];
    let go = data.path().join("go");
    let script = SCRIPT.replace("$GO", &go.display().to_string());

    let server = Server::start_with(data.path(), &["--demo"], &tools);
    let cookie = server.sign_in_to_demo();
    apply(&data.path().join("kubeconfig"), &operation("slow", &script));
    wait_for("its first line", || server.get("/operations/slow/log.txt", &cookie).body.contains("\nbefore\n"));
    assert_eq!(server.stop(), Some(0), "a stop must not wait for runs");

    fs::write(&go, "").expect("written");
    let server = Server::start_with(data.path(), &[], &tools);
    wait_for("the end", || {
        let operation = server.json("/api/load_operation?name=slow", &cookie);
        let phase = operation["row"]["phase"].as_str().unwrap_or_default().to_owned();
        assert!(["running", "queued", "succeeded", ""].contains(&phase.as_str()), "{operation}");
        phase == "succeeded"
    });
    wait_for("its last line", || server.get("/operations/slow/log.txt", &cookie).body.contains("\nafter\n"));
    let log = server.get("/operations/slow/log.txt", &cookie).body;
    assert_eq!((log.matches("\nbefore\n").count(), log.matches("\nafter\n").count()), (1, 1), "{log}");
}

/// The definitions and objects of server/crd/tests/v0.
fn of_the_first_definitions(file: &str) -> Vec<serde_json::Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crd/tests/v0");
    serde_saphyr::from_multiple(&fs::read_to_string(folder.join(file)).expect("a file")).expect("YAML")
}

/// What the API answers, as JSON.
async fn ask(client: &kube::Client, method: &str, path: &str, body: &serde_json::Value) -> serde_json::Value {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).expect("JSON") };
    let request = http::Request::builder().method(method).uri(path).header("content-type", kind).body(body);
    client.request(request.expect("a request")).await.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_the_first_definitions_are_kept_and_run() {
    const GROUP: &str = "/apis/kubeonkube.clay.io/v1alpha1";
    let (data, tools) = (data(), tempfile::tempdir().expect("a directory"));
    // It refuses a directory that no server has made.
    assert_eq!(Server::start(data.path(), &[]).stop(), Some(0));
    let first = ["clusters.yaml", "clusteroperations.yaml"].into_iter().flat_map(of_the_first_definitions);
    let first = first.map(|definition| serde_json::from_value(definition).expect("a definition")).collect();
    let older = embedded_api::open(data.path(), first).expect("opened");
    let client = older.client(standalone::ADMIN);
    let name = |object: &serde_json::Value| object["metadata"]["name"].as_str().expect("a name").to_owned();
    let mut made = Vec::new();
    for object in of_the_first_definitions("objects.yaml") {
        let folder = match object["kind"].as_str() {
            Some("Cluster") => format!("{GROUP}/clusters"),
            Some("ClusterOperation") => format!("{GROUP}/clusteroperations"),
            Some("Namespace") => "/api/v1/namespaces".to_owned(),
            _ => "/api/v1/namespaces/kubeonkube-clusters/configmaps".to_owned(),
        };
        let created = ask(&client, "POST", &folder, &object).await;
        made.push((format!("{folder}/{}", name(&object)), created));
    }
    older.close().await;
    drop((client, older));

    let ansible = start::no_ansible(&tools.path().join("ansible"));
    // One of the operations is for a cluster that doesn't exist.
    let at_once = ["--inputs-timeout", "0"];
    let server = Server::start_with(data.path(), &at_once, &[("KUBEONKUBE_ANSIBLE", ansible.as_path())]);
    server.wait_ready();
    let read = Kubeconfig::read_from(data.path().join("kubeconfig")).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(read, &Default::default()).await.expect("a context");
    let client = kube::Client::try_from(config).expect("a client");
    let none = serde_json::Value::Null;
    for (path, created) in &made {
        let kept = ask(&client, "GET", path, &none).await;
        assert_eq!((&kept["spec"], &kept["data"]), (&created["spec"], &created["data"]), "{path}");
        assert_eq!(kept["metadata"]["uid"], created["metadata"]["uid"], "{path}");
        let label = serde_json::json!({"metadata": {"labels": {"upgraded": "yes"}}});
        ask(&client, "PATCH", path, &label).await;
    }
    for (operation, phase) in [("old-script", "Succeeded"), ("old-everything", "Failed")] {
        let path = format!("{GROUP}/clusteroperations/{operation}");
        let deadline = Instant::now() + SOON;
        loop {
            let found = ask(&client, "GET", &path, &none).await;
            if found["status"]["status"] == phase {
                break;
            }
            assert!(Instant::now() < deadline, "{operation}: {found:#}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let cookie = server.sign_in(&server.link).expect("signed in");
    assert!(server.get("/operations/old-script/log.txt", &cookie).body.contains("of the first definitions"));
    assert_eq!(server.stop(), Some(0));
}

/// Runs a script that tries to read the server's files and memory. Returns its output, and what the settings page says.
fn output_of_a_theft(args: &[&str]) -> (String, String) {
    let (data, tools) = (data(), tempfile::tempdir().expect("a directory"));
    let ansible = start::no_ansible(&tools.path().join("ansible"));
    let args: Vec<_> = ["--demo"].iter().chain(args).copied().collect();
    let server = Server::start_with(data.path(), &args, &[("KUBEONKUBE_ANSIBLE", &ansible)]);
    let cookie = server.sign_in_to_demo();
    let files = ["session.key", "state.db", "kubeconfig"].map(|file| data.path().join(file).display().to_string());
    let script = format!(
        "for file in {} /proc/{}/environ; do if cat $file > /dev/null; then echo stolen $file; fi; done; env; echo end",
        files.join(" "),
        server.child.id()
    );
    apply(&data.path().join("kubeconfig"), &operation("theft", &script));
    wait_for("its end", || server.get("/operations/theft/log.txt", &cookie).body.contains("\nend\n"));
    let about = server.json("/api/load_about", &cookie);
    let facts = about["facts"].as_array().expect("facts").iter();
    let said = facts.into_iter().find(|fact| fact[0] == "Isolation of runs").expect("a fact")[1].clone();
    let said = said.as_str().expect("text").to_owned();
    assert!(server.banner.contains(&said), "{}", server.banner);
    (server.get("/operations/theft/log.txt", &cookie).body, said)
}

#[test]
fn runs_cannot_read_keys_and_the_console_says_so() {
    let isolation = runner::Isolation::detect();
    if !isolation.is_on() {
        return skipped::skip("runs_cannot_read_keys_and_the_console_says_so", &isolation.to_string());
    }
    let (output, said) = output_of_a_theft(&["--isolation", "required"]);
    assert!(!output.contains("stolen") && !output.contains("KUBEONKUBE_DATA_DIR"), "{output}");
    assert_eq!(said, isolation.to_string());
}

#[test]
fn without_isolation_the_console_says_what_runs_can_read() {
    let (output, said) = output_of_a_theft(&["--isolation", "off"]);
    assert!(output.contains("stolen") && output.contains("session.key"), "{output}");
    assert!(said.starts_with("off") && said.contains("Runs can read the data directory"), "{said}");
}

/// The command without root's capabilities, which could read everything.
fn plain(command: &Command) -> Command {
    let by_root: &[&str] = &["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all"];
    let wrapper = if rustix::process::geteuid().is_root() { by_root } else { &["/usr/bin/env"] };
    let mut plain = Command::new(wrapper[0]);
    plain.args(&wrapper[1..]).arg(command.get_program()).args(command.get_args());
    plain.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    plain
}

#[test]
fn other_processes_cannot_read_the_servers_environment() {
    let data = data();
    let mut program = plain(&start::program(data.path()));
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let server = Server::start_by(program);
    let reads = |process: u32| {
        let output = plain(Command::new("/bin/cat").arg(format!("/proc/{process}/environ"))).output();
        output.expect("ran").status.success()
    };
    let mut other = plain(Command::new("/bin/sleep").arg("600")).spawn().expect("ran");
    wait_for("another process of the user to be readable", || reads(other.id()));
    assert!(!reads(server.child.id()), "the server's environment can be read");
    other.kill().expect("killed");
    other.wait().expect("ended");
}

#[test]
fn doctor_names_the_isolation_of_runs() {
    let data = data();
    let printed = text(&run(data.path(), &["doctor"]).stdout);
    assert!(printed.contains(&format!("isolation of runs: {}\n", runner::Isolation::detect())), "{printed}");
}

#[test]
fn the_descriptor_limit_is_raised_for_the_server_only() {
    let (data, tools) = (data(), tempfile::tempdir().expect("a directory"));
    let ansible = start::no_ansible(&tools.path().join("ansible"));
    let mut demo = command(data.path());
    demo.arg("--demo").env("KUBEONKUBE_ANSIBLE", &ansible);
    let mut shell = start::under_ulimit("-Sn 256", &demo);
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let server = Server::start_by(shell);
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.child.id())).expect("its limits");
    let files = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
    let [.., soft, hard, _] = files.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{files}") };
    assert_eq!(soft, hard, "{files}");

    let cookie = server.sign_in_to_demo();
    apply(&data.path().join("kubeconfig"), &operation("limit", "echo limit $(ulimit -n)"));
    wait_for("the limit of a run", || server.get("/operations/limit/log.txt", &cookie).body.contains("\nlimit 256\n"));
}

#[test]
fn a_tab_gets_a_run_line_by_line_until_its_end() {
    let (data, tools) = (data(), tempfile::tempdir().expect("a directory"));
    let ansible = start::no_ansible(&tools.path().join("ansible"));
    let server = Server::start_with(data.path(), &["--demo"], &[("KUBEONKUBE_ANSIBLE", &ansible)]);
    let cookie = server.sign_in_to_demo();
    let mut tab = Tab::open(&server, &cookie);
    let topic = Topic::Operation("quick".into());
    tab.send(r#"{"do":"topics","topics":[{"topic":"operation","name":"quick"}]}"#);
    assert_eq!(tab.receive(), LiveFrame::Changed { topic: topic.clone() });
    apply(&data.path().join("kubeconfig"), &operation("quick", "for n in 1 2 3; do echo word $n; done"));
    assert_eq!(tab.receive(), LiveFrame::Changed { topic }, "the operation's topic is sent");

    tab.send(r#"{"do":"follow","run":"quick","from":1}"#);
    let (mut text, mut next) = (String::new(), 1);
    loop {
        match tab.receive() {
            LiveFrame::Lines { first, lines, .. } => {
                assert_eq!(first, next, "a line was lost or doubled");
                next += lines.len() as u64;
                lines.iter().for_each(|line| text += &format!("{}\n", line.s));
            }
            LiveFrame::End { end, .. } => break assert_eq!((end.lines, end.missing), (next - 1, 0)),
            LiveFrame::Changed { .. } | LiveFrame::Events { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(text.contains("word 1\nword 2\nword 3\n"), "{text}");
}

#[test]
fn the_port_for_probes_has_no_pages() {
    let data = data();
    let mut server = Server::start(data.path(), &["--health-listen", "127.0.0.1:0"]);
    server.wait_ready();
    let cookie = server.sign_in(&server.link).expect("signed in");
    let console = server.address;
    server.address = start::probes(&server.banner).expect("its address");
    for (path, status) in [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/metrics", 200),
        ("/login", 404),
        ("/assets/app.css", 404),
        ("/clusters", 404),
    ] {
        assert_eq!(server.get(path, &cookie).status, status, "{path}");
    }
    assert_eq!(server.send("POST", "/login", &[], "token=x").status, 404);
    server.address = console;
    assert_eq!(server.get("/healthz", "").status, 200, "the console answers probes, too");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn with_a_kubeconfig_people_sign_in_with_their_own_token() {
    let (cluster, data) = (data(), data());
    let cluster_server = Server::start(cluster.path(), &["--demo"]);
    cluster_server.wait_ready();
    let kubeconfig = cluster.path().join("kubeconfig");
    let config: serde_json::Value =
        serde_json::from_slice(&fs::read(&kubeconfig).expect("there")).expect("JSON is YAML");
    let token = config["users"][0]["user"]["token"].as_str().expect("a token");

    let server = Server::start(data.path(), &["--kubeconfig", &kubeconfig.display().to_string()]);
    assert!(server.banner.contains("sign in with your Kubernetes token"), "{}", server.banner);
    server.wait_ready();
    assert_eq!(server.sign_in("token=guess"), None);
    let cookie = server.sign_in(&format!("token={token}")).expect("signed in");
    assert!(!cookie.contains(token), "the token must be sealed");
    wait_for("the other server's demo", || server.get("/api/load_cluster?cluster=demo", &cookie).status == 200);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_session_opens_no_other_api_of_the_same_data_directory() {
    // There is no such operation: 404 with a session, a redirect to the sign-in page without one.
    const PRIVATE: &str = "/operations/none/log.txt";
    let (cluster, data) = (data(), data());
    let cluster_server = Server::start(cluster.path(), &[]);
    cluster_server.wait_ready();
    let kubeconfig = cluster.path().join("kubeconfig");
    let config: serde_json::Value = serde_json::from_slice(&fs::read(&kubeconfig).expect("there")).expect("JSON");
    let token = config["users"][0]["user"]["token"].as_str().expect("a token");
    let in_a_cluster = ["--kubeconfig", kubeconfig.to_str().expect("text")];

    let server = Server::start(data.path(), &in_a_cluster);
    let of_a_token = server.sign_in(&format!("token={token}")).expect("signed in");
    assert_eq!(server.get(PRIVATE, &of_a_token).status, 404);
    assert_eq!(server.stop(), Some(0));

    let server = Server::start(data.path(), &[]);
    assert_eq!(server.get(PRIVATE, &of_a_token).status, 303, "a token opened the standalone console");
    let of_a_link = server.sign_in(&server.link).expect("signed in");
    assert_eq!(server.get(PRIVATE, &of_a_link).status, 404);
    assert_eq!(server.stop(), Some(0));

    let server = Server::start(data.path(), &in_a_cluster);
    assert_eq!(server.get(PRIVATE, &of_a_link).status, 303);
    assert_ne!(server.get("/login", &of_a_link).status, 303, "the sign-in page redirects away");
    assert_eq!(server.get(PRIVATE, &of_a_token).status, 404, "signed out by a restart");
    assert_eq!(server.stop(), Some(0));

    // As with a tunnel: another cluster answers under the same address.
    let other = self::data();
    let other_server = Server::start(other.path(), &[]);
    other_server.wait_ready();
    let tunnel = other.path().join("kubeconfig");
    let mut other: serde_json::Value = serde_json::from_slice(&fs::read(&tunnel).expect("there")).expect("JSON");
    other["clusters"][0]["cluster"]["server"] = config["clusters"][0]["cluster"]["server"].clone();
    fs::write(&tunnel, other.to_string()).expect("written");
    let server = Server::start(data.path(), &["--kubeconfig", tunnel.to_str().expect("text")]);
    assert_eq!(server.get(PRIVATE, &of_a_token).status, 303, "the token was sent to another cluster");
}

#[test]
fn a_directory_with_other_files_is_left_unchanged() {
    let data = data();
    fs::write(data.path().join("thesis.txt"), "").expect("written");
    fs::set_permissions(data.path(), PermissionsExt::from_mode(0o755)).expect("set");
    let refused = run(data.path(), &["--listen", "127.0.0.1:0"]);
    assert!(text(&refused.stderr).contains("is not a data directory of kubeonkube"), "{}", text(&refused.stderr));
    assert_eq!(fs::metadata(data.path()).expect("there").permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_backup_is_taken_while_the_server_runs() {
    let data = data();
    let server = Server::start(data.path(), &[]);
    server.wait_ready();
    let file = data.path().join("copy.db");
    let output = run(data.path(), &["backup", &file.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::metadata(&file).expect("there").len() > 0);
}
