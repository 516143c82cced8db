//! A lock for each name that is being registered.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

/// The locked names. Clones share them.
#[derive(Default, Clone)]
pub(crate) struct Registering(Arc<Mutex<HashSet<String>>>);

/// Locks a name until it is dropped.
pub(crate) struct Alone {
    names: Registering,
    name: String,
}

impl Registering {
    /// Locks `name`; `None` if another registration has locked it.
    pub(crate) fn enter(&self, name: &str) -> Option<Alone> {
        let entered = self.0.lock().insert(name.to_owned());
        entered.then(|| Alone { names: self.clone(), name: name.to_owned() })
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.names.0.lock().remove(&self.name);
    }
}
