//! The kubelet of the one node: gives every pod a life of its own, and clears away what is left of pods that are gone.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::{ObjectRef, store::Writer};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, reflector};
use kube::{Api, Client, ResourceExt};
use rustix::process::Signal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::job_plan::is_tracked;
use super::life::{Node, Seen};
use super::marked::kill_marked;
use super::pod_status::is_terminal;
use super::process::is_plain;
use super::reports::Reports;
use super::run_dir::{self, RunDir};
use super::{NODE, RunnerOptions, jobs};

/// How long processes of a pod that is gone may resist.
const PATIENCE: Duration = Duration::from_secs(10);

/// Watches pods until `shutdown`. Fills `store`, and names in `touched` every Job whose pods changed.
pub(crate) async fn run(
    client: Client,
    options: RunnerOptions,
    store: Writer<Pod>,
    touched: UnboundedSender<ObjectRef<Job>>,
    shutdown: CancellationToken,
) {
    let pods = watcher::watcher(Api::<Pod>::all(client.clone()), watcher::Config::default()).default_backoff();
    let mut events = pin!(reflector(store, pods));
    let slots = Arc::new(Semaphore::new(options.max_parallel.max(1)));
    let reports = Reports::by(client.clone(), "kubelet");
    let node = Arc::new(Node { client, options, slots, reports });
    let mut kubelet = Kubelet {
        node,
        touched,
        shutdown: shutdown.clone(),
        lives: HashMap::new(),
        tasks: JoinSet::new(),
        found: Vec::new(),
    };
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(ended) = kubelet.tasks.join_next() => {
                if let Ok(Some((uid, pod))) = ended {
                    kubelet.lived(uid, &pod);
                }
            }
            event = events.next() => match event {
                Some(Ok(event)) => kubelet.see(event),
                Some(Err(error)) => tracing::warn!(%error, "pods can't be watched; trying again"),
                None => break,
            },
        }
    }
    // Lives end at the same token; what they began goes on by itself.
    while kubelet.tasks.join_next().await.is_some() {}
}

struct Kubelet {
    node: Arc<Node>,
    touched: UnboundedSender<ObjectRef<Job>>,
    shutdown: CancellationToken,
    /// By uid. One pod has one life at a time.
    lives: HashMap<String, watch::Sender<Seen>>,
    /// Lives, which give back the uid and what became of the pod, and other work.
    tasks: JoinSet<Option<(String, Arc<Pod>)>>,
    /// Collected while a list comes in.
    found: Vec<Arc<Pod>>,
}

impl Kubelet {
    fn see(&mut self, event: Event<Pod>) {
        match event {
            Event::Apply(pod) => self.there(&Arc::new(pod)),
            Event::Delete(pod) => self.gone(&pod),
            Event::Init => self.found.clear(),
            Event::InitApply(pod) => self.found.push(Arc::new(pod)),
            Event::InitDone => self.relisted(),
        }
    }

    /// All there is, after a start or a gap.
    fn relisted(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        let known: HashSet<String> = found.iter().filter_map(|pod| pod.uid()).collect();
        // Those that run have their places before those that wait for one.
        found.sort_by_key(|pod| !is_scheduled(pod));
        for pod in &found {
            self.there(pod);
        }
        for (_, life) in self.lives.iter().filter(|(uid, _)| !known.contains(*uid)) {
            life.send_replace(Seen::Gone);
        }
        let data_dir = &self.node.options.data_dir;
        // The last server may have ended before the keys of a run were removed, or could not do it.
        let ended = found.iter().filter(|pod| is_terminal(pod)).filter_map(|pod| pod.uid());
        let ended = ended.filter(|uid| is_plain(uid.as_ref()) && !self.lives.contains_key(uid));
        let ended = ended.map(|uid| RunDir::of(data_dir, &uid)).collect();
        self.tasks.spawn(unless(self.shutdown.clone(), forget_keys(ended)));
        let folders =
            std::fs::read_dir(run_dir::all(data_dir)).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let left_over = folders.filter(|name| is_plain(name)).filter_map(|name| name.into_string().ok());
        for uid in left_over.filter(|uid| !known.contains(uid) && !self.lives.contains_key(uid)).collect::<Vec<_>>() {
            self.clear(uid);
        }
    }

    fn there(&mut self, pod: &Arc<Pod>) {
        self.touch(pod);
        let Some(uid) = pod.uid().filter(|uid| is_plain(uid.as_ref())) else { return };
        if let Some(life) = self.lives.get(&uid) {
            life.send_replace(Seen::There(pod.clone()));
        } else if is_terminal(pod) {
            self.let_go(pod);
        } else if is_ours(pod) {
            let (tell, seen) = watch::channel(Seen::There(pod.clone()));
            self.lives.insert(uid.clone(), tell);
            let place: Option<OwnedSemaphorePermit> =
                is_scheduled(pod).then(|| self.node.slots.clone().try_acquire_owned().ok()).flatten();
            let (node, shutdown) = (self.node.clone(), self.shutdown.clone());
            let pod = pod.clone();
            self.tasks.spawn(async move {
                tokio::select! {
                    pod = node.live(pod, seen, place) => Some((uid, pod)),
                    () = shutdown.cancelled() => None,
                }
            });
        }
    }

