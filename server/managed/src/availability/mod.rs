//! Records how a cluster answers while an operation runs: one request per second to its API server, and one to the service that its
//! field `probeURL` names. Each request uses a new connection, as a new client would.
//!
//! | module | subject |
//! |---|---|
//! | `run` | what one run needs: its strips, its kubeconfig, when it is saved |
//! | `strip` | the answers of one target, in the order of their requests; pure |
//! | `probe` | one request |
//! | `file` | one file per run, which survives a restart of the server |

mod file;
mod probe;
mod run;
mod strip;
mod unverified;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use api::Time;
use api::availability::{Answers, Target};
use crd::{Cluster, ClusterOperation, Phase};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Client, ResourceExt};
use parking_lot::Mutex;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use self::probe::Service;
use self::run::{Kubeconfig, Run, shown};
use self::strip::Outcome;
use crate::connect::Way;
use crate::kubeconfig;
use crate::source::{self, Found};

/// Runs that are recorded at once. With 2 targets and requests of at most 3 seconds, they have at most 384 open connections, which leaves
/// most of the usual limit of 1,024 open files to the rest of the server.
const RUNS: usize = 64;
/// The targets of a run: the API server, and a few services if `probeURL` changes meanwhile.
const TARGETS: usize = 4;
/// Ticks from one sweep for files of deleted operations to the next.
const SWEEP: u32 = 60;
/// The time for reading a kubeconfig from the server's own API.
const KUBECONFIG_WITHIN: Duration = Duration::from_secs(10);

/// What [`Availability::start`] needs.
pub struct AvailabilitySettings {
    /// Reads kubeconfigs, with the server's own rights.
    pub client: Client,
    /// All clusters.
    pub clusters: Store<Cluster>,
    /// All operations of the API server that `client` talks to. The files of all other operations in `folder` are deleted.
    pub operations: Store<ClusterOperation>,
    /// Whether loopback addresses may be contacted: in standalone mode, where they are the user's own machine.
    pub loopback: bool,
    /// Where recordings are stored, each in a file of some KiB. Nothing else may be in this folder. It is created if it doesn't exist.
    pub folder: PathBuf,
    /// The time from one request to the next, above zero: one second, because pages count each of them as a second. Tests use less.
    pub every: Duration,
}

/// The recordings. Clones share them.
#[derive(Clone)]
pub struct Availability {
    shared: Arc<Shared>,
}

struct Shared {
    settings: AvailabilitySettings,
    /// By the uid of the operation: those that are recorded now, or not saved yet.
    runs: Mutex<HashMap<String, Run>>,
}

impl Availability {
    /// Opens the recordings, and returns the work that records until `shutdown`. Spawn it when the stores are filled, and wait for its
    /// end: it saves what was recorded.
    pub fn start(
        settings: AvailabilitySettings,
        shutdown: CancellationToken,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let shared = Arc::new(Shared { settings, runs: Mutex::default() });
        (Self { shared: shared.clone() }, work(shared, shutdown))
    }

    /// How the cluster answered while the operation with this uid ran: first its API server, then its service. Without a target that was
    /// never asked, and without the newest seconds, whose requests haven't ended. Empty if nothing was recorded, or if the file can't be
    /// read; the log says why.
    pub async fn of(&self, uid: &str) -> Vec<Answers> {
        if !file::is_uid(uid) {
            return Vec::new();
        }
        let slot = self.shared.slot();
        if let Some(run) = self.shared.runs.lock().get(uid) {
            return shown(&run.strips, slot);
        }
        let (shared, uid) = (self.shared.clone(), uid.to_owned());
        let reading = spawn_blocking(move || shown(&file::load(&shared.settings.folder, &uid), slot));
        reading.await.unwrap_or_default()
    }
}

async fn work(shared: Arc<Shared>, shutdown: CancellationToken) {
    let here = shared.clone();
    let opening = spawn_blocking(move || {
        let folder = &here.settings.folder;
        if let Err(error) = std::fs::create_dir_all(folder) {
            tracing::warn!(folder = %folder.display(), %error, "cannot create the folder for how clusters answer during operations");
        }
        disk::remove_leftovers(folder);
    });
    report(opening.await);
    let sweeping = shutdown.run_until_cancelled(sweep(shared.clone()));
    tokio::join!(record(shared, &shutdown), sweeping);
}

