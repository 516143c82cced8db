//! From an operation to its Job. The controller runs in this process over the embedded API (SQLite on this disk, every write
//! synced). A task takes the place of Job controller and kubelet and ends Jobs at once. Watches measure what a client sees: when
//! an operation gets its turn on a Cluster, and when its Job exists.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crd::{Cluster, ClusterOperation, Phase, Time};
use futures::StreamExt;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::client::Body;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio_util::sync::CancellationToken;

use crate::embedded_api;
use crate::kubelet::Kubelet;
use crate::measure::report::{Report, percentile};
use crate::measure::{eventually, objects};

/// Operations of the burst, each on its own cluster.
const BURST: usize = 1000;
/// Operations that run one after the other.
const ALONE: usize = 50;

pub(crate) async fn run() {
    let mut report = Report::new();
    let lab = Lab::new().await;
    objects::clusters(&lab.client, 0..BURST + ALONE).await;
    lab.rest().await;

    let mut idle = Vec::new();
    for n in 0..ALONE {
        let submitted = lab.submit(&format!("alone-{n}"), BURST + n).await;
        let seen = lab.seen_job(&format!("alone-{n}")).await;
        idle.push(seen - submitted);
        lab.all_ended(n + 1).await;
    }
    report.add("one operation, idle: object → Job, p50", format!("{:.1} ms", percentile(&mut idle, 50)));
    report.at_most("one operation, idle: object → Job, p99", percentile(&mut idle, 99), 60.0, "ms");

    lab.rest().await;
    let (started, before) = (Instant::now(), lab.requests());
    let submitted = Mutex::new(HashMap::new());
    objects::each(0..40, async |n| {
        let name = format!("forty-{n}");
        let at = lab.submit(&name, n % 20).await;
        submitted.lock().expect("no panic").insert(name, at);
    })
    .await;
    lab.all_ended(ALONE + 40).await;
    let spent = started.elapsed();
    let mut waits: Vec<_> =
        submitted.into_inner().expect("no panic").iter().map(|(name, at)| lab.job_at(name) - *at).collect();
    report.at_most("40 operations on 20 clusters: object → Job, p50", percentile(&mut waits, 50), 150.0, "ms");
    report.at_least("… operations a second, to their ends", 40.0 / spent.as_secs_f64(), 30.0, "/s");
    lab.rest().await;
    report.add("… API requests per operation", format!("{:.1}", (lab.requests() - before) as f64 / 40.0));

    let (started, before, kinds) = (Instant::now(), lab.requests(), lab.kinds());
    objects::each(0..BURST, async |n| lab.submit(&format!("burst-{n}"), n).await).await;
    let created = started.elapsed();
    lab.all_ended(ALONE + 40 + BURST).await;
    let spent = started.elapsed();
    let mut turns: Vec<_> =
        (0..BURST).map(|n| format!("burst-{n}")).map(|name| lab.job_at(&name) - lab.turn_at(&name)).collect();
    report.at_most(
        format!("{BURST} operations on {BURST} clusters: turn → Job, p50"),
        percentile(&mut turns, 50),
        150.0,
        "ms",
    );
    report.at_most(
        format!("{BURST} operations on {BURST} clusters: turn → Job, p99"),
        percentile(&mut turns, 99),
        500.0,
        "ms",
    );
    report.at_least("… operations a second, to their ends", BURST as f64 / spent.as_secs_f64(), 30.0, "/s");
    report.add(
        "… operations created a second (while the first ones run)",
        format!("{:.0} /s", BURST as f64 / created.as_secs_f64()),
    );
    lab.rest().await;
    report.at_most(
        "… API requests per operation, Events included",
        (lab.requests() - before) as f64 / BURST as f64,
        12.0,
        "",
    );

    let spent_on = lab.kinds_since(&kinds, BURST);

    lab.kubelet.hold();
    objects::each(0..5, async |n| lab.submit(&format!("held-{n}"), n).await).await;
    for n in 0..5 {
        lab.seen_job(&format!("held-{n}")).await;
    }
    lab.rest().await;
    let before = lab.requests();
    // Idle time has no condition to wait for.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let idle = (lab.requests() - before) as f64 / 10.0;
    report.at_most(
        format!("idle, {} clusters and 5 open operations: API requests a second", BURST + ALONE),
        idle,
        0.1,
        "/s",
    );
    report.note("Requests are those of the controller, without watches and their initial lists. Default --max-running: 20 at a time.");
    report.note(format!("Per operation of the burst: {spent_on}."));
    report.print();
    lab.stop.cancel();
}

/// An API, a controller, and watches that record times.
struct Lab {
    client: Client,
    kubelet: Arc<Kubelet>,
    requests: Arc<Requests>,
    turns: Arc<Moments>,
    jobs: Arc<Moments>,
    ends: Arc<Moments>,
    stop: CancellationToken,
    _api: Arc<standalone::Api>,
    _data: tempfile::TempDir,
}

/// When something was first seen, by the name of its operation.
#[derive(Default)]
struct Moments(Mutex<HashMap<String, Instant>>);

impl Moments {
    fn note(&self, operation: &str) {
        self.0.lock().expect("no panic").entry(operation.to_owned()).or_insert_with(Instant::now);
    }

    fn of(&self, operation: &str) -> Option<Instant> {
        self.0.lock().expect("no panic").get(operation).copied()
    }

    fn count(&self) -> usize {
        self.0.lock().expect("no panic").len()
    }
}

