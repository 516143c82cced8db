//! What can be read from a pod. Pure.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;

/// The name of the only node.
pub(crate) const NODE: &str = "standalone";
/// The finalizer that keeps a pod until the Job controller has counted its end.
pub(crate) const TRACKING: &str = "batch.kubernetes.io/job-tracking";

pub(crate) fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// Why the container has not started yet.
pub(crate) fn waiting_reason(pod: &Pod) -> Option<&str> {
    let container = pod.status.as_ref()?.container_statuses.as_ref()?.first()?;
    container.state.as_ref()?.waiting.as_ref()?.reason.as_deref()
}

/// The pod has ended, with or without success.
pub(crate) fn has_ended(pod: &Pod) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// The pod is bound to our node.
pub(crate) fn is_scheduled(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.node_name.as_deref() == Some(NODE))
}

pub(crate) fn is_deleting(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// When a pod that is being deleted has to be gone.
pub(crate) fn deadline(pod: &Pod) -> Option<Timestamp> {
    pod.metadata.deletion_timestamp.as_ref().map(|time| time.0)
}

/// The Job controller has not counted the pod's end yet.
pub(crate) fn is_tracked(pod: &Pod) -> bool {
    pod.finalizers().iter().any(|finalizer| finalizer == TRACKING)
}

/// The Job that controls the pod.
pub(crate) fn owner_job(pod: &Pod) -> Option<&OwnerReference> {
    pod.owner_references().iter().find(|owner| owner.kind == "Job" && owner.controller == Some(true))
}

/// The first container; local runs have only one.
pub(crate) fn container(pod: &Pod) -> Option<&Container> {
    pod.spec.as_ref()?.containers.first()
}

pub(crate) fn container_name(pod: &Pod) -> &str {
    container(pod).map_or("", |container| &container.name)
}
