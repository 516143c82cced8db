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
use crate::status::content::is_observed;
use crate::status::event::tell;
use crate::status::outcome::{self, Outcome};
use crate::status::write;

/// When to check again a Job that is being stopped. Its end also causes a watch event.
const STOPPING: Duration = Duration::from_secs(2);

/// Writes label and result on the operation. From then on no replica starts it.
pub(crate) async fn record(
    ctx: &Context,
    operation: &ClusterOperation,
    outcome: &Outcome,
    stopped: bool,
) -> Result<Next, Error> {
    match write::result(ctx, operation, outcome).await? {
        Some(recorded) => Ok(Next::Publish { stopped }.with(recorded)),
        None => {
            ctx.run_secrets.forget(&operation.uid().unwrap_or_default());
            Ok(Next::when_changed())
        }
    }
}

/// Deletes the token of an operation that joined machines. If that fails, the token ends by itself within an hour.
async fn end_access(ctx: &Context, operation: &ClusterOperation) {
    let cluster = ctx.stores.cluster(&operation.spec.cluster).filter(|cluster| cluster.spec.hosted.is_some());
    if let (Some(joining), Some(cluster), true) = (&ctx.config.joining, cluster, operation::joins(&operation.spec)) {
        joining.end(&cluster, operation).await;
    }
}

/// Writes the final status, gives the turn back or on, and writes the last Event. Nothing is written twice.
/// `stopped`: nothing of the operation runs, and nothing will start.
pub(crate) async fn publish(ctx: &Context, operation: &ClusterOperation, stopped: bool) -> Result<Next, Error> {
    let Some((outcome, _)) = Outcome::of(operation, ctx.signer()) else { return Ok(Next::when_changed()) };
    let uid = operation.metadata.uid.clone().unwrap_or_default();
    let is_news = !outcome::is_in_status(operation, &outcome);
    if is_news {
        write::final_status(ctx, operation, &outcome).await?;
        end_access(ctx, operation).await;
    } else if !is_observed(operation) {
        write::observed(ctx, operation).await?;
    }
    // Before the turn is given back: as soon as the Cluster changes, the next operation may count the slots.
    ctx.expectations.wrote(&uid, Written::Ended);
    let handed_over = hand_over(ctx, operation, &outcome, stopped).await;
    if !matches!(handed_over, Ok(true)) {
        ctx.expectations.forget(&uid);
    }
    let handed_over = handed_over?;
    if is_news {
        let kind = if outcome.status == Phase::Succeeded { EventType::Normal } else { EventType::Warning };
        tell(ctx, operation, kind, &outcome.reason, &outcome.message).await;
    }
    if !handed_over {
        return Ok(Next::again_after(STOPPING));
    }
    ctx.run_secrets.forget(&uid);
    Ok(Next::when_changed())
}