impl Lab {
    async fn new() -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let api = embedded_api::open(data.path(), crd::all()).expect("the API opens");
        let (stop, requests) = (CancellationToken::new(), Arc::new(Requests::default()));
        let kubelet = Arc::new(Kubelet::default());
        tokio::spawn(kubelet.clone().work(api.client("kubelet")));
        let signer = controller::Signer::new(b"of the bench", &Time(Timestamp::UNIX_EPOCH));
        let config = controller::Config {
            controller_namespace: "default".into(),
            signer: Some(signer),
            ..controller::Config::default()
        };
        let counted = counted(&api.client("controller"), requests.clone());
        let (running, _) = controller::start(counted, config, stop.clone());
        assert!(running.ready().await, "the controller starts");
        let client = api.client("client");
        let [turns, jobs, ends] = [(); 3].map(|()| Arc::new(Moments::default()));
        watch(&client, &turns, |cluster: &Cluster| {
            let history = cluster.status.iter().flat_map(|status| &status.conditions);
            history.map(|entry| entry.cluster_ops.clone()).collect()
        });
        watch(&client, &jobs, |job: &Job| job.labels().get(crd::LABEL_OPERATION).cloned().into_iter().collect());
        watch(&client, &ends, |operation: &ClusterOperation| {
            let phase = operation.status.as_ref().map(|status| status.status).unwrap_or_default();
            assert!(phase != Phase::Failed, "{operation:#?}");
            (phase == Phase::Succeeded).then(|| operation.name_any()).into_iter().collect()
        });
        Self { client, kubelet, requests, turns, jobs, ends, stop, _api: api, _data: data }
    }

    /// Creates an operation. Returns when the request was sent.
    async fn submit(&self, name: &str, cluster: usize) -> Instant {
        let asked = Instant::now();
        let operation = objects::operation(name, &format!("c-{cluster}"), "true");
        Api::all(self.client.clone()).create(&PostParams::default(), &operation).await.expect("an operation");
        asked
    }

    async fn seen_job(&self, operation: &str) -> Instant {
        eventually("a Job", async || self.jobs.of(operation)).await
    }

    fn job_at(&self, operation: &str) -> Instant {
        self.jobs.of(operation).expect("it has a Job")
    }

    fn turn_at(&self, operation: &str) -> Instant {
        self.turns.of(operation).expect("it had its turn")
    }

    async fn all_ended(&self, operations: usize) {
        eventually("the ends", async || (self.ends.count() == operations).then_some(())).await;
    }

    fn requests(&self) -> usize {
        self.requests.lock().expect("no panic").values().sum()
    }

    fn kinds(&self) -> BTreeMap<String, usize> {
        self.requests.lock().expect("no panic").clone()
    }

    /// The requests since `before`, per operation.
    fn kinds_since(&self, before: &BTreeMap<String, usize>, operations: usize) -> String {
        let spent =
            self.kinds().into_iter().map(|(kind, count)| (count - before.get(&kind).copied().unwrap_or(0), kind));
        let spent = spent.filter(|(count, _)| *count > operations / 100);
        spent
            .map(|(count, kind)| format!("{:.1} {kind}", count as f64 / operations as f64))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Waits until the controller sends no more requests.
    async fn rest(&self) {
        let mut tick = tokio::time::interval(Duration::from_millis(500));
        let (mut before, mut quiet) = (self.requests(), 0);
        tick.tick().await;
        while quiet < 4 {
            tick.tick().await;
            let now = self.requests();
            quiet = if now == before { quiet + 1 } else { 0 };
            before = now;
        }
    }
}

/// The number of requests of each kind, such as `GET configmaps`.
type Requests = Mutex<BTreeMap<String, usize>>;

/// A client that counts its requests, except watches and their initial lists.
fn counted(behind: &Client, requests: Arc<Requests>) -> Client {
    let behind = behind.clone();
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let query = request.uri().query().unwrap_or_default();
        if !query.contains("watch=true") && !query.contains("limit=500") {
            let kind = format!("{} {}", request.method(), resource(request.uri().path()));
            *requests.lock().expect("no panic").entry(kind).or_default() += 1;
        }
        let behind = behind.clone();
        async move { behind.send(request).await }
    });
    Client::new(service, "default")
}

/// `clusters/status` of `/apis/<group>/<version>/clusters/<name>/status`.
fn resource(path: &str) -> String {
    let segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let below = if segments.first() == Some(&"apis") { 3 } else { 2 };
    let mut rest = &segments[below.min(segments.len())..];
    if rest.first() == Some(&"namespaces") && rest.len() > 2 {
        rest = &rest[2..];
    }
    rest.iter().enumerate().filter(|(n, _)| *n != 1).map(|(_, segment)| *segment).collect::<Vec<_>>().join("/")
}

/// Records when each operation that `of` finds in an object was first seen there.
fn watch<K>(client: &Client, moments: &Arc<Moments>, of: impl Fn(&K) -> Vec<String> + Send + 'static)
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let (api, moments) = (Api::<K>::all(client.clone()), moments.clone());
    tokio::spawn(async move {
        let mut events = watcher(api, watcher::Config::default()).boxed();
        while let Some(event) = events.next().await {
            if let Ok(Event::Apply(object) | Event::InitApply(object)) = event {
                of(&object).iter().for_each(|operation| moments.note(operation));
            }
        }
    });
}
