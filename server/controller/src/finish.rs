//! The end of an operation, in an order that survives a crash between any two writes: first label and result together on the
//! operation (from then on nobody starts it), then its status, then its entry in the Cluster (from then on the next one runs).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crd::{Cluster, ClusterOperation, OperationRecord, Phase};
use kube::ResourceExt;
use kube::api::Patch;
use kube::runtime::controller::Action;
use kube::runtime::events::EventType;
use serde_json::json;

use crate::context::{Context, field_manager, now};
use crate::error::{Answer, Error};
use crate::expectations::Written;
use crate::outcome::{self, Outcome};
use crate::refusal::Refusal;
use crate::{children, history, start, status, tombstone, turn, validate};

/// How often a write is repeated on what somebody else wrote meanwhile.
const ATTEMPTS: usize = 8;
/// How long to wait between two looks at a Job that was told to stop; its end comes as a change, too.
const STOPPING: Duration = Duration::from_secs(2);
/// Entries of operations that no longer exist stay this long, so that a late reader still finds how they ended.
const ENTRY_SECONDS: i64 = 600;

/// Ends an operation.
pub(crate) async fn finish(ctx: &Context, operation: &ClusterOperation, outcome: &Outcome) -> Result<Action, Error> {
    match commit(ctx, operation, outcome).await? {
        Some(committed) => conclude(ctx, &committed).await,
        None => Ok(Action::await_change()),
    }
}

/// Ends an operation of which nothing runs and nothing will: its Job has ended, or can't be created any more.
pub(crate) async fn finish_stopped(
    ctx: &Context,
    operation: &ClusterOperation,
    outcome: &Outcome,
) -> Result<Action, Error> {
    match commit(ctx, operation, outcome).await? {
        Some(committed) => bring_in_line(ctx, &committed, true).await,
        None => Ok(Action::await_change()),
    }
}

/// Ends an operation that never had the turn. The Cluster's history decides between a start and a refusal: whichever entry
/// gets in first stays. `cluster` is what the refusal was decided on.
pub(crate) async fn refuse(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: Option<Cluster>,
    refusal: &Refusal,
) -> Result<Action, Error> {
    let outcome = outcome::refused(refusal, &now());
    let mut current = cluster;
    for _ in 0..ATTEMPTS {
        let Some(cluster) = current else { return finish(ctx, operation, &outcome).await };
        match history::entry(&cluster, operation) {
            Some(entry) if entry.status == Phase::Running => return Err(Error::Conflict(cluster.name_any())),
            Some(_) => return finish(ctx, operation, &outcome).await,
            None if had_turn_before(ctx, operation, &cluster).await? => {
                return tombstone::abandon(ctx, operation, Some(&cluster), &outcome).await;
            }
            None if write_entries(ctx, &cluster, &[history::ended(operation, &outcome)]).await? => {
                return finish(ctx, operation, &outcome).await;
            }
            None => current = get_cluster(ctx, &operation.spec.cluster).await?,
        }
    }
    Err(Error::Conflict(operation.spec.cluster.clone()))
}

/// A Cluster that was deleted and made again knows nothing of a turn that it gave; a snapshot tells, and a Job may be on its way.
async fn had_turn_before(ctx: &Context, operation: &ClusterOperation, cluster: &Cluster) -> Result<bool, Error> {
    if cluster.metadata.creation_timestamp < operation.metadata.creation_timestamp {
        return Ok(false);
    }
    let (namespace, uid) = (&cluster.spec.hosts_conf_ref.namespace, operation.metadata.uid.as_ref());
    Ok(children::read_inputs(&ctx.client, namespace, &operation.name_any(), uid).await?.is_some())
}

/// Brings status and history in line with the result that an operation carries. Nothing to do writes nothing.
pub(crate) async fn conclude(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    bring_in_line(ctx, operation, false).await
}

async fn bring_in_line(ctx: &Context, operation: &ClusterOperation, stopped: bool) -> Result<Action, Error> {
    let Some(outcome) = Outcome::of(operation) else { return Ok(Action::await_change()) };
    let uid = operation.metadata.uid.clone().unwrap_or_default();
    let told = operation.status.as_ref().is_some_and(|status| status.status.is_final());
    if !told {
        let wanted = json!(status::finished(operation, &outcome, &now()));
        let version = operation.metadata.resource_version.as_deref();
        if ctx.patch_status(&ctx.operations(), &operation.name_any(), version, wanted).await?.is_none() {
            return Err(Error::Conflict(operation.name_any()));
        }
    }
    // Before the turn is given back: the next operation may count the slots as soon as the Cluster changes.
    ctx.expectations.wrote(&uid, Written::Finished);
    let closed = close(ctx, operation, &outcome, stopped).await;
    if !matches!(closed, Ok(true)) {
        ctx.expectations.forget(&uid);
    }
    let closed = closed?;
    if !told {
        let kind = if outcome.status == Phase::Succeeded { EventType::Normal } else { EventType::Warning };
        ctx.tell(operation, kind, &outcome.reason, &outcome.message).await;
    }
    Ok(if closed { Action::await_change() } else { Action::requeue(STOPPING) })
}

