//! The requests of the configuration pages.

use api::backend::Configurations;
use api::configuration::{ChangeReview, Configuration, Document, HostKeyScan, KeyChange, SecretVariableChange};
use api::{ClusterName, OperationName, Problem, User};
use async_trait::async_trait;
use crd::Cluster;

use super::change::Change;
use super::inputs::Inputs;
use super::secret_variables;
use super::shown::{check, shown};
use super::ssh_access;
use crate::{Console, host_keys, moment};

#[async_trait]
impl Configurations for Console {
    async fn read(&self, user: &User, cluster: &ClusterName) -> Result<Configuration, Problem> {
        let cluster = self.cluster(user, cluster).await?;
        let client = self.shared.access.client(user)?;
        let operations = self.shared.operations.state();
        let ssh = ssh_access::read(client.clone(), &cluster, &operations, &self.shared.signing);
        let texts = async {
            let inputs = Inputs::read(client.clone(), &cluster).await?;
            let inventory = inputs.hosts.usable().ok().and_then(|text| inventory::parse(text).ok());
            let names = inventory.as_ref().map(inventory::Inventory::names).unwrap_or_default();
            let (inventory, variables) =
                (shown(&inputs.hosts, &cluster, &names), shown(&inputs.vars, &cluster, &names));
            let secrets = secret_variables::read(client.clone(), &cluster, &names).await?;
            Ok::<_, Problem>((inventory, variables, secrets))
        };
        let (texts, ssh) = futures::join!(texts, ssh);
        let (inventory, variables, secrets) = texts?;
        Ok(Configuration { inventory, variables, ssh: ssh?, secrets, now: moment::now() })
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
        Ok(saved)
    }

    async fn change_private_key(
        &self,
        user: &User,
        cluster: &ClusterName,
        change: &KeyChange,
    ) -> Result<Option<OperationName>, Problem> {
        self.take_key_step(user, cluster, change).await
    }

    async fn change_secret_variable(
        &self,
        user: &User,
        cluster: &ClusterName,
        change: &SecretVariableChange,
    ) -> Result<String, Problem> {
        let found = self.cluster(user, cluster).await?;
        let version = secret_variables::change(self.shared.access.client(user)?, &found, change).await?;
        if matches!(change, SecretVariableChange::Set { .. }) {
            let has_secret = |found: &Cluster| found.spec.secret_vars_ref.is_some();
            self.until_cluster(cluster.as_str(), |found| found.is_some_and(has_secret)).await;
        }
        Ok(version)
    }

    async fn scan_host_keys(
        &self,
        user: &User,
        cluster: &ClusterName,
        version: &str,
        text: &str,
    ) -> Result<HostKeyScan, Problem> {
        let cluster = self.cluster(user, cluster).await?;
        let client = self.shared.access.client(user)?;
        check(Document::HostKeys, text).map_err(|why| Problem::field("text", why))?;
        let inputs = Inputs::read(client.clone(), &cluster).await?;
        let (machines, text) = host_keys::scan(&inputs, text).await?;
        let review =
            Change { cluster: &cluster, document: Document::HostKeys, version, text: &text }.review(client).await?;
        Ok(HostKeyScan { machines, text, review })
    }
}
