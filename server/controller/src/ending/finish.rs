//! Recording the result of an operation, and bringing its status and the Cluster's history in line with it.

use std::time::Duration;

use crd::{ClusterOperation, Phase};
use kube::ResourceExt;
use kube::runtime::events::EventType;

use crate::context::Context;
use crate::ending::hand_over::hand_over;
use crate::error::Error;
use crate::memory::expectations::Written;
use crate::next::Next;
use crate::status::event::tell;
use crate::status::outcome::Outcome;
use crate::status::write;

/// When to check again a Job that is being stopped. Its end also causes a watch event.
const STOPPING: Duration = Duration::from_secs(2);

/// Writes label and result on the operation. From then on no replica starts it.
pub(crate) async fn finish(
    ctx: &Context,
    operation: &ClusterOperation,
    outcome: &Outcome,
    stopped: bool,
) -> Result<Next, Error> {
    match write::result(ctx, operation, outcome).await? {
        Some(recorded) => Ok(Next::Conclude { stopped }.with(recorded)),
        None => {
            ctx.run_secrets.forget(&operation.uid().unwrap_or_default());
            Ok(Next::when_changed())
        }
    }
}

/// Writes the final status, gives the turn back or on, and writes the last Event. What is there already is not written again.
/// `stopped`: nothing of the operation runs, and nothing will.
pub(crate) async fn conclude(ctx: &Context, operation: &ClusterOperation, stopped: bool) -> Result<Next, Error> {
    let Some(outcome) = Outcome::of(operation) else { return Ok(Next::when_changed()) };
    let uid = operation.metadata.uid.clone().unwrap_or_default();
    let is_news = !operation.status.as_ref().is_some_and(|status| status.status.is_final());
    if is_news {
        write::finished(ctx, operation, &outcome).await?;
    }
    // Before the turn is given back: as soon as the Cluster changes, the next operation may count the slots.
    ctx.expectations.wrote(&uid, Written::Finished);
    let closed = hand_over(ctx, operation, &outcome, stopped).await;
    if !matches!(closed, Ok(true)) {
        ctx.expectations.forget(&uid);
    }
    let closed = closed?;
    if is_news {
        let kind = if outcome.status == Phase::Succeeded { EventType::Normal } else { EventType::Warning };
        tell(ctx, operation, kind, &outcome.reason, &outcome.message).await;
    }
    if !closed {
        return Ok(Next::again_after(STOPPING));
    }
    ctx.run_secrets.forget(&uid);
    Ok(Next::when_changed())
}
