//! Observes the Job of an operation: writes its progress into the operation's status, until the Job's end gives the result.

use std::time::Duration;

use crd::{ClusterOperation, Phase, Time};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use masking::{MaskedRun, Masker};

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::snapshot;
use crate::job::{lookup, placeholder, state};
use crate::memory::expectations::Written;
use crate::memory::run_secrets::{SecretKeys, secret_keys};
use crate::next::Next;
use crate::secret_result::deliver::deliver;
use crate::status::sentence::cut;
use crate::status::write;
use crate::turn::cluster_status::restore_turn;
use crate::verdict::judge::{self, Verdict};

/// How long the end of the pod may be seen later than that of the Job. After that the API is asked for the pod.
const LATE: Duration = Duration::from_secs(2);

/// Judges the Job of an operation, stops it if the operation is cancelled, and writes what it sees into the status.
pub(crate) async fn observe(ctx: &Context, operation: &ClusterOperation, job: &Job) -> Result<Next, Error> {
    if let Some(outcome) = placeholder::outcome(ctx, operation, job) {
        return Ok(Next::record(outcome, true));
    }
    match write_missed_start(ctx, operation, job).await? {
        Some(newer) => Ok(judge_job(ctx, &newer, job).await?.with(newer)),
        None => judge_job(ctx, operation, job).await,
    }
}

/// Writes what the Job runs with if a process stopped between creating the Job and writing this. Returns the new operation.
async fn write_missed_start(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &Job,
) -> Result<Option<ClusterOperation>, Error> {
    let noted =
        operation.status.as_ref().is_some_and(|status| status.status == Phase::Running && status.inputs.is_some());
    if noted || is_written(ctx, operation) {
        return Ok(None);
    }
    let snapshot = snapshot::read_whole(ctx, operation, &job.namespace().unwrap_or_default()).await?;
    let inputs = snapshot.as_ref().map(snapshot::resolved);
    write::running(ctx, operation, &lookup::reference(job), inputs, "Running", "The Job is running.").await
}

/// Whether this process has just written that the Job is running, and the store doesn't show it yet.
fn is_written(ctx: &Context, operation: &ClusterOperation) -> bool {
    let shown = operation.status.as_ref().is_some_and(|status| status.status != Phase::Pending);
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    !shown && matches!(written, Some(Written::Started { version: Some(_), .. }))
}

async fn judge_job(ctx: &Context, operation: &ClusterOperation, job: &Job) -> Result<Next, Error> {
    if operation.spec.cancel == Some(true) {
        state::stop(&ctx.client, job).await?;
    }
    let mut pod = ctx.stores.pod_of(job).map(|pod| Pod::clone(&pod));
    let mut verdict = judge::judge(operation, job, pod.as_ref(), false, &now());
    if verdict == Verdict::Unclear {
        if since_end(job) < LATE {
            return Ok(Next::again_after(LATE));
        }
        pod = newest_pod(ctx, job).await?.or_else(|| ctx.stores.ended_pods.of(job).map(|pod| Pod::clone(&pod)));
        verdict = judge::judge(operation, job, pod.as_ref(), true, &now());
    }
    match verdict {
        Verdict::Ended(outcome) => {
            let secrets = run_secrets(ctx, operation, job).await?;
            let (mut outcome, masker) = match secrets.as_ref().and_then(masker) {
                Some(masker) => (outcome, masker),
                None => (judge::unquoted(operation, job, pod.as_ref(), outcome, &now()), Masker::default()),
            };
            outcome.message = cut(&masker.value(outcome.message), 1000);
            deliver(ctx, operation, job, pod.as_ref(), secrets.as_ref(), &masker, outcome).await
        }
        Verdict::Running { reason, message } => {
            restore_turn(ctx, operation, job).await?;
            if !is_written(ctx, operation) {
                write::running(ctx, operation, &lookup::reference(job), None, reason, &message).await?;
            }
            Ok(Next::when_changed())
        }
        Verdict::Unclear => Ok(Next::again_after(LATE)),
    }
}

/// Those keys of the run's snapshot that this process needs at the end. None if the snapshot is gone.
async fn run_secrets(ctx: &Context, operation: &ClusterOperation, job: &Job) -> Result<Option<SecretKeys>, Error> {
    if let Some(kept) = ctx.run_secrets.of(&operation.uid().unwrap_or_default()) {
        return Ok(Some(kept));
    }
    let snapshot = snapshot::read_whole(ctx, operation, &job.namespace().unwrap_or_default()).await?;
    Ok(snapshot.as_ref().map(secret_keys))
}

/// Masks what is secret in the run. None if its snapshot is gone: then it isn't known what is secret, and no text of the run may be
/// quoted.
fn masker(secrets: &SecretKeys) -> Option<Masker> {
    let run = crd::Snapshot::read(secrets)?;
    Some(Masker::of_run(&MaskedRun {
        inventory: &run.inventory,
        variables: &run.variables,
        token: &run.token,
        secrets: &run.secrets,
        names: &run.names,
    }))
}

async fn newest_pod(ctx: &Context, job: &Job) -> Result<Option<Pod>, Error> {
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), &job.namespace().unwrap_or_default());
    let of_job = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={}", job.name_any()));
    let pods = pods.list(&of_job).await.map_err(Error::while_doing("list the pods of a Job"))?;
    let own = pods
        .items
        .into_iter()
        .filter(|pod| pod.owner_references().iter().any(|owner| Some(&owner.uid) == job.metadata.uid.as_ref()));
    Ok(own.max_by(|a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp)))
}

fn since_end(job: &Job) -> Duration {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    let end = conditions
        .into_iter()
        .flatten()
        .filter(|c| matches!(c.type_.as_str(), "Complete" | "Failed" | "Suspended"))
        .filter_map(|c| c.last_transition_time.as_ref())
        .max();
    let seconds = |Time(end): &Time| u64::try_from(now().0.as_second() - end.as_second()).unwrap_or(0);
    end.map_or(Duration::MAX, |end| Duration::from_secs(seconds(end)))
}
