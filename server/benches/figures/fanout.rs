//! A run prints 1,000 lines a second, and 1, 100 and 1,000 tabs watch it through `/live` WebSockets of the real program. The
//! latency of a line starts with its timestamp, which the shim process takes when it reads the line from the pipe, before the
//! server gets it. It ends when the viewer has received the frame. Viewers and server share this machine.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::join_all;
use futures::{SinkExt, StreamExt};
use kube::Api;
use kube::api::PostParams;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde::Deserialize;
use tokio::sync::Barrier;
use tokio_tungstenite::tungstenite::Message;

use crate::measure::objects;
use crate::measure::program::{Memory, Program, Socket};
use crate::measure::report::{Report, rounded};

const VIEWERS: [usize; 3] = [1, 100, 1000];
const SECONDS: u64 = 15;
const LINES_A_SECOND: u64 = 1000;
/// The largest latency that is counted exactly, in milliseconds.
const SLOWEST: usize = 60_000;

pub(crate) async fn run() {
    allow_many_sockets();
    let mut report = Report::new();
    let program = Program::start(&[]).await;
    let (cookie, client) = (program.sign_in().await, program.client().await);
    objects::clusters(&client, 0..VIEWERS.len()).await;
    for (n, viewers) in VIEWERS.into_iter().enumerate() {
        let (run, go) = (format!("run-{viewers}"), program.folder().join(format!("go-{n}")));
        let script = script(&go.display().to_string());
        let operation = objects::operation(&run, &format!("c-{n}"), &script);
        Api::all(client.clone()).create(&PostParams::default(), &operation).await.expect("an operation");
        program.idle().await;
        let before = program.memory();
        let sockets = join_all((0..viewers).map(|_| open(&program, &cookie, &run))).await;
        program.idle().await;
        let idle = program.memory();
        let everybody = Arc::new(Barrier::new(viewers + 1));
        let watching: Vec<_> =
            sockets.into_iter().map(|socket| tokio::spawn(watch(socket, everybody.clone()))).collect();
        everybody.wait().await;
        fs::write(&go, "").expect("written");
        let (started, used) = (Instant::now(), program.processor());
        let mut peak = idle;
        let seen = tokio::spawn(join_all(watching));
        let mut tick = tokio::time::interval(Duration::from_millis(250));
        while !seen.is_finished() {
            tick.tick().await;
            let now = program.memory();
            peak = if now.anonymous > peak.anonymous { now } else { peak };
        }
        let processor = (program.processor() - used) / started.elapsed().as_secs_f64();
        let seen = Seen::all(seen.await.expect("no panic").into_iter().map(|seen| seen.expect("no panic")));
        let what = if viewers == 1 { "1 viewer".into() } else { format!("{viewers} viewers") };
        report.add(format!("{what}: latency, p50"), format!("{} ms", seen.percentile(50)));
        report.at_most(format!("{what}: latency, p99"), seen.percentile(99) as f64, 150.0, "ms");
        report.at_most(format!("{what}: lines lost or doubled"), seen.wrong as f64, 0.0, "");
        report.at_most(format!("{what}: left out with a gap frame, and fetched again"), seen.gaps as f64, 0.0, "");
        let per_viewer = |memory: Memory| (memory.anonymous - before.anonymous) * 1000.0 / viewers as f64;
        if viewers > 1 {
            report.at_most(
                format!("{what}: memory for each while lines come, at its highest"),
                per_viewer(peak),
                64.0,
                "KB",
            );
            report.add(
                format!("{what}: memory for each before the first line"),
                format!("{} KB", rounded(per_viewer(idle))),
            );
        }
        report.add(format!("{what}: the server's processor time"), format!("{:.0} % of one core", processor * 100.0));
    }
    report.note(format!(
        "{} lines a run; memory is the server's, without the kernel's socket buffers.",
        SECONDS * LINES_A_SECOND
    ));
    report.print();
}