async fn record(shared: Arc<Shared>, shutdown: &CancellationToken) {
    let every = shared.settings.every;
    let begin = Instant::now();
    let mut ticks = interval_at(begin, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut requests, mut saves) = (JoinSet::new(), JoinSet::new());
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            _ = ticks.tick() => {
                // A tick may come late, but never early, so each one has a number of its own.
                let number = begin.elapsed().as_nanos() / every.as_nanos().max(1);
                let tick = i64::try_from(number).unwrap_or(i64::MAX);
                shared.tick(tick, &mut requests).await;
                shared.save(tick, false, &mut saves);
            }
            Some(ended) = requests.join_next() => report(ended),
            Some(ended) = saves.join_next() => report(ended),
        }
    }
    requests.shutdown().await;
    // Two saves of one run could end in the wrong order.
    while let Some(ended) = saves.join_next().await {
        report(ended);
    }
    shared.save(i64::MAX, true, &mut saves);
    while let Some(ended) = saves.join_next().await {
        report(ended);
    }
}

/// Logs that a part of the work panicked.
fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "recording how clusters answer during operations failed");
    }
}

impl Shared {
    /// The time from one request to the next in milliseconds.
    fn slot(&self) -> i64 {
        i64::try_from(self.settings.every.as_millis()).unwrap_or(i64::MAX)
    }

    /// Starts the requests of a tick.
    async fn tick(self: &Arc<Self>, tick: i64, requests: &mut JoinSet<()>) {
        let running = self.running();
        self.open(&running, tick).await;
        let now = now();
        let mut runs = self.runs.lock();
        for (uid, run) in runs.iter_mut() {
            let is_running = running.iter().any(|running| running.uid == *uid);
            run.ended = if is_running { None } else { run.ended.or(Some(tick)) };
        }
        runs.retain(|_, run| !run.may_go(tick));
        for Running { uid, cluster, .. } in running {
            let Some(run) = runs.get_mut(&uid) else { continue };
            if run.kubeconfig.is_due(tick) {
                requests.spawn(self.clone().read_kubeconfig(uid.clone(), cluster.clone(), tick));
            }
            let loopback = self.settings.loopback;
            if let Some(way) = run.kubeconfig.way.clone()
                && run.begin(&Target::Api, tick, now)
            {
                let asked = probe::api(way, loopback);
                requests.spawn(self.clone().note(uid.clone(), Target::Api, tick, asked));
            }
            let address = cluster.spec.probe_url.clone();
            if let Some((address, service)) = address.and_then(|it| Service::parse(&it).map(|service| (it, service))) {
                let target = Target::Service(address);
                if run.begin(&target, tick, now) {
                    requests.spawn(self.clone().note(uid, target, tick, service.ask(loopback)));
                }
            }
        }
    }

    /// The operations that run on a cluster, at most [`RUNS`]. Those that are recorded already come first.
    fn running(&self) -> Vec<Running> {
        let running = |operation: Arc<ClusterOperation>| {
            let status = operation.status.as_ref()?;
            // The status of a restored operation tells how it was saved. It never runs.
            if status.status != Phase::Running || status.reason.as_deref() == Some(crd::RESTORED) {
                return None;
            }
            let uid = operation.uid().filter(|uid| file::is_uid(uid))?;
            let cluster = self.settings.clusters.get(&ObjectRef::new(&operation.spec.cluster))?;
            Some(Running { uid, operation: operation.name_any(), cluster })
        };
        let mut all: Vec<Running> = self.settings.operations.state().into_iter().filter_map(running).collect();
        let runs = self.runs.lock();
        let is_new = |uid: &str| runs.get(uid).is_none_or(|run| run.ended.is_some());
        all.sort_by_cached_key(|running| (is_new(&running.uid), running.uid.clone()));
        all.truncate(RUNS);
        all
    }

