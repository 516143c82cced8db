//! The server's process, and a browser's requests to it.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::patience::PATIENCE;
use crate::world::eventually;
use crate::{plain_http, start};

/// The process is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    banner: PathBuf,
}

impl Server {
    /// Starts it with the data directory `data`. Its output is written to files in `notes`.
    pub(crate) fn start(data: &Path, ansible: &Path, notes: &Path) -> Self {
        let banner = notes.join("banner");
        let log = File::options().create(true).append(true).open(notes.join("server.log")).expect("a log");
        let mut command = Command::from(start::server(data, ansible));
        command.stdout(File::create(&banner).expect("a banner")).stderr(log).kill_on_drop(true);
        Self { child: command.spawn().expect("started"), banner }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("it runs")
    }

    /// `kill -9`.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.expect("it was running");
    }

    /// Stops it with SIGTERM; returns its exit code.
    pub(crate) async fn stop(mut self) -> Option<i32> {
        kill_process(self.pid(), Signal::TERM).expect("it runs");
        timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("our child").code()
    }

    /// The address of the console.
    pub(crate) async fn address(&self) -> SocketAddr {
        self.in_banner(start::address).await
    }

    /// What `find` finds in the banner.
    async fn in_banner<T>(&self, find: impl Fn(&str) -> Option<T>) -> T {
        eventually("the banner", async || find(&fs::read_to_string(&self.banner).ok()?)).await
    }

    /// Signs in with the banner's link; returns the cookie as a browser sends it.
    pub(crate) async fn sign_in(&self) -> String {
        let token = self.in_banner(|banner| start::token(banner).map(ToOwned::to_owned)).await;
        let (head, _) = self.send("POST /login", "", &format!("token={token}")).await;
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        cookie.split(';').next().expect("a pair").to_owned()
    }

    /// The stored log of a run.
    pub(crate) async fn download(&self, run: &str, cookie: &str) -> String {
        let (head, body) = self.send(&format!("GET /operations/{run}/log.txt"), cookie, "").await;
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        body
    }

    async fn send(&self, what: &str, cookie: &str, body: &str) -> (String, String) {
        plain_http::send(self.address().await, what, cookie, body).await
    }
}
