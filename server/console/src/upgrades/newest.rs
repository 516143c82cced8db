//! The newest upgrade of a cluster among its operations.

use std::sync::Arc;

use api::cluster::Version;
use api::operation::Phase;
use crd::ClusterOperation;
use operation::{ACTIONS, Parameter, UPGRADE, action, is_record};

use crate::operations::{ended, has_reset, is_dry, phase, submitted, values_of, version_of};

/// The newest upgrade that was submitted for `cluster` since its machines were reset. Dry runs and records don't count; a user's own
/// playbook counts by its name.
pub(super) fn newest(operations: &[Arc<ClusterOperation>], cluster: &str) -> Option<Arc<ClusterOperation>> {
    let of_cluster = || operations.iter().filter(|operation| operation.spec.cluster == cluster);
    let reset = of_cluster().filter(|operation| has_reset(operation)).map(|operation| ended(operation)).max();
    let is_before_reset = |operation: &ClusterOperation| phase(operation).is_final() && Some(ended(operation)) <= reset;
    let is_upgrade = |operation: &&Arc<ClusterOperation>| {
        operation.spec.action == UPGRADE && !is_record(operation) && !is_dry(operation) && !is_before_reset(operation)
    };
    of_cluster()
        .filter(is_upgrade)
        .max_by_key(|operation| (submitted(operation), operation.metadata.name.clone()))
        .cloned()
}

/// The version that the operation names in its arguments.
pub(super) fn target(operation: &ClusterOperation) -> Option<Version> {
    values_of(operation, version_parameter()?.variable).pop()?.parse().ok()
}

/// The version of the newest upgrade, if that ended without success.
pub(super) fn unfinished(newest: Option<&ClusterOperation>) -> Option<Version> {
    newest.filter(|newest| is_unfinished(newest)).and_then(target)
}

/// Whether it ended without success, so that nodes may have different versions.
fn is_unfinished(operation: &ClusterOperation) -> bool {
    matches!(phase(operation), Phase::Failed | Phase::Cancelled)
}

/// The parameter of the playbook that names the version.
pub(super) fn version_parameter() -> Option<&'static Parameter> {
    version_of(action(ACTIONS, UPGRADE)?)
}

#[cfg(test)]
mod tests {
    use crate::operations::tests::operation;

    use super::*;

    #[test]
    fn an_upgrade_before_a_reset_is_forgotten() {
        let ended = |playbook: &str, at: i64, arguments: &str, phase| {
            let mut run = operation(&format!("run-{at}"), "prod", at, phase);
            run.spec.action = playbook.into();
            run.spec.extra_args = Some(arguments.into());
            Arc::new(run)
        };
        let run = |playbook, at, arguments| ended(playbook, at, arguments, crd::Phase::Succeeded);
        let name = |runs: &[Arc<ClusterOperation>]| newest(runs, "prod").and_then(|run| run.metadata.name.clone());
        let mut runs = vec![run(UPGRADE, 1, ""), run("reset.yml", 2, "--limit=w1")];
        runs.push(ended("reset.yml", 2, "", crd::Phase::Failed));
        assert_eq!(name(&runs).as_deref(), Some("run-1"), "the cluster lives on");
        runs.push(run("reset.yml", 3, ""));
        assert_eq!(name(&runs), None);
        runs.push(run(UPGRADE, 4, ""));
        assert_eq!(name(&runs).as_deref(), Some("run-4"));
    }
}
