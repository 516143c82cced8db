//! An operation that is over: completing what a crash left open.

use crd::{ClusterOperation, Phase};
use kube::ResourceExt;

use crate::context::Context;
use crate::error::Error;
use crate::job::{lookup, state};
use crate::memory::expectations::Written;
use crate::next::Next;
use crate::status::outcome::{self, Outcome};
use crate::status::write;
use crate::turn::history;

/// Makes label, status and history agree, and stops what still runs. Nearly always everything is in order; then this makes no request.
pub(crate) async fn settle(ctx: &Context, operation: &ClusterOperation) -> Result<Next, Error> {
    let job = lookup::stored_job(ctx, operation);
    if let Some(job) = &job
        && outcome::is_completed(operation)
        && Outcome::of(operation).is_some()
    {
        // A user may have resumed a cancelled Job, or a process created it after another one had ended the operation.
        state::stop(&ctx.client, job).await?;
    }
    let Some(outcome) = Outcome::of(operation) else {
        return match (job, from_history(ctx, operation)) {
            (Some(job), _) => Ok(Next::Observe(job)),
            (None, Some(outcome)) => Ok(Next::finish(outcome, false)),
            (None, None) => keep_as_record(ctx, operation).await,
        };
    };
    if !outcome::is_completed(operation) {
        // Over by its status only: the reference controller doesn't label operations that failed early.
        return Ok(Next::finish(outcome, false));
    }
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let in_history = cluster
        .as_ref()
        .is_none_or(|cluster| history::entry(cluster, operation).is_some_and(|entry| entry.status.is_final()));
    let in_status = operation.status.as_ref().is_some_and(|status| status.status.is_final());
    let uid = operation.metadata.uid.as_deref().unwrap_or_default();
    if in_history && in_status {
        ctx.expectations.forget(uid);
        ctx.run_secrets.forget(uid);
        return Ok(Next::when_changed());
    }
    if ctx.expectations.of(uid) == Some(Written::Finished) {
        return Ok(Next::when_changed());
    }
    Ok(Next::Conclude { stopped: false })
}

/// The result in the Cluster's history, for an operation that has none: the reference controller labelled it, or it was restored from a
/// backup while the Cluster stayed.
fn from_history(ctx: &Context, operation: &ClusterOperation) -> Option<Outcome> {
    let cluster = ctx.stores.cluster(&operation.spec.cluster)?;
    let name = operation.name_any();
    let entry = history::entries(&cluster).iter().find(|entry| entry.cluster_ops == name && entry.status.is_final())?;
    let message =
        format!("The operation ended {} before this object was restored. The details are not known.", entry.status);
    Some(Outcome {
        status: entry.status,
        reason: "Restored".into(),
        message,
        start_time: entry.start_time.clone(),
        end_time: entry.end_time.clone(),
        recap: None,
    })
}

/// An operation that is labelled as completed and has no result anywhere.
async fn keep_as_record(ctx: &Context, operation: &ClusterOperation) -> Result<Next, Error> {
    let running = operation.status.as_ref().is_some_and(|status| status.status == Phase::Running);
    if running {
        return Ok(Next::Lost);
    }
    write::restored(ctx, operation).await?;
    Ok(Next::when_changed())
}
