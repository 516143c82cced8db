//! Which ConfigMaps carry the label `kubeonkube.clay.io/used-by`, according to their watch. This is only a hint that saves requests:
//! a ConfigMap that the list by label doesn't return is read by its name.

use std::collections::HashMap;

use crd::DataRef;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::Event;
use parking_lot::Mutex;

/// The labelled ConfigMaps, each with the Cluster that its label names.
#[derive(Debug, Default)]
pub(crate) struct UsedBy {
    labelled: Mutex<HashMap<DataRef, String>>,
}

impl UsedBy {
    /// Whether the label of the ConfigMap at `at` names `cluster`.
    pub(crate) fn names(&self, at: &DataRef, cluster: &str) -> bool {
        self.labelled.lock().get(at).is_some_and(|by| by == cluster)
    }

    /// Applies a watch event.
    pub(crate) fn apply(&self, event: &Event<PartialObjectMeta<ConfigMap>>) {
        let mut labelled = self.labelled.lock();
        let at = |map: &PartialObjectMeta<ConfigMap>| DataRef::new(map.namespace().unwrap_or_default(), map.name_any());
        match event {
            Event::Init => labelled.clear(),
            Event::Apply(map) | Event::InitApply(map) => match map.labels().get(crd::LABEL_USED_BY) {
                Some(cluster) => drop(labelled.insert(at(map), cluster.clone())),
                None => drop(labelled.remove(&at(map))),
            },
            Event::Delete(map) => drop(labelled.remove(&at(map))),
            Event::InitDone => {}
        }
    }
}
