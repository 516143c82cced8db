//! The reconcile of a ClusterOperation: which step is first, and the stage behind each step.

use std::sync::Arc;

use crd::{ClusterOperation, Phase};
use kube::runtime::controller::Action;

use crate::context::Context;
use crate::ending::{abandon, finish, refuse, settle};
use crate::error::Error;
use crate::job::{create, lookup, resume};
use crate::memory::expectations::{PATIENCE, Written};
use crate::next::Next;
use crate::status::outcome;
use crate::turn::{history, take, waiting};
use crate::verdict::{lost, observe};

/// Brings one operation forward as far as possible. It can stop anywhere: after a crash each write is either repeated or found done,
/// because turns and children have preconditions.
pub(crate) async fn reconcile(operation: Arc<ClusterOperation>, ctx: Arc<Context>) -> Result<Action, Error> {
    let mut operation = operation;
    let mut next = first(&ctx, &operation);
    loop {
        next = match next {
            Next::Done(action) => return Ok(action),
            Next::With(newer, next) => {
                operation = Arc::from(newer);
                *next
            }
            Next::TakeTurn => take::take(&ctx, &operation).await?,
            Next::Prepare(cluster) => create::prepare(&ctx, &operation, cluster).await?,
            Next::Create(cluster, plan) => create::create(&ctx, &operation, cluster, &plan).await?,
            Next::Resume => resume::resume(&ctx, &operation).await?,
            Next::Observe(job) => observe::observe(&ctx, &operation, &job).await?,
            Next::Lost => lost::lost(&ctx, &operation).await?,
            Next::Wait(wait) => waiting::wait(&ctx, &operation, &wait).await?,
            Next::Hold(hold) => waiting::hold(&ctx, &operation, hold).await?,
            Next::Refuse(cluster, refusal) => refuse::refuse(&ctx, &operation, cluster, &refusal).await?,
            Next::Abandon(cluster, outcome) => abandon::abandon(&ctx, &operation, cluster.as_deref(), *outcome).await?,
            Next::Finish { outcome, stopped } => finish::finish(&ctx, &operation, &outcome, stopped).await?,
            Next::Conclude { stopped } => finish::conclude(&ctx, &operation, stopped).await?,
            Next::Settle => settle::settle(&ctx, &operation).await?,
        };
    }
}

/// The first step, by what the stores show and what this process has just written.
fn first(ctx: &Context, operation: &ClusterOperation) -> Next {
    if operation.metadata.deletion_timestamp.is_some() {
        // Kubernetes collects its children; the Cluster's reconcile frees its turn.
        return Next::when_changed();
    }
    if outcome::is_over(operation) {
        return Next::Settle;
    }
    // The stores should soon show a write of this process. If they don't, they are trusted again after this time.
    let settling = || Next::again_after(PATIENCE);
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    if written == Some(Written::Finished) {
        return settling();
    }
    if let Some(job) = lookup::stored_job(ctx, operation) {
        return Next::Observe(job);
    }
    if matches!(written, Some(Written::Started { .. })) {
        return settling();
    }
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let entry = cluster.as_ref().and_then(|cluster| history::entry(cluster, operation));
    let has_turn = entry.is_some_and(|entry| entry.status == Phase::Running);
    if written == Some(Written::Handed) {
        // The Cluster that shows the turn is at least as new as the write that handed it over.
        return if has_turn { cluster.map_or_else(settling, Next::Prepare) } else { settling() };
    }
    let started = operation.status.as_ref().is_some_and(|status| status.status == Phase::Running);
    if started || has_turn { Next::Resume } else { Next::TakeTurn }
}
