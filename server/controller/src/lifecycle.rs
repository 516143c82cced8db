//! Where an operation stands, judged by what the stores show and what was just written.

use std::sync::Arc;

use crd::{ClusterOperation, Phase};
use k8s_openapi::api::batch::v1::Job;

use crate::context::Context;
use crate::expectations::Written;
use crate::{history, outcome};

/// What a reconcile has to do.
pub(crate) enum Stage {
    /// It is being deleted: Kubernetes collects its children, the Cluster's reconcile frees its turn.
    Leaving,
    /// It is over: make sure that label, status and history all say so. It is never started.
    Over,
    /// The stores don't show yet what was just written.
    Settling,
    /// Its Job exists.
    Running(Arc<Job>),
    /// It has the turn, but no Job is in sight: somebody stopped halfway.
    Interrupted,
    /// The operation before it left it the turn.
    Handed,
    /// It is new or waits.
    Waiting,
}

/// Where `operation` stands.
pub(crate) fn stage(operation: &ClusterOperation, ctx: &Context) -> Stage {
    if operation.metadata.deletion_timestamp.is_some() {
        return Stage::Leaving;
    }
    if outcome::is_over(operation) {
        return Stage::Over;
    }
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    if written == Some(Written::Finished) {
        return Stage::Settling;
    }
    if let Some(job) = ctx.stores.job_of(operation) {
        return Stage::Running(job);
    }
    if matches!(written, Some(Written::Started { .. })) {
        return Stage::Settling;
    }
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let entry = cluster.as_ref().and_then(|cluster| history::entry(cluster, operation));
    let has_turn = entry.is_some_and(|entry| entry.status == Phase::Running);
    if written == Some(Written::Handed) {
        // The Cluster in the store is then at least as new as the write that gave the turn.
        return if has_turn { Stage::Handed } else { Stage::Settling };
    }
    let started = operation.status.as_ref().is_some_and(|status| status.status == Phase::Running);
    if started || has_turn { Stage::Interrupted } else { Stage::Waiting }
}
