//! What this process has written and its stores don't show yet, and the slots of `--max-running`.
//!
//! Without this, a reconcile between a write and its watch event would read, decide and write once more. Correctness doesn't depend on
//! it, because every write has a precondition. It saves requests, and it counts running operations that a store which is behind would
//! miss.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// After this time the stores are trusted again: a watch this late was interrupted and will list everything.
pub(crate) const STORES_CURRENT_WITHIN: Duration = Duration::from_secs(10);

/// The last write about an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// The turn was taken.
    TookTurn,
    /// The operation before it handed it the turn, in the same write that ended its own turn.
    Handed,
    /// The Job was created. `version` is the operation's resourceVersion after its status was written, `on` the uid of the Cluster
    /// that has its turn.
    Started { version: Option<String>, on: Option<String> },
    /// The result was recorded.
    Ended,
}

/// What is noted about an operation.
#[derive(Debug)]
enum Note {
    /// A slot is reserved while the inputs are read; nothing is written yet. The note lasts as long as its [`Slot`].
    Reserved,
    /// The last write, and when it was made.
    Written(Written, Instant),
}

/// The last writes and the reserved slots, by the operation's uid.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    notes: Mutex<HashMap<String, Note>>,
    given_back: Notify,
    /// Operations that gave a slot back since the last call of `slots_given_back`.
    givers: Mutex<HashSet<String>>,
}

impl Expectations {
    /// The last write about the operation with this uid that the stores may not show yet.
    pub(crate) fn of(&self, uid: &str) -> Option<Written> {
        match self.locked().get(uid).filter(|note| note.is_fresh())? {
            Note::Reserved => None,
            Note::Written(written, _) => Some(written.clone()),
        }
    }

    /// Reserves one of `max` slots for `uid`; None if all are taken. `running` are the uids that have a turn according to the store.
    pub(crate) fn reserve(&self, uid: &str, running: &HashSet<String>, max: usize) -> Option<Slot<'_>> {
        let mut notes = self.locked();
        notes.retain(|_, note| note.is_fresh());
        has_room(&notes, uid, running, max).then(|| {
            notes.insert(uid.to_owned(), Note::Reserved);
            Slot { of: self, uid: uid.to_owned() }
        })
    }

    /// Waits until a slot is given back unused, and `pause` longer. Returns the uids of the operations that gave one back.
    pub(crate) async fn slots_given_back(&self, pause: Duration) -> HashSet<String> {
        self.given_back.notified().await;
        tokio::time::sleep(pause).await;
        std::mem::take(&mut *self.givers.lock())
    }

    /// Notes a write.
    pub(crate) fn wrote(&self, uid: &str, what: Written) {
        self.locked().insert(uid.to_owned(), Note::Written(what, Instant::now()));
    }

    /// Forgets an operation: the stores show its last write, or the write failed.
    pub(crate) fn forget(&self, uid: &str) {
        self.locked().remove(uid);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Note>> {
        self.notes.lock()
    }
}

/// A reserved slot. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    of: &'a Expectations,
    uid: String,
}

impl Slot<'_> {
    /// Keeps the slot, because the turn was written: notes that write, which counts as a running operation until the stores show it.
    pub(crate) fn keep(mut self) {
        let uid = std::mem::take(&mut self.uid);
        self.of.wrote(&uid, Written::TookTurn);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if !self.uid.is_empty() {
            self.of.forget(&self.uid);
            let mut givers = self.of.givers.lock();
            givers.insert(std::mem::take(&mut self.uid));
            self.of.given_back.notify_one();
        }
    }
}

impl Note {
    fn is_fresh(&self) -> bool {
        match self {
            Self::Reserved => true,
            Self::Written(_, since) => since.elapsed() < STORES_CURRENT_WITHIN,
        }
    }

    fn has_ended(&self) -> bool {
        matches!(self, Self::Written(Written::Ended, _))
    }
}

fn has_room(notes: &HashMap<String, Note>, uid: &str, running: &HashSet<String>, max: usize) -> bool {
    let ended = |uid: &String| notes.get(uid).is_some_and(|note| note.has_ended() && note.is_fresh());
    let by_store = running.iter().filter(|other| *other != uid && !ended(other)).count();
    let here = |(other, note): &(&String, &Note)| {
        note.is_fresh() && !note.has_ended() && *other != uid && !running.contains(*other)
    };
    by_store + notes.iter().filter(here).count() < max
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
        slots.wrote("a", Written::Ended);
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
