//! What an operation says while it waits.

use std::time::Duration;

use crd::{Cluster, ClusterOperation, Phase};
use kube::ResourceExt;
use kube::runtime::controller::Action;
use kube::runtime::events::EventType;
use serde_json::json;

use crate::context::{Context, now};
use crate::error::Error;
use crate::finish::refuse;
use crate::refusal::Refusal;
use crate::status::{self, Start};

/// Why a status says that it waits for `--max-running`.
const SLOT: &str = "TooManyRunning";
/// When to look again whether the API now takes what it refused: nothing tells of a quota or a policy that changed.
const REFUSED: Duration = Duration::from_secs(30);

/// The reason of an operation whose inputs are missing, and how often they are looked for.
const INPUTS: &str = "WaitsForInputs";
const INPUTS_AGAIN: Duration = Duration::from_secs(1);

/// Refuses, but for what a `kubectl apply` of a whole folder may still bring.
pub(crate) async fn missing(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: Option<Cluster>,
    refusal: &Refusal,
) -> Result<Action, Error> {
    if !refusal.may_pass() || !is_young(ctx, operation) {
        return refuse(ctx, operation, cluster, refusal).await;
    }
    let patience = ctx.config.patience.as_secs();
    wait(ctx, operation, INPUTS, &format!("{refusal} It is looked for until {patience} s after submission.")).await?;
    Ok(Action::requeue(INPUTS_AGAIN))
}

/// What is missing may still come.
fn is_young(ctx: &Context, operation: &ClusterOperation) -> bool {
    let age = operation.metadata.creation_timestamp.as_ref().map(|since| now().0.as_second() - since.0.as_second());
    age.is_some_and(|age| age < i64::try_from(ctx.config.patience.as_secs()).unwrap_or(i64::MAX))
}

/// It has said that it waits.
pub(crate) fn waited(operation: &ClusterOperation) -> bool {
    operation.status.as_ref().is_some_and(|status| crd::is_true(&status.conditions, crd::condition::QUEUED))
}

/// The last thing it waited for was a slot.
pub(crate) fn waited_for_slot(operation: &ClusterOperation) -> bool {
    waited(operation) && said(operation) == Some(SLOT)
}

/// The reason in its status.
fn said(operation: &ClusterOperation) -> Option<&str> {
    operation.status.as_ref()?.reason.as_deref()
}

/// Says that it waits for `--max-running`.
pub(crate) async fn wait_for_slot(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    ctx.want_slot();
    if said(operation) == Some(INPUTS) && is_young(ctx, operation) {
        // One word for both, as long as its inputs may still come: it asks for a slot to look for them.
        return Ok(Action::requeue(INPUTS_AGAIN));
    }
    let message = format!("It waits until fewer than {} operations run (--max-running).", ctx.config.max_running);
    wait(ctx, operation, SLOT, &message).await
}

/// Says what it waits for, once for each reason.
pub(crate) async fn wait(
    ctx: &Context,
    operation: &ClusterOperation,
    reason: &str,
    message: &str,
) -> Result<Action, Error> {
    if let Some(status) = status::queued(operation, reason, message, &now()) {
        let version = operation.metadata.resource_version.as_deref();
        let written = ctx.patch_status(&ctx.operations(), &operation.name_any(), version, json!(status)).await?;
        if written.is_some() && !(waited(operation) && said(operation) == Some(reason)) {
            // A second event of the same name would only count the first one up.
            let name = if waited(operation) { reason } else { "Queued" };
            ctx.tell(operation, EventType::Normal, name, message).await;
        }
    }
    Ok(Action::await_change())
}

/// Keeps the turn of an operation that the API lets neither start nor end, and tries again. `why` may be long, as the API's words
/// are; `advice` is told whole.
pub(crate) async fn hold(
    ctx: &Context,
    operation: &ClusterOperation,
    reason: &str,
    why: &str,
    advice: &str,
) -> Result<Action, Error> {
    let why = crate::sentence::cut(&masking::Masker::default().value(why.to_owned()), 600);
    let message =
        format!("{why} {advice} It keeps the cluster's turn and is tried again every {} s.", REFUSED.as_secs());
    let Some(began) = operation.status.as_ref().filter(|status| status.status == Phase::Running) else {
        wait(ctx, operation, reason, &message).await?;
        return Ok(Action::requeue(REFUSED));
    };
    let start = Start { job: began.job_ref.clone().unwrap_or_default(), inputs: None, engine: None };
    if let Some(status) = status::running(operation, start, reason, &message, &now()) {
        let version = operation.metadata.resource_version.as_deref();
        ctx.patch_status(&ctx.operations(), &operation.name_any(), version, json!(status)).await?;
    }
    Ok(Action::requeue(REFUSED))
}