    /// Adds the runs that are new to this process. An earlier process may have recorded a part of them.
    async fn open(self: &Arc<Self>, running: &[Running], tick: i64) {
        let unknown: Vec<_> = {
            let runs = self.runs.lock();
            let unknown = running.iter().filter(|running| !runs.contains_key(&running.uid));
            unknown.map(|running| (running.uid.clone(), running.operation.clone())).collect()
        };
        if unknown.is_empty() {
            return;
        }
        let here = self.clone();
        let reading = spawn_blocking(move || {
            for (uid, operation) in unknown {
                let strips = file::load(&here.settings.folder, &uid);
                let run = Run::new(operation, strips, tick, now(), here.slot());
                here.runs.lock().insert(uid, run);
            }
        });
        report(reading.await);
    }

    /// Waits for the end of a request, and keeps its outcome.
    async fn note(
        self: Arc<Self>,
        uid: String,
        target: Target,
        tick: i64,
        asked: impl Future<Output = Outcome> + Send,
    ) {
        let outcome = asked.await;
        if let Some(run) = self.runs.lock().get_mut(&uid) {
            run.end(&target, tick, outcome);
        }
    }

    async fn read_kubeconfig(self: Arc<Self>, uid: String, cluster: Arc<Cluster>, tick: i64) {
        let found = match timeout(KUBECONFIG_WITHIN, source::find(&self.settings.client, &cluster)).await {
            Ok(Ok(Found::Text(text))) => {
                let way = kubeconfig::read(&text).ok().and_then(|target| Way::new(target).ok());
                way.map_or(Kubeconfig::Unusable, |way| Kubeconfig::Usable(Arc::new(way)))
            }
            Ok(Ok(Found::Nothing | Found::Unusable(_))) => Kubeconfig::Unusable,
            // The own API server has a problem, which says nothing about the kubeconfig.
            Ok(Err(_)) | Err(_) => Kubeconfig::Unknown,
        };
        if let Some(run) = self.runs.lock().get_mut(&uid) {
            run.kubeconfig.note(tick, found);
        }
    }

    /// Starts to save the runs that are due, or all of them.
    fn save(self: &Arc<Self>, tick: i64, all: bool, saves: &mut JoinSet<()>) {
        for (uid, run) in self.runs.lock().iter_mut() {
            if !run.has_news() || !all && !run.is_due(tick) {
                continue;
            }
            let (here, uid, operation) = (self.clone(), uid.clone(), run.operation.clone());
            let (strips, settled) = run.start_save(tick);
            saves.spawn_blocking(move || {
                let saved = file::save(&here.settings.folder, &uid, &operation, &strips);
                if let Some(run) = here.runs.lock().get_mut(&uid) {
                    run.end_save(settled, saved);
                }
            });
        }
    }
}

/// An operation that runs.
struct Running {
    uid: String,
    operation: String,
    cluster: Arc<Cluster>,
}

/// Deletes the files of deleted operations, until dropped.
async fn sweep(shared: Arc<Shared>) {
    let mut ticks = interval(shared.settings.every * SWEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut suspects = HashSet::new();
    loop {
        ticks.tick().await;
        let here = shared.clone();
        let Ok(still) = spawn_blocking(move || here.sweep_once(&suspects)).await else { return };
        suspects = still;
    }
}

impl Shared {
    /// Deletes the files whose operations don't exist, if the sweep before found the same: a watch that is established again may lack
    /// operations for a moment. Returns all files without an operation.
    fn sweep_once(&self, suspects: &HashSet<String>) -> HashSet<String> {
        let Self { settings: AvailabilitySettings { operations, folder, .. }, .. } = self;
        // The files first: an operation that is created in between has none yet.
        let mut orphans = file::uids(folder);
        for operation in operations.state() {
            orphans.remove(operation.metadata.uid.as_deref().unwrap_or_default());
        }
        for uid in orphans.intersection(suspects) {
            match file::delete(folder, uid) {
                Ok(()) => tracing::debug!(uid, "deleted how a cluster answered during a deleted operation"),
                Err(error) => {
                    tracing::warn!(uid, %error, "cannot delete how a cluster answered during a deleted operation");
                }
            }
        }
        orphans
    }
}

fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}
