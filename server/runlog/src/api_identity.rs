//! The identity of the API server that a run belongs to. A spool may have runs of several API servers: a server that is started
//! with another kubeconfig keeps its data directory.

use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, ResourceExt};
use tokio::time::sleep;

/// A namespace that exists as long as its cluster and can't be deleted.
const OLDEST: &str = "kube-system";

/// The uid of the namespace [`OLDEST`], which no other API server has. Waits until the API server answers. `None` if the
/// namespace may not be read.
pub(crate) async fn read(client: Client) -> Option<String> {
    let namespaces: Api<Namespace> = Api::all(client);
    let mut pause = Duration::from_millis(100);
    loop {
        match namespaces.get(OLDEST).await {
            Ok(namespace) => return namespace.uid(),
            Err(kube::Error::Api(status)) if status.is_forbidden() || status.is_not_found() => {
                tracing::warn!(
                    why = status.message,
                    "cannot identify this cluster, so the logs of deleted operations stay on disk: allow the server to get \
                     the namespace {OLDEST}"
                );
                return None;
            }
            Err(error) => tracing::debug!(%error, "cannot read the namespace {OLDEST} yet"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(10));
    }
}
