//! The watches of the controller: which objects, and what is kept of them.

use std::sync::Arc;

use crd::{Cluster, ClusterOperation};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, PodSpec};
use kube::runtime::watcher;
use kube::{Api, Client, Resource, ResourceExt};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::memory::ended_pods::EndedPods;
use crate::memory::used_by::UsedBy;
use crate::watch::change::{Change, ChangeKind};
use crate::watch::config_maps;
use crate::watch::feed::{Kept, Observer, feed};
use crate::watch::stores::Stores;
use crate::watch::unread::Unread;

/// Prepares all watches. Returns the stores, the operations that can't be parsed, and the future that runs the watches until shutdown.
pub(super) fn start(
    client: &Client,
    controller_namespace: &str,
    used_by: &Arc<UsedBy>,
    changes: &broadcast::Sender<Change>,
    shutdown: &CancellationToken,
) -> (Stores, Unread, impl Future<Output = ()> + Send + use<>) {
    let all = watcher::Config::default;
    let of_operations =
        || all().labels(&format!("{}={},{}", crd::LABEL_MANAGED_BY, crd::PRODUCT, crd::LABEL_OPERATION));
    let named = all().fields(&format!("metadata.name={}", crd::CONFIG_NAME));
    let (changes, shutdown) = (|| changes.clone(), || shutdown.clone());

    let (clusters, _, feed_clusters) = feed(Api::all(client.clone()), all(), CLUSTERS, None, changes(), shutdown());
    let (operations, unread_operations, feed_operations) =
        feed(Api::all(client.clone()), all(), OPERATIONS, None, changes(), shutdown());
    let (jobs, _, feed_jobs) = feed(Api::all(client.clone()), of_operations(), JOBS, None, changes(), shutdown());
    let ended_pods = EndedPods::default();
    let note = ended_pods.clone();
    let observer: Observer<Pod> = Box::new(move |event| note.note(event));
    let (pods, _, feed_pods) =
        feed(Api::all(client.clone()), of_operations(), PODS, Some(observer), changes(), shutdown());
    let settings = Api::namespaced(client.clone(), controller_namespace);
    let (settings, _, feed_settings) = feed(settings, named, SETTINGS, None, changes(), shutdown());
    let config_maps = config_maps::watch(client.clone(), used_by.clone(), changes(), shutdown());

    let stores = Stores { clusters, operations, jobs, pods, settings, ended_pods };
    let watching = async move {
        futures::join!(feed_clusters, feed_operations, feed_jobs, feed_pods, feed_settings, config_maps);
    };
    (stores, unread_operations, watching)
}

const CLUSTERS: Kept<Cluster> =
    Kept { trim: |_| {}, change: |cluster| Change::new(ChangeKind::Cluster, &cluster.name_any(), &cluster.name_any()) };
const OPERATIONS: Kept<ClusterOperation> = Kept {
    trim: |_| {},
    change: |operation| Change::new(ChangeKind::Operation, &operation.name_any(), &operation.spec.cluster),
};
const JOBS: Kept<Job> = Kept {
    trim: |job| {
        if let Some(spec) = &mut job.spec {
            spec.template.spec = None;
        }
    },
    change: of_run,
};
const PODS: Kept<Pod> = Kept {
    trim: |pod| {
        let node_name = pod.spec.take().and_then(|spec| spec.node_name);
        pod.spec = Some(PodSpec { node_name, ..PodSpec::default() });
    },
    change: of_run,
};
const SETTINGS: Kept<ConfigMap> = Kept { trim: |_| {}, change: |_| Change::new(ChangeKind::Settings, "", "") };

fn of_run<K: Resource>(object: &K) -> Change {
    let label = |key: &str| object.labels().get(key).cloned().unwrap_or_default();
    Change::new(ChangeKind::Run, &label(crd::LABEL_OPERATION), &label(crd::LABEL_CLUSTER))
}
