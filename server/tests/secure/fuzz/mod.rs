//! Requests changed at random, to both ports of the program. Whatever comes, the program answers with a status below 500, doesn't panic, keeps
//! its memory within a limit and answers the next ordinary request. `kubeonkube-mutation` says how to run a case again.

mod console;
mod documents;
mod kubernetes;
mod samples;
mod wire;

use std::fs;

use self::wire::{Request, Target};
use crate::server::Server;

/// The most memory of the program, in KiB. A new one takes about 100 MiB in a debug build.
const MEMORY: u64 = 700 * 1024;

/// Checks the program after a request.
struct Watcher<'a> {
    server: &'a Server,
    target: &'a Target,
    cases: u64,
    /// The newest two requests: if the program ends, only the next request fails.
    newest: Vec<Request>,
}

impl<'a> Watcher<'a> {
    fn new(server: &'a Server, target: &'a Target) -> Self {
        Self { server, target, cases: 0, newest: Vec::new() }
    }

    /// Sends `request`, and `ordinary` after every tenth one. Prints a request whose answer isn't allowed.
    async fn sends(&mut self, request: &Request, ordinary: &Request) {
        self.newest.truncate(1);
        self.newest.insert(0, request.clone());
        let status = self.target.send_incomplete(&request.bytes()).await;
        // 100 is the answer to `expect: 100-continue`.
        let is_allowed = status.is_none_or(|status| (100..500).contains(&status)) || self.is_of_future(status, request);
        assert!(is_allowed, "status {status:?} for {request}");
        self.cases += 1;
        if self.cases.is_multiple_of(10) {
            assert_eq!(self.target.send(&ordinary.bytes()).await, Some(200), "the ordinary request after {request}");
            self.check(&format!("{request}"));
        }
    }

    /// Whether this is the answer to a read at a version that doesn't exist yet. Kubernetes gives it, too.
    fn is_of_future(&self, status: Option<u16>, request: &Request) -> bool {
        let version = request.path.split("resourceVersion=").nth(1).unwrap_or_default();
        let has_version = version.starts_with(|first: char| ('1'..='9').contains(&first));
        status == Some(504) && request.method == "GET" && self.target.name == wire::KUBERNETES && has_version
    }

    /// Whether the program runs as it should.
    fn check(&self, after: &str) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.pid())).expect("the program runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
        let peak: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(peak < MEMORY, "{peak} KiB after {after}");
        let log = self.server.log();
        let panicked = log.lines().find(|line| line.contains("panicked"));
        assert!(panicked.is_none(), "{} after {after}", panicked.unwrap_or_default());
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        eprintln!("{} requests to {}", self.cases, self.target.name);
        if std::thread::panicking() {
            self.newest.iter().for_each(|request| eprintln!("{request}\n"));
        }
    }
}
