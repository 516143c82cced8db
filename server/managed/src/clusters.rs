//! The newest reading of each cluster, and when the next one is due.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::Time;
use api::cluster::{LiveCluster, LiveNode, LiveState};
use crd::{Cluster, DataRef};
use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kube::runtime::reflector::Store;
use kube::{Client, ResourceExt};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::evictions::{self, Evictions};
use crate::kubeconfig::{self, Target};
use crate::read::{Values, read};
use crate::soon::Soon;
use crate::source::{self, Found};

/// Clusters that are read at once. An unreachable one takes seconds.
const AT_ONCE: usize = 16;
/// How long a cluster counts as looked at after a page was loaded.
const LOOKED_FOR: Duration = Duration::from_secs(60);
/// The time for a whole reading: the kubeconfig, a connection and all pages.
const READ_WITHIN: Duration = Duration::from_secs(30);
/// The time for reading pods and budgets, because a person waits for it.
const EVICTIONS_WITHIN: Duration = Duration::from_secs(10);
/// How many nodes are read at once for that, because the pods of a node are up to 8 MiB of JSON.
const EVICTIONS_AT_ONCE: usize = 2;
const TICK: Duration = Duration::from_secs(1);

/// What [`Clusters::start`] needs.
pub struct Settings {
    /// Reads kubeconfigs, with the server's own rights.
    pub client: Client,
    /// All clusters.
    pub clusters: Store<Cluster>,
    /// Whether loopback addresses may be contacted: in standalone mode, where they are the user's own machine.
    pub loopback: bool,
    /// The time between two readings of a cluster whose page is open.
    pub open: Duration,
    /// The time between two readings of any other cluster.
    pub closed: Duration,
}

impl Settings {
    /// The settings with the usual times: 30 seconds and 5 minutes.
    pub fn new(client: Client, clusters: Store<Cluster>, loopback: bool) -> Self {
        Self { client, clusters, loopback, open: Duration::from_secs(30), closed: Duration::from_secs(300) }
    }
}

/// What is known about one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// State, version, checks and certificates.
    pub cluster: LiveCluster,
    /// Sorted by name.
    pub nodes: Vec<LiveNode>,
    /// The machine-ids (machine-id(5)) of the nodes that report one, by name.
    pub machine_ids: BTreeMap<String, String>,
}

/// The newest readings. Clones share them.
#[derive(Clone)]
pub struct Clusters {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    entries: Mutex<HashMap<String, Entry>>,
    wake: Notify,
    /// For [`Clusters::evictions`].
    evicting: Semaphore,
    /// For [`Clusters::evictions_soon`].
    soon: Mutex<Soon<Result<Evictions, String>>>,
    shutdown: CancellationToken,
}

#[derive(Default)]
struct Entry {
    uid: Option<String>,
    looked: Option<Instant>,
    tried: Option<Instant>,
    failures: u32,
    busy: bool,
    /// The newest attempt was made with this.
    basis: Basis,
    reading: Arc<Reading>,
}

/// What makes a reading obsolete at once when it changes: where the kubeconfig is, and the last operation that ended, by uid and time.
#[derive(Default, PartialEq, Eq)]
struct Basis {
    kubeconfig: Option<DataRef>,
    ended: Option<(Option<String>, Option<meta::Time>)>,
}

impl Basis {
    fn of(cluster: &Cluster) -> Self {
        let records = cluster.status.iter().flat_map(|status| &status.conditions);
        // Not the first one: the list is in the order of the starts.
        let last = records.filter(|record| record.status.is_final()).max_by(|a, b| a.end_time.cmp(&b.end_time));
        Self {
            kubeconfig: cluster.spec.kube_conf_ref.clone(),
            ended: last.map(|record| (record.uid.clone(), record.end_time.clone())),
        }
    }
}

/// Called with the name of a cluster whose reading changed, or that is looked at and was read again.
type Tell = Box<dyn Fn(String) + Send + Sync>;

impl Clusters {
    /// Creates the memory, and the work that fills it until `shutdown`. The caller spawns that.
    pub fn start(
        settings: Settings,
        tell: Tell,
        shutdown: CancellationToken,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let shared = Arc::new(Shared {
            settings,
            entries: Mutex::default(),
            wake: Notify::new(),
            evicting: Semaphore::new(EVICTIONS_AT_ONCE),
            soon: Mutex::default(),
            shutdown: shutdown.clone(),
        });
        (Self { shared: shared.clone() }, work(shared, tell, shutdown))
    }

    /// The newest reading of a cluster, for its own pages. It is read again soon, every 30 seconds as long as this
    /// is called, and when one of its operations ends.
    pub fn look(&self, cluster: &str) -> Arc<Reading> {
        let mut entries = self.shared.entries.lock();
        let entry = entries.entry(cluster.to_owned()).or_default();
        entry.looked = Some(Instant::now());
        self.shared.wake.notify_one();
        entry.reading.clone()
    }

