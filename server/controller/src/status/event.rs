//! Events about an operation.

use crd::ClusterOperation;
use kube::runtime::events::{Event, EventType};
use kube::{Resource, ResourceExt};

use crate::context::Context;
use crate::status::sentence::cut;

/// Writes an Event. A failure is only logged: the status says the same.
pub(crate) async fn tell(ctx: &Context, operation: &ClusterOperation, kind: EventType, reason: &str, note: &str) {
    let event =
        Event { type_: kind, reason: reason.into(), note: Some(cut(note, 900)), action: "Run".into(), secondary: None };
    if let Err(error) = ctx.recorder.publish(&event, &operation.object_ref(&())).await {
        tracing::warn!(operation = operation.name_any(), %error, "an Event could not be written");
    }
}
