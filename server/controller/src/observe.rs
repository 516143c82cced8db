//! What becomes of a Job, from its creation to its verdict.

use std::time::Duration;

use crd::{ClusterOperation, JobRef, Phase, ResolvedInputs, Time};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, Patch};
use kube::runtime::controller::Action;
use kube::{Api, ResourceExt};
use masking::Masker;
use serde_json::json;

use crate::context::{Context, field_manager, now};
use crate::error::{Answer, Error};
use crate::expectations::Written;
use crate::finish::{finish_stopped, get_cluster, write_entries};
use crate::outcome::Outcome;
use crate::sentence::cut;
use crate::status::{self, Start};
use crate::tombstone::{self, abandon};
use crate::verdict::{self, Verdict};
use crate::{history, snapshot};

/// How long the pod's end may come after the Job's before the API itself is asked.
const LATE: Duration = Duration::from_secs(2);

/// Looks at the Job of an operation and says what it sees.
pub(crate) async fn observe(ctx: &Context, operation: &ClusterOperation, job: &Job) -> Result<Action, Error> {
    if let Some(outcome) = tombstone::outcome(job) {
        return finish_stopped(ctx, operation, &outcome).await;
    }
    let mut operation = operation.clone();
    let noted =
        operation.status.as_ref().is_some_and(|status| status.status == Phase::Running && status.inputs.is_some());
    if !noted && !is_written(ctx, &operation) {
        // Somebody stopped between the Job and the status: what it runs with is written before anything else is said.
        if let Some(written) =
            write_running(ctx, &operation, &reference(job), read_snapshot(ctx, &operation, job).await?).await?
        {
            operation = written;
        }
    }
    if operation.spec.cancel == Some(true) && !verdict::is_finished(job) {
        suspend(ctx, job).await?;
    }
    let mut pod = ctx.stores.pod_of(job).map(|pod| Pod::clone(&pod));
    let mut verdict = verdict::judge(&operation, job, pod.as_ref(), false, &now());
    if verdict == Verdict::Unclear {
        if since_end(job) < LATE {
            return Ok(Action::requeue(LATE));
        }
        pod = list_pods(ctx, job).await?;
        verdict = verdict::judge(&operation, job, pod.as_ref(), true, &now());
    }
    match verdict {
        Verdict::Ended(outcome) => {
            let masker = ctx.secrets.masker(ctx, &operation, job).await?;
            let (mut outcome, masker) = match masker {
                Some(masker) => (outcome, masker),
                None => (verdict::unquoted(&operation, job, pod.as_ref(), outcome, &now()), Masker::default()),
            };
            outcome.message = cut(&masker.value(outcome.message), 1000);
            let action = finish_stopped(ctx, &operation, &outcome).await?;
            ctx.secrets.forget(&operation);
            Ok(action)
        }
        Verdict::Running { reason, message } => {
            hold_turn(ctx, &operation, job).await?;
            if !is_written(ctx, &operation) {
                write(ctx, &operation, &reference(job), None, reason, &message).await?;
            }
            Ok(Action::await_change())
        }
        Verdict::Unclear => Ok(Action::requeue(LATE)),
    }
}

/// A Cluster that was deleted and made again while an operation runs has forgotten it: the turn is written anew, or the next
/// operation would start beside it.
async fn hold_turn(ctx: &Context, operation: &ClusterOperation, job: &Job) -> Result<(), Error> {
    let Some(stored) = ctx.stores.cluster(&operation.spec.cluster) else { return Ok(()) };
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    let lags = matches!(&written, Some(Written::Started { on, .. }) if *on == stored.metadata.uid);
    if lags || history::entry(&stored, operation).is_some() {
        return Ok(());
    }
    let Some(cluster) = get_cluster(ctx, &operation.spec.cluster).await? else { return Ok(()) };
    if history::entry(&cluster, operation).is_some() {
        return Ok(());
    }
    let since = operation.status.as_ref().and_then(|status| status.start_time.clone());
    let since = since.or_else(|| job.metadata.creation_timestamp.clone()).unwrap_or_else(now);
    let turn = history::claimed(operation, &job.namespace().unwrap_or_default(), &since);
    if write_entries(ctx, &cluster, &[turn]).await? { Ok(()) } else { Err(Error::Conflict(cluster.name_any())) }
}

/// A Job of an operation that is over must not go on: a cancelled one that somebody resumed, or one that a process created
/// after another had already ended the operation.
pub(crate) async fn stop_stray(ctx: &Context, job: &Job) -> Result<(), Error> {
    if verdict::is_finished(job) { Ok(()) } else { suspend(ctx, job).await }
}