    /// The newest reading of a cluster, if there was one, for lists.
    pub fn newest(&self, cluster: &str) -> Option<Arc<Reading>> {
        self.shared.entries.lock().get(cluster).map(|entry| entry.reading.clone())
    }

    /// What evicting the pods of `node` would meet. Reads the cluster now, which takes at most ten seconds. The error is a sentence.
    pub async fn evictions(&self, cluster: &Cluster, node: &str) -> Result<Evictions, String> {
        let Settings { client, loopback, .. } = &self.shared.settings;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        if !node.chars().all(is_plain) {
            return Err("Its name can't be that of a node.".into());
        }
        let reading = async {
            let _permit = self.shared.evicting.acquire().await.map_err(|_| "The server is stopping.".to_owned())?;
            let target = target(client, cluster).await.map_err(Attempt::why)?;
            evictions::read(target, *loopback, node).await.map_err(|why| why.to_string())
        };
        let late = || Err(format!("It didn't answer within {} s.", EVICTIONS_WITHIN.as_secs()));
        timeout(EVICTIONS_WITHIN, reading).await.unwrap_or_else(|_| late())
    }

    /// As [`Self::evictions`], for pages that ask every few seconds: the newest result, if it is younger than 30 seconds. If it is older
    /// than 5 seconds, a reading starts in the background, and a later call returns its result. `None` also if results for 256 nodes
    /// are in memory, which is the limit. Needs a tokio runtime.
    pub fn evictions_soon(&self, cluster: &Arc<Cluster>, node: &str) -> Option<Result<Evictions, String>> {
        let key = (cluster.uid()?, node.to_owned());
        let (newest, must_read) = self.shared.soon.lock().look(&key, Instant::now());
        if must_read {
            let (clusters, cluster) = (self.clone(), cluster.clone());
            tokio::spawn(async move {
                let shutdown = &clusters.shared.shutdown;
                let read = shutdown.run_until_cancelled(clusters.evictions(&cluster, &key.1)).await;
                if let Some(result) = read {
                    clusters.shared.soon.lock().note(&key, Instant::now(), result);
                }
            });
        }
        newest
    }

    /// The age above which a reading says nothing about now: two attempts have failed to replace it.
    pub fn stale_after(&self) -> Duration {
        2 * self.shared.settings.closed
    }
}

async fn work(shared: Arc<Shared>, tell: Tell, shutdown: CancellationToken) {
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut reading = JoinSet::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = tick.tick() => {}
            () = shared.wake.notified() => {}
            Some(done) = reading.join_next(), if !reading.is_empty() => {
                let (name, news): (String, bool) = match done {
                    Ok(done) => done,
                    Err(error) => {
                        tracing::error!(%error, "reading a cluster failed");
                        continue;
                    }
                };
                if news {
                    tell(name);
                }
            }
        }
        for cluster in shared.due(AT_ONCE - reading.len()) {
            let shared = shared.clone();
            reading.spawn(async move {
                let name = cluster.name_any();
                let reading = AssertUnwindSafe(timeout(READ_WITHIN, attempt(&shared.settings, &cluster)));
                let got = match reading.catch_unwind().await {
                    Ok(Ok(got)) => got,
                    Ok(Err(_)) => Attempt::Failed(format!("It was not read within {} s.", READ_WITHIN.as_secs())),
                    Err(_) => {
                        Attempt::Failed("Reading it failed because of an error in kubeonkube; see the log.".into())
                    }
                };
                let news = shared.note(&cluster, got);
                (name, news)
            });
        }
    }
}

impl Shared {
    /// At most `limit` clusters that are due now; those that are looked at come first.
    fn due(&self, limit: usize) -> Vec<Arc<Cluster>> {
        let clusters = self.settings.clusters.state();
        let mut entries = self.entries.lock();
        let known: HashMap<String, &Arc<Cluster>> =
            clusters.iter().map(|cluster| (cluster.name_any(), cluster)).collect();
        entries.retain(|name, entry| entry.busy || known.contains_key(name));
        let mut due = Vec::new();
        for (name, cluster) in known {
            let entry = entries.entry(name).or_default();
            if entry.uid != cluster.metadata.uid {
                // It was deleted and created again under the same name, or is new.
                *entry = Entry {
                    uid: cluster.metadata.uid.clone(),
                    looked: entry.looked,
                    busy: entry.busy,
                    ..Entry::default()
                };
            }
            let is_due = |tried: Instant| tried.elapsed() >= self.pause(entry) || entry.basis != Basis::of(cluster);
            if !entry.busy && entry.tried.is_none_or(is_due) {
                due.push((entry.is_open(), entry.tried, cluster));
            }
        }
        due.sort_by_key(|(open, tried, _)| (!open, *tried));
        due.truncate(limit);
        for (_, _, cluster) in &due {
            if let Some(entry) = entries.get_mut(&cluster.name_any()) {
                entry.busy = true;
                entry.basis = Basis::of(cluster);
            }
        }
        due.into_iter().map(|(_, _, cluster)| cluster.clone()).collect()
    }

