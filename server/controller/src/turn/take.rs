//! Takes the turn: checks the queue, reads and checks the inputs, and writes the operation's entry into the Cluster's status.

use std::sync::Arc;
use std::time::Duration;

use crd::{Cluster, ClusterOperation, Phase};

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::evaluate::evaluate;
use crate::memory::expectations::Slot;
use crate::next::Next;
use crate::status::refusal::Refusal;
use crate::turn::cluster_status::{get_cluster, write_entries};
use crate::turn::{history, queue, waiting};

/// How often it is tried when the Cluster changes in between.
const ATTEMPTS: usize = 5;

/// Takes the turn for an operation that doesn't have it, or decides what the operation waits for or why it can't run.
pub(crate) async fn take(ctx: &Context, operation: &ClusterOperation) -> Result<Next, Error> {
    let name = &operation.spec.cluster;
    let stored = ctx.stores.cluster(name);
    if let Err(refusal) = queue::may_start(operation) {
        return Ok(Next::Refuse(get_cluster(ctx, name).await?, refusal.into()));
    }
    let has_entry = stored.as_ref().is_some_and(|cluster| history::entry(cluster, operation).is_some());
    if !has_entry && let Some(other) = queue::predecessor(operation, &ctx.stores.operations.state(), stored.as_deref())
    {
        return Ok(waiting::for_operation(operation, &other));
    }
    if !has_entry && ctx.is_disk_full() {
        return Ok(waiting::for_room());
    }
    let mut current = match stored {
        Some(cluster) => Some(cluster),
        None => get_cluster(ctx, name).await?,
    };
    let uid = operation.metadata.uid.clone().unwrap_or_default();
    for _ in 0..ATTEMPTS {
        let mut slot = None;
        let Some(cluster) = current else {
            return Ok(refuse(ctx, operation, None, Refusal::NoSuchCluster { cluster: name.clone() }));
        };
        let plan = match (history::entry(&cluster, operation), history::running(&cluster)) {
            (Some(entry), _) if entry.status == Phase::Running => {
                return Ok(Next::again_after(Duration::from_secs(1)));
            }
            // The entry is final: the operation was refused at its turn, but the reason is not on it. Find it again from the inputs;
            // if they are valid now, say that it was lost. (If only this store is behind, the operation keeps its recorded result.)
            (Some(_), _) => evaluate(ctx, operation, &cluster).await?.and(Err(Refusal::Forgotten)),
            (None, Some(other)) => return Ok(waiting::for_operation(operation, &other.cluster_ops)),
            (None, None) => {
                // The slot comes first: operations without one don't read their inputs, which they would have to read again.
                let running = queue::running_uids(&ctx.stores.clusters.state());
                slot = ctx.expectations.reserve(&uid, &running, ctx.config.max_running);
                if slot.is_none() {
                    return Ok(waiting::for_slot(ctx, operation));
                }
                evaluate(ctx, operation, &cluster).await?
            }
        };
        let plan = match plan {
            Ok(plan) => plan,
            Err(refusal) => {
                drop(slot);
                // The store may be behind. Refuse only by what the Cluster refers to now.
                let fresh = get_cluster(ctx, name).await?;
                let same = fresh
                    .as_ref()
                    .is_some_and(|fresh| fresh.metadata.resource_version == cluster.metadata.resource_version);
                if same {
                    return Ok(refuse(ctx, operation, fresh, refusal));
                }
                current = fresh;
                continue;
            }
        };
        let turn = history::turn_entry(operation, &plan.namespace, &now());
        if write_entries(ctx, &cluster, &[turn]).await? {
            slot.into_iter().for_each(Slot::keep);
            return Ok(Next::Create(cluster, plan.into()));
        }
        drop(slot);
        current = get_cluster(ctx, name).await?;
    }
    Err(Error::Conflict(name.clone()))
}

/// Refuses the operation, unless what it lacks may still come.
fn refuse(ctx: &Context, operation: &ClusterOperation, cluster: Option<Arc<Cluster>>, refusal: Refusal) -> Next {
    waiting::for_missing(ctx, operation, &refusal).unwrap_or_else(|| Next::Refuse(cluster, refusal.into()))
}
