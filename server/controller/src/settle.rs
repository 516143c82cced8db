//! An operation that is over: label, status and history agree, and nothing of it runs.

use crd::{ClusterOperation, Phase};
use kube::ResourceExt;
use kube::runtime::controller::Action;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::expectations::Written;
use crate::finish::{commit, conclude, finish};
use crate::outcome::{self, Outcome};
use crate::{history, observe, status};

/// Completes what a crash left open. For an operation in order, which is nearly every one, it asks nothing of the API.
pub(crate) async fn settle(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    let job = ctx.stores.job_of(operation);
    if let Some(job) = &job
        && outcome::is_completed(operation)
        && Outcome::of(operation).is_some()
    {
        observe::stop_stray(ctx, job).await?;
    }
    let Some(outcome) = Outcome::of(operation) else {
        return match (job, from_history(ctx, operation)) {
            (Some(job), _) => observe::observe(ctx, operation, &job).await,
            (None, Some(outcome)) => finish_restored(ctx, operation, &outcome).await,
            (None, None) => keep_as_record(ctx, operation).await,
        };
    };
    if !outcome::is_completed(operation) {
        // Over by its status only: the reference system labels no early failures.
        return finish(ctx, operation, &outcome).await;
    }
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let in_history = cluster
        .as_ref()
        .is_none_or(|cluster| history::entry(cluster, operation).is_some_and(|entry| entry.status.is_final()));
    let in_status = operation.status.as_ref().is_some_and(|status| status.status.is_final());
    let uid = operation.metadata.uid.as_deref().unwrap_or_default();
    if in_history && in_status {
        ctx.expectations.forget(uid);
        return Ok(Action::await_change());
    }
    if ctx.expectations.of(uid) == Some(Written::Finished) {
        return Ok(Action::await_change());
    }
    conclude(ctx, operation).await
}

/// The result in the Cluster's history, where the operation itself has none: it was labelled by the reference system, or came
/// back by a restore that kept the Cluster.
fn from_history(ctx: &Context, operation: &ClusterOperation) -> Option<Outcome> {
    let cluster = ctx.stores.cluster(&operation.spec.cluster)?;
    let name = operation.name_any();
    let entry = history::entries(&cluster).iter().find(|entry| entry.cluster_ops == name && entry.status.is_final())?;
    let message = format!("It ended {} before this object was restored; the details are not known.", entry.status);
    Some(Outcome {
        status: entry.status,
        reason: "Restored".into(),
        message,
        start_time: entry.start_time.clone(),
        end_time: entry.end_time.clone(),
        recap: None,
    })
}

async fn finish_restored(ctx: &Context, operation: &ClusterOperation, outcome: &Outcome) -> Result<Action, Error> {
    // The label is there already; what is missing beside it is the result.
    match commit(ctx, operation, outcome).await? {
        Some(committed) => conclude(ctx, &committed).await,
        None => Ok(Action::await_change()),
    }
}

async fn keep_as_record(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    let running = operation.status.as_ref().is_some_and(|status| status.status == Phase::Running);
    if running {
        return observe::job_is_gone(ctx, operation).await;
    }
    if let Some(status) = status::restored(operation) {
        let version = operation.metadata.resource_version.as_deref();
        ctx.patch_status(&ctx.operations(), &operation.name_any(), version, json!(status)).await?;
    }
    Ok(Action::await_change())
}
