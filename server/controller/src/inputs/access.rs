//! What an operation gets that joins machines to a hosted cluster.

use crd::{Cluster, ClusterOperation};
use serde_json::Value;

use crate::context::Context;
use crate::inputs::plan::Plan;
use crate::joining::Access;
use crate::status::refusal::Refusal;

/// Adds address and token of the control plane to a plan that needs them.
pub(crate) async fn add(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
    plan: Plan,
) -> Result<Plan, Refusal> {
    if !operation::joins(&operation.spec) {
        return Ok(plan);
    }
    let name = || operation.spec.cluster.clone();
    let (Some(_), Some(joining)) = (&cluster.spec.hosted, &ctx.config.joining) else {
        return Err(Refusal::NotHosted { cluster: name() });
    };
    match joining.access(cluster, operation).await {
        Ok(access) => Ok(with(plan, access)),
        Err(why) => Err(Refusal::NotJoinable { cluster: name(), why }),
    }
}

/// The variables override those of the inventory: the control plane is what it is.
fn with(mut plan: Plan, access: Access) -> Plan {
    let variables = Value::Object(access.variables).to_string();
    for step in plan.steps.iter_mut().filter(|step| step.joins()) {
        step.args.extend(["-e".into(), variables.clone()]);
    }
    plan.secret_vars.get_or_insert_default().extend(access.secrets);
    plan.secrets = plan.found_secrets();
    plan
}
