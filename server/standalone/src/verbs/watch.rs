//! Watches: a cursor into the history. A slow reader costs nothing but its place in it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rand::Rng;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Objects;
use super::read::{not_yet, selectors};
use crate::failure::{Cause, Failure};
use crate::http::query::Query;
use crate::http::route::Target;
use crate::kind::Kind;
use crate::object;
use crate::selector::Selectors;
use crate::store::{Change, Stored};

/// Time between bookmarks.
const BOOKMARK: Duration = Duration::from_secs(60);
/// How long before its end a watch sends its last bookmark, so that the client resumes from there.
const LAST_BOOKMARK: Duration = Duration::from_millis(1500);
/// Events in one chunk of the body.
const CHUNK: usize = 500;
/// However long a client asks for, the clock must be able to say when it ends.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub(crate) struct WatchOptions {
    selectors: Selectors,
    revision: Option<u64>,
    bookmarks: bool,
    initial: Option<bool>,
    timeout: Duration,
}

/// One line of a watch, not yet in the shape the client wants.
pub(crate) enum Seen {
    Added(Arc<Stored>),
    Modified(Arc<Stored>),
    /// The last state that matched, with the revision of what ended it.
    Deleted(Value),
    Bookmark {
        revision: u64,
        initial_end: bool,
    },
    Error(Failure),
}

impl WatchOptions {
    pub(crate) fn parse(kind: &Kind, query: &Query) -> Result<Self, Failure> {
        let revision = match query.get("resourceVersion") {
            None => None,
            Some(text) => Some(
                text.parse()
                    .map_err(|_| Failure::internal(format!("invalid resource version \"{text}\": must be a number")))?,
            ),
        };
        let initial = query.get("sendInitialEvents").map(|_| query.flag("sendInitialEvents"));
        let matching = query.get("resourceVersionMatch");
        let wrong = match (initial, matching) {
            (Some(_), Some("NotOlderThan")) | (None, None) => None,
            (Some(_), _) => Some("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
            (None, Some(_)) => Some("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
        };
        if let Some(why) = wrong {
            return Err(Failure::invalid_options("ListOptions", &[Cause::forbidden("resourceVersionMatch", why)]));
        }
        let timeout = match query.number("timeoutSeconds")? {
            Some(seconds) if seconds > 0 => Duration::from_secs(seconds.unsigned_abs()),
            // Spread out, so that all watches of a restarted client don't end together.
            _ => Duration::from_secs(rand::rng().random_range(1800..3600)),
        };
        let bookmarks = query.flag("allowWatchBookmarks");
        Ok(Self { selectors: selectors(kind, query)?, revision, bookmarks, initial, timeout })
    }
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
        watch.begin()?;
        Ok(watch)
    }

    fn begin(&mut self) -> Result<(), Failure> {
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

    /// The next events, at least one; `None` when the watch has come to its end.
    pub(crate) async fn next(&mut self) -> Option<Vec<Seen>> {
        loop {
            if !self.ready.is_empty() {
                let count = self.ready.len().min(CHUNK);
                return Some(self.ready.drain(..count).collect());
            }
            if self.failed || self.shutdown.is_cancelled() {
                return None;
            }
            // Marked before the history is read: a change in between wakes the next wait.
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

/// What a change looks like through selectors: objects that begin to match appear, those that cease to match are
/// deleted.
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
