//! Temporary.
#![allow(dead_code, clippy::all)]
#[path = "../tests/fake/mod.rs"]
mod fake;
use api::{backend::*, live::*, log::*, operation::*, run::*, *};
use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    extract::{
        Path, Query, State,
        ws::{Message, WebSocketUpgrade},
    },
    http::{Request, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use fake::{Fake, operation};
use futures::StreamExt;
use kubeonkube_app::{self as app, session::Session};
use leptos::prelude::provide_context;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

fn now() -> Time {
    Time(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64)
}

struct Sim {
    start: i64,
    lines: Vec<LogLine>,
    events: Vec<RunEvent>,
    end: Option<LogEnd>,
    phase: Phase,
    started: bool,
    cancelling: bool,
}
impl Sim {
    fn line(&mut self, s: impl Into<String>) {
        self.lines.push(LogLine { t: now(), s: s.into() });
    }
    fn event(&mut self, body: EventBody) {
        let n = self.events.len() as u64 + 1;
        self.events.push(RunEvent { n, at: now().0, after: self.lines.len() as u64, body });
    }
}
fn ansi(c: &str, s: &str) -> String {
    format!("\u{1b}[{c}m{s}\u{1b}[0m")
}

const TASKS: &[(&str, &str)] = &[
    ("Prepare", "Gather facts"),
    ("Prepare", "Check versions and skew"),
    ("Prepare", "Take etcd snapshot"),
    ("Control plane, one at a time", "Drain"),
    ("Control plane, one at a time", "Upgrade control plane to the version that was asked for, with its static pods"),
    ("Workers, two at a time", "Drain"),
    ("Workers, two at a time", "Upgrade kubelet and runtime"),
    ("Workers, two at a time", "Uncordon"),
    ("Verify", "Components healthy"),
    ("Verify", "Smoke test"),
];

/// Plays the story up to a step; each call to the returned closure adds a little.
fn tell(sim: &mut Sim, step: usize, fail: bool) -> bool {
    // step = task*12 + k
    let (t, k) = (step / 12, step % 12);
    if t == 0 && k == 0 {
        sim.event(EventBody::StepStart { step: 1, role: StepRole::Main, title: "upgrade-cluster.yml".into() });
    }
    let Some((play, name)) = TASKS.get(t) else {
        sim.line("");
        sim.line("PLAY RECAP *********************************************************************");
        let mut hosts = std::collections::BTreeMap::new();
        for h in 0..5 {
            sim.line(format!(
                "{} : {}   {}   unreachable=0    failed=0    skipped=1    rescued=0    ignored=0",
                ansi("0;33", &format!("fra-w{h}                     ")),
                ansi("0;32", "ok=9"),
                ansi("0;33", "changed=4")
            ));
            hosts.insert(format!("fra-w{h}"), HostStats { ok: 9, changed: 4, skipped: 1, ..Default::default() });
        }
        sim.event(EventBody::Stats { hosts });
        sim.event(EventBody::StepEnd { step: 1, rc: 0 });
        return false;
    };
    let number = t as u32 + 1;
    if k == 0 {
        if t == 0 || TASKS[t - 1].0 != *play {
            let p = (0..=t).filter(|i| *i == 0 || TASKS[i - 1].0 != TASKS[*i].0).count() as u32;
            sim.line("");
            sim.line(format!("PLAY [{play}] {}", "*".repeat(40)));
            sim.event(EventBody::PlayStart { play: p, name: play.to_string() });
        }
        let p = (0..=t).filter(|i| *i == 0 || TASKS[i - 1].0 != TASKS[*i].0).count() as u32;
        sim.line("");
        sim.line(format!("TASK [{name}] {}", "*".repeat(50)));
        sim.event(EventBody::TaskStart {
            task: number,
            play: p,
            name: name.to_string(),
            action: "ansible.builtin.command".into(),
            handler: t == 8,
        });
        for h in 0..5 {
            sim.event(EventBody::HostStart { task: number, host: format!("fra-w{h}") });
        }
    } else if k <= 10 && k % 2 == 0 {
        let h = k / 2 - 1;
        let host = format!("fra-w{h}");
        let (result, line, message) = match (t, h) {
            (6, 2) if fail => (
                HostResult::Failed,
                ansi(
                    "0;31",
                    &format!(
                        "fatal: [{host}]: FAILED! => rc=1: couldn't upgrade control plane: timed out waiting for the condition"
                    ),
                ),
                Some(
                    "static Pod hash for component kube-apiserver on Node stg-cp1 did not change after 5m0s"
                        .to_string(),
                ),
            ),
            (6, 4) if fail => (
                HostResult::Unreachable,
                ansi(
                    "1;31",
                    &format!(
                        "fatal: [{host}]: UNREACHABLE! => Failed to connect to the host via ssh: Connection timed out"
                    ),
                ),
                Some("Connection timed out".to_string()),
            ),
            (1, 3) => (HostResult::Skipped, ansi("0;36", &format!("skipping: [{host}]")), None),
            (t, _) if t % 3 == 2 => {
                (HostResult::Changed, ansi("0;33", &format!("changed: [{host}] => (item=kubelet=1.34.4-1.1)")), None)
            }
            _ => (HostResult::Ok, ansi("0;32", &format!("ok: [{host}]")), None),
        };
        sim.line(line);
        if h == 1 {
            sim.line("  diff: kubelet 1.33.13-1.1 -> 1.34.4-1.1");
            sim.line("FAILED - RETRYING: [fra-w2]: Restart kubelet (5 retries left).");
        }
        sim.event(EventBody::HostResult { task: number, host, result, ms: 500, message, item: None, ignored: false });
    }
    if fail && t == 6 && k == 11 {
        let mut hosts = std::collections::BTreeMap::new();
        for h in 0..5 {
            hosts.insert(
                format!("fra-w{h}"),
                HostStats {
                    ok: 6,
                    changed: 2,
                    failed: (h == 2) as u32,
                    unreachable: (h == 4) as u32,
                    ..Default::default()
                },
            );
        }
        sim.line("NO MORE HOSTS LEFT *************************************************************");
        sim.event(EventBody::Stats { hosts });
        sim.event(EventBody::StepEnd { step: 1, rc: 2 });
        return false;
    }
    true
}

#[derive(Clone)]
struct World {
    sims: Arc<Mutex<std::collections::BTreeMap<String, Sim>>>,
    drop_after: Arc<AtomicU64>,
    fake: Fake,
}
impl World {
    fn detail(&self, name: &str) -> Result<OperationDetail, Problem> {
        let sims = self.sims.lock().unwrap();
        let sim = sims.get(name).ok_or(Problem::NotFound { what: "operation".into(), name: name.into() })?;
        let mut d = fake::run("ping-1", sim.phase);
        d.now = now();
        d.row.name = name.parse().unwrap();
        d.row.action = "upgrade-cluster.yml".into();
        d.row.submitted = Time(sim.start);
        d.row.started = sim.started.then_some(Time(sim.start));
        d.row.ended = sim.phase.is_final().then(|| sim.lines.last().map_or(now(), |l| l.t));
        d.row.cancelling = sim.cancelling && !sim.phase.is_final();
        if sim.cancelling {
            d.cancel = Err("It is being cancelled: the running task is brought to its end.".into());
        }
        match sim.phase {
            Phase::Queued => {
                d.row.message = "Waits for upgrade-7c1f, which runs on prod-fra. 2 operations are before it.".into();
                d.inputs = None;
            }
            Phase::Failed => {
                d.row.message = "1 of 5 hosts failed and 1 could not be reached.".into();
                d.end = Some(Termination {
                    v: 1,
                    rc: 2,
                    cancelled: false,
                    steps: vec![],
                    dropped: 0,
                    failures: vec![TaskFailure {
                        host: "fra-w2".into(),
                        task: "Upgrade kubelet and runtime".into(),
                        message: "static Pod hash".into(),
                    }],
                    running: None,
                    message: String::new(),
                });
            }
            Phase::Cancelled => {
                d.row.message = "Cancelled by ada.".into();
                d.end = Some(Termination {
                    v: 1,
                    rc: 130,
                    cancelled: true,
                    steps: vec![],
                    dropped: 0,
                    failures: vec![],
                    running: Some(InFlight { task: "Drain".into(), hosts: vec!["fra-w1".into()] }),
                    message: String::new(),
                });
            }
            _ => {}
        }
        Ok(d)
    }
    fn page_of(&self, name: &str, from: u64, count: u32) -> Result<LogPage, Problem> {
        let sims = self.sims.lock().unwrap();
        let sim = sims.get(name).ok_or(Problem::Internal)?;
        let total = sim.lines.len() as u64;
        let first = if from == 0 { (total + 1).saturating_sub(count as u64).max(1) } else { from };
        let lines = sim.lines.iter().skip(first as usize - 1).take(count as usize).cloned().collect();
        Ok(LogPage { first, lines, total, end: sim.end })
    }
}
#[async_trait]
impl Operations for World {
    async fn list(&self, _: &User, f: &OperationFilter) -> Result<OperationList, Problem> {
        let mut rows: Vec<OperationRow> = self
            .sims
            .lock()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
            .iter()
            .map(|n| n.clone())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|n| n)
            .filter_map(|n| {
                let sims = &self.sims;
                let _ = sims;
                Some(n)
            })
            .map(|n| n)
            .collect::<Vec<String>>()
            .into_iter()
            .filter_map(|_| None)
            .collect();
        let names: Vec<String> = self.sims.lock().unwrap().keys().cloned().collect();
        for n in names {
            rows.push(self.detail(&n)?.row);
        }
        rows.retain(|r| f.phase.is_empty() || r.phase.word().eq_ignore_ascii_case(&f.phase));
        rows.retain(|r| r.name.as_str().contains(&f.q));
        let mut l = fake::operations(rows);
        l.now = now();
        Ok(l)
    }
    async fn get(&self, _: &User, n: &OperationName) -> Result<OperationDetail, Problem> {
        self.detail(n.as_str())
    }
    async fn choices(&self, _: &User) -> Result<SubmitChoices, Problem> {
        let mut c = fake::choices();
        let mut real = vec![];
        for (a, t, s, ch) in [
            (
                "ping.yml",
                "Reach every machine",
                "Logs in to each machine and runs Python there. Changes nothing.",
                false,
            ),
            (
                "facts.yml",
                "Gather facts",
                "Collects operating system, processor, memory, disks and addresses of each machine. Changes nothing.",
                false,
            ),
            (
                "cluster.yml",
                "Build or converge the cluster",
                "Installs Kubernetes on all machines of the inventory, or brings an existing cluster to what the variables say.",
                true,
            ),
            (
                "scale.yml",
                "Add worker nodes",
                "Installs the machines that are new in the inventory as workers. Limit it to them.",
                true,
            ),
            ("reset.yml", "Reset the cluster", "Removes Kubernetes and all its data from the machines.", true),
        ] {
            real.push(ActionOffer {
                action: a.into(),
                title: t.into(),
                summary: s.into(),
                changes: ch,
                unavailable: ch
                    .then(|| "It comes with the kubespray image, which only a Kubernetes cluster can run.".into())
                    .filter(|_| a != "scale.yml"),
            });
        }
        c.actions = real;
        Ok(c)
    }
    async fn review(&self, _: &User, new: &NewOperation) -> Result<OperationReview, Problem> {
        if new.action.is_empty() {
            return Err(Problem::fields(vec![
                FieldProblem { field: "action".into(), message: "Choose what to run.".into() },
                FieldProblem { field: "cluster".into(), message: "Choose a cluster.".into() },
            ])
            .unwrap());
        }
        if !new.deadline.is_empty() && new.deadline.parse::<u32>().is_err() {
            return Err(Problem::field("deadline", "Write minutes, from 1 to 10080."));
        }
        let mut r = fake::operation_review();
        r.commands = vec![
            [
                "ansible-playbook",
                "-i",
                "/conf/hosts.yml",
                "-b",
                "--become-user",
                "root",
                "-e",
                "@/conf/group_vars.yml",
                "--private-key",
                "/auth/ssh-privatekey",
                &format!("/kubespray/{}", new.action),
                "-e",
                "motd=two words",
            ]
            .iter()
            .map(|s| s.to_string())
            .collect(),
        ];
        Ok(r)
    }
    async fn submit(&self, _: &User, _: &NewOperation) -> Result<OperationName, Problem> {
        Ok("live".parse().unwrap())
    }
    async fn cancel(&self, _: &User, n: &OperationName) -> Result<(), Problem> {
        self.sims.lock().unwrap().get_mut(n.as_str()).unwrap().cancelling = true;
        Ok(())
    }
}
#[async_trait]
impl Runs for World {
    async fn record(&self, _: &User, n: &OperationName, from: u64, count: u32) -> Result<RunRecord, Problem> {
        let log = self.page_of(n.as_str(), from, count)?;
        let events = self.sims.lock().unwrap()[n.as_str()].events.clone();
        Ok(RunRecord { events, log, note: None })
    }
    async fn page(&self, _: &User, n: &OperationName, from: u64, count: u32) -> Result<LogPage, Problem> {
        self.page_of(n.as_str(), from, count)
    }
    async fn follow(&self, _: &User, _: &OperationName, _: u64, _: u64) -> Result<Frames<LogFrame>, Problem> {
        Err(Problem::Internal)
    }
    async fn text(&self, _: &User, _: &OperationName) -> Result<Frames<Vec<u8>>, Problem> {
        Err(Problem::Internal)
    }
}