    /// A life is over. What was seen since it last looked is settled here.
    fn lived(&mut self, uid: String, pod: &Arc<Pod>) {
        let last = self.lives.remove(&uid).map(|life| life.borrow().clone());
        match last {
            Some(Seen::Gone) => self.clear(uid),
            Some(Seen::There(seen)) if is_terminal(&seen) => self.let_go(&seen),
            Some(Seen::There(_)) | None => self.let_go(pod),
        }
    }

    /// A pod that has ended and is asked to go may be held by a Job that is gone itself.
    fn let_go(&mut self, pod: &Arc<Pod>) {
        if pod.metadata.deletion_timestamp.is_some() && is_tracked(pod) {
            let (node, pod) = (self.node.clone(), pod.clone());
            let work = async move { release_if_orphaned(&node.client, &pod).await };
            self.tasks.spawn(unless(self.shutdown.clone(), work));
        }
    }

    fn gone(&mut self, pod: &Pod) {
        self.touch(pod);
        let Some(uid) = pod.uid().filter(|uid| is_plain(uid.as_ref())) else { return };
        match self.lives.get(&uid) {
            // It clears up itself.
            Some(life) => drop(life.send_replace(Seen::Gone)),
            None => self.clear(uid),
        }
    }

    fn clear(&mut self, uid: String) {
        let data_dir = self.node.options.data_dir.clone();
        self.tasks.spawn(unless(self.shutdown.clone(), async move { clear(&data_dir, &uid).await }));
    }

    fn touch(&self, pod: &Pod) {
        for owner in pod.owner_references().iter().filter(|owner| owner.controller == Some(true) && owner.kind == "Job")
        {
            let job = ObjectRef::new(&owner.name).within(pod.namespace().as_deref().unwrap_or_default());
            // Without a Job controller there is nobody to tell.
            drop(self.touched.unbounded_send(job));
        }
    }
}

async fn unless(shutdown: CancellationToken, work: impl Future<Output = ()>) -> Option<(String, Arc<Pod>)> {
    tokio::select! {
        () = work => {}
        () = shutdown.cancelled() => {}
    }
    None
}

/// Bound to this node, or made by a Job and not bound yet.
fn is_ours(pod: &Pod) -> bool {
    match pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty()) {
        Some(node) => node == NODE,
        None => pod.owner_references().iter().any(|owner| owner.kind == "Job" && owner.controller == Some(true)),
    }
}

pub(crate) fn is_scheduled(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.node_name.as_deref() == Some(NODE))
}

/// A pod that is asked to go, and whose Job will not count it any more because it is gone itself.
async fn release_if_orphaned(client: &Client, pod: &Pod) {
    let namespace = pod.namespace().unwrap_or_default();
    let owner = pod.owner_references().iter().find(|owner| owner.kind == "Job" && owner.controller == Some(true));
    let counted_by_nobody = match owner {
        None => Ok(true),
        Some(owner) => {
            let job = Api::<Job>::namespaced(client.clone(), &namespace).get_opt(&owner.name).await;
            job.map(|job| job.is_none_or(|job| job.uid().as_ref() != Some(&owner.uid)))
        }
    };
    let outcome = match counted_by_nobody {
        Ok(true) => jobs::release(&Api::namespaced(client.clone(), &namespace), pod).await,
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = outcome {
        tracing::warn!(pod = pod.name_any(), %error, "a pod could not be released");
    }
}

/// Removes what runs that have ended were given. What stays is tried again when the next server starts.
pub(crate) async fn forget_keys(ended: Vec<RunDir>) {
    let work = move || {
        for dir in ended {
            if let Err(error) = dir.forget_keys() {
                tracing::error!(folder = %dir.root().display(), %error, "the keys and passwords of a run that ended can't be removed: remove them by hand, or start the server again");
            }
        }
    };
    // Joined by awaiting; if the server ends first, the next one begins again.
    drop(tokio::task::spawn_blocking(work).await);
}

/// Ends whatever still runs of a pod, and removes its folder.
pub(crate) async fn clear(data_dir: &Path, uid: &str) {
    let (dir, uid) = (RunDir::of(data_dir, uid), uid.to_owned());
    // Joined by awaiting; if the server ends first, the next one begins again.
    drop(tokio::task::spawn_blocking(move || remove(&dir, &uid)).await);
}

fn remove(dir: &RunDir, uid: &str) {
    if !dir.path().exists() {
        return;
    }
    let begun = Instant::now();
    // The shim first: it would write into the folder while it is removed. While this is held, none begins. It is free only when
    // what a shim has just forked has become the command, which has the mark.
    let lock = loop {
        if let Ok(Some(running)) = dir.running() {
            running.shim.signal(Signal::KILL);
        }
        match dir.lock() {
            Ok(None) if begun.elapsed() < PATIENCE => {
                // Whatever it waits for, the command doesn't go on.
                kill_marked(uid, Duration::ZERO);
                std::thread::sleep(Duration::from_millis(10));
            }
            lock => break lock,
        }
    };
    kill_marked(uid, PATIENCE);
    // Without this none begins when the lock goes. That has to go: some file systems keep a folder in which a file is open.
    dir.forget_start();
    drop(lock);
    if let Err(error) = std::fs::remove_dir_all(dir.path())
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(folder = %dir.path().display(), %error, "the folder of a run that is gone can't be removed");
    }
}
