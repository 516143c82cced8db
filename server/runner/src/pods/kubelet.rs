//! Watches all pods: starts a worker for each one that should run, and removes what is left of deleted ones.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, reflector};
use kube::{Api, Client, ResourceExt};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::cleanup::{remove_files, remove_run};
use super::worker::{Node, Seen};
use crate::events::Reports;
use crate::jobs;
use crate::options::RunnerOptions;
use crate::pod::{NODE, has_ended, is_deleting, is_scheduled, is_tracked, owner_job};
use crate::run_dir::{self, RunDir, is_run_name};

/// Watches pods until `shutdown`. Fills `store`, and sends to `changed` every Job whose pods changed.
pub(crate) async fn run(
    client: Client,
    options: RunnerOptions,
    store: Writer<Pod>,
    changed: UnboundedSender<ObjectRef<Job>>,
    shutdown: CancellationToken,
) {
    let pods = watcher::watcher(Api::<Pod>::all(client.clone()), watcher::Config::default()).default_backoff();
    let mut events = pin!(reflector(store, pods));
    let slots = Arc::new(Semaphore::new(options.max_parallel.max(1)));
    let reports = Reports::by(client.clone(), "kubelet");
    let node = Arc::new(Node { client, options, slots, reports });
    let mut kubelet = Kubelet {
        node,
        changed,
        shutdown: shutdown.clone(),
        workers: HashMap::new(),
        tasks: JoinSet::new(),
        listed: Vec::new(),
    };
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(ended) = kubelet.tasks.join_next() => {
                if let Ok(Some((uid, pod))) = ended {
                    kubelet.worker_ended(uid, &pod);
                }
            }
            event = events.next() => match event {
                Some(Ok(event)) => kubelet.handle(event),
                Some(Err(error)) => tracing::warn!(%error, "pods can't be watched; trying again"),
                None => break,
            },
        }
    }
    // The same token stops the workers. The runs that they started continue.
    while kubelet.tasks.join_next().await.is_some() {}
}

struct Kubelet {
    node: Arc<Node>,
    changed: UnboundedSender<ObjectRef<Job>>,
    shutdown: CancellationToken,
    /// By uid. A pod has at most one worker.
    workers: HashMap<String, watch::Sender<Seen>>,
    /// Workers, which return the pod's uid and last version, and other work.
    tasks: JoinSet<Option<(String, Arc<Pod>)>>,
    /// The pods of a list that is still arriving.
    listed: Vec<Arc<Pod>>,
}

impl Kubelet {
    fn handle(&mut self, event: Event<Pod>) {
        match event {
            Event::Apply(pod) => self.pod_changed(&Arc::new(pod)),
            Event::Delete(pod) => self.pod_deleted(&pod),
            Event::Init => self.listed.clear(),
            Event::InitApply(pod) => self.listed.push(Arc::new(pod)),
            Event::InitDone => self.list_complete(),
        }
    }

    /// All pods are known, after the start or after a gap in the watch.
    fn list_complete(&mut self) {
        let mut listed = std::mem::take(&mut self.listed);
        let known: HashSet<String> = listed.iter().filter_map(|pod| pod.uid()).collect();
        // Pods that run already get their slots before pods that wait for one.
        listed.sort_by_key(|pod| !is_scheduled(pod));
        for pod in &listed {
            self.pod_changed(pod);
        }
        for (_, worker) in self.workers.iter().filter(|(uid, _)| !known.contains(*uid)) {
            worker.send_replace(Seen::Deleted);
        }
        let data_dir = &self.node.options.data_dir;
        // The last server may have failed to remove the files of a run, or stopped before it could.
        let ended = listed.iter().filter(|pod| has_ended(pod)).filter_map(|pod| pod.uid());
        let ended = ended.filter(|uid| is_run_name(uid.as_ref()) && !self.workers.contains_key(uid));
        let ended = ended.map(|uid| RunDir::of(data_dir, &uid)).collect();
        self.tasks.spawn(unless(self.shutdown.clone(), remove_files(ended, false)));
        let left_over = run_dir::uids(data_dir).filter(|uid| !known.contains(uid) && !self.workers.contains_key(uid));
        for uid in left_over.collect::<Vec<_>>() {
            self.remove_run(uid);
        }
    }

    fn pod_changed(&mut self, pod: &Arc<Pod>) {
        self.notify_job(pod);
        let Some(uid) = pod.uid().filter(|uid| is_run_name(uid.as_ref())) else { return };
        if let Some(worker) = self.workers.get(&uid) {
            worker.send_replace(Seen::Present(pod.clone()));
        } else if has_ended(pod) {
            self.release_if_orphaned(pod);
        } else if is_ours(pod) {
            let (sender, seen) = watch::channel(Seen::Present(pod.clone()));
            self.workers.insert(uid.clone(), sender);
            let slot = is_scheduled(pod).then(|| self.node.slots.clone().try_acquire_owned().ok()).flatten();
            let (node, pod, shutdown) = (self.node.clone(), pod.clone(), self.shutdown.clone());
            self.tasks.spawn(async move {
                tokio::select! {
                    pod = node.run_pod(pod, seen, slot) => Some((uid, pod)),
                    () = shutdown.cancelled() => None,
                }
            });
        }
    }

    /// Handles what the watch saw after the worker's last look at its pod.
    fn worker_ended(&mut self, uid: String, pod: &Arc<Pod>) {
        let last = self.workers.remove(&uid).map(|worker| worker.borrow().clone());
        match last {
            Some(Seen::Deleted) => self.remove_run(uid),
            Some(Seen::Present(seen)) if has_ended(&seen) => self.release_if_orphaned(&seen),
            Some(Seen::Present(_)) | None => self.release_if_orphaned(pod),
        }
    }

    fn pod_deleted(&mut self, pod: &Pod) {
        self.notify_job(pod);
        let Some(uid) = pod.uid().filter(|uid| is_run_name(uid.as_ref())) else { return };
        match self.workers.get(&uid) {
            // The worker removes the run itself.
            Some(worker) => drop(worker.send_replace(Seen::Deleted)),
            None => self.remove_run(uid),
        }
    }

    /// The Job of a pod that is being deleted may be deleted already; then the Job controller doesn't release the pod.
    fn release_if_orphaned(&mut self, pod: &Arc<Pod>) {
        if is_deleting(pod) && is_tracked(pod) {
            let (node, pod) = (self.node.clone(), pod.clone());
            let work = async move {
                if let Err(error) = jobs::release_if_orphaned(&node.client, &pod).await {
                    tracing::warn!(pod = pod.name_any(), %error, "a pod's finalizer could not be removed");
                }
            };
            self.tasks.spawn(unless(self.shutdown.clone(), work));
        }
    }

    fn remove_run(&mut self, uid: String) {
        let data_dir = self.node.options.data_dir.clone();
        self.tasks.spawn(unless(self.shutdown.clone(), async move { remove_run(&data_dir, &uid).await }));
    }

    fn notify_job(&self, pod: &Pod) {
        if let Some(owner) = owner_job(pod) {
            let job = ObjectRef::new(&owner.name).within(pod.namespace().as_deref().unwrap_or_default());
            // An error means that the Job controller has stopped.
            drop(self.changed.unbounded_send(job));
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

/// The pod is bound to this node, or belongs to a Job and is not bound yet.
fn is_ours(pod: &Pod) -> bool {
    match pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty()) {
        Some(node) => node == NODE,
        None => owner_job(pod).is_some(),
    }
}
