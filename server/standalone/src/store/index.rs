//! The current objects, ordered by key, and who owns whom.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::object;

/// Where an object lives. Orders as lists do: namespace, then name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// `jobs.batch`, `configmaps`: the plural and the group.
    pub(crate) resource: Arc<str>,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// One object at one revision; never changed, only replaced.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) revision: u64,
    pub(crate) value: Value,
    /// Bytes as JSON, to bound the history.
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
        // Tuples of owned strings can't be looked up by borrowed parts; the clone is cheaper than a second map level.
        self.resources.get(&key.resource)?.get(&(key.namespace.clone(), key.name.clone())).cloned()
    }

    /// All objects of a resource, in one namespace or in all, ordered by key.
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
            self.list(resource, Some(namespace)).map(|((namespace, name), _)| Key {
                resource: resource.clone(),
                namespace: namespace.clone(),
                name: name.clone(),
            })
        });
        keys.collect()
    }

    pub(crate) fn all_keys(&self) -> Vec<Key> {
        let keys = self.resources.iter().flat_map(|(resource, objects)| {
            objects.keys().map(|(namespace, name)| Key {
                resource: resource.clone(),
                namespace: namespace.clone(),
                name: name.clone(),
            })
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
