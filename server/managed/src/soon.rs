//! Results for pages that ask again and again: each key is read at most every few seconds, and pages don't wait. Pure.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The age of a result up to which it isn't read again.
const FRESH: Duration = Duration::from_secs(5);
/// The age of a result up to which pages show it.
const SHOWN: Duration = Duration::from_secs(30);
/// The time after which a key is dropped that wasn't read again. A reading must take less.
const KEPT: Duration = Duration::from_secs(60);
/// The most keys.
const KEYS: usize = 256;

/// A cluster's uid and the name of a node.
pub(crate) type Key = (String, String);

/// The newest result for each key.
pub(crate) struct Soon<T>(HashMap<Key, Entry<T>>);

struct Entry<T> {
    /// When the newest reading started.
    started: Instant,
    is_busy: bool,
    newest: Option<(Instant, T)>,
}

impl<T> Default for Soon<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone> Soon<T> {
    /// The newest result, and whether the caller must start to read the next one.
    pub(crate) fn look(&mut self, key: &Key, now: Instant) -> (Option<T>, bool) {
        let age = |then: Instant| now.saturating_duration_since(then);
        self.0.retain(|_, entry| age(entry.started) < KEPT);
        let Some(entry) = self.0.get_mut(key) else {
            let has_room = self.0.len() < KEYS;
            if has_room {
                self.0.insert(key.clone(), Entry { started: now, is_busy: true, newest: None });
            }
            return (None, has_room);
        };
        let is_within = |limit| entry.newest.as_ref().is_some_and(|(read, _)| age(*read) < limit);
        let (is_fresh, is_shown) = (is_within(FRESH), is_within(SHOWN));
        let must_read = !entry.is_busy && !is_fresh;
        if must_read {
            (entry.started, entry.is_busy) = (now, true);
        }
        (entry.newest.as_ref().filter(|_| is_shown).map(|(_, result)| result.clone()), must_read)
    }

    /// Keeps a result.
    pub(crate) fn note(&mut self, key: &Key, now: Instant, result: T) {
        if let Some(entry) = self.0.get_mut(key) {
            entry.is_busy = false;
            entry.newest = Some((now, result));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        ("uid".into(), name.into())
    }

    #[test]
    fn a_result_is_read_again_after_five_seconds() {
        let (mut soon, start) = (Soon::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(soon.look(&key("a"), at(0)), (None, true));
        assert_eq!(soon.look(&key("a"), at(1)), (None, false), "one reading is under way");
        assert_eq!(soon.look(&key("b"), at(1)), (None, true), "another node");
        soon.note(&key("a"), at(2), 1);
        assert_eq!(soon.look(&key("a"), at(6)), (Some(1), false));
        assert_eq!(soon.look(&key("a"), at(7)), (Some(1), true));
        assert_eq!(soon.look(&key("a"), at(12)), (Some(1), false));
        soon.note(&key("a"), at(12), 2);
        assert_eq!(soon.look(&key("a"), at(13)), (Some(2), false));
    }

    #[test]
    fn an_old_result_is_not_shown() {
        let (mut soon, start) = (Soon::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        soon.look(&key("a"), at(0));
        soon.note(&key("a"), at(0), 1);
        assert_eq!(soon.look(&key("a"), at(29)), (Some(1), true));
        assert_eq!(soon.look(&key("a"), at(30)), (None, false));
        assert_eq!(soon.look(&key("a"), at(89)), (None, true), "a reading that never ended is forgotten");
    }

    #[test]
    fn keys_are_limited() {
        let (mut soon, start) = (Soon::<u8>::default(), Instant::now());
        for number in 0..KEYS {
            assert!(soon.look(&key(&number.to_string()), start).1);
        }
        assert_eq!(soon.look(&key("more"), start), (None, false));
        assert!(soon.look(&key("more"), start + KEPT).1, "old keys are dropped");
        assert_eq!(soon.0.len(), 1);
    }
}
