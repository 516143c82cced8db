//! Unregisters a cluster: deletes its objects and leaves its machines unchanged.

use api::cluster::Unregister;
use api::{ClusterName, Problem, User};
use crd::{Cluster, ClusterOperation};
use futures::{StreamExt, stream};
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, ResourceExt};

use super::requests::not_found;
use crate::Console;
use crate::kube_problem::{Doing, answer, problem, timely};
use crate::operations::ahead;

/// How often the deletion is tried if the Cluster changes at the same time.
const TRIES: usize = 5;
/// Operations that are deleted concurrently.
const AT_ONCE: usize = 8;

impl Console {
    pub(crate) async fn unregister_cluster(
        &self,
        user: &User,
        name: &ClusterName,
        how: &Unregister,
    ) -> Result<(), Problem> {
        if how.confirm.trim() != name.as_str() {
            return Err(Problem::field("confirm", format!("Type {name} to confirm.")));
        }
        self.may_see(user).await?;
        let clusters: Api<Cluster> = Api::all(self.shared.access.client(user)?);
        self.delete_idle(&clusters, name).await?;
        self.until_cluster(name.as_str(), |found| found.is_none()).await;
        if how.delete_records { self.delete_records(user, name).await } else { Ok(()) }
    }

    /// Deletes the Cluster if no operation is open. The delete has the resourceVersion from that check as precondition: an
    /// operation that starts in between writes the Cluster's status first, so the deletion fails and is tried again.
    async fn delete_idle(&self, clusters: &Api<Cluster>, name: &ClusterName) -> Result<(), Problem> {
        let doing = Doing::new("delete", "Cluster", name);
        for _ in 0..TRIES {
            let found = answer(&Doing::new("read", "Cluster", name), clusters.get_opt(name.as_str()))
                .await?
                .ok_or_else(|| not_found(name))?;
            if let Some(hosted) = &found.spec.hosted {
                let message = format!(
                    "{name} is hosted in namespace {}. Deleting it destroys its control plane and everything that is stored there, so this page doesn't do it. To delete it: kubectl delete cluster {name}.",
                    hosted.namespace
                );
                return Err(Problem::Invalid { message, fields: Vec::new() });
            }
            if let Some(open) = self.open_operation(&found) {
                let message = format!(
                    "{name} can't be unregistered while {open} is running or queued. Wait until it ends or cancel it, then try again."
                );
                return Err(Problem::Invalid { message, fields: Vec::new() });
            }
            let preconditions = Preconditions { uid: found.uid(), resource_version: found.resource_version() };
            let as_found = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
            match timely(clusters.delete(name.as_str(), &as_found)).await {
                Ok(_) => {
                    self.shared.counts.forget(&found.spec.hosts_conf_ref);
                    return Ok(());
                }
                Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(problem(&doing, &error)),
            }
        }
        Err(Problem::Unavailable {
            message: format!("{name} keeps changing, so it was not deleted. Try again in a moment."),
        })
    }

    /// A running or queued operation, from the Cluster's history or from the store of operations.
    fn open_operation(&self, cluster: &Cluster) -> Option<String> {
        let history = cluster.status.iter().flat_map(|status| &status.conditions);
        let running = history
            .into_iter()
            .find(|record| record.status == crd::Phase::Running)
            .map(|record| record.cluster_ops.clone());
        let ahead = ahead(&self.shared.operations.state(), &cluster.name_any());
        running.or_else(|| ahead.running.as_ref().or(ahead.waiting.first()).map(|operation| operation.name_any()))
    }

    async fn delete_records(&self, user: &User, cluster: &ClusterName) -> Result<(), Problem> {
        let operations: Api<ClusterOperation> = Api::all(self.shared.access.client(user)?);
        let mut records: Vec<String> = Vec::new();
        for operation in self.shared.operations.state() {
            if operation.spec.cluster == cluster.as_str() {
                records.push(operation.name_any());
            }
        }
        let failed: Vec<Problem> = stream::iter(records)
            .map(|name| {
                let operations = &operations;
                async move {
                    match timely(operations.delete(&name, &DeleteParams::background())).await {
                        Ok(_) => None,
                        Err(kube::Error::Api(status)) if status.is_not_found() => None,
                        Err(error) => Some(problem(&Doing::new("delete", "ClusterOperation", &name), &error)),
                    }
                }
            })
            .buffer_unordered(AT_ONCE)
            .filter_map(std::future::ready)
            .collect()
            .await;
        match failed.first() {
            None => Ok(()),
            Some(why) => Err(Problem::Unavailable {
                message: format!(
                    "{cluster} was unregistered, but {} of its operations could not be deleted. {why}",
                    failed.len()
                ),
            }),
        }
    }
}
