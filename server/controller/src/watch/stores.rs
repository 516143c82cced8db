//! The stores, each fed by one watch.

use std::sync::Arc;

use crd::{Cluster, ClusterOperation};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::ResourceExt;
use kube::runtime::reflector::{ObjectRef, Store};

use crate::memory::ended_pods::EndedPods;

/// All objects that the controller watches.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) clusters: Store<Cluster>,
    pub(crate) operations: Store<ClusterOperation>,
    pub(crate) jobs: Store<Job>,
    pub(crate) pods: Store<Pod>,
    pub(crate) settings: Store<ConfigMap>,
    /// Pods that are no longer in the store.
    pub(crate) ended_pods: EndedPods,
}

impl Stores {
    /// Waits until every store is filled; false if one never will be. Only one task may call it, see [`crate::Running::ready`].
    pub(crate) async fn fill(&self) -> bool {
        let (clusters, operations) = (self.clusters.wait_until_ready(), self.operations.wait_until_ready());
        let (jobs, pods, settings) =
            (self.jobs.wait_until_ready(), self.pods.wait_until_ready(), self.settings.wait_until_ready());
        futures::try_join!(clusters, operations, jobs, pods, settings).is_ok()
    }

    pub(crate) fn cluster(&self, name: &str) -> Option<Arc<Cluster>> {
        self.clusters.get(&ObjectRef::new(name))
    }

    pub(crate) fn operation(&self, name: &str) -> Option<Arc<ClusterOperation>> {
        self.operations.get(&ObjectRef::new(name))
    }

    /// The newest pod of a Job, or its last state if it was deleted after its end.
    pub(crate) fn pod_of(&self, job: &Job) -> Option<Arc<Pod>> {
        let uid = job.metadata.uid.as_deref()?;
        let pods = self.pods.state_filter(|pod| pod.owner_references().iter().any(|owner| owner.uid == uid));
        let newest = pods.into_iter().max_by(|a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp));
        newest.or_else(|| self.ended_pods.of(job))
    }
}
