//! Watches pods and starts a collector for each.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crd::ClusterOperation;
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::Store;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::collect::collect;
use crate::pod::{PodFacts, facts};
use crate::retention::{self, IsUnread};
use crate::run::{self, About};
use crate::{Readers, RunLog};

/// How many logs of ended pods are read at the same time after a restart.
const CATCHING_UP: usize = 16;

/// How to collect and who may read.
pub struct Options {
    /// The spool: the folder of all runs. It is created if it doesn't exist. Nothing else may write there.
    pub dir: PathBuf,
    /// Who may read.
    pub readers: Arc<dyn Readers>,
    /// Which operations exist although they aren't in the store.
    pub is_unread: IsUnread,
}

/// Returns the log, and a future that collects from every pod with the label of an operation. Spawn the future when `operations`
/// is filled, and join it. It ends soon after `shutdown`, and the next start continues each journal without losing a line.
pub fn start(
    client: Client,
    options: Options,
    operations: Store<ClusterOperation>,
    shutdown: CancellationToken,
) -> (Arc<RunLog>, impl Future<Output = ()> + Send + 'static) {
    let runs = Arc::new(RunLog::new(options.dir, client.clone(), operations, options.readers));
    let pods = Pods {
        client,
        runs: Arc::clone(&runs),
        is_unread: options.is_unread,
        tasks: TaskTracker::new(),
        catching_up: Arc::new(Semaphore::new(CATCHING_UP)),
        shutdown,
    };
    (runs, pods.watch())
}

struct Pods {
    client: Client,
    runs: Arc<RunLog>,
    is_unread: IsUnread,
    tasks: TaskTracker,
    catching_up: Arc<Semaphore>,
    shutdown: CancellationToken,
}

impl Pods {
    async fn watch(self) {
        self.runs.filled.send_replace(true);
        let sweep = retention::sweep(self.client.clone(), Arc::clone(&self.runs), self.is_unread.clone());
        self.tasks.spawn(self.shutdown.clone().run_until_cancelled_owned(sweep));
        let labels = format!("{}={},{}", crd::LABEL_MANAGED_BY, crd::PRODUCT, crd::LABEL_OPERATION);
        let pods: Api<Pod> = Api::all(self.client.clone());
        let mut events = watcher(pods, watcher::Config::default().labels(&labels)).default_backoff().boxed();
        let mut listed: HashSet<String> = HashSet::new();
        while let Some(event) = self.shutdown.run_until_cancelled(events.try_next()).await {
            match event {
                Ok(Some(watcher::Event::Apply(pod))) => drop(self.seen(&pod)),
                Ok(Some(watcher::Event::Delete(pod))) => self.deleted(&pod),
                Ok(Some(watcher::Event::Init)) => listed.clear(),
                Ok(Some(watcher::Event::InitApply(pod))) => listed.extend(self.seen(&pod)),
                Ok(Some(watcher::Event::InitDone)) => self.only(&listed),
                Ok(None) => break,
                Err(error) => tracing::warn!(%error, "cannot watch pods, trying again"),
            }
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Records the state of a pod, and starts its collector if the pod is new. Returns the uid of its Job.
    fn seen(&self, pod: &Pod) -> Option<String> {
        let facts = facts(pod)?;
        let job = facts.job.clone();
        let mut pods = self.runs.pods.lock();
        match pods.get(&job) {
            Some(known) if known.borrow().uid != facts.uid => {
                tracing::warn!(
                    pod = facts.name,
                    operation = facts.operation,
                    "a second pod of the same Job is ignored"
                );
            }
            Some(known) => drop(known.send_if_modified(|old| {
                let changed = *old != facts;
                *old = facts;
                changed
            })),
            None => {
                let (sender, receiver) = watch::channel(facts);
                pods.insert(job.clone(), sender);
                self.collect(receiver);
            }
        }
        Some(job)
    }

    fn deleted(&self, pod: &Pod) {
        let Some(facts) = facts(pod) else { return };
        let mut pods = self.runs.pods.lock();
        if pods.get(&facts.job).is_some_and(|known| known.borrow().uid == facts.uid)
            && let Some(known) = pods.remove(&facts.job)
        {
            known.send_modify(|f| f.state = facts.state.deleted());
        }
    }

    /// After a new list: a known pod that isn't in it was deleted while the watch was interrupted.
    fn only(&self, listed: &HashSet<String>) {
        let mut pods = self.runs.pods.lock();
        pods.retain(|job, known| {
            let stays = listed.contains(job);
            if !stays {
                known.send_modify(|f| f.state = f.state.deleted());
            }
            stays
        });
    }

    fn collect(&self, facts: watch::Receiver<PodFacts>) {
        let (client, runs, catching_up) = (self.client.clone(), Arc::clone(&self.runs), Arc::clone(&self.catching_up));
        let work = async move {
            let pod = facts.borrow().clone();
            // There may be thousands of ended pods after a restart. Most of their journals are complete, which is cheap to
            // see.
            let _permit = if pod.state.has_ended() { catching_up.acquire_owned().await.ok() } else { None };
            let Some(folder) = run::folder(&runs.spool, &pod.job) else { return };
            let has_ended = move || {
                disk::remove_leftovers(&folder);
                run::has_ended(&folder)
            };
            if tokio::task::spawn_blocking(has_ended).await.unwrap_or(false) {
                return;
            }
            let api = runs.api.get().cloned();
            let about = About { operation: pod.operation.clone(), namespace: pod.namespace, pod: pod.name, api };
            loop {
                let collected = match runs.create(&pod.job, about.clone()).await {
                    Ok(run) => collect(client.clone(), run, facts.clone()).await,
                    Err(error) => Err(error),
                };
                let Err(error) = collected else { return };
                tracing::error!(operation = pod.operation, %error, "cannot write the log of a run, trying again");
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
        };
        self.tasks.spawn(self.shutdown.clone().run_until_cancelled_owned(work));
    }
}