/// The Job was deleted under a running operation. It is never made again: nobody knows how far it came.
pub(crate) async fn job_is_gone(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    if any_pod_lives(ctx, operation).await? {
        return Ok(Action::requeue(Duration::from_secs(2)));
    }
    let job = operation
        .status
        .as_ref()
        .and_then(|status| status.job_ref.as_ref())
        .map_or_else(String::new, |job| format!(" {}/{}", job.namespace, job.name));
    let (reason, message) = match operation.spec.cancel {
        Some(true) => ("Cancelled", "It was cancelled.".to_owned()),
        _ => (
            "JobGone",
            format!("Its Job{job} was deleted before it ended. Look at the machines, then submit the operation again."),
        ),
    };
    let start_time = operation.status.as_ref().and_then(|status| status.start_time.clone());
    let outcome = Outcome {
        status: Phase::Failed,
        reason: reason.into(),
        message,
        start_time,
        end_time: Some(now()),
        recap: None,
    };
    abandon(ctx, operation, None, &outcome).await
}

/// By what the API itself says: a store may be late, and a second run beside a live process is what must never be.
async fn any_pod_lives(ctx: &Context, operation: &ClusterOperation) -> Result<bool, Error> {
    let Some(namespace) = ctx.stores.namespace_of(operation) else { return Ok(false) };
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), &namespace);
    let of_operation = ListParams::default().labels(&format!("{}={}", crd::LABEL_OPERATION, operation.name_any()));
    let pods = pods.list(&of_operation).await.map_err(Error::while_doing("list the pods of an operation"))?;
    let ended = |pod: &Pod| {
        matches!(pod.status.as_ref().and_then(|status| status.phase.as_deref()), Some("Succeeded" | "Failed"))
    };
    Ok(!pods.items.iter().all(ended))
}

/// Writes that the Job exists; the operation as it is then, None where it changed or is gone.
pub(crate) async fn write_running(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &JobRef,
    inputs: Option<ResolvedInputs>,
) -> Result<Option<ClusterOperation>, Error> {
    write(ctx, operation, job, inputs, "Running", "Its Job runs.").await
}

/// A Job's name and uid.
pub(crate) fn reference(job: &Job) -> JobRef {
    JobRef { namespace: job.namespace().unwrap_or_default(), name: job.name_any(), uid: job.uid() }
}

async fn write(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &JobRef,
    inputs: Option<ResolvedInputs>,
    reason: &str,
    message: &str,
) -> Result<Option<ClusterOperation>, Error> {
    let declared = ctx.stores.cluster(&operation.spec.cluster).and_then(|cluster| cluster.spec.engine);
    let start = Start { job: job.clone(), inputs, engine: Some(operation::engine(declared, &operation.spec.image)) };
    let Some(status) = status::running(operation, start, reason, message, &now()) else { return Ok(None) };
    let version = operation.metadata.resource_version.as_deref();
    ctx.patch_status(&ctx.operations(), &operation.name_any(), version, json!(status)).await
}

/// This process has just written that it runs, and the store doesn't show it yet.
fn is_written(ctx: &Context, operation: &ClusterOperation) -> bool {
    let shown = operation.status.as_ref().is_some_and(|status| status.status == Phase::Running);
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    !shown && matches!(written, Some(Written::Started { version: Some(_), .. }))
}

async fn read_snapshot(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &Job,
) -> Result<Option<ResolvedInputs>, Error> {
    let secret = snapshot::read(ctx, operation, &job.namespace().unwrap_or_default()).await?;
    Ok(secret.as_ref().map(snapshot::resolved))
}

async fn suspend(ctx: &Context, job: &Job) -> Result<(), Error> {
    if job.spec.as_ref().and_then(|spec| spec.suspend) == Some(true) {
        return Ok(());
    }
    let jobs: Api<Job> = Api::namespaced(ctx.client.clone(), &job.namespace().unwrap_or_default());
    let patch = json!({"metadata": {"uid": job.metadata.uid}, "spec": {"suspend": true}});
    let answer = jobs.patch(&job.name_any(), &field_manager(), &Patch::Merge(&patch)).await;
    answer.unless_changed().map_err(Error::while_doing("suspend a Job"))?;
    Ok(())
}

async fn list_pods(ctx: &Context, job: &Job) -> Result<Option<Pod>, Error> {
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), &job.namespace().unwrap_or_default());
    let of_job = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={}", job.name_any()));
    let pods = pods.list(&of_job).await.map_err(Error::while_doing("list the pods of a Job"))?;
    let mine = pods
        .items
        .into_iter()
        .filter(|pod| pod.owner_references().iter().any(|owner| Some(&owner.uid) == job.metadata.uid.as_ref()));
    Ok(mine.max_by(|a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp)))
}

fn since_end(job: &Job) -> Duration {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    let end = conditions
        .into_iter()
        .flatten()
        .filter(|c| matches!(c.type_.as_str(), "Complete" | "Failed"))
        .filter_map(|c| c.last_transition_time.as_ref())
        .max();
    let seconds = |Time(end): &Time| u64::try_from(now().0.as_second() - end.as_second()).unwrap_or(0);
    end.map_or(Duration::MAX, |end| Duration::from_secs(seconds(end)))
}
