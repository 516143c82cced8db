//! Metadata of the objects that the console creates.

use std::collections::BTreeMap;

use crd::Cluster;
use kube::api::ObjectMeta;
use kube::{Resource, ResourceExt};

/// Whether `cluster` is among the owners of `object`.
pub(crate) fn owns(cluster: &Cluster, object: &impl ResourceExt) -> bool {
    object.owner_references().iter().any(|owner| Some(&owner.uid) == cluster.metadata.uid.as_ref())
}

/// Metadata of an input that `cluster` owns, so that Kubernetes deletes both together.
pub(crate) fn made(cluster: &Cluster, name: &str) -> ObjectMeta {
    let labels: BTreeMap<String, String> = [
        (crd::LABEL_MANAGED_BY.to_owned(), crd::PRODUCT.to_owned()),
        (crd::LABEL_CLUSTER.to_owned(), cluster.name_any()),
    ]
    .into();
    ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels),
        // Without `blockOwnerDeletion`, which needs the right to set finalizers on Clusters.
        owner_references: Some(cluster.owner_ref(&()).into_iter().collect()),
        ..ObjectMeta::default()
    }
}
