//! The newest upgrade of a cluster among its operations.

use std::sync::Arc;

use api::cluster::Version;
use api::operation::Phase;
use crd::ClusterOperation;
use operation::{ACTIONS, Parameter, UPGRADE, action, is_record};

use crate::operations::{is_dry, phase, submitted, values_of, version_of};

/// The newest upgrade that was submitted for `cluster`. Dry runs and records don't count; a user's own playbook counts by its name.
pub(super) fn newest(operations: &[Arc<ClusterOperation>], cluster: &str) -> Option<Arc<ClusterOperation>> {
    let is_upgrade = |operation: &&Arc<ClusterOperation>| {
        operation.spec.cluster == cluster
            && operation.spec.action == UPGRADE
            && !is_record(operation)
            && !is_dry(operation)
    };
    operations
        .iter()
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
