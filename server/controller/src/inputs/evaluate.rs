//! Reading and checking the inputs in one go.

use crd::{Cluster, ClusterOperation};

use crate::context::Context;
use crate::error::Error;
use crate::inputs::plan::Plan;
use crate::inputs::read::{self, ReadError};
use crate::inputs::{access, snapshot, validate};
use crate::status::refusal::Refusal;

/// Reads the inputs that `cluster` refers to now. Returns what would run with them, or why the operation can't.
pub(crate) async fn evaluate(
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
