//! An operation whose Job was deleted while it ran.

use std::time::Duration;

use crd::{ClusterOperation, Phase};
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use operation::Options;

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::job::{lookup, state};
use crate::next::Next;
use crate::status::outcome::Outcome;
use crate::verdict::judge::ONLY_A_CHECK;

/// Ends the operation once no pod of it runs. The Job is never created again, because it is unknown how far the run came.
pub(crate) async fn lost(ctx: &Context, operation: &ClusterOperation) -> Result<Next, Error> {
    if any_pod_runs(ctx, operation).await? {
        return Ok(Next::again_after(Duration::from_secs(2)));
    }
    let job = operation
        .status
        .as_ref()
        .and_then(|status| status.job_ref.as_ref())
        .map_or_else(String::new, |job| format!(" {}/{}", job.namespace, job.name));
    let (reason, message) = match operation.spec.cancel {
        Some(true) => ("Cancelled", "The run was cancelled.".to_owned()),
        _ => (
            "JobGone",
            format!("The Job{job} was deleted before it ended. Check the machines, then submit the operation again."),
        ),
    };
    let check = if Options::is_check(&operation.spec) { ONLY_A_CHECK } else { "" };
    let start_time = operation.status.as_ref().and_then(|status| status.start_time.clone());
    let outcome = Outcome {
        status: Phase::Failed,
        reason: reason.into(),
        message: message + check,
        start_time,
        end_time: Some(now()),
        recap: None,
    };
    Ok(Next::Abandon(None, outcome.into()))
}

/// Asks the API, because a store may be behind and the next operation must not start beside a running pod.
async fn any_pod_runs(ctx: &Context, operation: &ClusterOperation) -> Result<bool, Error> {
    let Some(namespace) = lookup::namespace_of(ctx, operation) else { return Ok(false) };
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), &namespace);
    let of_operation = ListParams::default().labels(&format!("{}={}", crd::LABEL_OPERATION, operation.name_any()));
    let pods = pods.list(&of_operation).await.map_err(Error::while_doing("list the pods of an operation"))?;
    Ok(!pods.items.iter().all(state::pod_has_ended))
}
