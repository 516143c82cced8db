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
use crate::turn::history;

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
    let now = now();
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
    let status = history::record(&old, entries, keep, &now, cluster.metadata.generation);
    let version = cluster.metadata.resource_version.as_deref();
    Ok(patch_status(&ctx.clusters(), &cluster.name_any(), version, json!(status)).await?.is_some())
}

/// Writes a condition of `cluster` and the generation that it was observed at. True if the status says so now, false if the Cluster
/// has changed since it was read.
pub(crate) async fn write_condition(ctx: &Context, cluster: &Cluster, fact: Fact) -> Result<bool, Error> {
    let old = cluster.status.clone().unwrap_or_default();
    let conditions = with_fact(&old.cluster_conditions, fact, &now(), cluster.metadata.generation);
    if conditions == old.cluster_conditions && old.observed_generation == cluster.metadata.generation {
        return Ok(true);
    }
    let status = json!({"clusterConditions": conditions, "observedGeneration": cluster.metadata.generation});
    let version = cluster.metadata.resource_version.as_deref();
    Ok(patch_status(&ctx.clusters(), &cluster.name_any(), version, status).await?.is_some())
}

/// The conditions with `fact`. InputsReady also decides how the Cluster stands for other tools.
pub(crate) fn with_fact(old: &[Condition], fact: Fact, now: &Time, generation: Option<i64>) -> Vec<Condition> {
    let mut conditions = old.to_vec();
    if fact.kind == condition::INPUTS_READY {
        set_standing(&mut conditions, standing(&fact), &fact.reason, &fact.message, now, generation);
    }
    upsert(&mut conditions, fact, now, generation);
    conditions
}

/// How a Cluster with this condition InputsReady stands for other tools. What is missing may be applied a moment later.
fn standing(inputs_ready: &Fact) -> Standing {
    match (inputs_ready.holds, inputs_ready.reason.as_str()) {
        (Some(true), _) => Standing::Ready,
        (_, "ReferenceNotFound") => Standing::Reconciling,
        _ => Standing::Stalled,
    }
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
