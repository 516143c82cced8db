//! When the token of each session was last checked with the cluster.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long an accepted token counts as accepted without asking the cluster again.
pub const RECHECK_AFTER: Duration = Duration::from_secs(30);

/// With more sessions than this, all checks are forgotten and each token is checked again.
const REMEMBERED: usize = 4096;

/// Session id → when its token was last checked.
#[derive(Default)]
pub(super) struct Checked(Mutex<HashMap<String, Instant>>);

impl Checked {
    /// Whether this caller has to check the token now. Of several simultaneous callers, one gets `true`.
    pub(super) fn is_due(&self, id: &str) -> bool {
        let mut checked = self.0.lock();
        if checked.get(id).is_some_and(|at| at.elapsed() < RECHECK_AFTER) {
            return false;
        }
        if checked.len() >= REMEMBERED {
            checked.clear();
        }
        checked.insert(id.to_owned(), Instant::now());
        true
    }

    /// Makes the next check due at once.
    pub(super) fn forget(&self, id: &str) {
        self.0.lock().remove(id);
    }

    /// When the next check is due.
    pub(super) fn due_at(&self, id: &str) -> Instant {
        self.0.lock().get(id).copied().unwrap_or_else(Instant::now) + RECHECK_AFTER
    }
}
