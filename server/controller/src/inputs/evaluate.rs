//! Reading and checking the inputs in one go.

use crd::{Cluster, ClusterOperation, condition};
use kube::ResourceExt;

use crate::context::Context;
use crate::error::Error;
use crate::inputs::plan::Plan;
use crate::inputs::read::{self, ReadError};
use crate::inputs::{access, snapshot, validate};
use crate::status::refusal::Refusal;

/// Reads the inputs that `cluster` refers to now. Returns what would run with them, or why the operation can't. If the Cluster's status says
/// something else, its inputs are checked again: a change of a Secret causes no watch event.
pub(crate) async fn evaluate(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
) -> Result<Result<Plan, Refusal>, Error> {
    let plan = read_plan(ctx, operation, cluster).await?;
    let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.as_slice()).unwrap_or_default();
    if crd::is_true(conditions, condition::INPUTS_READY) != plan.is_ok() {
        ctx.touch(&cluster.name_any());
    }
    Ok(plan)
}

async fn read_plan(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
) -> Result<Result<Plan, Refusal>, Error> {
    let wanted = read::wanted(operation, cluster);
    let found = match read::fetch(ctx, &wanted).await {
        Ok(found) => found,
        Err(ReadError::Refused(refusal)) => return Ok(Err(*refusal)),
        Err(ReadError::Api(source)) => return Err(Error::Api { what: "read the inputs", source }),
    };
    match validate::plan(operation, cluster, &found) {
        Err(Refusal::InputsChanged { what }) => {
            Ok(Err(snapshot::compare(ctx, operation, cluster, &found).await.unwrap_or(Refusal::InputsChanged { what })))
        }
        Ok(plan) => Ok(access::add(ctx, operation, cluster, plan).await),
        Err(refusal) => Ok(Err(refusal)),
    }
}
