//! Watches. A watch is a cursor into the history of changes, so a slow client delays no other and needs no buffer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::objects::Objects;
use super::read::not_yet;
use crate::failure::Failure;
use crate::kind::Kind;
use crate::object;
use crate::request::{Target, WatchOptions};
use crate::selector::Selectors;
use crate::store::{Change, Stored};

/// The time between two bookmarks.
const BOOKMARK: Duration = Duration::from_secs(60);
/// The last bookmark is sent this long before the watch ends. The client resumes from it.
const LAST_BOOKMARK: Duration = Duration::from_millis(1500);
/// Maximum events in one chunk of the body.
const CHUNK: usize = 500;
/// The longest watch. Adding a much longer time to an `Instant` would overflow.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// One line of a watch, before it gets the shape the client asked for.
pub(crate) enum Seen {
    Added(Arc<Stored>),
    Modified(Arc<Stored>),
    /// The last matching state of the object, with the revision of the change that ended the match.
    Deleted(Value),
    Bookmark {
        revision: u64,
        initial_end: bool,
    },
    Error(Failure),
}

pub(crate) struct Watch {
    objects: Arc<Objects>,
    target: Target,
    options: WatchOptions,
    cursor: u64,
    ready: VecDeque<Seen>,
    revisions: tokio::sync::watch::Receiver<u64>,
    ends: Instant,
    bookmark: Instant,
    last_bookmark_sent: bool,
    shutdown: CancellationToken,
    failed: bool,
}

impl Watch {
    pub(crate) fn start(
        objects: Arc<Objects>,
        target: Target,
        options: WatchOptions,
        shutdown: CancellationToken,
    ) -> Result<Self, Failure> {
        let now = Instant::now();
        let ends = now + options.timeout.min(LONGEST);
        let mut watch = Self {
            cursor: 0,
            ready: VecDeque::new(),
            revisions: objects.store.revisions(),
            ends,
            bookmark: now + BOOKMARK,
            last_bookmark_sent: false,
            failed: false,
            objects,
            target,
            options,
            shutdown,
        };
        watch.read_initial()?;
        Ok(watch)
    }

    /// Sets the cursor and, if the client wants them, queues the objects that exist.
    fn read_initial(&mut self) -> Result<(), Failure> {
        let visible = self.objects.store.read();
        let wanted = self.options.revision.unwrap_or(0);
        let initial = self.options.initial.unwrap_or(wanted == 0);
        if initial && wanted > visible.revision {
            return Err(not_yet(wanted, visible.revision));
        }
        self.cursor = if initial || wanted == 0 { visible.revision } else { wanted };
        if initial {
            let all = visible.index.list(&self.target.kind.stored_as, self.target.namespace.as_deref());
            let matching =
                all.filter(|(_, stored)| self.options.selectors.match_object(&self.target.kind, &stored.value));
            self.ready.extend(matching.map(|(_, stored)| Seen::Added(stored.clone())));
            if self.options.bookmarks {
                self.ready.push_back(Seen::Bookmark { revision: self.cursor, initial_end: true });
            }
        }
        Ok(())
    }

    /// The next events, at least one; `None` at the end of the watch.
    pub(crate) async fn next(&mut self) -> Option<Vec<Seen>> {
        loop {
            if !self.ready.is_empty() {
                let count = self.ready.len().min(CHUNK);
                return Some(self.ready.drain(..count).collect());
            }
            if self.failed || self.shutdown.is_cancelled() {
                return None;
            }
            // Before reading the history, so that a change after the reading wakes the wait below.
            self.revisions.mark_unchanged();
            self.collect();
            if !self.ready.is_empty() {
                continue;
            }
            let last = self.ends - LAST_BOOKMARK.min(self.options.timeout);
            let wake =
                if self.last_bookmark_sent || !self.options.bookmarks { self.ends } else { last.min(self.bookmark) };
            tokio::select! {
                changed = self.revisions.changed() => if changed.is_err() { return None },
                () = self.shutdown.cancelled() => return None,
                () = tokio::time::sleep_until(wake) => {
                    let now = Instant::now();
                    if now >= self.ends {
                        return None;
                    }
                    self.last_bookmark_sent = now >= last;
                    self.bookmark = now + BOOKMARK;
                    self.ready.push_back(Seen::Bookmark { revision: self.cursor, initial_end: false });
                }
            }
        }
    }

    /// Queues the changes after the cursor. If the kept history no longer reaches back to it, queues a 410 event and ends the watch.
    fn collect(&mut self) {
        let visible = self.objects.store.read();
        match visible.history.after(self.cursor) {
            Ok(changes) => {
                let (kind, options) = (&self.target.kind, &self.options.selectors);
                let namespace = self.target.namespace.as_deref();
                for change in changes {
                    let here = change.key.resource == kind.stored_as
                        && namespace.is_none_or(|wanted| wanted == change.key.namespace);
                    if let Some(seen) = here.then(|| seen(change, kind, options)).flatten() {
                        self.ready.push_back(seen);
                    }
                }
                self.cursor = self.cursor.max(visible.revision);
            }
            Err(too_old) => {
                let message = format!("too old resource version: {} ({})", self.cursor, too_old.oldest);
                self.ready.push_back(Seen::Error(Failure::new(410, "Expired", message)));
                self.failed = true;
            }
        }
    }
}

/// A change as the selectors show it: an object that starts to match is added, one that stops matching is deleted.
fn seen(change: &Change, kind: &Kind, selectors: &Selectors) -> Option<Seen> {
    let matching = |stored: &&Arc<Stored>| selectors.match_object(kind, &stored.value);
    match (change.old.as_ref().filter(matching), change.new.as_ref().filter(matching)) {
        (None, Some(new)) => Some(Seen::Added(new.clone())),
        (Some(_), Some(new)) => Some(Seen::Modified(new.clone())),
        (Some(old), None) => {
            let mut last = old.value.clone();
            object::set_revision(&mut last, change.revision);
            Some(Seen::Deleted(last))
        }
        (None, None) => None,
    }
}
