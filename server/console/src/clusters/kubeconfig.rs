//! Downloading a cluster's kubeconfig, and the record of who did.

use api::cluster::{Download, KubeconfigAccess, LiveState};
use api::{ClusterName, Problem, Time, User};
use crd::Cluster;
use kube::api::{Patch, PatchParams};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Api, Resource, ResourceExt};
use managed::Found;
use serde_json::json;

use super::requests::not_found;
use crate::access::Right;
use crate::kube_problem::{Doing, answer};
use crate::{Console, moment};

/// How many downloads are kept per cluster.
const KEPT: usize = 20;
/// How often the record is written again if the Cluster changes at the same time.
const ATTEMPTS: usize = 8;

impl Console {
    /// The kubeconfig, read with the rights of `user`. It is only returned if the download could be recorded.
    pub(crate) async fn download_kubeconfig(&self, user: &User, name: &ClusterName) -> Result<String, Problem> {
        let cluster = self.cluster(user, name).await?;
        let doing = Doing::new("read", "Secret", managed::place(&cluster).name);
        let text = match answer(&doing, managed::find(&self.shared.access.client(user)?, &cluster)).await? {
            Found::Text(text) => text,
            Found::Nothing => {
                return Err(Problem::NotFound { what: "kubeconfig of the cluster".into(), name: name.to_string() });
            }
            Found::Unusable(message) => return Err(Problem::Invalid { message, fields: Vec::new() }),
        };
        self.record_download(user, name).await?;
        Ok(text)
    }

    /// What the overview shows; `None` if no kubeconfig is known.
    pub(crate) async fn kubeconfig_access(
        &self,
        user: &User,
        cluster: &Cluster,
        live: LiveState,
    ) -> Option<KubeconfigAccess> {
        if matches!(live, LiveState::NotRead | LiveState::NoKubeconfig) {
            return None;
        }
        let at = managed::place(cluster);
        let right = Right::secret(&at.namespace, at.name);
        let may_download = self.shared.access.require(user, right).await.is_ok();
        Some(KubeconfigAccess { may_download, downloads: downloads(cluster) })
    }

    /// Writes the record with the server's rights: users who may only read must not be able to leave it out.
    async fn record_download(&self, user: &User, name: &ClusterName) -> Result<(), Problem> {
        let client = self.shared.access.own();
        let clusters: Api<Cluster> = Api::all(client.clone());
        let (reading, writing) =
            (Doing::new("read", "Cluster", name), Doing::new("record the download in", "Cluster", name));
        for _ in 0..ATTEMPTS {
            let found = answer(&reading, clusters.get_opt(name.as_str())).await?.ok_or_else(|| not_found(name))?;
            let mut all = downloads(&found);
            all.insert(0, Download { by: user.name.clone(), at: moment::now() });
            all.truncate(KEPT);
            let text = serde_json::to_string(&all).unwrap_or_default();
            let version = &found.metadata.resource_version;
            let patch =
                json!({"metadata": {"resourceVersion": version, "annotations": {crd::ANNOTATION_DOWNLOADS: text}}});
            let patched = clusters.patch(name.as_str(), &PatchParams::default(), &Patch::Merge(patch)).await;
            if matches!(&patched, Err(kube::Error::Api(status)) if status.is_conflict()) {
                continue;
            }
            answer(&writing, std::future::ready(patched)).await?;
            let event = Event {
                type_: EventType::Normal,
                reason: "KubeconfigDownloaded".into(),
                note: Some(format!("{} downloaded the kubeconfig.", user.name)),
                action: "Download".into(),
                secondary: None,
            };
            let recorder = Recorder::new(client, Reporter { controller: crd::PRODUCT.into(), instance: None });
            if let Err(error) = recorder.publish(&event, &found.object_ref(&())).await {
                // The annotation says the same.
                tracing::warn!(cluster = %name, %error, "an Event about a download could not be written");
            }
            return Ok(());
        }
        Err(Problem::Unavailable {
            message: format!("Cluster {name} changes too often to record the download. Try again."),
        })
    }
}

/// The recorded downloads, newest first.
fn downloads(cluster: &Cluster) -> Vec<Download> {
    let text = cluster.annotations().get(crd::ANNOTATION_DOWNLOADS);
    let mut all: Vec<Download> = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    all.sort_by_key(|download| std::cmp::Reverse::<Time>(download.at));
    all.truncate(KEPT);
    all
}
