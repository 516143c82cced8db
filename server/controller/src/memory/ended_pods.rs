//! The last states of deleted pods.

use std::collections::VecDeque;
use std::sync::Arc;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::ObjectMeta;
use kube::runtime::watcher::Event;
use operation::terminated;
use parking_lot::Mutex;

/// How many pods are remembered. Each takes a few KB: its specification is not kept, and a termination message has at most 4 KB.
const LIMIT: usize = 256;

/// Pods that were deleted after their container had ended. Kubernetes deletes the pod of a suspended Job as soon as it has ended,
/// and with it the termination message. A reconcile that runs later finds the message here.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndedPods {
    pods: Arc<Mutex<VecDeque<Arc<Pod>>>>,
}

impl EndedPods {
    /// Remembers the pod if the event deletes one whose container has ended.
    pub(crate) fn note(&self, event: &Event<Pod>) {
        let Event::Delete(pod) = event else { return };
        if terminated(pod).is_none() {
            return;
        }
        let metadata = ObjectMeta { managed_fields: None, ..pod.metadata.clone() };
        let pod = Pod { metadata, spec: None, status: pod.status.clone() };
        let mut pods = self.pods.lock();
        pods.truncate(LIMIT - 1);
        pods.push_front(Arc::new(pod));
    }

    /// The newest remembered pod of a Job.
    pub(crate) fn of(&self, job: &Job) -> Option<Arc<Pod>> {
        let uid = job.metadata.uid.as_deref()?;
        let pods = self.pods.lock();
        pods.iter().find(|pod| pod.owner_references().iter().any(|owner| owner.uid == uid)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(job: &str, state: &str) -> Pod {
        let status = json!({"name": crd::PRODUCT, "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": {state: if state == "terminated" { json!({"exitCode": 143}) } else { json!({}) }}});
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": job});
        serde_json::from_value(
            json!({"metadata": {"ownerReferences": [owner]}, "status": {"containerStatuses": [status]}}),
        )
        .unwrap()
    }

    fn job(uid: &str) -> Job {
        serde_json::from_value(json!({"metadata": {"uid": uid}})).unwrap()
    }

    #[test]
    fn an_ended_pod_is_remembered_after_its_deletion() {
        let ended = EndedPods::default();
        ended.note(&Event::Apply(pod("seen", "terminated")));
        ended.note(&Event::Delete(pod("running", "running")));
        ended.note(&Event::Delete(pod("deleted", "terminated")));
        assert!(ended.of(&job("deleted")).is_some());
        assert!(ended.of(&job("running")).is_none(), "its end was not seen");
        assert!(ended.of(&job("seen")).is_none(), "the store has it");
    }

    #[test]
    fn only_the_last_deleted_pods_are_remembered() {
        let ended = EndedPods::default();
        for at in 0..=LIMIT {
            ended.note(&Event::Delete(pod(&at.to_string(), "terminated")));
        }
        assert!(ended.of(&job("0")).is_none());
        assert!(ended.of(&job("1")).is_some());
    }
}
