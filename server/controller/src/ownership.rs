//! Which operation a Job or Secret belongs to, by its owner references.

use crd::ClusterOperation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};

/// Whether `child` was created for this very operation: the uid counts, because an earlier operation may have had the same name.
pub(crate) fn is_owned_by<K: Resource<DynamicType = ()>>(child: &K, operation: &ClusterOperation) -> bool {
    child
        .owner_references()
        .iter()
        .any(|owner| owner.controller == Some(true) && Some(&owner.uid) == operation.metadata.uid.as_ref())
}

/// Whether `child` was created for an operation of the same name that no longer exists. Kubernetes collects it within seconds.
pub(crate) fn is_of_namesake<K: Resource<DynamicType = ()>>(child: &K, operation: &ClusterOperation) -> bool {
    let name = operation.name_any();
    child.owner_references().iter().any(|owner| owner.kind == ClusterOperation::kind(&()) && owner.name == name)
}

/// The owner of `child`, as a refusal names it.
pub(crate) fn describe_owner<K: Resource<DynamicType = ()>>(child: &K) -> String {
    match child.owner_references().first() {
        Some(owner) => format!("{} {} (uid {})", owner.kind, owner.name, owner.uid),
        None => "an unknown owner".into(),
    }
}

/// The owner reference that every child of `operation` carries.
pub(crate) fn owner(operation: &ClusterOperation) -> OwnerReference {
    OwnerReference {
        api_version: ClusterOperation::api_version(&()).into(),
        kind: ClusterOperation::kind(&()).into(),
        name: operation.metadata.name.clone().unwrap_or_default(),
        uid: operation.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        // Setting it would require the right to update finalizers of operations.
        block_owner_deletion: None,
    }
}
