//! Reads a Cluster from the API, and makes all writes to its status: the entries of its history, which hold the turns, and its
//! conditions.

use std::sync::Arc;

use crd::{
    Cluster, ClusterOperation, Condition, Fact, OperationRecord, Standing, Time, condition, set_standing, upsert,
};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use serde_json::json;

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::memory::expectations::Written;
use crate::request::patch_status;
use crate::status::outcome::Outcome;
use crate::turn::history::{self, Known};

/// Entries of operations that no longer exist stay this long, so that readers that are late still find the result.
const ENTRY_SECONDS: i64 = 600;

/// Reads a Cluster from the API.
pub(crate) async fn get_cluster(ctx: &Context, name: &str) -> Result<Option<Arc<Cluster>>, Error> {
    let found = ctx.clusters().get_opt(name).await.map_err(Error::while_doing("read a Cluster"))?;
    Ok(found.map(Arc::new))
}

/// Writes entries into the history of `cluster`. False if the Cluster has changed since it was read.
pub(crate) async fn write_entries(
    ctx: &Context,
    cluster: &Cluster,
    entries: &[OperationRecord],
) -> Result<bool, Error> {
    write_end(ctx, cluster, entries, None).await
}

/// The same. `outcome` is that of the operation whose final entry is the first one.
pub(crate) async fn write_end(
    ctx: &Context,
    cluster: &Cluster,
    entries: &[OperationRecord],
    outcome: Option<&Outcome>,
) -> Result<bool, Error> {
    let now = now();
    let known = |entry: &OperationRecord| {
        let operation = ctx.stores.operation(&entry.cluster_ops).filter(|operation| history::is_of(entry, operation));
        let given = outcome.filter(|_| entries.first() == Some(entry)).cloned();
        Known {
            is_check: operation.as_ref().map(|operation| operation::Options::is_check(&operation.spec)),
            outcome: given.or_else(|| Some(Outcome::of(operation.as_deref()?, ctx.signer())?.0)),
        }
    };
    let keep = |old: &OperationRecord| {
        let recent = old.end_time.as_ref().is_some_and(|end| now.0.as_second() - end.0.as_second() < ENTRY_SECONDS);
        recent || ctx.stores.operation(&old.cluster_ops).is_some_and(|operation| history::is_of(old, &operation))
    };
    let mut old = cluster.status.clone().unwrap_or_default();
    old.conditions = old
        .conditions
        .into_iter()
        .map(|entry| {
            let operation = ctx.stores.operation(&entry.cluster_ops);
            history::adopted(entry, operation.as_deref())
        })
        .collect();
    let status = history::record(&old, entries, keep, known, &now, cluster.metadata.generation);
    let version = cluster.metadata.resource_version.as_deref();
    Ok(patch_status(&ctx.clusters(), &cluster.name_any(), version, json!(status)).await?.is_some())
}

/// Writes a condition of `cluster` and the generation that it was observed at. True if the status says so now, false if the Cluster
/// has changed since it was read.
pub(crate) async fn write_condition(ctx: &Context, cluster: &Cluster, fact: Fact) -> Result<bool, Error> {
    let mut conditions = cluster.status.clone().unwrap_or_default().cluster_conditions;
    upsert(&mut conditions, fact, &now(), cluster.metadata.generation);
    write_conditions(ctx, cluster, conditions).await
}

/// Writes how `cluster` stands for other tools, if its status says something else. Returns the same as [`write_condition`].
pub(crate) async fn write_standing(ctx: &Context, cluster: &Cluster) -> Result<bool, Error> {
    let conditions = cluster.status.clone().unwrap_or_default().cluster_conditions;
    write_conditions(ctx, cluster, conditions).await
}

async fn write_conditions(ctx: &Context, cluster: &Cluster, conditions: Vec<Condition>) -> Result<bool, Error> {
    let conditions = with_standing(cluster, conditions, &now());
    let old = cluster.status.as_ref();
    let is_observed = old.is_some_and(|old| old.observed_generation == cluster.metadata.generation);
    if is_observed && old.is_some_and(|old| old.cluster_conditions == conditions) {
        return Ok(true);
    }
    let status = json!({"clusterConditions": conditions, "observedGeneration": cluster.metadata.generation});
    let version = cluster.metadata.resource_version.as_deref();
    Ok(patch_status(&ctx.clusters(), &cluster.name_any(), version, status).await?.is_some())
}

