//! Giving the turn back, or handing it to the next operation.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crd::{Cluster, ClusterOperation, OperationRecord};
use kube::ResourceExt;

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::job::placeholder::{self, Occupied, occupy};
use crate::job::{lookup, state};
use crate::memory::expectations::Written;
use crate::status::outcome::Outcome;
use crate::turn::cluster_status::{get_cluster, write_end};
use crate::turn::{history, queue};

/// How often the write is tried if the Cluster changes between the read and the write.
const ATTEMPTS: usize = 8;

/// Writes the final entry of an operation into the Cluster's history, which ends its turn. False while something of the operation still
/// runs. `stopped`: the caller knows that nothing of the operation runs and that nothing will start.
pub(super) async fn hand_over(
    ctx: &Context,
    operation: &ClusterOperation,
    outcome: &Outcome,
    mut stopped: bool,
) -> Result<bool, Error> {
    let name = &operation.spec.cluster;
    let mut current = match ctx.stores.cluster(name) {
        Some(cluster) => Some(cluster),
        None => get_cluster(ctx, name).await?,
    };
    for _ in 0..ATTEMPTS {
        let Some(cluster) = current else { return Ok(true) };
        let turn = match history::entry(&cluster, operation) {
            Some(entry) if entry.status.is_final() => return Ok(true),
            entry => entry.cloned(),
        };
        stopped = stopped || turn.is_none() || ensure_stopped(ctx, operation, &cluster, outcome).await?;
        if !stopped {
            return Ok(false);
        }
        let heir = turn.as_ref().and_then(|_| heir(ctx, operation, &cluster));
        let ended =
            OperationRecord { namespace: turn.and_then(|turn| turn.namespace), ..history::ended(operation, outcome) };
        let namespace = &cluster.spec.hosts_conf_ref.namespace;
        let entries = [Some(ended), heir.as_ref().map(|heir| history::turn_entry(heir, namespace, &now()))];
        // Noted before the write, because the watch event may arrive before the answer.
        let heir = heir.and_then(|heir| heir.metadata.uid.clone());
        heir.iter().for_each(|uid| ctx.expectations.wrote(uid, Written::Handed));
        let entries: Vec<_> = entries.into_iter().flatten().collect();
        let written = write_end(ctx, &cluster, &entries, Some(outcome)).await;
        if matches!(written, Ok(true)) {
            return Ok(true);
        }
        heir.iter().for_each(|uid| ctx.expectations.forget(uid));
        written?;
        current = get_cluster(ctx, name).await?;
    }
    Err(Error::Conflict(name.clone()))
}

/// The operation that gets the turn in the same write: the next in the queue. None while operations wait for a slot, because a long
/// queue on one cluster must not keep them waiting, and while the disk is full, because then no operation starts.
fn heir(ctx: &Context, operation: &ClusterOperation, cluster: &Cluster) -> Option<Arc<ClusterOperation>> {
    if ctx.slots_wanted.load(Ordering::Relaxed) || ctx.is_disk_full() {
        return None;
    }
    let operations = ctx.stores.operations.state();
    let others = queue::open_of(&operation.spec.cluster, &operations)
        .filter(|other| other.metadata.uid != operation.metadata.uid);
    let next = others.min_by(|a, b| queue::order(a, b))?;
    (history::entry(cluster, next).is_none() && queue::may_start(next).is_ok()).then(|| next.clone())
}

/// Stops what still runs of an operation that has ended: suspends its Job, or blocks the Job's name with a placeholder if there is no Job.
/// True once nothing of the operation runs, and nothing will.
async fn ensure_stopped(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
    outcome: &Outcome,
) -> Result<bool, Error> {
    let job = match (lookup::stored_job(ctx, operation), history::namespace(operation, Some(cluster))) {
        (Some(job), _) => job,
        (None, None) => return Ok(true),
        (None, Some(namespace)) => match occupy(ctx, operation, &namespace, outcome).await? {
            Occupied::Taken(job) | Occupied::NoInputs(Some(job)) => job,
            Occupied::Impossible | Occupied::NoInputs(None) => return Ok(true),
            Occupied::Leftover => return Ok(false),
            Occupied::Refused(refusal) => {
                tracing::warn!(operation = operation.name_any(), %refusal, "an ended operation keeps its turn, because its Job could still be created");
                return Ok(false);
            }
        },
    };
    if placeholder::outcome(ctx, operation, &*job).is_some()
        || state::job_has_stopped(&job, ctx.stores.pod_of(&job).as_deref())
    {
        return Ok(true);
    }
    state::stop(&ctx.client, &job).await?;
    Ok(false)
}