async fn live(ws: WebSocketUpgrade, State(world): State<World>) -> Response {
    ws.on_upgrade(move |mut socket| async move {
        let mut follow: Option<(OperationName, u64, u64)> = None;
        let mut last_phase = String::new();
        let mut topics = vec![];
        let born = std::time::Instant::now();
        let mut beat = std::time::Instant::now();
        loop {
            let limit = world.drop_after.load(Ordering::Relaxed);
            if limit > 0 && born.elapsed() > Duration::from_millis(limit) {
                return;
            }
            match tokio::time::timeout(Duration::from_millis(100), socket.recv()).await {
                Ok(Some(Ok(Message::Text(t)))) => match serde_json::from_str::<LiveRequest>(&t) {
                    Ok(LiveRequest::Follow { run, from, events_from }) => {
                        eprintln!("follow {run} {from} {events_from}");
                        follow = Some((run, from, events_from));
                    }
                    Ok(LiveRequest::Unfollow { run }) => {
                        eprintln!("unfollow {run}");
                        follow = None;
                    }
                    Ok(LiveRequest::Topics { topics: t }) => {
                        eprintln!("topics {t:?}");
                        topics = t;
                    }
                    Err(e) => eprintln!("{e}"),
                },
                Ok(Some(Ok(_))) => {}
                Ok(None) | Ok(Some(Err(_))) => {
                    eprintln!("socket closed");
                    return;
                }
                Err(_) => {}
            }
            let mut frames = vec![];
            if beat.elapsed() > Duration::from_secs(15) {
                beat = std::time::Instant::now();
                frames.push(LiveFrame::Beat);
            }
            if let Some((run, from, ev)) = &mut follow {
                let sims = world.sims.lock().unwrap();
                let sim = &sims[run.as_str()];
                let lines: Vec<_> = sim.lines.iter().skip(*from as usize - 1).take(2000).cloned().collect();
                if !lines.is_empty() {
                    let first = *from;
                    *from += lines.len() as u64;
                    frames.push(LiveFrame::Lines { run: run.clone(), first, lines });
                }
                let events: Vec<_> = sim.events.iter().skip(*ev as usize - 1).cloned().collect();
                if !events.is_empty() {
                    *ev += events.len() as u64;
                    frames.push(LiveFrame::Events { run: run.clone(), events });
                }
                if sim.end.is_some() && *from > sim.lines.len() as u64 {
                    frames.push(LiveFrame::End { run: run.clone(), end: sim.end.unwrap() });
                }
                let done = sim.end.is_some() && *from > sim.lines.len() as u64;
                drop(sims);
                if done {
                    follow = None;
                }
            }
            let phase = {
                let sims = world.sims.lock().unwrap();
                sims.values().map(|s| format!("{:?}{}", s.phase, s.cancelling)).collect::<String>()
            };
            if phase != last_phase {
                last_phase = phase;
                for t in &topics {
                    frames.push(LiveFrame::Changed { topic: t.clone() });
                }
            }
            for f in frames {
                if socket.send(Message::Text(serde_json::to_string(&f).unwrap().into())).await.is_err() {
                    return;
                }
            }
        }
    })
}