/// The conditions with those that other tools read: Ready, Reconciling and Stalled (ADR 26). They follow from InputsReady, and from the
/// state of a hosted control plane.
pub(crate) fn with_standing(cluster: &Cluster, mut conditions: Vec<Condition>, now: &Time) -> Vec<Condition> {
    let Some(inputs) = conditions.iter().find(|c| c.type_ == condition::INPUTS_READY).cloned() else {
        return conditions;
    };
    let (standing, reason, message) = match of_inputs(&inputs) {
        Standing::Ready if cluster.spec.hosted.is_some() => of_control_plane(cluster),
        standing => (standing, inputs.reason, inputs.message),
    };
    set_standing(&mut conditions, standing, &reason, &message, now, cluster.metadata.generation);
    conditions
}

/// What is missing may be applied a moment later.
fn of_inputs(inputs_ready: &Condition) -> Standing {
    match (inputs_ready.status.as_str(), inputs_ready.reason.as_str()) {
        ("True", _) => Standing::Ready,
        (_, "ReferenceNotFound" | "ReferenceEmpty" | "KeyNotFound" | "HostKeysUnreadable") => Standing::Reconciling,
        _ => Standing::Stalled,
    }
}

/// The server tries again by itself, except if the spec can't be realised, or a user has paused the control plane.
fn of_control_plane(cluster: &Cluster) -> (Standing, String, String) {
    let seen = cluster.status.as_ref().and_then(|status| status.hosted.as_ref());
    let seen = seen.filter(|hosted| hosted.observed_generation == cluster.metadata.generation);
    let found = |kind: &str| seen.and_then(|hosted| hosted.conditions.iter().find(|c| c.type_ == kind));
    let Some(ready) = found(condition::READY) else {
        return (Standing::Reconciling, "Waiting".into(), "The control plane has not been checked yet.".into());
    };
    let is_refused = found(condition::ACCEPTED).is_some_and(|accepted| accepted.status == "False");
    let standing = match (ready.status.as_str(), ready.reason.as_str()) {
        ("True", _) => Standing::Ready,
        (_, "Paused") => Standing::Stalled,
        _ if is_refused => Standing::Stalled,
        _ => Standing::Reconciling,
    };
    (standing, ready.reason.clone(), ready.message.clone())
}

/// Writes the turn of a running operation again if the Cluster was deleted and created again meanwhile. Its new object knows nothing
/// of the turn, and the next operation would start beside the running one.
pub(crate) async fn restore_turn(ctx: &Context, operation: &ClusterOperation, job: &Job) -> Result<(), Error> {
    let Some(stored) = ctx.stores.cluster(&operation.spec.cluster) else { return Ok(()) };
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    let is_behind = matches!(&written, Some(Written::Started { on, .. }) if *on == stored.metadata.uid);
    if is_behind || history::entry(&stored, operation).is_some() {
        return Ok(());
    }
    let Some(cluster) = get_cluster(ctx, &operation.spec.cluster).await? else { return Ok(()) };
    if history::entry(&cluster, operation).is_some() {
        return Ok(());
    }
    let since = operation.status.as_ref().and_then(|status| status.start_time.clone());
    let since = since.or_else(|| job.metadata.creation_timestamp.clone()).unwrap_or_else(now);
    let turn = history::turn_entry(operation, &job.namespace().unwrap_or_default(), &since);
    if write_entries(ctx, &cluster, &[turn]).await? { Ok(()) } else { Err(Error::Conflict(cluster.name_any())) }
}

/// For how many seconds the operation has had its turn, according to the stores; 0 if they don't show it.
pub(crate) fn seconds_of_turn(ctx: &Context, operation: &ClusterOperation) -> i64 {
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let entry = cluster.as_ref().and_then(|cluster| history::entry(cluster, operation));
    let since = entry.and_then(|entry| entry.start_time.as_ref());
    since.map_or(0, |since| now().0.as_second() - since.0.as_second())
}
