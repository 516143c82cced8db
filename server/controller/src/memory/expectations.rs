//! What this process has written and its stores don't show yet, and the slots of `--max-running`.
//!
//! Without this, a reconcile between a write and its watch event would read, decide and write once more. Correctness doesn't depend on
//! it, because every write has a precondition. It saves requests, and it counts running operations that a store which is behind would
//! miss.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// After this time the stores are trusted again: a watch this late was interrupted and will list everything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The last write about an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// A slot is reserved and the inputs are being read; nothing is written. It lasts as long as its [`Slot`].
    Reading,
    /// The turn was taken.
    Claim,
    /// The operation before it handed it the turn, in the same write that ended its own turn.
    Handed,
    /// The Job was created. `version` is the operation's resourceVersion after its status was written, `on` the uid of the Cluster
    /// that has its turn.
    Started { version: Option<String>, on: Option<String> },
    /// The result was recorded.
    Finished,
}

/// The last writes and the reserved slots, by the operation's uid.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    written: Mutex<HashMap<String, (Written, Instant)>>,
    given_back: Notify,
    /// Operations that gave a slot back since the last call of `slots_given_back`.
    givers: Mutex<HashSet<String>>,
}

impl Expectations {
    /// The last write about the operation with this uid that the stores may not show yet.
    pub(crate) fn of(&self, uid: &str) -> Option<Written> {
        let written = self.locked().get(uid).filter(|noted| is_fresh(noted)).map(|(written, _)| written.clone());
        written.filter(|written| *written != Written::Reading)
    }

    /// Reserves one of `max` slots for `uid`; None if all are taken. `running` are the uids that have a turn according to the store.
    pub(crate) fn reserve(&self, uid: &str, running: &HashSet<String>, max: usize) -> Option<Slot<'_>> {
        let mut written = self.locked();
        written.retain(|_, noted| is_fresh(noted));
        has_room(&written, uid, running, max).then(|| {
            written.insert(uid.to_owned(), (Written::Reading, Instant::now()));
            Slot { of: self, uid: uid.to_owned() }
        })
    }

    /// Waits until a slot is given back unused, and `pause` longer. Returns the uids of the operations that gave one back.
    pub(crate) async fn slots_given_back(&self, pause: Duration) -> HashSet<String> {
        self.given_back.notified().await;
        tokio::time::sleep(pause).await;
        std::mem::take(&mut *self.givers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a write.
    pub(crate) fn wrote(&self, uid: &str, what: Written) {
        self.locked().insert(uid.to_owned(), (what, Instant::now()));
    }

    /// Forgets an operation: the stores show its last write, or the write failed.
    pub(crate) fn forget(&self, uid: &str) {
        self.locked().remove(uid);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, (Written, Instant)>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reserved slot. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    of: &'a Expectations,
    uid: String,
}

impl Slot<'_> {
    /// The turn was written, and the stores will show it.
    pub(crate) fn keep(mut self) {
        let uid = std::mem::take(&mut self.uid);
        self.of.wrote(&uid, Written::Claim);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if !self.uid.is_empty() {
            self.of.forget(&self.uid);
            let mut givers = self.of.givers.lock().unwrap_or_else(PoisonError::into_inner);
            givers.insert(std::mem::take(&mut self.uid));
            self.of.given_back.notify_one();
        }
    }
}

fn is_fresh((written, since): &(Written, Instant)) -> bool {
    *written == Written::Reading || since.elapsed() < PATIENCE
}

fn has_room(written: &HashMap<String, (Written, Instant)>, uid: &str, running: &HashSet<String>, max: usize) -> bool {
    let ended = |uid: &String| written.get(uid).is_some_and(|noted| noted.0 == Written::Finished && is_fresh(noted));
    let by_store = running.iter().filter(|other| *other != uid && !ended(other)).count();
    let here = |(other, noted): &(&String, &(Written, Instant))| {
        is_fresh(noted) && noted.0 != Written::Finished && *other != uid && !running.contains(*other)
    };
    by_store + written.iter().filter(here).count() < max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_count_turns_that_the_store_does_not_show_yet() {
        let slots = Expectations::default();
        let running = HashSet::from(["a".to_owned()]);
        slots.reserve("b", &running, 2).unwrap().keep();
        assert!(slots.reserve("c", &running, 2).is_none(), "a according to the store, b by its own write");
        slots.wrote("a", Written::Finished);
        slots.reserve("c", &running, 2).expect("the store is only behind").keep();
        slots.forget("b");
        slots.reserve("b", &running, 2).unwrap().keep();
        assert!(slots.reserve("b", &running, 2).is_some(), "an operation needs only one slot");
    }

    #[test]
    fn an_unused_slot_is_free_again() {
        let slots = Expectations::default();
        let taken = slots.reserve("a", &HashSet::new(), 1);
        assert!(slots.reserve("b", &HashSet::new(), 1).is_none());
        drop(taken);
        assert!(slots.reserve("b", &HashSet::new(), 1).is_some());
    }
}
