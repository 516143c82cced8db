//! The requests of the cluster pages.

use std::sync::Arc;

use api::backend::Clusters;
use api::cluster::{ClusterDetail, ClusterFilter, ClusterList, NewCluster, NodeList, RegistrationReview, Unregister};
use api::{ClusterName, Problem, User};
use async_trait::async_trait;
use crd::Cluster;
use kube::Api;
use kube::runtime::reflector::ObjectRef;

use super::{detail, list};
use crate::access::Right;
use crate::kube_problem::{Doing, answer};
use crate::{Console, moment};

impl Console {
    /// The cluster from the store, or from the API if the store doesn't contain it (yet).
    pub(crate) async fn cluster(&self, user: &User, name: &ClusterName) -> Result<Arc<Cluster>, Problem> {
        self.shared.access.require(user, Right::clusters()).await?;
        if let Some(found) = self.shared.clusters.get(&ObjectRef::new(name.as_str())) {
            return Ok(found);
        }
        let clusters: Api<Cluster> = Api::all(self.shared.access.client(user)?);
        let found = answer(&Doing::new("read", "Cluster", name), clusters.get_opt(name.as_str())).await?;
        found.map(Arc::new).ok_or_else(|| not_found(name))
    }
}

pub(crate) fn not_found(name: &ClusterName) -> Problem {
    Problem::NotFound { what: "cluster".into(), name: name.to_string() }
}

#[async_trait]
impl Clusters for Console {
    async fn list(&self, user: &User, filter: &ClusterFilter) -> Result<ClusterList, Problem> {
        self.may_see(user).await?;
        let (clusters, operations) = (self.shared.clusters.state(), self.shared.operations.state());
        let counts = &self.shared.counts;
        let (list, shown) = list::list(&clusters, &operations, |at| counts.of(at), filter, moment::now());
        // First refresh the clusters on this page, then those without a count, so that the total becomes correct.
        counts.refresh(shown.iter().map(AsRef::as_ref));
        let unknown: Vec<_> =
            clusters.iter().filter(|cluster| counts.of(&cluster.spec.hosts_conf_ref).is_none()).collect();
        counts.refresh(unknown.into_iter().map(AsRef::as_ref));
        Ok(list)
    }

    async fn get(&self, user: &User, cluster: &ClusterName) -> Result<ClusterDetail, Problem> {
        self.may_see(user).await?;
        let found = self.cluster(user, cluster).await?;
        self.shared.counts.refresh(std::iter::once(found.as_ref()));
        let nodes = self.shared.counts.of(&found.spec.hosts_conf_ref);
        detail::detail(&found, &self.shared.operations.state(), nodes, moment::now()).ok_or_else(|| not_found(cluster))
    }

    async fn nodes(&self, user: &User, cluster: &ClusterName) -> Result<NodeList, Problem> {
        let found = self.cluster(user, cluster).await?;
        self.node_list(user, &found).await
    }

    async fn review(&self, user: &User, new: &NewCluster) -> Result<RegistrationReview, Problem> {
        self.review_registration(user, new).await
    }

    async fn register(&self, user: &User, new: &NewCluster) -> Result<ClusterName, Problem> {
        self.register_cluster(user, new).await
    }

    async fn unregister(&self, user: &User, cluster: &ClusterName, how: &Unregister) -> Result<(), Problem> {
        self.unregister_cluster(user, cluster, how).await
    }
}
