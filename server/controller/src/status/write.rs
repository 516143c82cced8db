//! All writes to a ClusterOperation. Each has the precondition that the operation is still as it was read.

use crd::{ClusterOperation, ClusterOperationStatus, JobRef, Phase, ResolvedInputs};
use kube::ResourceExt;
use kube::api::Patch;
use serde_json::{Value, json};

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::memory::expectations::Written;
use crate::request::{Answer, field_manager, patch_status};
use crate::status::content::{self, Start};
use crate::status::outcome::{self, Outcome, Proof};

/// How often a write is repeated when other clients write at the same time.
const ATTEMPTS: usize = 8;

/// Writes what the operation waits for. False if the status says so already, or the operation has changed.
pub(crate) async fn queued(
    ctx: &Context,
    operation: &ClusterOperation,
    reason: &str,
    message: &str,
) -> Result<bool, Error> {
    match content::queued(operation, reason, message, ctx.signer(), &now()) {
        Some(queued) => Ok(status(ctx, operation, &queued).await?.is_some()),
        None => Ok(false),
    }
}

/// Writes that the Job exists, with reason and message. Returns the new operation; None if the status says so already, or the
/// operation has changed or is gone.
pub(crate) async fn running(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &JobRef,
    inputs: Option<ResolvedInputs>,
    reason: &str,
    message: &str,
) -> Result<Option<ClusterOperation>, Error> {
    let declared = ctx.stores.cluster(&operation.spec.cluster).and_then(|cluster| cluster.spec.engine);
    let start = Start { job: job.clone(), inputs, engine: Some(operation::engine(declared, &operation.spec.image)) };
    match content::running(operation, start, reason, message, ctx.signer(), &now()) {
        Some(running) => status(ctx, operation, &running).await,
        None => Ok(None),
    }
}

/// Writes why an operation in phase Running makes no progress. The status fields about its Job stay unchanged.
pub(crate) async fn held(
    ctx: &Context,
    operation: &ClusterOperation,
    started: &ClusterOperationStatus,
    reason: &str,
    message: &str,
) -> Result<(), Error> {
    let start = Start { job: started.job_ref.clone().unwrap_or_default(), inputs: None, engine: None };
    if let Some(held) = content::running(operation, start, reason, message, ctx.signer(), &now()) {
        status(ctx, operation, &held).await?;
    }
    Ok(())
}

/// Writes the final status.
pub(crate) async fn final_status(ctx: &Context, operation: &ClusterOperation, outcome: &Outcome) -> Result<(), Error> {
    match status(ctx, operation, &content::final_status(operation, outcome, ctx.signer(), &now())).await? {
        Some(_) => Ok(()),
        None => Err(Error::Conflict(operation.name_any())),
    }
}

/// Adds what other tools read to a final status that lacks it, and changes nothing else in it.
pub(crate) async fn observed(ctx: &Context, operation: &ClusterOperation) -> Result<(), Error> {
    match status(ctx, operation, &content::observed(operation, &now())).await? {
        Some(_) => Ok(()),
        None => Err(Error::Conflict(operation.name_any())),
    }
}

/// Writes that the operation is only kept as a record.
pub(crate) async fn restored(ctx: &Context, operation: &ClusterOperation) -> Result<(), Error> {
    if let Some(restored) = content::restored(operation, ctx.signer(), &now()) {
        status(ctx, operation, &restored).await?;
    }
    Ok(())
}

/// Writes the label `hasCompleted` and the signed result in one request. Returns the operation as it is then; None if it is gone. An
/// operation that already has a signed result keeps it.
pub(crate) async fn result(
    ctx: &Context,
    operation: &ClusterOperation,
    outcome: &Outcome,
) -> Result<Option<ClusterOperation>, Error> {
    let name = operation.name_any();
    let mut labels = json!({crd::LABEL_HAS_COMPLETED: crd::DONE});
    if crate::label::is_value(&operation.spec.cluster) {
        labels[crd::LABEL_CLUSTER_NAME] = json!(operation.spec.cluster);
    }
    let annotations = outcome.annotations(operation, ctx.signer());
    let mut version = newest_version(ctx, operation);
    for _ in 0..ATTEMPTS {
        let patch = json!({"metadata": {"resourceVersion": version, "labels": labels, "annotations": annotations}});
        let answer = ctx.operations().patch(&name, &field_manager(), &Patch::Merge(&patch)).await;
        match answer.unless_changed().map_err(Error::while_doing("record the result of an operation"))? {
            Some(found) => return Ok(Some(found)),
            None => {
                let fresh = ctx.operations().get_opt(&name).await.map_err(Error::while_doing("read an operation"))?;
                match fresh.filter(|fresh| fresh.metadata.uid == operation.metadata.uid) {
                    None => return Ok(None),
                    Some(fresh) if outcome::has_ended_label(&fresh) && is_signed(ctx, &fresh) => {
                        return Ok(Some(fresh));
                    }
                    Some(fresh) => version = fresh.metadata.resource_version,
                }
            }
        }
    }
    Err(Error::Conflict(name))
}

fn is_signed(ctx: &Context, operation: &ClusterOperation) -> bool {
    matches!(Outcome::of(operation, ctx.signer()), Some((_, Proof::Signed)))
}

/// The newest resourceVersion that this process knows: that of its own last write, until the store shows it.
fn newest_version(ctx: &Context, operation: &ClusterOperation) -> Option<String> {
    let shown = operation.status.as_ref().is_some_and(|status| status.status != Phase::Pending);
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    match written {
        Some(Written::Started { version: Some(version), .. }) if !shown => Some(version),
        _ => operation.metadata.resource_version.clone(),
    }
}

/// Writes a status. Returns the new operation; None if the operation has changed or is gone.
pub(crate) async fn status(
    ctx: &Context,
    operation: &ClusterOperation,
    status: &ClusterOperationStatus,
) -> Result<Option<ClusterOperation>, Error> {
    let mut patch = json!(status);
    // A merge patch keeps the fields that it doesn't name.
    let old = operation.status.as_ref().map(|old| json!(old));
    for field in old.iter().filter_map(Value::as_object).flat_map(|old| old.keys()) {
        if patch.get(field).is_none() {
            patch[field] = Value::Null;
        }
    }
    let version = operation.metadata.resource_version.as_deref();
    patch_status(&ctx.operations(), &operation.name_any(), version, patch).await
}
