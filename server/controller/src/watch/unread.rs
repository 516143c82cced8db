//! Objects that exist but that this version can't parse, for example after a downgrade.

use std::collections::HashSet;
use std::sync::Arc;

use kube::core::DeserializeGuard;
use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt};
use parking_lot::Mutex;

/// The names of such objects of one kind. The store lacks them, so check here before you treat an object as deleted.
#[derive(Debug, Clone, Default)]
pub struct Unread(Arc<Mutex<Names>>);

#[derive(Debug, Default)]
struct Names {
    known: HashSet<String>,
    /// From the list that is being received.
    listed: HashSet<String>,
}

impl Unread {
    /// Whether such an object of this name exists.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.lock().known.contains(name)
    }

    /// Applies a watch event.
    pub(crate) fn apply<K: Resource<DynamicType = ()>>(&self, event: &Event<DeserializeGuard<K>>) {
        let mut names = self.0.lock();
        match event {
            Event::Apply(object) if object.0.is_err() => drop(names.known.insert(object.name_any())),
            Event::Apply(object) | Event::Delete(object) => drop(names.known.remove(&object.name_any())),
            Event::Init => names.listed.clear(),
            Event::InitApply(object) if object.0.is_err() => {
                // Added at once, while the names of the last list also count until this list is complete.
                names.known.insert(object.name_any());
                names.listed.insert(object.name_any());
            }
            Event::InitApply(_) => {}
            Event::InitDone => names.known = std::mem::take(&mut names.listed),
        }
    }
}

#[cfg(test)]
mod tests {
    use crd::ClusterOperation;
    use serde_json::json;

    use super::*;

    fn guard(name: &str, readable: bool) -> DeserializeGuard<ClusterOperation> {
        let good = json!({"cluster": "c", "actionType": "shell", "action": "a", "image": "i"});
        let newer = json!({"cluster": "c", "actionType": "of-a-newer-version", "action": "a", "image": "i"});
        let spec = if readable { good } else { newer };
        serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec})).unwrap()
    }

    #[test]
    fn an_unreadable_operation_exists_until_it_is_deleted() {
        let unread = Unread::default();
        let known = || ["a", "b", "c"].map(|name| unread.contains(name));
        for event in
            [Event::Init, Event::InitApply(guard("a", false)), Event::InitApply(guard("b", true)), Event::InitDone]
        {
            unread.apply(&event);
        }
        assert_eq!(known(), [true, false, false]);
        unread.apply(&Event::Apply(guard("b", false)));
        unread.apply(&Event::Apply(guard("c", false)));
        unread.apply(&Event::Apply(guard("a", true)));
        unread.apply(&Event::Delete(guard("c", false)));
        assert_eq!(known(), [false, true, false]);
        unread.apply::<ClusterOperation>(&Event::Init);
        unread.apply(&Event::InitApply(guard("c", false)));
        assert_eq!(known(), [false, true, true], "the old list counts until the new one is complete");
        unread.apply::<ClusterOperation>(&Event::InitDone);
        assert_eq!(known(), [false, false, true]);
    }
}
