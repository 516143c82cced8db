//! The requests of the pages that change nodes.

use api::backend::Nodes;
use api::cluster::{NewNodes, NodesReview, Removal, Replacement, ReviewedRemoval};
use api::{ClusterName, OperationName, Problem, User};
use async_trait::async_trait;

use crate::Console;

#[async_trait]
impl Nodes for Console {
    async fn review(&self, user: &User, cluster: &ClusterName, new: &NewNodes) -> Result<NodesReview, Problem> {
        self.review_nodes(user, cluster, new).await
    }

    async fn add(&self, user: &User, cluster: &ClusterName, new: &NewNodes) -> Result<OperationName, Problem> {
        self.add_nodes(user, cluster, new).await
    }

    async fn replacement(&self, user: &User, cluster: &ClusterName, node: &str) -> Result<Replacement, Problem> {
        self.plan_replacement(user, cluster, node).await
    }

    async fn removal(&self, user: &User, cluster: &ClusterName, node: &str, gone: bool) -> Result<Removal, Problem> {
        self.plan_removal(user, cluster, node, gone).await
    }

    async fn remove(
        &self,
        user: &User,
        cluster: &ClusterName,
        node: &str,
        reviewed: &ReviewedRemoval,
    ) -> Result<OperationName, Problem> {
        self.remove_node(user, cluster, node, reviewed).await
    }

    async fn forget(&self, user: &User, cluster: &ClusterName, node: &str, version: &str) -> Result<(), Problem> {
        self.forget_node(user, cluster, node, version).await
    }
}
