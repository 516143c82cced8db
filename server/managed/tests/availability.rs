//! Records how a fake cluster and a small service answer while an operation runs.

#[path = "../../tests/embedded_api/mod.rs"]
mod embedded_api;
mod fake;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::time::Duration;

use api::availability::{Answer, Answers, Target};
use axum::Router;
use crd::{Cluster, ClusterOperation, ClusterOperationStatus, ClusterSpec, DataRef, Phase};
use fake::FakeCluster;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{self, Store};
use kube::runtime::watcher::Event;
use kube::{Api, Client};
use kubeonkube_managed::{Availability, AvailabilitySettings};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// TLS handshakes are slow in a debug build, so not more often.
const EVERY: Duration = Duration::from_millis(50);

/// A cluster `prod` whose recorder asks every 50 ms.
struct World {
    client: Client,
    clusters: (Store<Cluster>, Writer<Cluster>),
    operations: (Store<ClusterOperation>, Writer<ClusterOperation>),
    loopback: bool,
    recorder: Option<Recorder>,
    data: tempfile::TempDir,
    _api: Arc<standalone::Api>,
}

struct Recorder {
    availability: Availability,
    stop: CancellationToken,
    work: JoinHandle<()>,
}

fn ready<T>() -> (Store<T>, Writer<T>)
where
    T: kube::Resource<DynamicType = ()> + Clone + Send + Sync + 'static,
{
    let (store, mut writer) = reflector::store();
    writer.apply_watcher_event(&Event::Init);
    writer.apply_watcher_event(&Event::InitDone);
    (store, writer)
}

impl World {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let api = embedded_api::open(&data.path().join("api"), crd::all()).expect("the API opens");
        let client = api.client("test");
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "lab"}})).unwrap();
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
        let (clusters, operations) = (ready(), ready());
        let mut world = Self { client, clusters, operations, loopback: true, recorder: None, data, _api: api };
        world.cluster(None);
        world
    }

    /// Writes the cluster, with the address of its service.
    fn cluster(&mut self, probe_url: Option<String>) {
        let at = |name: &str| DataRef::new("lab", name);
        let references = ClusterSpec { hosts_conf_ref: at("hosts"), vars_conf_ref: at("vars"), ..Default::default() };
        let cluster = Cluster::new("prod", ClusterSpec { probe_url, ..references });
        self.clusters.1.apply_watcher_event(&Event::Apply(cluster));
    }

    async fn kubeconfig(&self, text: &str) {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "prod-kubeconfig"}, "stringData": {"kubeconfig": text}});
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "lab");
        secrets.patch("prod-kubeconfig", &PatchParams::apply("test").force(), &Patch::Apply(secret)).await.unwrap();
    }

    /// An operation on `prod` with this uid, which is also its name.
    fn operation(uid: &str, status: Phase) -> ClusterOperation {
        let mut operation = ClusterOperation::new(uid, Default::default());
        operation.metadata.uid = Some(uid.to_owned());
        operation.spec.cluster = "prod".into();
        operation.status = Some(ClusterOperationStatus { status, ..Default::default() });
        operation
    }

    fn set(&mut self, uid: &str, status: Phase) {
        self.operations.1.apply_watcher_event(&Event::Apply(Self::operation(uid, status)));
    }

    fn folder(&self) -> PathBuf {
        self.data.path().join("availability")
    }

    fn settings(&self, every: Duration) -> AvailabilitySettings {
        AvailabilitySettings {
            client: self.client.clone(),
            clusters: self.clusters.0.clone(),
            operations: self.operations.0.clone(),
            loopback: self.loopback,
            folder: self.folder(),
            every,
        }
    }

    fn record(&mut self) {
        self.record_every(EVERY);
    }

    fn record_every(&mut self, every: Duration) {
        let stop = CancellationToken::new();
        let (availability, work) = Availability::start(self.settings(every), stop.clone());
        self.recorder = Some(Recorder { availability, stop, work: tokio::spawn(work) });
    }

    /// Ends the recorder as a shutdown does.
    async fn stop(&mut self) {
        let Recorder { stop, work, .. } = self.recorder.take().unwrap();
        stop.cancel();
        work.await.unwrap();
    }

    async fn of(&self, uid: &str) -> Vec<Answers> {
        self.recorder.as_ref().unwrap().availability.of(uid).await
    }

    /// What the file has.
    async fn stored(&self, uid: &str) -> Vec<Answers> {
        Availability::start(self.settings(EVERY), CancellationToken::new()).0.of(uid).await
    }

    /// Waits until the answers of the operation `run` are as wanted.
    async fn answers(&self, what: &str, holds: impl Fn(&[Answers]) -> bool) -> Vec<Answers> {
        let last = std::sync::Mutex::new(Vec::new());
        let found = until(async || {
            let answers = self.of("run").await;
            let is_wanted = holds(&answers);
            *last.lock().unwrap() = answers.clone();
            is_wanted.then_some(answers)
        });
        found.await.unwrap_or_else(|| panic!("they should {what}: {:#?}", last.lock().unwrap()))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(recorder) = &self.recorder {
            recorder.stop.cancel();
        }
    }
}

