//! The requests of the cluster pages.

use std::sync::Arc;

use api::backend::Clusters;
use api::cluster::{
    ClusterDetail, ClusterFilter, ClusterList, LiveCluster, NewCluster, NodeList, RegistrationReview, Unregister,
};
use api::{ClusterName, Problem, User};
use async_trait::async_trait;
use crd::Cluster;
use kube::Api;
use kube::runtime::reflector::ObjectRef;

use super::{detail, list};
use crate::access::Right;
use crate::creation::is_creatable;
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

impl Console {
    /// The age in milliseconds above which a reading of a cluster doesn't count.
    fn stale(&self) -> i64 {
        i64::try_from(self.shared.managed.stale_after().as_millis()).unwrap_or(i64::MAX)
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
        let (counts, managed) = (&self.shared.counts, &self.shared.managed);
        let live = |name: &str| managed.newest(name);
        let clock = list::Clock { now: moment::now(), stale: self.stale() };
        let (list, shown) =
            list::list(&clusters, &operations, |at| counts.of(at), live, filter, &self.shared.signing, clock);
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
        let operations = self.shared.operations.state();
        let newer = self.next_version(&found, &operations);
        let live = LiveCluster { newer, ..self.shared.managed.look(cluster.as_str()).cluster.clone() };
        let live = self.with_kubeconfig_commands(user, &found, live).await;
        let kubeconfig = self.kubeconfig_access(user, &found, live.state).await;
        let creatable = is_creatable(&found, &operations, live.state);
        let detail =
            detail::detail(&found, &operations, nodes, live, self.stale(), &self.shared.signing, moment::now());
        let detail = detail.ok_or_else(|| not_found(cluster))?;
        Ok(ClusterDetail { wrong_engine: self.wrong_engine(&found), kubeconfig, creatable, ..detail })
    }

    async fn nodes(&self, user: &User, cluster: &ClusterName) -> Result<NodeList, Problem> {
        let found = self.cluster(user, cluster).await?;
        self.node_list(user, &found).await
    }

    async fn kubeconfig(&self, user: &User, cluster: &ClusterName) -> Result<String, Problem> {
        self.download_kubeconfig(user, cluster).await
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
