//! Deleting a control plane: API servers and controllers, then etcd, then the rest. In this order, because an API server without etcd
//! takes a minute to stop.

use std::time::Duration;

use crd::Cluster;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret, Service};
use kube::api::{DeleteParams, ListParams, Preconditions};
use kube::{Api, Client, ResourceExt};

use crate::api::{Child, is_ours};
use crate::certificates::secrets;
use crate::objects::{self, APP, etcd};
use crate::stop::Stop;

/// How long the programs of a deleted cluster may take to stop: nobody waits for their answers.
const GRACE_SECONDS: u32 = 1;

/// The control plane that is deleted.
struct Old<'a> {
    client: &'a Client,
    cluster: String,
    uid: String,
    namespace: &'a str,
}

/// Does what can be done now. `Ok` means that everything is gone.
pub(crate) async fn everything(client: &Client, cluster: &Cluster, namespace: &str) -> Result<(), Stop> {
    let uid = cluster.metadata.uid.clone().unwrap_or_default();
    let old = Old { client, cluster: cluster.name_any(), uid, namespace };
    let programs = [objects::API_SERVER, objects::CONTROLLER_MANAGER, objects::SCHEDULER];
    let mut left = old.remove::<Deployment>(&programs).await?;
    left += old.end_pods(&programs).await?;
    if left > 0 {
        return Err(ending("API servers and controllers"));
    }
    left += old.remove::<StatefulSet>(&[objects::ETCD]).await?;
    left += old.end_pods(&[objects::ETCD]).await?;
    if left > 0 {
        return Err(ending("etcd"));
    }
    let claim = etcd::claim();
    left += old.remove_claim(&claim).await?;
    left += old.remove::<Secret>(&secrets::ALL).await?;
    left += old.remove::<ConfigMap>(&[objects::ETCD_CONFIG]).await?;
    left += old.remove::<Service>(&[objects::API_SERVER, objects::ETCD, objects::ETCD_CLIENT]).await?;
    if left > 0 { Err(ending("volumes, Secrets and Services")) } else { Ok(()) }
}

fn ending(what: &str) -> Stop {
    let again = Duration::from_millis(500);
    Stop {
        again,
        ..Stop::wait("Deleting", format!("The cluster is being deleted: waiting until its {what} are gone."))
    }
}

impl Old<'_> {
    fn stop(&self, what: &str, error: &kube::Error) -> Stop {
        Stop::of(self.namespace, what, error)
    }

    /// Deletes these objects if they are ours. Returns how many are left: an object may have finalizers.
    async fn remove<K: Child>(&self, names: &[&str]) -> Result<usize, Stop> {
        let api: Api<K> = Api::namespaced(self.client.clone(), self.namespace);
        let mut left = 0;
        for name in names {
            let what = format!("delete {} {}/{name}", K::kind(&()), self.namespace);
            let found = api.get_opt(name).await.map_err(|error| self.stop(&what, &error))?;
            let Some(found) = found.filter(|found| is_ours(found, &self.uid)) else { continue };
            left += self.delete(&api, &found, DeleteParams::background(), &what).await?;
        }
        Ok(left)
    }

    /// Deletes the volume claim if it is ours.
    async fn remove_claim(&self, name: &str) -> Result<usize, Stop> {
        let api: Api<PersistentVolumeClaim> = Api::namespaced(self.client.clone(), self.namespace);
        let what = format!("delete PersistentVolumeClaim {}/{name}", self.namespace);
        let found = api.get_opt(name).await.map_err(|error| self.stop(&what, &error))?;
        match found.filter(|claim| etcd::is_claim_of(claim, &self.uid)) {
            Some(found) => self.delete(&api, &found, DeleteParams::background(), &what).await,
            None => Ok(0),
        }
    }

    /// Ends the pods of these programs quickly. Returns how many are left.
    async fn end_pods(&self, apps: &[&str]) -> Result<usize, Stop> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), self.namespace);
        let ours = format!("{APP} in ({}),{}={}", apps.join(","), crd::LABEL_CLUSTER, self.cluster);
        let what = format!("list pods in {}", self.namespace);
        let pods = api.list(&ListParams::default().labels(&ours)).await.map_err(|error| self.stop(&what, &error))?;
        for pod in &pods.items {
            // Once the workload is gone, its pods are being deleted already; this shortens their grace period.
            if pod.metadata.deletion_grace_period_seconds.is_none_or(|seconds| seconds > i64::from(GRACE_SECONDS)) {
                let params = DeleteParams { grace_period_seconds: Some(GRACE_SECONDS), ..DeleteParams::default() };
                self.delete(&api, pod, params, &format!("delete pod {}", pod.name_any())).await?;
            }
        }
        Ok(pods.items.len())
    }

    /// Deletes exactly this object. Returns 1, because it may still be there.
    async fn delete<K: Child>(&self, api: &Api<K>, found: &K, params: DeleteParams, what: &str) -> Result<usize, Stop> {
        let this = Preconditions { uid: found.meta().uid.clone(), resource_version: None };
        let params = DeleteParams { preconditions: Some(this), ..params };
        match api.delete(&found.name_any(), &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(1),
            Err(error) => Err(self.stop(what, &error)),
            Ok(_) => Ok(1),
        }
    }
}
