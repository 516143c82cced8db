//! A watch that fills a store and sends a notification for each change.

use std::fmt::Debug;

use futures::{Stream, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use kube::core::DeserializeGuard;
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{self, Lookup, Store};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::watch::change::Change;
use crate::watch::unread::Unread;

/// What is kept of the objects of a kind, and the notification for a change.
pub(crate) struct Kept<K> {
    /// Removes what the controller and the console don't need.
    pub(crate) trim: fn(&mut K),
    pub(crate) change: fn(&K) -> Change,
}

/// Sees each event before it changes the store.
pub(crate) type Observer<K> = Box<dyn Fn(&Event<K>) + Send>;

/// Returns a store, the names of objects that it lacks because they can't be parsed, and the future that updates both until shutdown.
pub(crate) fn feed<K>(
    api: Api<DeserializeGuard<K>>,
    config: watcher::Config,
    kept: Kept<K>,
    observer: Option<Observer<K>>,
    changes: broadcast::Sender<Change>,
    shutdown: CancellationToken,
) -> (Store<K>, Unread, impl Future<Output = ()> + Send)
where
    K: Resource<DynamicType = ()> + Lookup<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let events = watcher(api, config).default_backoff().take_until(shutdown.cancelled_owned());
    let unread = Unread::default();
    (store, unread.clone(), pump(events, writer, kept, observer, unread, changes))
}

async fn pump<K>(
    events: impl Stream<Item = watcher::Result<Event<DeserializeGuard<K>>>> + Send,
    mut writer: Writer<K>,
    kept: Kept<K>,
    observer: Option<Observer<K>>,
    unread: Unread,
    changes: broadcast::Sender<Change>,
) where
    K: Resource<DynamicType = ()> + Lookup<DynamicType = ()> + Clone + Send + 'static,
{
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        let Some(mut event) = event
            .inspect_err(
                |error| tracing::warn!(kind = %<K as Resource>::kind(&()), %error, "a watch was interrupted and restarts"),
            )
            .ok()
            .inspect(|event| unread.apply(event))
            .and_then(parsed)
        else {
            continue;
        };
        if let Event::Apply(object) | Event::InitApply(object) = &mut event {
            keep_only_creator(object.meta_mut());
            if let Some(annotations) = &mut object.meta_mut().annotations {
                annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            }
            (kept.trim)(object);
        }
        if let Some(observer) = &observer {
            observer(&event);
        }
        writer.apply_watcher_event(&event);
        let change = match &event {
            Event::Apply(object) | Event::Delete(object) => (kept.change)(object),
            Event::InitDone => Change::everything(),
            Event::Init | Event::InitApply(_) => continue,
        };
        // There is no receiver during start-up and shutdown.
        let _ = changes.send(change);
    }
}

/// Leaves out an object that can't be parsed, with a line in the log, so that it doesn't stop the others.
fn parsed<K: Resource<DynamicType = ()>>(event: Event<DeserializeGuard<K>>) -> Option<Event<K>> {
    let read = |guard: DeserializeGuard<K>| {
        guard.0.inspect_err(|error| tracing::error!(kind = %<K as Resource>::kind(&()), name = error.metadata.name, %error, "an object can't be parsed and is left out")).ok()
    };
    match event {
        Event::Apply(object) => read(object).map(Event::Apply),
        Event::Delete(object) => read(object).map(Event::Delete),
        Event::InitApply(object) => read(object).map(Event::InitApply),
        Event::Init => Some(Event::Init),
        Event::InitDone => Some(Event::InitDone),
    }
}

/// Keeps only the entry of the program that created the object: the console shows it for objects without a recorded submitter. The
/// other entries are long and not needed.
fn keep_only_creator(meta: &mut ObjectMeta) {
    let fields = meta.managed_fields.take().unwrap_or_default().into_iter();
    let of_object = fields.filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    let creator = of_object.min_by(|a, b| a.time.as_ref().map(|t| t.0).cmp(&b.time.as_ref().map(|t| t.0)));
    meta.managed_fields = creator.map(|creator| vec![ManagedFieldsEntry { fields_v1: None, ..creator }]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crd::ClusterOperation;

    #[test]
    fn only_the_creator_is_kept_of_managed_fields() {
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
        keep_only_creator(&mut meta);
        let kept = meta.managed_fields.unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].manager.as_deref(), Some("kubectl-create"));
        assert!(kept[0].fields_v1.is_none());
    }

    #[test]
    fn an_object_that_cannot_be_parsed_is_left_out() {
        let event = |spec: serde_json::Value| {
            let object = serde_json::json!({"metadata": {"name": "a"}, "spec": spec});
            parsed(Event::Apply(serde_json::from_value::<DeserializeGuard<ClusterOperation>>(object).unwrap()))
        };
        assert!(event(serde_json::json!("nonsense")).is_none());
        let good = serde_json::json!({"cluster": "c", "actionType": "shell", "action": "a", "image": "i"});
        assert!(matches!(event(good), Some(Event::Apply(_))));
    }
}