    /// The time from one attempt to the next. With an open page it doubles while the cluster can't be reached: to once a minute, because
    /// an upgrade's page waits for its return.
    fn pause(&self, entry: &Entry) -> Duration {
        let Settings { open, closed, .. } = self.settings;
        let usual = if entry.is_open() { open } else { closed };
        if entry.failures > 1 { usual.max(2 * open).min(closed) } else { usual }
    }

    /// Keeps what an attempt gave. Returns whether pages must be loaded again.
    fn note(&self, cluster: &Cluster, got: Attempt) -> bool {
        let now = Time(jiff::Timestamp::now().as_millisecond());
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(&cluster.name_any()) else { return false };
        entry.busy = false;
        if entry.uid != cluster.metadata.uid {
            return false; // Of an earlier cluster with this name.
        }
        entry.tried = Some(Instant::now());
        entry.failures = if matches!(got, Attempt::Failed(_)) { entry.failures + 1 } else { 0 };
        let old = entry.reading.clone();
        entry.reading = Arc::new(next(&old, got, now));
        let shown = |reading: &Reading| LiveCluster { read: None, ..reading.cluster.clone() };
        entry.is_open() || old.nodes != entry.reading.nodes || shown(&old) != shown(&entry.reading)
    }
}

impl Entry {
    fn is_open(&self) -> bool {
        self.looked.is_some_and(|looked| looked.elapsed() < LOOKED_FOR)
    }
}

/// How an attempt ended.
enum Attempt {
    Read(Values),
    Nothing,
    Refused(String),
    Failed(String),
}

impl Attempt {
    /// Why nothing was read, as a sentence.
    fn why(self) -> String {
        match self {
            Self::Refused(why) | Self::Failed(why) => why,
            Self::Nothing | Self::Read(_) => "It has no kubeconfig.".into(),
        }
    }
}

/// The API server of a cluster and its credentials.
async fn target(client: &Client, cluster: &Cluster) -> Result<Target, Attempt> {
    let text = match source::find(client, cluster).await {
        Ok(Found::Text(text)) => text,
        Ok(Found::Nothing) => return Err(Attempt::Nothing),
        Ok(Found::Unusable(why)) => return Err(Attempt::Refused(why)),
        Err(error) => return Err(Attempt::Failed(format!("The kubeconfig can't be read: {error}."))),
    };
    kubeconfig::read(&text).map_err(|why| Attempt::Refused(why.to_string()))
}

async fn attempt(settings: &Settings, cluster: &Cluster) -> Attempt {
    let target = match target(&settings.client, cluster).await {
        Ok(target) => target,
        Err(attempt) => return attempt,
    };
    match read(target, settings.loopback).await {
        Ok(values) => Attempt::Read(values),
        Err(why @ crate::connect::Failed::Address { .. }) => Attempt::Refused(why.to_string()),
        Err(why) => Attempt::Failed(why.to_string()),
    }
}

/// The reading after an attempt. A failed one keeps the values of the last reading, with their time.
fn next(old: &Reading, got: Attempt, now: Time) -> Reading {
    let kept =
        |state, problem| Reading { cluster: LiveCluster { state, problem, ..old.cluster.clone() }, ..old.clone() };
    let mut reading = match got {
        Attempt::Nothing => Reading {
            cluster: LiveCluster { state: LiveState::NoKubeconfig, ..LiveCluster::default() },
            ..Reading::default()
        },
        Attempt::Refused(why) => kept(LiveState::Refused, why),
        Attempt::Failed(why) => kept(LiveState::Unreachable, why),
        Attempt::Read(values) => healthy_or_not(values, now),
    };
    let same = reading.cluster.state == old.cluster.state;
    reading.cluster.since = if same { old.cluster.since } else { Some(now) };
    reading
}

fn healthy_or_not(values: Values, now: Time) -> Reading {
    let Values { version, checks, certificates, nodes, machine_ids } = values;
    let failing = checks.iter().filter(|check| !check.ok).map(|check| format!("{}: {}.", check.name, check.message));
    let unready: Vec<&str> = nodes.iter().filter(|node| !node.ready).map(|node| node.name.as_str()).collect();
    let named = unready.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = if unready.len() > 5 { ", …" } else { "" };
    let unready_words = (!unready.is_empty()).then(|| {
        let verb = if unready.len() == 1 { "is" } else { "are" };
        format!(
            "{} of {} {verb} not ready: {named}{more}.",
            unready.len(),
            api::count(nodes.len() as u64, "node", "nodes")
        )
    });
    let problem = failing.chain(unready_words).collect::<Vec<_>>().join(" ");
    let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let cluster = LiveCluster {
        state: if problem.is_empty() { LiveState::Healthy } else { LiveState::Unhealthy },
        problem,
        since: None,
        read: Some(now),
        version,
        checks,
        certificates,
        nodes: small(nodes.len()),
        ready: small(nodes.len() - unready.len()),
        newer: None,
        kubeconfig_commands: String::new(),
    };
    Reading { cluster, nodes, machine_ids }
}
