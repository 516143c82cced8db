//! What this process has written and its stores don't show yet.
//!
//! A reconcile that runs again between a write and its watch event would read, decide and write once more. Correctness never
//! rests on this: every write has its own precondition. It saves those requests, and it counts the running operations for
//! `--max-running`, where a store that lags would let too many through.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// After this the stores are believed again: a watch that is so late has been cut, and its list comes anew.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What was written last about an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// A slot is taken and its inputs are read; nothing exists yet. It ends with its [`Slot`].
    Reading,
    /// The turn is being taken; nothing else exists yet.
    Claim,
    /// The operation before it left it the turn, in the same write that ended its own.
    Handed,
    /// Its Job was created; the operation's status has this resourceVersion, the Cluster it has the turn of this uid.
    Started { version: Option<String>, on: Option<String> },
    /// Its end was recorded.
    Finished,
}

/// By uid.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    written: Mutex<HashMap<String, (Written, Instant)>>,
    given_back: Notify,
    /// Who gave a slot back since somebody asked.
    givers: Mutex<HashSet<String>>,
}

impl Expectations {
    /// What the stores should soon show about the operation with this uid.
    pub(crate) fn of(&self, uid: &str) -> Option<Written> {
        let written = self.locked().get(uid).filter(|noted| is_fresh(noted)).map(|(written, _)| written.clone());
        written.filter(|written| *written != Written::Reading)
    }

    /// Takes one of `max` slots for `uid`; `running` are the uids that have a turn by the store. None: all are taken.
    pub(crate) fn reserve(&self, uid: &str, running: &HashSet<String>, max: usize) -> Option<Slot<'_>> {
        let mut written = self.locked();
        written.retain(|_, noted| is_fresh(noted));
        has_room(&written, uid, running, max).then(|| {
            written.insert(uid.to_owned(), (Written::Reading, Instant::now()));
            Slot { of: self, uid: uid.to_owned() }
        })
    }

    /// Waits until slots were given back that nothing came of, and `pause` longer; the uids of those who gave them back.
    pub(crate) async fn slots_given_back(&self, pause: Duration) -> HashSet<String> {
        self.given_back.notified().await;
        tokio::time::sleep(pause).await;
        std::mem::take(&mut *self.givers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a write.
    pub(crate) fn wrote(&self, uid: &str, what: Written) {
        self.locked().insert(uid.to_owned(), (what, Instant::now()));
    }

    /// Forgets an operation: the stores have caught up, or nothing came of the claim.
    pub(crate) fn forget(&self, uid: &str) {
        self.locked().remove(uid);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, (Written, Instant)>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot that is taken. Whoever comes to nothing gives it back.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    of: &'a Expectations,
    uid: String,
}

impl Slot<'_> {
    /// The claim was written, and the stores will show it.
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
    fn slots_count_what_the_store_shows_and_what_it_does_not_show_yet() {
        let slots = Expectations::default();
        let running = HashSet::from(["a".to_owned()]);
        slots.reserve("b", &running, 2).unwrap().keep();
        assert!(slots.reserve("c", &running, 2).is_none(), "a by the store, b by us");
        slots.wrote("a", Written::Finished);
        slots.reserve("c", &running, 2).expect("the store only lags").keep();
        slots.forget("b");
        slots.reserve("b", &running, 2).unwrap().keep();
        assert!(slots.reserve("b", &running, 2).is_some(), "one operation needs one slot");
    }

    #[test]
    fn a_slot_that_nothing_came_of_is_free_again() {
        let slots = Expectations::default();
        let taken = slots.reserve("a", &HashSet::new(), 1);
        assert!(slots.reserve("b", &HashSet::new(), 1).is_none());
        drop(taken);
        assert!(slots.reserve("b", &HashSet::new(), 1).is_some());
    }
}
