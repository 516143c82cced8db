//! Since when this process has been trying to deliver the secret results of operations.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The first try by the operation's uid. A new process starts to count again: the time in which no controller ran doesn't count.
#[derive(Debug, Default)]
pub(crate) struct FirstTries(Mutex<HashMap<String, Instant>>);

impl FirstTries {
    /// The time since the first try for this operation, which is now if there was none.
    pub(crate) fn since(&self, uid: &str) -> Duration {
        self.0.lock().entry(uid.to_owned()).or_insert_with(Instant::now).elapsed()
    }

    /// Forgets an operation whose result is delivered or lost.
    pub(crate) fn forget(&self, uid: &str) {
        self.0.lock().remove(uid);
    }
}
