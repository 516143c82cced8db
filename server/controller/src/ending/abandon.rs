//! Ending an operation that has the turn and no Job.

use std::time::Duration;

use crd::{Cluster, ClusterOperation};

use crate::context::Context;
use crate::error::Error;
use crate::job::lookup;
use crate::job::placeholder::{Occupied, occupy};
use crate::next::{Hold, Next};
use crate::status::outcome::Outcome;
use crate::turn::history;

/// Occupies the Job's name, so that no other replica can create the Job any more. If one has created it already, that Job counts.
/// `cluster` is what the end was decided on, if that may be newer than the stores.
pub(crate) async fn abandon(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: Option<&Cluster>,
    outcome: Outcome,
) -> Result<Next, Error> {
    let namespace = match cluster {
        Some(cluster) => history::namespace(operation, Some(cluster)),
        None => lookup::namespace_of(ctx, operation),
    };
    let Some(namespace) = namespace else { return Ok(Next::record(outcome, false)) };
    Ok(match occupy(ctx, operation, &namespace, &outcome).await? {
        Occupied::Taken(job) => Next::Observe(job),
        Occupied::Impossible | Occupied::NoInputs(None) => Next::record(outcome, true),
        // The Job was created before its snapshot was removed. It is stopped before the turn is given back.
        Occupied::NoInputs(Some(_)) => Next::record(outcome, false),
        Occupied::Leftover => Next::again_after(Duration::from_secs(1)),
        Occupied::Refused(refusal) => {
            let why = format!("{} {refusal}", outcome.message);
            let advice = "The operation can't end yet: its Job could still be created, and the API refused the placeholder that prevents this. Allow the placeholder, or delete the operation.";
            Next::Hold(Hold { reason: refusal.reason(), why, advice: advice.into() })
        }
    })
}
