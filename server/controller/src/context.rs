//! What every reconcile is given.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crd::{Cluster, ClusterOperation, Time};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Patch, PatchParams};
use kube::runtime::events::{Event, EventType, Recorder};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::Value;

use crate::Config;
use crate::error::{Answer, Error};
use crate::expectations::Expectations;
use crate::history;
use crate::marks::Marks;
use crate::secrets::Secrets;

/// The shared stores, each fed by one watch.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) clusters: Store<Cluster>,
    pub(crate) operations: Store<ClusterOperation>,
    pub(crate) jobs: Store<Job>,
    pub(crate) pods: Store<Pod>,
    pub(crate) settings: Store<ConfigMap>,
}

impl Stores {
    /// Waits until every store is filled; false where one never will be. For one task only, see [`crate::Running::ready`].
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

    /// The Job that belongs to `operation` itself: another operation of the same name had another uid.
    pub(crate) fn job_of(&self, operation: &ClusterOperation) -> Option<Arc<Job>> {
        let name = crd::job_name(&operation.name_any());
        let job = match self.namespace_of(operation) {
            Some(namespace) => self.jobs.get(&ObjectRef::new(&name).within(&namespace)),
            None => self.jobs.find(|job| job.metadata.name.as_deref() == Some(&name)),
        };
        job.filter(|job| is_owned_by(&**job, operation))
    }

    /// Where its Job is, or would be.
    pub(crate) fn namespace_of(&self, operation: &ClusterOperation) -> Option<String> {
        history::namespace(operation, self.cluster(&operation.spec.cluster).as_deref())
    }

    /// The newest pod of a Job.
    pub(crate) fn pod_of(&self, job: &Job) -> Option<Arc<Pod>> {
        let uid = job.metadata.uid.as_deref()?;
        let pods = self.pods.state_filter(|pod| pod.owner_references().iter().any(|owner| owner.uid == uid));
        pods.into_iter().max_by(|a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp))
    }
}

/// `child` was made for this very operation.
pub(crate) fn is_owned_by<K: Resource<DynamicType = ()>>(child: &K, operation: &ClusterOperation) -> bool {
    child
        .owner_references()
        .iter()
        .any(|owner| owner.controller == Some(true) && Some(&owner.uid) == operation.metadata.uid.as_ref())
}

/// Client, settings and memory of one controller.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) config: Config,
    pub(crate) stores: Stores,
    pub(crate) expectations: Expectations,
    pub(crate) recorder: Recorder,
    pub(crate) secrets: Secrets,
    pub(crate) marks: Arc<Marks>,
    /// Clusters whose referenced ConfigMaps were touched since their inputs were last looked at.
    pub(crate) touched: Mutex<HashSet<String>>,
    /// Somebody waits for `--max-running`.
    pub(crate) slots_wanted: AtomicBool,
}

impl Context {
    pub(crate) fn clusters(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }

    pub(crate) fn operations(&self) -> Api<ClusterOperation> {
        Api::all(self.client.clone())
    }

    /// A merge patch of `status`; None where the object is no longer at `version` or gone.
    pub(crate) async fn patch_status<K>(
        &self,
        api: &Api<K>,
        name: &str,
        version: Option<&str>,
        status: Value,
    ) -> Result<Option<K>, Error>
    where
        K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
    {
        let patch = serde_json::json!({"metadata": {"resourceVersion": version}, "status": status});
        let answer = api.patch_status(name, &field_manager(), &Patch::Merge(&patch)).await;
        answer.unless_changed().map_err(Error::while_doing("write a status"))
    }

    /// Says on the operation what happened. An event that gets lost is lost: the status says the same.
    pub(crate) async fn tell(&self, operation: &ClusterOperation, kind: EventType, reason: &str, note: &str) {
        let event = Event {
            type_: kind,
            reason: reason.into(),
            note: Some(crate::sentence::cut(note, 900)),
            action: "Run".into(),
            secondary: None,
        };
        if let Err(error) = self.recorder.publish(&event, &operation.object_ref(&())).await {
            tracing::warn!(operation = operation.name_any(), %error, "an event was not written");
        }
    }

    pub(crate) fn touch(&self, cluster: &str) {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).insert(cluster.to_owned());
    }

    pub(crate) fn was_touched(&self, cluster: &str) -> bool {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).remove(cluster)
    }

    pub(crate) fn want_slot(&self) {
        self.slots_wanted.store(true, Ordering::Relaxed);
    }
}

/// All writes carry this name in managedFields.
pub(crate) fn field_manager() -> PatchParams {
    PatchParams { field_manager: Some(crd::PRODUCT.into()), ..PatchParams::default() }
}

/// Whole seconds, as the API keeps them: a time that is read back equals the one that was written.
pub(crate) fn now() -> Time {
    let second = jiff::Timestamp::now().as_second();
    Time(jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
}
