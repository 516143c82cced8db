//! A result that another client wrote on an operation that is queued or running: its label, its annotation, or its status. It has no
//! effect; a condition and an Event say so.

use crd::{ClusterOperation, Fact, condition, upsert};
use kube::runtime::events::EventType;

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::next::Next;
use crate::status::event::tell;
use crate::status::outcome::is_marked;
use crate::status::write;

const REASON: &str = "NotByController";
const MESSAGE: &str = "Another client set the label hasCompleted, the annotation kubeonkube.clay.io/outcome or the final status. The controller ignores that: the result comes from the run. To end an operation, cancel it.";

/// Whether an operation that has not ended carries such a result, and no condition says so.
pub(crate) fn is_news(operation: &ClusterOperation) -> bool {
    let conditions = operation.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    is_marked(operation) && !crd::is_true(conditions, condition::RESULT_IGNORED)
}

/// Writes the condition and the Event. The change of the status starts the next reconcile.
pub(crate) async fn say(ctx: &Context, operation: &ClusterOperation) -> Result<Next, Error> {
    let mut status = operation.status.clone().unwrap_or_default();
    let fact = Fact::new(condition::RESULT_IGNORED, true, REASON, MESSAGE);
    upsert(&mut status.conditions, fact, &now(), operation.metadata.generation);
    if write::status(ctx, operation, &status).await?.is_some() {
        tell(ctx, operation, EventType::Warning, condition::RESULT_IGNORED, MESSAGE).await;
    }
    Ok(Next::when_changed())
}
