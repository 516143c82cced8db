//! The program with a new data directory, and kubectl with the kubeconfig that the program writes there.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::skipped::skip;
use crate::tool::tool;
use crate::{ansible, panics, start};

/// How long one command may take on a loaded machine.
const SOON: Duration = Duration::from_secs(150);

/// Server and commands are killed when dropped.
pub(crate) struct Session {
    server: Child,
    kubectl: PathBuf,
    dir: TempDir,
}

impl Session {
    /// `None` if kubectl or ansible is missing: then the test is recorded as skipped, or fails where `CI` is set.
    pub(crate) async fn start(test: &str) -> Option<Self> {
        let (Some(kubectl), Some(ansible)) = (tool("kubectl", "KUBEONKUBE_TEST_KUBECTL"), ansible::folder()) else {
            skip(test, "KUBEONKUBE_TEST_ANSIBLE, or a kubectl on PATH or in KUBEONKUBE_TEST_KUBECTL");
            return None;
        };
        let dir = tempfile::tempdir().expect("a directory");
        let log = File::create(dir.path().join("server.log")).expect("a log");
        let mut command = Command::from(start::server(&dir.path().join("data"), &ansible));
        command.stdout(Stdio::piped()).stderr(log);
        let server = command.kill_on_drop(true).spawn().expect("started");
        let mut session = Self { server, kubectl, dir };
        let mut banner = BufReader::new(session.server.stdout.take().expect("piped")).lines();
        // The banner must contain a command that people can paste.
        let file = session.path("data/kubeconfig");
        let says = format!("KUBECONFIG={} kubectl get clusters", file.display());
        while !next_line(&mut banner).await.expect("the banner names the kubeconfig").contains(&says) {}
        tokio::spawn(async move { while let Ok(Some(_)) = banner.next_line().await {} });
        Some(session)
    }

    /// A path in kubectl's working directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    fn command(&self, line: &str) -> Command {
        let dir = self.dir.path();
        let mut command = Command::new(&self.kubectl);
        // A separate home directory, so that the cache and configuration of the current user stay unchanged.
        command.args(line.split_whitespace()).current_dir(dir).env("HOME", dir);
        command.env("KUBECONFIG", dir.join("data/kubeconfig")).kill_on_drop(true);
        for proxy in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(proxy);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Whether kubectl succeeds, and its output on both streams.
    async fn output(&self, line: &str, input: &str) -> (bool, String) {
        let mut child = self.command(line).stdin(Stdio::piped()).spawn().expect("kubectl starts");
        let mut stdin = child.stdin.take().expect("piped");
        // A command that reads no input may have ended already.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let output = timeout(SOON, child.wait_with_output()).await;
        let output = output.unwrap_or_else(|_| panic!("kubectl {line} takes too long\n{}", self.log())).expect("ends");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    }

    /// The output of a command that must succeed.
    pub(crate) async fn run(&self, line: &str) -> String {
        self.with_input(line, "").await
    }

    pub(crate) async fn with_input(&self, line: &str, input: &str) -> String {
        let (well, text) = self.output(line, input).await;
        assert!(well, "kubectl {line}: {text}\n{}", self.log());
        text
    }

    /// The output of a command that must fail.
    pub(crate) async fn fails(&self, line: &str) -> String {
        let (well, text) = self.output(line, "").await;
        assert!(!well, "kubectl {line} should fail: {text}");
        text
    }

    /// Waits until the operation has the condition.
    pub(crate) async fn wait(&self, condition: &str, operation: &str) {
        let line = format!("wait --for=condition={condition} clusteroperation/{operation} --timeout=120s");
        let (well, text) = self.output(&line, "").await;
        if !well {
            let (_, object) = self.output(&format!("get clusteroperation {operation} -o yaml"), "").await;
            panic!("kubectl {line}: {text}\n{object}\n{}", self.log());
        }
    }

    /// A command in the background, and the lines that it prints.
    pub(crate) fn background(&self, line: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
        let mut child = self.command(line).stderr(Stdio::null()).spawn().expect("kubectl starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        (child, lines)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("server.log")).unwrap_or_default()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        panics::check_none(&self.log());
    }
}

/// The next line. `None` at the end.
pub(crate) async fn next_line(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<String> {
    timeout(SOON, lines.next_line()).await.expect("a line in time").expect("text")
}

/// Waits for the command. Returns whether it succeeded.
pub(crate) async fn exits_successfully(mut child: Child) -> bool {
    timeout(SOON, child.wait()).await.expect("it ends in time").expect("our child").success()
}

/// A file of this repository.
pub(crate) fn in_repository(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
}