/// The first result; `None` after a minute.
async fn until<T>(mut get: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    let mut tick = tokio::time::interval(EVERY);
    let wait = async {
        loop {
            tick.tick().await;
            if let Some(found) = get().await {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.ok()
}

/// Whether the newest seconds have this answer, as many as `least`.
fn ends_with(answers: &[Answers], answer: Answer, least: u32) -> bool {
    let newest = answers.first().and_then(|answers| answers.spans.last());
    newest.is_some_and(|span| span.answer == answer && span.seconds >= least)
}

/// A service that answers with a status, and counts requests.
struct Service {
    url: String,
    status: Arc<AtomicU16>,
    requests: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Service {
    async fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/healthz", listener.local_addr().unwrap());
        let (status, requests) = (Arc::new(AtomicU16::new(status)), Arc::new(AtomicUsize::new(0)));
        let (now, counted, location) = (status.clone(), requests.clone(), url.clone());
        let router = Router::new().fallback(async move |request: axum::extract::Request| {
            assert_eq!(request.uri().path(), "/healthz");
            counted.fetch_add(1, Ordering::SeqCst);
            let status = http::StatusCode::from_u16(now.load(Ordering::SeqCst)).unwrap();
            (status, [("location", location)], "text")
        });
        let serving = tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        Self { url, status, requests, serving }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_recorded_with_its_reason() {
    let mut world = World::new().await;
    let mut fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    world.set("run", Phase::Running);
    world.record();
    world.answers("begin", |all| ends_with(all, Answer::Yes, 3)).await;
    fake.stop().await;
    world.answers("show the outage", |all| ends_with(all, Answer::No, 3)).await;
    fake.start_again().await;
    world.answers("show its end", |all| ends_with(all, Answer::Yes, 3)).await;
    world.set("run", Phase::Succeeded);
    let stored = until(async || {
        let (shown, stored) = (world.of("run").await, world.stored("run").await);
        (shown == stored).then_some(shown)
    });
    let answers = &stored.await.expect("the recording is stored")[0];
    assert_eq!(answers.target, Target::Api);
    let outage = answers.outages.iter().find(|outage| outage.seconds >= 3).expect("an outage");
    assert!(outage.start > answers.start, "{answers:#?}");
    // The first request may have been under way when the port was closed.
    let why = &outage.why;
    let is_unreachable = why.starts_with(&format!("{} can't be reached: ", fake.address())) && why.ends_with('.');
    assert!(is_unreachable || why == "The API server's answer to /readyz can't be read.", "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_ends_with_its_operation() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    world.set("run", Phase::Running);
    world.record();
    world.answers("begin", |all| ends_with(all, Answer::Yes, 3)).await;
    world.set("run", Phase::Succeeded);
    world.set("next", Phase::Running);
    let next = async |least| {
        let answered = until(async || ends_with(&world.of("next").await, Answer::Yes, least).then_some(()));
        answered.await.expect("the next operation is recorded");
        world.of("run").await
    };
    // The tick that begins with the next one has seen the end of the first.
    let (ended, later) = (next(3).await, next(20).await);
    assert_eq!(ended, later);
    until(async || (world.stored("run").await == later).then_some(())).await.expect("all of it is stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_an_answer_and_a_failing_check_is_none() {
    let mut world = World::new().await;
    let fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig().replace("good-token", "bad-token")).await;
    world.set("run", Phase::Running);
    world.record();
    world.answers("count a refusal", |all| ends_with(all, Answer::Yes, 3)).await;
    world.kubeconfig(&fake.kubeconfig()).await;
    fake.fail_check("etcd");
    let answers = world.answers("show the check", |all| ends_with(all, Answer::No, 3)).await;
    assert_eq!(answers[0].outages[0].why, "It answers 500. Failing checks: etcd.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_a_kubeconfig_is_asked_once_it_has_one() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    world.set("run", Phase::Running);
    world.record();
    let answers = world.answers("begin", |all| ends_with(all, Answer::Yes, 3)).await;
    assert_eq!(answers.len(), 1, "the API server was never asked");
    let fake = FakeCluster::start().await;
    world.kubeconfig(&fake.kubeconfig()).await;
    let answers = world.answers("have both", |all| all.len() == 2).await;
    assert_eq!((&answers[0].target, &answers[1].target), (&Target::Api, &Target::Service(service.url.clone())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_of_the_service_is_an_answer() {
    let mut world = World::new().await;
    let service = Service::start(302).await;
    world.cluster(Some(service.url.clone()));
    world.set("run", Phase::Running);
    world.record();
    world.answers("count a redirect", |all| ends_with(all, Answer::Yes, 3)).await;
    service.status.store(503, Ordering::SeqCst);
    let answers = world.answers("count an error", |all| ends_with(all, Answer::No, 3)).await;
    assert_eq!(answers[0].outages[0].why, "It answers 503.");
    service.status.store(404, Ordering::SeqCst);
    world.answers("count a missing page", |all| ends_with(all, Answer::Yes, 3)).await;
    world.set("run", Phase::Failed);
    let all = until(async || {
        let asked = world.of("run").await[0].counts().0;
        (asked == service.requests.load(Ordering::SeqCst) as u64).then_some(())
    });
    all.await.expect("no redirect is followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_with_any_certificate_is_asked_without_secrets() {
    let mut world = World::new().await;
    let fake = FakeCluster::start().await;
    let url = format!("https://{}/readyz", fake.address());
    world.cluster(Some(url.clone()));
    world.set("run", Phase::Running);
    world.record();
    let answers = world.answers("count it", |all| ends_with(all, Answer::Yes, 3)).await;
    assert_eq!(answers[0].target, Target::Service(url));
    assert_eq!(fake.seen("good-token"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_addresses_are_not_contacted() {
    let mut world = World::new().await;
    world.loopback = false;
    let (fake, service) = (FakeCluster::start().await, Service::start(200).await);
    world.kubeconfig(&fake.kubeconfig()).await;
    for (url, why) in [(service.url.as_str(), "own pod"), ("http://169.254.169.254/latest/meta-data/", "metadata")] {
        world.cluster(Some(url.to_owned()));
        world.set("run", Phase::Running);
        world.record();
        let is_told = |answers: &Answers| answers.unasked.as_ref().is_some_and(|told| told.contains(why));
        let answers = world.answers("be unasked", |all| all.last().is_some_and(is_told)).await;
        assert!(answers.iter().all(|answers| answers.counts() == (0, 0) && answers.outages.is_empty()));
        assert!(answers.iter().all(|answers| answers.target != Target::Api));
        world.stop().await;
    }
    assert_eq!((fake.connections(), service.requests.load(Ordering::SeqCst)), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_server_leaves_a_gap() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    world.set("run", Phase::Running);
    world.record();
    world.answers("begin", |all| ends_with(all, Answer::Yes, 3)).await;
    world.stop().await;
    let before = world.stored("run").await.remove(0);
    assert!(before.counts().1 >= 3, "a shutdown saves all: {before:#?}");
    // The clock moves on by some slots.
    let recorded: i64 = before.spans.iter().map(|span| i64::from(span.seconds)).sum();
    let slot = i64::try_from(EVERY.as_millis()).unwrap();
    let end = before.start.0 + (recorded + 5) * slot;
    until(async || (jiff::Timestamp::now().as_millisecond() > end).then_some(())).await.expect("time passes");
    world.record();
    let has_gap = |all: &[Answers]| ends_with(all, Answer::Yes, 3) && all[0].spans.len() > before.spans.len();
    let after = world.answers("continue", has_gap).await.remove(0);
    assert_eq!(after.start, before.start);
    let gap = after.spans[before.spans.len()];
    assert!(gap.answer == Answer::Unasked && gap.seconds >= 5, "{after:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_deleted_operation_is_deleted() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    for uid in ["run", "other"] {
        world.set(uid, Phase::Running);
    }
    world.record_every(Duration::from_millis(20));
    let file = |uid: &str| world.folder().join(format!("{uid}.json"));
    let (run, other, foreign) = (file("run"), file("other"), world.folder().join("not-ours.txt"));
    until(async || (run.exists() && other.exists()).then_some(())).await.expect("both are stored");
    std::fs::write(&foreign, "").unwrap();
    world.operations.1.apply_watcher_event(&Event::Delete(World::operation("run", Phase::Running)));
    until(async || (!run.exists()).then_some(())).await.expect("the file is deleted");
    assert!(other.exists() && foreign.exists());
    until(async || world.of("run").await.is_empty().then_some(())).await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_write_is_tried_again() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    world.set("run", Phase::Running);
    std::fs::write(world.folder(), "a file where the folder should be").unwrap();
    world.record();
    // More than one attempt.
    world.answers("stay in memory", |all| all.first().is_some_and(|answers| answers.counts().1 > 25)).await;
    world.set("run", Phase::Succeeded);
    std::fs::remove_file(world.folder()).unwrap();
    std::fs::create_dir(world.folder()).unwrap();
    let is_stored = until(async || {
        let (shown, stored) = (world.of("run").await, world.stored("run").await);
        (!stored.is_empty() && stored == shown).then_some(())
    });
    is_stored.await.expect("it is stored in the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_file_is_replaced() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    std::fs::create_dir(world.folder()).unwrap();
    std::fs::write(world.folder().join("run.json"), "{\"targets\": [{}]}").unwrap();
    assert_eq!((world.stored("run").await, world.stored("../run").await), (vec![], vec![]));
    world.set("run", Phase::Running);
    world.record();
    until(async || (!world.stored("run").await.is_empty()).then_some(())).await.expect("it is replaced");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_running_operations_are_recorded() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    let mut restored = World::operation("restored", Phase::Running);
    restored.status.as_mut().unwrap().reason = Some(crd::RESTORED.into());
    let mut elsewhere = World::operation("elsewhere", Phase::Running);
    elsewhere.spec.cluster = "unknown".into();
    for operation in [
        World::operation("queued", Phase::Pending),
        World::operation("ended", Phase::Succeeded),
        World::operation("../run", Phase::Running),
        World::operation("run", Phase::Running),
        restored,
        elsewhere,
    ] {
        world.operations.1.apply_watcher_event(&Event::Apply(operation));
    }
    world.record();
    world.answers("begin", |all| ends_with(all, Answer::Yes, 5)).await;
    for uid in ["queued", "ended", "../run", "restored", "elsewhere"] {
        assert_eq!(world.of(uid).await, [], "{uid}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_most_64_runs_are_recorded_at_once() {
    let mut world = World::new().await;
    let service = Service::start(200).await;
    world.cluster(Some(service.url.clone()));
    let uids: Vec<String> = (0..70).map(|number| format!("run-{number}")).collect();
    for uid in &uids {
        world.set(uid, Phase::Running);
    }
    world.record_every(Duration::from_millis(500));
    let recorded = async |world: &World| {
        let mut recorded = Vec::new();
        for uid in &uids {
            if !world.of(uid).await.is_empty() {
                recorded.push(uid.clone());
            }
        }
        recorded
    };
    let first = until(async || Some(recorded(&world).await).filter(|recorded| recorded.len() >= 64)).await.unwrap();
    assert_eq!(first.len(), 64);
    // When one of them ends, another one is recorded.
    world.set(&first[0], Phase::Succeeded);
    until(async || (recorded(&world).await.len() == 65).then_some(())).await.expect("one more");
}
