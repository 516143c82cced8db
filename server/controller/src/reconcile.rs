//! The reconcile of a ClusterOperation: which step is first, and the stage behind each step.

use std::sync::Arc;

use crd::{ClusterOperation, Phase};
use kube::runtime::controller::Action;

use crate::context::Context;
use crate::ending::{abandon, record, refuse, repair};
use crate::error::Error;
use crate::job::{create, lookup, resume, state};
use crate::memory::expectations::{STORES_CURRENT_WITHIN, Written};
use crate::next::Next;
use crate::status::ignored;
use crate::status::outcome::{self, Outcome, Proof};
use crate::turn::{history, take, waiting};
use crate::verdict::{lost, observe};

/// Brings one operation forward as far as possible. It can stop anywhere: after a crash each write is either repeated or found done,
/// because turns and children have preconditions.
pub(crate) async fn reconcile(operation: Arc<ClusterOperation>, ctx: Arc<Context>) -> Result<Action, Error> {
    let mut operation = operation;
    let mut next = first(&ctx, &operation);
    loop {
        next = match next {
            Next::Return(action) => return Ok(action),
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
            Next::Record { outcome, stopped } => record::record(&ctx, &operation, &outcome, stopped).await?,
            Next::Publish { stopped } => record::publish(&ctx, &operation, stopped).await?,
            Next::Repair => repair::repair(&ctx, &operation).await?,
            Next::Ignore => ignored::say(&ctx, &operation).await?,
        };
    }
}

/// The first step, by what the stores show and what this process has just written.
fn first(ctx: &Context, operation: &ClusterOperation) -> Next {
    if operation.metadata.deletion_timestamp.is_some() {
        // Kubernetes collects its children; the Cluster's reconcile frees its turn.
        return Next::when_changed();
    }
    let ended = Outcome::of(operation, ctx.signer()).map(|(_, proof)| proof);
    if ended == Some(Proof::Signed) {
        return Next::Repair;
    }
    // The stores should soon show a write of this process. If they don't, they are trusted again after this time.
    let settling = || Next::again_after(STORES_CURRENT_WITHIN);
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    if written == Some(Written::Ended) {
        return settling();
    }
    let job = lookup::stored_job(ctx, operation);
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let entry = cluster.as_ref().and_then(|cluster| history::entry(cluster, operation));
    let has_turn = entry.is_some_and(|entry| entry.status == Phase::Running);
    let has_stopped = job.as_ref().is_none_or(|job| state::job_has_stopped(job, ctx.stores.pod_of(job).as_deref()));
    let is_record = outcome::has_ended(operation) && job.is_none() && !has_turn;
    if is_record || ended == Some(Proof::Older) && has_stopped {
        return Next::Repair;
    }
    if ignored::is_news(operation) {
        return Next::Ignore;
    }
    if let Some(job) = job {
        return Next::Observe(job);
    }
    if matches!(written, Some(Written::Started { .. })) {
        return settling();
    }
    if written == Some(Written::Handed) {
        // The Cluster that shows the turn is at least as new as the write that handed it over.
        return if has_turn { cluster.map_or_else(settling, Next::Prepare) } else { settling() };
    }
    let started = operation.status.as_ref().is_some_and(|status| status.status == Phase::Running);
    if started || has_turn { Next::Resume } else { Next::TakeTurn }
}
