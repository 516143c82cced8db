//! Resuming an operation after an interruption between its turn and its Job.

use crd::{ClusterOperation, Phase};
use kube::ResourceExt;

use crate::context::Context;
use crate::error::Error;
use crate::job::lookup;
use crate::next::Next;
use crate::status::outcome::{Outcome, Proof};
use crate::turn::cluster_status::get_cluster;
use crate::turn::history;

/// Decides how to continue. The stores may be behind, so everything is read from the API.
pub(crate) async fn resume(ctx: &Context, operation: &ClusterOperation) -> Result<Next, Error> {
    let fresh =
        ctx.operations().get_opt(&operation.name_any()).await.map_err(Error::while_doing("read an operation"))?;
    let Some(operation) = fresh.filter(|fresh| fresh.metadata.uid == operation.metadata.uid) else {
        return Ok(Next::when_changed());
    };
    if let Some((_, Proof::Signed)) = Outcome::of(&operation, ctx.signer()) {
        return Ok(Next::Publish { stopped: false }.with(operation));
    }
    let cluster = get_cluster(ctx, &operation.spec.cluster).await?;
    if let Some(namespace) = history::namespace(&operation, cluster.as_deref())
        && let Some(job) = lookup::read_job(&ctx.client, &operation, &namespace).await?
    {
        return Ok(Next::Observe(job).with(operation));
    }
    let has_turn = |cluster: &crd::Cluster| {
        history::entry(cluster, &operation).is_some_and(|entry| entry.status == Phase::Running)
    };
    let had_job =
        operation.status.as_ref().and_then(|status| status.job_ref.as_ref()).is_some_and(|job| job.uid.is_some());
    let next = match cluster.filter(|cluster| has_turn(cluster) && !had_job) {
        Some(cluster) => Next::Prepare(cluster),
        None => Next::Lost,
    };
    Ok(next.with(operation))
}
