//! An operation that has ended: completing what a crash left open.

use crd::{ClusterOperation, RESTORED};
use kube::ResourceExt;

use crate::context::Context;
use crate::error::Error;
use crate::job::{lookup, state};
use crate::memory::expectations::{STORES_CURRENT_WITHIN, Written};
use crate::next::Next;
use crate::status::content::is_observed;
use crate::status::outcome::{self, Outcome, Proof};
use crate::status::write;
use crate::turn::history;

/// Makes label, status and history agree, and stops what still runs. Nearly always everything is in order; then this makes no request.
pub(crate) async fn repair(ctx: &Context, operation: &ClusterOperation) -> Result<Next, Error> {
    let Some((outcome, proof)) = Outcome::of(operation, ctx.signer()) else {
        return match from_history(ctx, operation) {
            Some(outcome) => Ok(Next::record(outcome, false)),
            None => {
                write::restored(ctx, operation).await?;
                Ok(Next::when_changed())
            }
        };
    };
    if let Some(job) = lookup::stored_job(ctx, operation) {
        // A user may have resumed a cancelled Job, or a process created it after another one had ended the operation.
        state::stop(&ctx.client, &job).await?;
    }
    let annotations = operation.metadata.annotations.as_ref();
    let is_kept = proof == Proof::Older || Outcome::of_child(annotations, operation, ctx.signer()).is_some();
    if !outcome::has_ended_label(operation) || !is_kept {
        // The reference controller doesn't label operations that failed early; a restored operation is signed as such; another client
        // may have changed label or annotation.
        return Ok(Next::record(outcome, false));
    }
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let in_history = cluster
        .as_ref()
        .is_none_or(|cluster| history::entry(cluster, operation).is_some_and(|entry| entry.status.is_final()));
    let in_status = outcome::is_in_status(operation, &outcome) && is_observed(operation);
    let uid = operation.metadata.uid.as_deref().unwrap_or_default();
    if in_history && in_status {
        ctx.expectations.forget(uid);
        ctx.run_secrets.forget(uid);
        return Ok(Next::when_changed());
    }
    if ctx.expectations.of(uid) == Some(Written::Ended) {
        // The stores should soon show that write, unless another client has changed the status since.
        return Ok(Next::again_after(STORES_CURRENT_WITHIN));
    }
    Ok(Next::Publish { stopped: false })
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
        reason: RESTORED.into(),
        message,
        start_time: entry.start_time.clone(),
        end_time: entry.end_time.clone(),
        recap: None,
    })
}