#[tokio::main]
async fn main() {
    let mut sims = std::collections::BTreeMap::new();
    let new = |phase, ago: i64| Sim {
        start: now().0 - ago,
        lines: vec![],
        events: vec![],
        end: None,
        phase,
        started: true,
        cancelling: false,
    };
    let mut done = new(Phase::Succeeded, 300_000);
    let mut i = 0;
    while tell(&mut done, i, false) {
        i += 1;
    }
    done.event(EventBody::Outcome { key: "facts".into(), value: serde_json::json!({"fra-cp1": {"hostname":"fra-cp1","os":"Debian 12.8","os_family":"Debian","kernel":"6.1.0-28-amd64","arch":"x86_64","cpus":16,"memory_mb":64312,"swap_mb":0,"disk_total_mb":102400,"disk_free_mb":61440,"disk_device":"/dev/sda1","default_ip":"10.20.1.11","ips":["10.20.1.11","fd00::11"],"virtualization_type":"kvm","virtualization_role":"guest","python":"3.11.2","clock_skew_seconds":0},"fra-w1": {"os":"Ubuntu 24.04","kernel":"6.8.0-49-generic","arch":"x86_64","cpus":8,"memory_mb":32000,"swap_mb":2048,"disk_total_mb":51200,"disk_free_mb":1024,"ips":["10.20.1.21"],"virtualization_type":"NA","python":"3.12.3","clock_skew_seconds":7}}) });
    done.end = Some(LogEnd { lines: done.lines.len() as u64, missing: 0 });
    sims.insert("done".into(), done);
    let mut failed = new(Phase::Failed, 300_000);
    let mut i = 0;
    while tell(&mut failed, i, true) {
        i += 1;
    }
    failed.end = Some(LogEnd { lines: failed.lines.len() as u64, missing: 0 });
    sims.insert("failed".into(), failed);
    let mut big = new(Phase::Succeeded, 3_000_000);
    i = 0;
    while tell(&mut big, i, false) {
        i += 1;
    }
    for n in big.lines.len()..200_000 {
        let s = match n % 7 {
            0 => ansi("0;32", &format!("ok: [node{}] => (item=package-{n})", n % 200)),
            1 => ansi("0;33", &format!("changed: [node{}]", n % 200)),
            _ => format!("line {} of a long log with some text so that it has a usual length", n + 1),
        };
        big.line(s);
    }
    for t in 11..600u32 {
        big.event(EventBody::TaskStart {
            task: t,
            play: 4,
            name: format!("Task number {t}"),
            action: "command".into(),
            handler: false,
        });
        let after = t as u64 * 330;
        big.events.last_mut().unwrap().after = after;
        for h in 0..200 {
            let body = EventBody::HostResult {
                task: t,
                host: format!("node{h}"),
                result: if h % 9 == 0 { HostResult::Changed } else { HostResult::Ok },
                ms: 1,
                message: None,
                item: None,
                ignored: false,
            };
            big.event(body);
            big.events.last_mut().unwrap().after = after + h;
        }
    }
    big.end = Some(LogEnd { lines: 200_000, missing: 0 });
    sims.insert("big".into(), big);
    sims.insert("live".into(), new(Phase::Running, 1000));
    let mut q = new(Phase::Queued, 60_000);
    q.started = false;
    sims.insert("queued".into(), q);
    let mut c = new(Phase::Cancelled, 300_000);
    for i in 0..44 {
        tell(&mut c, i, false);
    }
    c.event(EventBody::StepEnd { step: 1, rc: 130 });
    c.end = Some(LogEnd { lines: c.lines.len() as u64, missing: 14 });
    sims.insert("cancelled".into(), c);
    sims.insert("flood".into(), new(Phase::Running, 1000));
    let world = World { sims: Arc::new(Mutex::new(sims)), drop_after: Arc::default(), fake: Fake::default() };
    let w = world.clone();
    tokio::spawn(async move {
        let mut step = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(400)).await;
            let mut s = w.sims.lock().unwrap();
            let sim = s.get_mut("live").unwrap();
            if sim.cancelling && !sim.phase.is_final() {
                sim.event(EventBody::StepEnd { step: 1, rc: 130 });
                sim.phase = Phase::Cancelled;
                sim.end = Some(LogEnd { lines: sim.lines.len() as u64, missing: 0 });
                continue;
            }
            if sim.phase.is_final() {
                if sim.lines.last().is_some_and(|l| now().0 - l.t.0 > 8000) {
                    *sim = Sim {
                        start: now().0,
                        lines: vec![],
                        events: vec![],
                        end: None,
                        phase: Phase::Running,
                        started: true,
                        cancelling: false,
                    };
                    step = 0;
                }
                continue;
            }
            if tell(sim, step, false) {
                step += 1;
            } else {
                sim.phase = Phase::Succeeded;
                sim.end = Some(LogEnd { lines: sim.lines.len() as u64, missing: 0 });
            }
        }
    });
    let w = world.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let mut s = w.sims.lock().unwrap();
            let sim = s.get_mut("flood").unwrap();
            if sim.end.is_some() {
                continue;
            }
            let n = sim.lines.len();
            for i in n..n + 500 {
                sim.line(format!("flood line {}", i + 1));
            }
            if sim.lines.len() >= 100_000 {
                sim.end = Some(LogEnd { lines: sim.lines.len() as u64, missing: 0 });
                sim.phase = Phase::Succeeded;
            }
        }
    });
    let manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string("/tmp/pw/site/manifest.json").unwrap()).unwrap();
    let get_s = |k: &str| manifest[k].as_str().unwrap().to_owned();
    let assets = app::Assets { css: get_s("css"), js: get_s("js"), wasm: get_s("wasm") };
    let routes = leptos_axum::generate_route_list(app::App);
    println!("{} routes", routes.len());
    let this = Arc::new(world.clone());
    let f = Arc::new(world.fake.clone());
    let backend = Backend {
        clusters: f.clone(),
        configurations: f.clone(),
        operations: this.clone(),
        runs: this,
        changes: f,
        about: Arc::new(About { version: "0.1.0".into(), mode: "standalone".into(), facts: vec![] }),
    };
    let context = move || {
        provide_context(backend.clone());
        provide_context(Session(Some(fake::user())));
    };
    let cx = context.clone();
    let fns = move |req: Request<Body>| {
        let cx = cx.clone();
        async move { leptos_axum::handle_server_fns_with_context(cx, req).await.into_response() }
    };
    let render = leptos_axum::render_app_async_with_context(context.clone(), move || app::shell(&assets));
    let page = move |req: Request<Body>| {
        let render = render.clone();
        async move {
            let path = req.uri().path().to_owned();
            if path.starts_with("/assets") || path == "/favicon.svg" {
                let Ok(bytes) = std::fs::read(format!("/tmp/pw/site{path}")) else {
                    return StatusCode::NOT_FOUND.into_response();
                };
                let mime = if path.ends_with(".css") {
                    "text/css"
                } else if path.ends_with(".js") {
                    "text/javascript"
                } else if path.ends_with(".wasm") {
                    "application/wasm"
                } else {
                    "image/svg+xml"
                };
                return ([(header::CONTENT_TYPE, mime)], bytes).into_response();
            }
            render(req).await.into_response()
        }
    };
    let drop_after = world.drop_after.clone();
    let router = Router::new()
        .route("/live", get(live))
        .route(
            "/drop/{ms}",
            get(move |Path(ms): Path<u64>| {
                drop_after.store(ms, Ordering::Relaxed);
                async { "ok" }
            }),
        )
        .route("/api/{*x}", get(fns.clone()).post(fns))
        .fallback(page)
        .with_state(world);
    let _ = (Query::<()>::try_from_uri,);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:4788").await.unwrap();
    println!("http://127.0.0.1:4788");
    axum::serve(listener, router).await.unwrap();
}
