//! Deleting the kubeconfig of a cluster that a run has taken back.

use api::operation::NO_HOST_REACHED;
use crd::{Cluster, ClusterOperation, DataRef, Phase};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, Client, ResourceExt};

use crate::status::outcome::Outcome;

/// Whether this run has reset all machines of the inventory, so that the kubeconfig opens nothing. A hosted control plane lives on, and a run
/// that changed nothing has found no cluster of its engine.
pub(super) fn is_useless(operation: &ClusterOperation, cluster: &Cluster, outcome: &Outcome) -> bool {
    let has_changed = outcome.recap.as_ref().is_some_and(|recap| recap.changed > 0);
    let has_reset = outcome.status == Phase::Succeeded && outcome.reason != NO_HOST_REACHED && has_changed;
    has_reset && cluster.spec.hosted.is_none() && operation::resets_cluster(&operation.spec)
}

/// Deletes the Secret `<cluster>-kubeconfig` if an operation has stored it, and returns whether it did. One that a user made stays, also if
/// the Cluster has adopted it. Can be repeated.
///
/// # Errors
/// If the API refuses or can't be reached, or if somebody changes the Secret at the same time.
pub(super) async fn discard_kubeconfig(client: &Client, at: &DataRef, cluster: &Cluster) -> Result<bool, kube::Error> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &at.namespace);
    let is_own = |secret: &Secret| {
        secret.labels().contains_key(crd::LABEL_OPERATION)
            && secret.owner_references().iter().any(|owner| Some(&owner.uid) == cluster.metadata.uid.as_ref())
    };
    let Some(found) = secrets.get_opt(&at.name).await?.filter(is_own) else { return Ok(false) };
    let as_read = Preconditions { uid: found.uid(), resource_version: found.resource_version() };
    match secrets.delete(&at.name, &DeleteParams { preconditions: Some(as_read), ..DeleteParams::default() }).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(false),
        deleted => deleted.map(|_| true),
    }
}
