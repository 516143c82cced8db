//! The watch of all ConfigMaps. They are not stored: their names and `used-by` labels are enough.

use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::memory::used_by::UsedBy;
use crate::watch::change::{Change, ChangeKind};

/// Sends a notification for each change of a ConfigMap, and keeps `used_by` up to date, until shutdown.
pub(crate) async fn watch(
    client: Client,
    used_by: Arc<UsedBy>,
    changes: broadcast::Sender<Change>,
    shutdown: CancellationToken,
) {
    let api: Api<PartialObjectMeta<ConfigMap>> = Api::all(client);
    let mut events = std::pin::pin!(
        watcher(api, watcher::Config::default()).default_backoff().take_until(shutdown.cancelled_owned())
    );
    while let Some(event) = events.next().await {
        if let Ok(event) = &event {
            used_by.apply(event);
        }
        // The first list needs no notification: at start, every Cluster is reconciled anyway.
        if let Ok(Event::Apply(map) | Event::Delete(map)) = event {
            let name = format!("{}/{}", ResourceExt::namespace(&map).unwrap_or_default(), map.name_any());
            let _ = changes.send(Change::new(ChangeKind::Inputs, &name, ""));
        }
    }
}
