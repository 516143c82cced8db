//! The thread that owns the disk: takes what waits, commits once, shows it to everybody.

use std::collections::HashMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, RwLock};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::disk::{Disk, DiskError, Row};
use super::{Change, Key, Stored, Visible, WriteError};
use crate::object;

/// Writes in one transaction at most, so that the first of a burst doesn't wait for all of it.
const BATCH: usize = 256;

pub(super) enum Command {
    Write(Write),
    /// Name, the value to store if there is none yet, and where the stored one goes.
    Setting(&'static str, String, SyncSender<Result<String, DiskError>>),
    Close,
}

/// Where a write's answer goes.
pub(super) type Reply = oneshot::Sender<Result<Arc<Stored>, WriteError>>;

pub(super) struct Write {
    pub(super) key: Key,
    pub(super) expected: Option<u64>,
    pub(super) put: Option<Value>,
    pub(super) reply: Reply,
}

/// A write that passed its precondition, waiting for the commit.
struct Accepted {
    change: Change,
    shown: Arc<Stored>,
    reply: Reply,
}

pub(super) fn run(
    mut disk: Disk,
    mut queue: mpsc::Receiver<Command>,
    visible: &RwLock<Visible>,
    announce: &watch::Sender<u64>,
) {
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
            commit(&mut disk, writes, visible, announce);
        }
        if closing {
            break;
        }
    }
    disk.close();
}

fn commit(disk: &mut Disk, writes: Vec<Write>, visible: &RwLock<Visible>, announce: &watch::Sender<u64>) {
    let Judged { accepted, raced, rows, revision } = judge(writes, visible);
    if !rows.is_empty()
        && let Err(error) = disk.commit(&rows, revision)
    {
        tracing::error!(%error, writes = accepted.len(), "objects could not be stored");
        // What lost against a write that isn't stored hasn't lost.
        for reply in accepted.into_iter().map(|write| write.reply).chain(raced) {
            drop(reply.send(Err(WriteError::Disk(error.to_string()))));
        }
        return;
    }
    let mut replies = Vec::with_capacity(accepted.len());
    {
        let mut visible = visible.write().unwrap_or_else(std::sync::PoisonError::into_inner);
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
    // Not before: who is told of a conflict reads next what it was with.
    for reply in raced {
        drop(reply.send(Err(WriteError::Raced)));
    }
}

struct Judged {
    accepted: Vec<Accepted>,
    /// Whose precondition failed.
    raced: Vec<Reply>,
    rows: Vec<Row>,
    revision: u64,
}

/// Checks every precondition against what is visible and against the writes before it in the same batch.
fn judge(writes: Vec<Write>, visible: &RwLock<Visible>) -> Judged {
    let visible = visible.read().unwrap_or_else(std::sync::PoisonError::into_inner);
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
    Judged { accepted, raced, rows, revision }
}