/// Writes label and result. None where the operation is gone; an operation that was already over keeps the result it has.
pub(crate) async fn commit(
    ctx: &Context,
    operation: &ClusterOperation,
    outcome: &Outcome,
) -> Result<Option<ClusterOperation>, Error> {
    let name = operation.name_any();
    let mut labels = json!({crd::LABEL_HAS_COMPLETED: crd::DONE});
    if validate::is_label_value(&operation.spec.cluster) {
        labels[crd::LABEL_CLUSTER_NAME] = json!(operation.spec.cluster);
    }
    let text = serde_json::to_string(outcome).expect("an outcome is plain data");
    let mut version = newest_version(ctx, operation);
    for _ in 0..ATTEMPTS {
        let patch = json!({"metadata": {"resourceVersion": version, "labels": labels, "annotations": {crd::ANNOTATION_OUTCOME: text}}});
        let answer = ctx.operations().patch(&name, &field_manager(), &Patch::Merge(&patch)).await;
        match answer.unless_changed().map_err(Error::while_doing("record the result of an operation"))? {
            Some(found) => return Ok(Some(found)),
            None => {
                let fresh = ctx.operations().get_opt(&name).await.map_err(Error::while_doing("read an operation"))?;
                match fresh.filter(|fresh| fresh.metadata.uid == operation.metadata.uid) {
                    None => return Ok(None),
                    Some(fresh) if outcome::is_completed(&fresh) && Outcome::of(&fresh).is_some() => {
                        return Ok(Some(fresh));
                    }
                    Some(fresh) => version = fresh.metadata.resource_version,
                }
            }
        }
    }
    Err(Error::Conflict(name))
}

/// The resourceVersion that this process knows: its own last write, while the store doesn't show it yet.
fn newest_version(ctx: &Context, operation: &ClusterOperation) -> Option<String> {
    let shown = operation.status.as_ref().is_some_and(|status| status.status != Phase::Pending);
    let written = operation.metadata.uid.as_deref().and_then(|uid| ctx.expectations.of(uid));
    match written {
        Some(Written::Started { version: Some(version), .. }) if !shown => Some(version),
        _ => operation.metadata.resource_version.clone(),
    }
}

/// Gives the turn back or on, or adds the entry that is missing. False while something of the operation still runs.
async fn close(
    ctx: &Context,
    operation: &ClusterOperation,
    outcome: &Outcome,
    mut stopped: bool,
) -> Result<bool, Error> {
    let name = &operation.spec.cluster;
    let mut current = match ctx.stores.cluster(name) {
        Some(cluster) => Some(Cluster::clone(&cluster)),
        None => get_cluster(ctx, name).await?,
    };
    for _ in 0..ATTEMPTS {
        let Some(cluster) = current else { return Ok(true) };
        let turn = match history::entry(&cluster, operation) {
            Some(entry) if entry.status.is_final() => return Ok(true),
            entry => entry.cloned(),
        };
        stopped = stopped || turn.is_none() || tombstone::has_stopped(ctx, operation, &cluster, outcome).await?;
        if !stopped {
            return Ok(false);
        }
        let heir = turn.as_ref().and_then(|_| heir(ctx, operation, &cluster));
        let ended =
            OperationRecord { namespace: turn.and_then(|turn| turn.namespace), ..history::ended(operation, outcome) };
        let namespace = &cluster.spec.hosts_conf_ref.namespace;
        let entries = [Some(ended), heir.as_ref().map(|heir| history::claimed(heir, namespace, &now()))];
        // Noted before it is written: the watch may be faster than the answer.
        let heir = heir.and_then(|heir| heir.metadata.uid.clone());
        heir.iter().for_each(|uid| ctx.expectations.wrote(uid, Written::Handed));
        let written = write_entries(ctx, &cluster, &entries.into_iter().flatten().collect::<Vec<_>>()).await;
        if matches!(written, Ok(true)) {
            return Ok(true);
        }
        heir.iter().for_each(|uid| ctx.expectations.forget(uid));
        written?;
        current = get_cluster(ctx, name).await?;
    }
    Err(Error::Conflict(name.clone()))
}

/// Who gets the turn in the same write that ends the one before: the next in the queue. Not where others wait for a slot:
/// a long queue on one cluster must not keep them out.
fn heir(ctx: &Context, operation: &ClusterOperation, cluster: &Cluster) -> Option<Arc<ClusterOperation>> {
    if ctx.slots_wanted.load(Ordering::Relaxed) {
        return None;
    }
    let operations = ctx.stores.operations.state();
    let others = turn::open_of(&operation.spec.cluster, &operations)
        .filter(|other| other.metadata.uid != operation.metadata.uid);
    let next = others.min_by(|a, b| turn::order(a).cmp(&turn::order(b)))?;
    (history::entry(cluster, next).is_none() && start::may_start(next).is_ok()).then(|| next.clone())
}

/// Writes entries into the history of `cluster` as it was read; false where it has changed since.
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
    Ok(ctx.patch_status(&ctx.clusters(), &cluster.name_any(), version, json!(status)).await?.is_some())
}

/// The Cluster as the API has it.
pub(crate) async fn get_cluster(ctx: &Context, name: &str) -> Result<Option<Cluster>, Error> {
    ctx.clusters().get_opt(name).await.map_err(Error::while_doing("read a Cluster"))
}
