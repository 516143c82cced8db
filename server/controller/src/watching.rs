//! One watch per kind, each feeding a store and telling what changed.

use std::fmt::Debug;

use futures::{Stream, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use kube::core::DeserializeGuard;
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::{self, Lookup, Store, store::Writer};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::change::Change;
use crate::marks::Marks;
use crate::unread::Unread;

/// How a kind is kept: what is dropped from its objects, and what a change of one is called.
pub(crate) struct Kept<K> {
    pub(crate) trim: fn(&mut K),
    pub(crate) tell: fn(&K) -> Change,
}

/// A store, the names of what is not in it because it can't be read, and the future that keeps both until shutdown.
pub(crate) fn keep<K>(
    api: Api<DeserializeGuard<K>>,
    config: watcher::Config,
    kept: Kept<K>,
    changes: broadcast::Sender<Change>,
    shutdown: CancellationToken,
) -> (Store<K>, Unread, impl Future<Output = ()> + Send)
where
    K: Resource<DynamicType = ()> + Lookup<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let events = watcher(api, config).default_backoff().take_until(shutdown.cancelled_owned());
    let unread = Unread::default();
    (store, unread.clone(), pump(events, writer, kept, unread, changes))
}

async fn pump<K>(
    events: impl Stream<Item = watcher::Result<Event<DeserializeGuard<K>>>> + Send,
    mut writer: Writer<K>,
    kept: Kept<K>,
    unread: Unread,
    changes: broadcast::Sender<Change>,
) where
    K: Resource<DynamicType = ()> + Lookup<DynamicType = ()> + Clone + Send + 'static,
{
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        let Some(mut event) = event
            .inspect_err(
                |error| tracing::warn!(kind = %<K as Resource>::kind(&()), %error, "a watch was cut and begins again"),
            )
            .ok()
            .inspect(|event| unread.see(event))
            .and_then(readable)
        else {
            continue;
        };
        if let Event::Apply(object) | Event::InitApply(object) = &mut event {
            only_its_maker(object.meta_mut());
            if let Some(annotations) = &mut object.meta_mut().annotations {
                annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            }
            (kept.trim)(object);
        }
        writer.apply_watcher_event(&event);
        let change = match &event {
            Event::Apply(object) | Event::Delete(object) => (kept.tell)(object),
            Event::InitDone => Change::everything(),
            Event::Init | Event::InitApply(_) => continue,
        };
        // Nobody listens while starting up and shutting down.
        let _ = changes.send(change);
    }
}

/// One object that can't be read must not stop the others: it is left out, and named in the log.
fn readable<K: Resource<DynamicType = ()>>(event: Event<DeserializeGuard<K>>) -> Option<Event<K>> {
    let read = |guard: DeserializeGuard<K>| {
        guard.0.inspect_err(|error| tracing::error!(kind = %<K as Resource>::kind(&()), name = error.metadata.name, %error, "an object can't be read and is left out")).ok()
    };
    match event {
        Event::Apply(object) => read(object).map(Event::Apply),
        Event::Delete(object) => read(object).map(Event::Delete),
        Event::InitApply(object) => read(object).map(Event::InitApply),
        Event::Init => Some(Event::Init),
        Event::InitDone => Some(Event::InitDone),
    }
}

/// Tells of ConfigMaps that change, keeping none: their names and marks are enough.
pub(crate) async fn tell_of_config_maps(
    client: kube::Client,
    marks: std::sync::Arc<Marks>,
    changes: broadcast::Sender<Change>,
    shutdown: CancellationToken,
) {
    use crate::change::ChangeKind;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::PartialObjectMeta;

    let api: Api<PartialObjectMeta<ConfigMap>> = Api::all(client);
    let mut events = std::pin::pin!(
        watcher(api, watcher::Config::default()).default_backoff().take_until(shutdown.cancelled_owned())
    );
    while let Some(event) = events.next().await {
        if let Ok(event) = &event {
            marks.see(event);
        }
        // What lies there at the start was looked at by the reconcile of its Cluster.
        if let Ok(Event::Apply(map) | Event::Delete(map)) = event {
            let name = format!("{}/{}", ResourceExt::namespace(&map).unwrap_or_default(), map.name_any());
            let _ = changes.send(Change::new(ChangeKind::Inputs, &name, ""));
        }
    }
}

/// Of who wrote what, only which program made the object: lists show it where nobody else is known. The rest is long.
fn only_its_maker(meta: &mut ObjectMeta) {
    let fields = meta.managed_fields.take().unwrap_or_default().into_iter();
    let whole = fields.filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    let maker = whole.min_by(|a, b| a.time.as_ref().map(|t| t.0).cmp(&b.time.as_ref().map(|t| t.0)));
    meta.managed_fields = maker.map(|maker| vec![ManagedFieldsEntry { fields_v1: None, ..maker }]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crd::ClusterOperation;

    #[test]
    fn of_the_managed_fields_only_the_maker_is_kept() {
        let entry = |manager: &str, subresource: &str, at: &str| {
            serde_json::json!({"manager": manager, "operation": "Update", "subresource": subresource, "time": at,
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}})
        };
        let mut meta: ObjectMeta = serde_json::from_value(serde_json::json!({"managedFields": [
            entry("kubeonkube", "status", "2026-01-01T00:00:00Z"),
            entry("editor", "", "2026-01-03T00:00:00Z"),
            entry("kubectl-create", "", "2026-01-02T00:00:00Z"),
        ]}))
        .unwrap();
        only_its_maker(&mut meta);
        let kept = meta.managed_fields.unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].manager.as_deref(), Some("kubectl-create"));
        assert!(kept[0].fields_v1.is_none());
    }

    #[test]
    fn an_object_that_cannot_be_read_does_not_stop_the_others() {
        let event = |spec: serde_json::Value| {
            let object = serde_json::json!({"metadata": {"name": "a"}, "spec": spec});
            readable(Event::Apply(serde_json::from_value::<DeserializeGuard<ClusterOperation>>(object).unwrap()))
        };
        assert!(event(serde_json::json!("nonsense")).is_none());
        let good = serde_json::json!({"cluster": "c", "actionType": "shell", "action": "a", "image": "i"});
        assert!(matches!(event(good), Some(Event::Apply(_))));
    }
}
