//! Ending an operation that never had the turn.

use std::sync::Arc;

use crd::{Cluster, ClusterOperation, Phase};
use kube::ResourceExt;

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::snapshot;
use crate::next::Next;
use crate::status::outcome;
use crate::status::refusal::Refusal;
use crate::turn::cluster_status::{get_cluster, write_entries};
use crate::turn::history;

/// How often it is tried when the Cluster changes in between.
const ATTEMPTS: usize = 8;

/// Writes the refusal into the Cluster's history. Another replica may take the turn for the same operation at the same time: the entry
/// that is written first counts. `cluster` is what the refusal was decided on.
pub(crate) async fn refuse(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: Option<Arc<Cluster>>,
    refusal: &Refusal,
) -> Result<Next, Error> {
    let outcome = outcome::refused(refusal, &now());
    let mut current = cluster;
    for _ in 0..ATTEMPTS {
        let Some(cluster) = current else { return Ok(Next::record(outcome, false)) };
        match history::entry(&cluster, operation) {
            Some(entry) if entry.status == Phase::Running => return Err(Error::Conflict(cluster.name_any())),
            Some(_) => return Ok(Next::record(outcome, false)),
            None if had_turn_before(ctx, operation, &cluster).await? => {
                return Ok(Next::Abandon(Some(cluster), outcome.into()));
            }
            None if write_entries(ctx, &cluster, &[history::ended(operation, &outcome)]).await? => {
                return Ok(Next::record(outcome, false));
            }
            None => current = get_cluster(ctx, &operation.spec.cluster).await?,
        }
    }
    Err(Error::Conflict(operation.spec.cluster.clone()))
}

/// A Cluster that was deleted and created again doesn't know which turns the old one gave. A snapshot proves that the operation had the
/// turn, and its Job may be about to appear.
async fn had_turn_before(ctx: &Context, operation: &ClusterOperation, cluster: &Cluster) -> Result<bool, Error> {
    if cluster.metadata.creation_timestamp < operation.metadata.creation_timestamp {
        return Ok(false);
    }
    let (namespace, uid) = (&cluster.spec.hosts_conf_ref.namespace, operation.metadata.uid.as_ref());
    Ok(snapshot::read(&ctx.client, namespace, &operation.name_any(), uid).await?.is_some())
}
