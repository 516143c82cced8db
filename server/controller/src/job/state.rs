//! Whether a Job still runs, and suspending it.

use k8s_openapi::api::batch::v1::{Job, JobCondition, JobStatus};
use k8s_openapi::api::core::v1::Pod;
use kube::api::Patch;
use kube::{Api, Client, ResourceExt};
use operation::terminated;
use serde_json::json;

use crate::error::Error;
use crate::request::{Answer, field_manager};

/// Whether the Job has ended.
pub(crate) fn job_has_ended(job: &Job) -> bool {
    condition(job, "Complete").or_else(|| condition(job, "Failed")).is_some()
}

/// Whether nothing of the Job runs: it has ended, or it is suspended and its pod has ended or is gone. A suspended Job can still be resumed.
pub(crate) fn job_has_stopped(job: &Job, pod: Option<&Pod>) -> bool {
    let pods = |status: &JobStatus| status.active.unwrap_or(0) + status.terminating.unwrap_or(0);
    let gone = || condition(job, "Suspended").is_some() && job.status.as_ref().map_or(0, pods) == 0;
    job_has_ended(job) || is_suspended(job) && (gone() || pod.and_then(terminated).is_some())
}

/// Whether the Job's specification says that it is suspended. Its pod may still be ending.
pub(crate) fn is_suspended(job: &Job) -> bool {
    job.spec.as_ref().and_then(|spec| spec.suspend) == Some(true)
}

/// The condition of this type, if it is true.
pub(crate) fn condition<'a>(job: &'a Job, kind: &str) -> Option<&'a JobCondition> {
    job.status.as_ref()?.conditions.as_ref()?.iter().find(|c| c.type_ == kind && c.status == "True")
}

/// Whether the pod has ended and no container of it can run any more.
pub(crate) fn pod_has_ended(pod: &Pod) -> bool {
    matches!(pod.status.as_ref().and_then(|status| status.phase.as_deref()), Some("Succeeded" | "Failed"))
}

/// Suspends a Job that has not ended: Kubernetes then ends its pod.
pub(crate) async fn stop(client: &Client, job: &Job) -> Result<(), Error> {
    if job_has_ended(job) || is_suspended(job) {
        return Ok(());
    }
    let jobs: Api<Job> = Api::namespaced(client.clone(), &job.namespace().unwrap_or_default());
    let patch = json!({"metadata": {"uid": job.metadata.uid}, "spec": {"suspend": true}});
    let answer = jobs.patch(&job.name_any(), &field_manager(), &Patch::Merge(&patch)).await;
    answer.unless_changed().map_err(Error::while_doing("suspend a Job"))?;
    Ok(())
}
