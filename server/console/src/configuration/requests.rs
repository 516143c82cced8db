//! What the configuration pages ask for.

use api::{
    ClusterName, Problem, User,
    backend::Configurations,
    configuration::{ChangeReview, Configuration, Document},
};
use async_trait::async_trait;
use kube::ResourceExt;

use super::{change::Change, shown};
use crate::Console;

#[async_trait]
impl Configurations for Console {
    async fn read(&self, user: &User, cluster: &ClusterName) -> Result<Configuration, Problem> {
        let cluster = self.cluster(user, cluster).await?;
        shown::configuration(self.shared.access.client(user)?, &cluster).await
    }

    async fn review(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Result<ChangeReview, Problem> {
        let cluster = self.cluster(user, cluster).await?;
        Change { cluster: &cluster, document, version, text }.review(self.shared.access.client(user)?).await
    }

    async fn save(
        &self,
        user: &User,
        cluster: &ClusterName,
        document: Document,
        version: &str,
        text: &str,
    ) -> Result<String, Problem> {
        let cluster = self.cluster(user, cluster).await?;
        let saved =
            Change { cluster: &cluster, document, version, text }.save(self.shared.access.client(user)?).await?;
        if document == Document::Inventory {
            self.shared.counts.note(&cluster.spec.hosts_conf_ref, text);
        }
        // ConfigMaps aren't watched, and pages show what is in them.
        self.changed(crate::Change::Cluster(cluster.name_any()));
        Ok(saved)
    }
}
