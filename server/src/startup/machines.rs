//! Connects the controller with the room that hosts clusters.

use async_trait::async_trait;
use controller::{Access, Joining};
use crd::{Cluster, ClusterOperation};
use kube::ResourceExt;

/// Machines that join hosted clusters.
#[derive(Debug)]
pub(super) struct Machines(pub(super) hosted::Machines);

#[async_trait]
impl Joining for Machines {
    async fn access(&self, cluster: &Cluster, operation: &ClusterOperation) -> Result<Access, String> {
        let hosted::Access { variables, token } = self.0.access(cluster, operation).await?;
        Ok(Access { variables, secrets: [token].into() })
    }

    async fn end(&self, cluster: &Cluster, operation: &ClusterOperation) {
        if let Err(error) = self.0.end(cluster, operation).await {
            let operation = operation.name_any();
            tracing::warn!(operation, error, "the token of an operation stays until it expires, within an hour");
        }
    }
}
