//! The latest changes, at which a watch can resume.

use std::collections::VecDeque;
use std::sync::Arc;

use super::index::{Key, Stored};

/// Maximum changes kept. A watch that is further behind gets 410, and its client lists again.
const CHANGES: usize = 10_000;
/// Maximum bytes of replaced objects kept, so that changes of large ConfigMaps can't fill the memory.
const BYTES: usize = 64 << 20;

/// One committed write. A creation has no `old` object, a deletion no `new` one.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) key: Key,
    pub(crate) old: Option<Arc<Stored>>,
    pub(crate) new: Option<Arc<Stored>>,
}

/// The history starts after the requested revision. `oldest` is the oldest revision that can be requested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooOld {
    pub(crate) oldest: u64,
}

#[derive(Default)]
pub(crate) struct History {
    changes: VecDeque<Arc<Change>>,
    /// The revision before the first kept change.
    before: u64,
    bytes: usize,
}

impl History {
    pub(super) fn start_at(&mut self, revision: u64) {
        self.before = revision;
    }

    pub(super) fn push(&mut self, change: Change) {
        self.bytes += weight(&change);
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > CHANGES || (self.bytes > BYTES && self.changes.len() > 1) {
            if let Some(gone) = self.changes.pop_front() {
                self.before = gone.revision;
                self.bytes -= weight(&gone);
            }
        }
    }

    /// The changes with a revision above `revision`, oldest first.
    pub(crate) fn after(&self, revision: u64) -> Result<impl Iterator<Item = &Arc<Change>>, TooOld> {
        if revision < self.before {
            return Err(TooOld { oldest: self.before });
        }
        let from = self.changes.partition_point(|change| change.revision <= revision);
        Ok(self.changes.range(from..))
    }
}

fn weight(change: &Change) -> usize {
    change.old.as_ref().map_or(0, |old| old.size)
}
