//! The Job controller: carries out what [`super::job_plan`] decides. Every write may be repeated.

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

use super::job_plan::{Plan, TRACKING, plan};
use super::reports::Reports;

struct Context {
    client: Client,
    pods: Store<Pod>,
    reports: Reports,
}

/// Controls all Jobs until `shutdown`. `pods` holds all pods, and `touched` names the Jobs whose pods changed.
pub(crate) async fn run(
    client: Client,
    pods: Store<Pod>,
    touched: UnboundedReceiver<ObjectRef<Job>>,
    shutdown: CancellationToken,
) {
    // Before that, every Job would seem to have no pod.
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
        .reconcile_on(touched)
        .graceful_shutdown_on(shutdown.cancelled_owned())
        .run(reconcile, again_after, context)
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
        // Nothing may be started because of an old picture: a Job that has ended meanwhile, and whose pod is gone, would run again.
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
    let plan = decided;
    let created = carry_out(&job, &plan, &context).await?;
    for report in plan.reports.iter().filter(|report| created || report.reason != "SuccessfulCreate") {
        context.reports.tell(&*job, report).await;
    }
    let again = plan.again_in.and_then(|left| Duration::try_from(left).ok());
    // A moment later than asked: times in the API are cut to whole seconds.
    Ok(again.map_or_else(Action::await_change, |left| Action::requeue(left + Duration::from_millis(10))))
}

/// Whether it made a pod.
async fn carry_out(job: &Job, plan: &Plan, context: &Context) -> Result<bool, kube::Error> {
    let namespace = job.namespace().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), &namespace);
    let jobs: Api<Job> = Api::namespaced(context.client.clone(), &namespace);
    let name = job.name_any();
    let mut created = false;
    if let Some(pod) = &plan.create {
        match pods.create(&PostParams::default(), pod).await {
            // Made earlier and not seen yet; or one that is going, and whose end brings us here again.
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            outcome => created = outcome.map(|_| true)?,
        }
    }
    for pod in &plan.delete {
        let uid = Preconditions { uid: pod.uid(), resource_version: None };
        let options = DeleteParams { preconditions: Some(uid), ..DeleteParams::background() };
        gone_is_fine(pods.delete(&pod.name_any(), &options).await.map(drop))?;
    }
    if let Some(status) = &plan.status {
        gone_is_fine(jobs.patch_status(&name, &manager(), &Patch::Merge(status)).await.map(drop))?;
    }
    for pod in &plan.release {
        release(&pods, pod).await?;
    }
    if plan.expire {
        let uid = Preconditions { uid: job.uid(), resource_version: None };
        let options = DeleteParams { preconditions: Some(uid), ..DeleteParams::background() };
        gone_is_fine(jobs.delete(&name, &options).await.map(drop))?;
    }
    Ok(created)
}

/// Takes the finalizer off a pod whose end was counted, or will never be.
pub(crate) async fn release(pods: &Api<Pod>, pod: &Pod) -> Result<(), kube::Error> {
    let left: Vec<&String> = pod.finalizers().iter().filter(|finalizer| *finalizer != TRACKING).collect();
    let metadata =
        json!({"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version, "finalizers": left});
    let patch = json!({"metadata": metadata});
    gone_is_fine(pods.patch(&pod.name_any(), &manager(), &Patch::Merge(patch)).await.map(drop))
}

/// It is gone, or another one, or it changed since, which brings us here again.
fn gone_is_fine(outcome: Result<(), kube::Error>) -> Result<(), kube::Error> {
    match outcome {
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        outcome => outcome,
    }
}

fn manager() -> PatchParams {
    PatchParams { field_manager: Some("job-controller".into()), ..PatchParams::default() }
}

#[expect(clippy::needless_pass_by_value, reason = "the controller's signature")]
fn again_after(job: Arc<Job>, error: &kube::Error, _context: Arc<Context>) -> Action {
    match error {
        // Somebody else was faster, as the protocol expects.
        kube::Error::Api(status) if status.is_conflict() => {
            tracing::debug!(job = job.name_any(), %error, "a Job changed meanwhile; looking again");
        }
        _ => tracing::warn!(job = job.name_any(), %error, "a Job could not be brought on; trying again"),
    }
    Action::requeue(Duration::from_secs(1))
}