/// Waits for a file, then prints ten lines every ten milliseconds.
fn script(go: &str) -> String {
    let rounds = SECONDS * 100;
    format!(
        "exec python3 - <<'END'
import os, sys, time
while not os.path.exists('{go}'):
    time.sleep(0.01)
start = time.monotonic()
for round in range({rounds}):
    for line in range(10):
        sys.stdout.write(f'ok: [worker-{{round:04d}}] => line {{line}} of a task that says about as much as ansible does\\n')
    sys.stdout.flush()
    time.sleep(max(0.0, start + (round + 1) * 0.01 - time.monotonic()))
END"
    )
}

/// A tab that follows the run.
async fn open(program: &Program, cookie: &str, run: &str) -> Socket {
    let mut socket = program.live(cookie).await;
    let follow = format!(r#"{{"do":"follow","run":"{run}","from":1}}"#);
    socket.send(Message::text(follow)).await.expect("sent");
    socket
}

/// What one viewer, or all of them together, received.
struct Seen {
    /// The number of lines by latency in milliseconds.
    latencies: Vec<u32>,
    /// Lines that were missing or came twice.
    wrong: u64,
    /// Lines that a gap frame left out.
    gaps: u64,
}

/// The parts of a frame that are needed here. If a thousand viewers parsed every line, this would measure the viewers.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Head {
    Lines { first: u64 },
    Gap { from: u64, to: u64 },
    End { end: End },
    Interrupted {},
    Refused {},
    SignedOut,
    Changed {},
    Events {},
    Beat,
}

/// How the log ended. The run prints a few lines in addition to those of the script.
#[derive(Deserialize)]
struct End {
    lines: u64,
    missing: u64,
}

/// Receives everything until the end of the run.
async fn watch(mut socket: Socket, everybody: Arc<Barrier>) -> Seen {
    let mut seen = Seen { latencies: vec![0; 256], wrong: 0, gaps: 0 };
    let mut next = 1;
    everybody.wait().await;
    while let Some(message) = socket.next().await {
        let Message::Text(frame) = message.expect("the socket stays open") else { continue };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64;
        match serde_json::from_str(&frame).expect("a frame") {
            Head::Lines { first } => {
                seen.wrong += first.abs_diff(next);
                let mut count = 0;
                // Quotes inside a line are escaped, so this matches only at the start of a line.
                for line in frame.split("{\"t\":").skip(1) {
                    let at: u64 = line.split(',').next().and_then(|at| at.parse().ok()).expect("a time");
                    let took = (now.saturating_sub(at) as usize).min(SLOWEST);
                    if seen.latencies.len() <= took {
                        seen.latencies.resize(took + 1, 0);
                    }
                    seen.latencies[took] += 1;
                    count += 1;
                }
                next = first + count;
            }
            Head::Gap { from, to } => {
                seen.gaps += to - from;
                next = to;
            }
            Head::End { end } => {
                seen.wrong += (end.lines + 1).abs_diff(next) + end.missing;
                assert!(end.lines > SECONDS * LINES_A_SECOND, "the script printed more lines than that");
                break;
            }
            Head::Interrupted {} | Head::Refused {} | Head::SignedOut => panic!("{frame}"),
            Head::Changed {} | Head::Events {} | Head::Beat => {}
        }
    }
    seen
}

impl Seen {
    fn all(viewers: impl Iterator<Item = Seen>) -> Self {
        let mut all = Seen { latencies: Vec::new(), wrong: 0, gaps: 0 };
        for seen in viewers {
            all.wrong += seen.wrong;
            all.gaps += seen.gaps;
            all.latencies.resize(all.latencies.len().max(seen.latencies.len()), 0);
            all.latencies.iter_mut().zip(&seen.latencies).for_each(|(all, one)| *all += one);
        }
        all
    }

    /// In milliseconds.
    fn percentile(&self, percent: u64) -> usize {
        let total: u64 = self.latencies.iter().map(|count| u64::from(*count)).sum();
        let mut left = (total * percent).div_ceil(100);
        let reached = self.latencies.iter().position(|count| {
            left = left.saturating_sub(u64::from(*count));
            left == 0
        });
        reached.unwrap_or(SLOWEST)
    }
}

/// A thousand viewers need as many file descriptors, here and in the program, which inherits the limit.
fn allow_many_sockets() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("up to the hard limit");
}
