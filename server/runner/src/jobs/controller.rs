//! Watches Jobs and carries out the plan for each. Every write can be repeated.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::channel::mpsc::UnboundedReceiver;
use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::plan::{Plan, plan};
use crate::events::Reports;
use crate::pod::{TRACKING, owner_job};

struct Context {
    client: Client,
    pods: Store<Pod>,
    reports: Reports,
}

/// Controls all Jobs until `shutdown`. `pods` holds all pods, and `changed` delivers the Jobs whose pods changed.
pub(crate) async fn run(
    client: Client,
    pods: Store<Pod>,
    changed: UnboundedReceiver<ObjectRef<Job>>,
    shutdown: CancellationToken,
) {
    // While the store is empty, every Job seems to have no pod.
    let ready = tokio::select! {
        ready = pods.wait_until_ready() => ready.is_ok(),
        () = shutdown.cancelled() => false,
    };
    if !ready {
        return;
    }
    let reports = Reports::by(client.clone(), "job-controller");
    let context = Arc::new(Context { client: client.clone(), pods, reports });
    Controller::new(Api::<Job>::all(client), watcher::Config::default())
        .reconcile_on(changed)
        .graceful_shutdown_on(shutdown.cancelled_owned())
        .run(reconcile, retry, context)
        .for_each(|_| futures::future::ready(()))
        .await;
}

async fn reconcile(job: Arc<Job>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let owned = |pod: &Pod| {
        pod.owner_references()
            .iter()
            .any(|owner| owner.controller == Some(true) && Some(&owner.uid) == job.metadata.uid.as_ref())
    };
    let pods = context.pods.state_filter(owned);
    let mut decided = plan(&job, &pods, Timestamp::now());
    let mut job = job;
    if decided.create.is_some() {
        // The Job may come from a stale cache: one that has ended meanwhile, and whose pod is deleted, would run again. So read it
        // from the API before creating a pod.
        let jobs: Api<Job> = Api::namespaced(context.client.clone(), &job.namespace().unwrap_or_default());
        match jobs.get_opt(&job.name_any()).await?.filter(|fresh| fresh.uid() == job.uid()) {
            Some(fresh) if fresh.resource_version() == job.resource_version() => {}
            Some(fresh) => {
                decided = plan(&fresh, &pods, Timestamp::now());
                job = Arc::new(fresh);
            }
            None => return Ok(Action::await_change()),
        }
    }
    let created = carry_out(&job, &decided, &context).await?;
    for report in decided.reports.iter().filter(|report| created || report.reason != "SuccessfulCreate") {
        context.reports.publish(&*job, report).await;
    }
    let again = decided.again_in.and_then(|left| Duration::try_from(left).ok());
    // A little later than planned, because the API truncates times to whole seconds.
    Ok(again.map_or_else(Action::await_change, |left| Action::requeue(left + Duration::from_millis(10))))
}

/// Returns whether a pod was created.
async fn carry_out(job: &Job, plan: &Plan, context: &Context) -> Result<bool, kube::Error> {
    let namespace = job.namespace().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), &namespace);
    let jobs: Api<Job> = Api::namespaced(context.client.clone(), &namespace);
    let name = job.name_any();
    let mut created = false;
    if let Some(pod) = &plan.create {
        match pods.create(&PostParams::default(), pod).await {
            // The pod was created earlier and the store doesn't have it yet. Or it is being deleted; its end triggers a reconcile.
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            outcome => created = outcome.map(|_| true)?,
        }
    }
    for pod in &plan.delete {
        let uid = Preconditions { uid: pod.uid(), resource_version: None };
        let options = DeleteParams::background().preconditions(uid);
        unless_gone(pods.delete(&pod.name_any(), &options).await.map(drop))?;
    }
    if let Some(status) = &plan.status {
        unless_gone(jobs.patch_status(&name, &manager(), &Patch::Merge(status)).await.map(drop))?;
    }
    for pod in &plan.release {
        release(&pods, pod).await?;
    }
    if plan.expire {
        let uid = Preconditions { uid: job.uid(), resource_version: None };
        let options = DeleteParams::background().preconditions(uid);
        unless_gone(jobs.delete(&name, &options).await.map(drop))?;
    }
    Ok(created)
}

/// Releases a pod whose Job is deleted: that Job doesn't count the pod's end any more.
pub(crate) async fn release_if_orphaned(client: &Client, pod: &Pod) -> Result<(), kube::Error> {
    let namespace = pod.namespace().unwrap_or_default();
    if let Some(owner) = owner_job(pod) {
        let job = Api::<Job>::namespaced(client.clone(), &namespace).get_opt(&owner.name).await?;
        if job.is_some_and(|job| job.uid().as_ref() == Some(&owner.uid)) {
            return Ok(());
        }
    }
    release(&Api::namespaced(client.clone(), &namespace), pod).await
}

/// Removes the finalizer of a pod, so that the API can delete it.
async fn release(pods: &Api<Pod>, pod: &Pod) -> Result<(), kube::Error> {
    let left: Vec<&String> = pod.finalizers().iter().filter(|finalizer| *finalizer != TRACKING).collect();
    let metadata =
        json!({"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version, "finalizers": left});
    let patch = json!({"metadata": metadata});
    unless_gone(pods.patch(&pod.name_any(), &manager(), &Patch::Merge(patch)).await.map(drop))
}

/// Not an error: the object is deleted or replaced, or it has changed, which triggers another reconcile.
fn unless_gone(outcome: Result<(), kube::Error>) -> Result<(), kube::Error> {
    match outcome {
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        outcome => outcome,
    }
}

fn manager() -> PatchParams {
    PatchParams { field_manager: Some("job-controller".into()), ..PatchParams::default() }
}

#[expect(clippy::needless_pass_by_value, reason = "the controller's signature")]
fn retry(job: Arc<Job>, error: &kube::Error, _context: Arc<Context>) -> Action {
    match error {
        // Another client wrote first. That is normal.
        kube::Error::Api(status) if status.is_conflict() => {
            tracing::debug!(job = job.name_any(), %error, "a Job has changed meanwhile; trying again");
        }
        _ => tracing::warn!(job = job.name_any(), %error, "a Job could not be reconciled; trying again"),
    }
    Action::requeue(Duration::from_secs(1))
}
