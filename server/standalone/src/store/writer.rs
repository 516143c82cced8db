//! The thread that owns the disk. It takes the queued writes, commits them in one transaction and makes them visible.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use parking_lot::RwLock;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::disk::{Disk, DiskError, Row};
use super::history::Change;
use super::index::{Key, Stored};
use super::newest::Newest;
use super::visible::Visible;
use crate::object;

/// Maximum writes in one transaction, so that the first of a burst doesn't wait for all of them.
const BATCH: usize = 256;

pub(super) enum Command {
    Write(Write),
    /// Name, the value to store if there is none yet, and the sender for the stored one.
    Setting(&'static str, String, SyncSender<Result<String, DiskError>>),
    Close,
}

/// The reason why a write failed. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The object is not at the expected revision.
    #[error("another write changed the object first")]
    Raced,
    #[error("{}, so nothing was stored. Free some space and try again.", disk::FULL)]
    Full,
    #[error("the state file can't be written: {0}. Check free space and permissions of the data directory.")]
    Disk(String),
    #[error("the server is shutting down")]
    Closed,
}

/// The sender for the outcome of a write.
pub(super) type Reply = oneshot::Sender<Result<Arc<Stored>, WriteError>>;

pub(super) struct Write {
    pub(super) key: Key,
    pub(super) expected: Option<u64>,
    pub(super) put: Option<Value>,
    pub(super) reply: Reply,
}

/// A write that passed its precondition and waits for the commit.
struct Accepted {
    change: Change,
    shown: Arc<Stored>,
    reply: Reply,
}

/// Keeps the record of the newest revision.
pub(super) struct Record {
    data_dir: PathBuf,
    newest: Newest,
}

impl Record {
    pub(super) fn new(file: &Path, newest: Newest) -> Self {
        Self { data_dir: file.parent().unwrap_or(file).to_owned(), newest }
    }

    fn write(&mut self, revision: u64) {
        self.newest.revision = revision;
        if let Err(error) = self.newest.record(&self.data_dir) {
            tracing::warn!(%error, "the newest revision could not be recorded, so an older state file might not be noticed");
        }
    }
}

pub(super) fn run(
    mut disk: Disk,
    mut record: Record,
    mut queue: mpsc::Receiver<Command>,
    visible: &RwLock<Visible>,
    announce: &watch::Sender<u64>,
    refusals: &AtomicU64,
) {
    record.write(visible.read().revision);
    let mut commands = Vec::with_capacity(BATCH);
    while queue.blocking_recv_many(&mut commands, BATCH) > 0 {
        let mut writes = Vec::with_capacity(commands.len());
        let mut closing = false;
        for command in commands.drain(..) {
            match command {
                Command::Write(write) => writes.push(write),
                Command::Setting(name, value, reply) => drop(reply.send(disk.setting(name, &value))),
                Command::Close => closing = true,
            }
        }
        if !writes.is_empty() {
            commit(&mut disk, &mut record, writes, visible, announce, refusals);
        }
        if closing {
            break;
        }
    }
    disk.close();
    record.write(visible.read().revision);
}

fn commit(
    disk: &mut Disk,
    record: &mut Record,
    writes: Vec<Write>,
    visible: &RwLock<Visible>,
    announce: &watch::Sender<u64>,
    refusals: &AtomicU64,
) {
    let Checked { accepted, raced, rows, revision } = check(writes, visible);
    if !rows.is_empty()
        && let Err(error) = disk.commit(&rows, revision)
    {
        tracing::error!(%error, writes = accepted.len(), "objects could not be stored");
        let full = disk.is_full(&error);
        refusals.fetch_add(1, Ordering::Release);
        // The write that won a race isn't stored, so the one that lost it gets the same error.
        for reply in accepted.into_iter().map(|write| write.reply).chain(raced) {
            let why = if full { WriteError::Full } else { WriteError::Disk(error.to_string()) };
            drop(reply.send(Err(why)));
        }
        return;
    }
    // Before the runner sees a new pod, and not at every write: what counts is that an older file doesn't know all runs.
    let is_new_run = |change: &Change| change.old.is_none() && matches!(&*change.key.resource, "pods" | "jobs.batch");
    if accepted.iter().any(|write| is_new_run(&write.change)) {
        record.write(revision);
    }
    let mut replies = Vec::with_capacity(accepted.len());
    {
        let mut visible = visible.write();
        for Accepted { change, shown, reply } in accepted {
            match &change.new {
                Some(new) => visible.index.put(change.key.clone(), new.clone()),
                None => visible.index.remove(&change.key),
            }
            visible.history.push(change);
            replies.push((reply, shown));
        }
        visible.revision = revision;
    }
    if !replies.is_empty() {
        announce.send_replace(revision);
    }
    for (reply, shown) in replies {
        drop(reply.send(Ok(shown)));
    }
    // Reply last: a client that lost the race re-reads at once and must see the winner.
    for reply in raced {
        drop(reply.send(Err(WriteError::Raced)));
    }
}

struct Checked {
    accepted: Vec<Accepted>,
    /// Writes whose precondition failed.
    raced: Vec<Reply>,
    rows: Vec<Row>,
    revision: u64,
}

/// Checks each precondition against the visible objects and the earlier writes of the same batch.
fn check(writes: Vec<Write>, visible: &RwLock<Visible>) -> Checked {
    let visible = visible.read();
    let mut revision = visible.revision;
    let mut ahead: HashMap<Key, Option<Arc<Stored>>> = HashMap::new();
    let (mut accepted, mut raced) = (Vec::with_capacity(writes.len()), Vec::new());
    let mut rows = Vec::with_capacity(writes.len());
    for Write { key, expected, put, reply } in writes {
        let old = ahead.get(&key).cloned().unwrap_or_else(|| visible.index.get(&key));
        if old.as_ref().map(|old| old.revision) != expected || (old.is_none() && put.is_none()) {
            raced.push(reply);
            continue;
        }
        revision += 1;
        let gone = put.is_none();
        let mut value = put.or_else(|| old.as_ref().map(|old| old.value.clone())).unwrap_or_default();
        object::set_revision(&mut value, revision);
        let body = if gone { String::new() } else { value.to_string() };
        let shown = Arc::new(Stored { revision, size: body.len(), value });
        let new = (!gone).then(|| shown.clone());
        rows.push(Row { key: key.clone(), revision, body: (!gone).then_some(body) });
        ahead.insert(key.clone(), new.clone());
        accepted.push(Accepted { change: Change { revision, key, old, new }, shown, reply });
    }
    Checked { accepted, raced, rows, revision }
}
