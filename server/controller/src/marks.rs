//! Which ConfigMaps carry a Cluster's mark (the label `kubeonkube.clay.io/used-by`), by their watch. A hint only: it saves
//! requests, and what it promises wrongly is read all the same.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crd::DataRef;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::Event;

/// The marked ones, each with its Cluster.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marked: Mutex<HashMap<DataRef, String>>,
}

impl Marks {
    /// Whether the ConfigMap at `at` carries the mark of `cluster`.
    pub(crate) fn is_of(&self, at: &DataRef, cluster: &str) -> bool {
        self.marked.lock().unwrap_or_else(PoisonError::into_inner).get(at).is_some_and(|by| by == cluster)
    }

    /// Takes in what the watch tells.
    pub(crate) fn see(&self, event: &Event<PartialObjectMeta<ConfigMap>>) {
        let mut marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |map: &PartialObjectMeta<ConfigMap>| DataRef::new(map.namespace().unwrap_or_default(), map.name_any());
        match event {
            Event::Init => marked.clear(),
            Event::Apply(map) | Event::InitApply(map) => match map.labels().get(crd::LABEL_USED_BY) {
                Some(cluster) => drop(marked.insert(at(map), cluster.clone())),
                None => drop(marked.remove(&at(map))),
            },
            Event::Delete(map) => drop(marked.remove(&at(map))),
            Event::InitDone => {}
        }
    }
}
