//! The reconcile of a ClusterOperation.

use std::sync::Arc;

use crd::ClusterOperation;
use kube::runtime::controller::Action;

use crate::context::Context;
use crate::error::Error;
use crate::lifecycle::{Stage, stage};
use crate::{observe, settle, start};

/// Brings one operation from where it stands to where it should stand. Every write repeats or continues after a crash and never
/// doubles: the turn and the children have preconditions of their own.
pub(crate) async fn reconcile(operation: Arc<ClusterOperation>, ctx: Arc<Context>) -> Result<Action, Error> {
    match stage(&operation, &ctx) {
        Stage::Leaving => Ok(Action::await_change()),
        Stage::Over => settle::settle(&ctx, &operation).await,
        // The watch brings the next look; where it doesn't, the stores have to be doubted.
        Stage::Settling => Ok(Action::requeue(crate::expectations::PATIENCE)),
        Stage::Running(job) => observe::observe(&ctx, &operation, &job).await,
        Stage::Interrupted => start::resume(&ctx, &operation).await,
        Stage::Handed => start::take(&ctx, &operation).await,
        Stage::Waiting => start::start(&ctx, &operation).await,
    }
}
