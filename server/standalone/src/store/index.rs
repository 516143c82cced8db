//! The current objects, ordered by key, and the dependents of each owner.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::object;

/// The key of an object. Keys are ordered as lists are: by namespace, then by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Plural and group: `jobs.batch`, `configmaps`.
    pub(crate) resource: Arc<str>,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Key {
    pub(crate) fn new(resource: &Arc<str>, namespace: &str, name: &str) -> Self {
        Self { resource: resource.clone(), namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

/// One version of an object. It never changes.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) revision: u64,
    pub(crate) value: Value,
    /// Bytes as JSON. The history is bounded by their sum.
    pub(crate) size: usize,
}

type Objects = BTreeMap<(String, String), Arc<Stored>>;

#[derive(Default)]
pub(crate) struct Index {
    resources: HashMap<Arc<str>, Objects>,
    by_uid: HashMap<String, Key>,
    dependents: HashMap<String, BTreeSet<Key>>,
}

impl Index {
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        // A key of owned strings can't be looked up by borrowed ones. Cloning them is cheaper than a second level of maps.
        self.resources.get(&key.resource)?.get(&(key.namespace.clone(), key.name.clone())).cloned()
    }

    /// The objects of a resource, in one namespace or in all, ordered by key.
    pub(crate) fn list<'a>(
        &'a self,
        resource: &str,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a (String, String), &'a Arc<Stored>)> + use<'a> {
        static NONE: Objects = Objects::new();
        let from = (namespace.unwrap_or_default().to_owned(), String::new());
        self.resources
            .get(resource)
            .unwrap_or(&NONE)
            .range(from..)
            .take_while(move |((at, _), _)| namespace.is_none_or(|wanted| at == wanted))
    }

    /// Every key of every resource in a namespace.
    pub(crate) fn in_namespace(&self, namespace: &str) -> Vec<Key> {
        let keys = self.resources.keys().flat_map(|resource| {
            self.list(resource, Some(namespace)).map(|((_, name), _)| Key::new(resource, namespace, name))
        });
        keys.collect()
    }

    pub(crate) fn all_keys(&self) -> Vec<Key> {
        let keys = self.resources.iter().flat_map(|(resource, objects)| {
            objects.keys().map(|(namespace, name)| Key::new(resource, namespace, name))
        });
        keys.collect()
    }

    pub(crate) fn by_uid(&self, uid: &str) -> Option<&Key> {
        self.by_uid.get(uid)
    }

    /// The objects that name `uid` as an owner.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<Key> {
        self.dependents.get(uid).map(|keys| keys.iter().cloned().collect()).unwrap_or_default()
    }

    pub(crate) fn put(&mut self, key: Key, stored: Arc<Stored>) {
        self.forget(&key);
        self.by_uid.insert(object::uid(&stored.value).to_owned(), key.clone());
        for owner in object::owners(&stored.value) {
            self.dependents.entry(object::text(owner, "uid").to_owned()).or_default().insert(key.clone());
        }
        self.resources.entry(key.resource).or_default().insert((key.namespace, key.name), stored);
    }

    pub(crate) fn remove(&mut self, key: &Key) {
        self.forget(key);
        if let Some(objects) = self.resources.get_mut(&key.resource) {
            objects.remove(&(key.namespace.clone(), key.name.clone()));
        }
    }

    fn forget(&mut self, key: &Key) {
        let Some(old) = self.get(key) else { return };
        self.by_uid.remove(object::uid(&old.value));
        for owner in object::owners(&old.value) {
            let uid = object::text(owner, "uid");
            if let Some(keys) = self.dependents.get_mut(uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
    }
}
