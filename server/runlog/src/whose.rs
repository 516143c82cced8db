//! Which API a spool belongs to. One folder may hold the spools of several: a server that is started with another kubeconfig
//! keeps its data directory.

use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, ResourceExt};
use tokio::time::sleep;

/// The namespace that is as old as its cluster, and that nobody can delete.
const OLDEST: &str = "kube-system";

/// What tells this API from all others: the uid of its oldest namespace. Waits until it answers; None where it may not be read.
pub(crate) async fn identity(client: Client) -> Option<String> {
    let namespaces: Api<Namespace> = Api::all(client);
    let mut pause = Duration::from_millis(100);
    loop {
        match namespaces.get(OLDEST).await {
            Ok(namespace) => return namespace.uid(),
            Err(kube::Error::Api(status)) if status.is_forbidden() || status.is_not_found() => {
                tracing::warn!(
                    why = status.message,
                    "this cluster can't be told from others, so the logs of deleted operations stay on disk: let the \
                     server get the namespace {OLDEST}"
                );
                return None;
            }
            Err(error) => tracing::debug!(%error, "the namespace {OLDEST} can't be read yet"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(10));
    }
}
