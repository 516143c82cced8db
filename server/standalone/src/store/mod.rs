//! The objects: all of them in memory for reading, every change on disk before anyone sees it.
//!
//! One thread owns the SQLite file and is the only writer. It takes what has queued up, commits it in one transaction
//! (many writes, one fsync), then makes it visible: index, history, revision. A reader takes the lock only to clone
//! `Arc`s, so it never waits for the disk.

mod disk;
mod history;
mod index;
mod writer;

use std::path::Path;
use std::sync::{Arc, RwLock, RwLockReadGuard};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

pub use disk::DiskError;
pub(crate) use history::Change;
pub(crate) use index::{Key, Stored};

use history::History;
use index::Index;
use writer::{Command, Write};

/// Writes waiting for the disk. A full queue makes writers wait, which is the back-pressure a slow disk needs.
const QUEUE: usize = 1024;

/// Everything readers see, changed only by the writer thread and always as a whole.
#[derive(Default)]
pub(crate) struct Visible {
    pub(crate) index: Index,
    pub(crate) history: History,
    pub(crate) revision: u64,
}

/// Why a write did not happen. Nothing was stored in any of these cases.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The object is no longer at the revision the caller looked at.
    #[error("the object changed in between")]
    Raced,
    #[error("the state file can't be written: {0}. Check free space and permissions of the data directory.")]
    Disk(String),
    #[error("the server is shutting down")]
    Closed,
}

pub(crate) struct Store {
    visible: Arc<RwLock<Visible>>,
    commands: mpsc::Sender<Command>,
    revision: watch::Receiver<u64>,
    thread: std::sync::Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Store {
    /// Opens or makes the state file and reads all objects.
    pub(crate) fn open(file: &Path) -> Result<Self, DiskError> {
        let mut disk = disk::Disk::open(file)?;
        let mut visible = Visible { revision: disk.revision()?, ..Visible::default() };
        disk.load(|key, stored| visible.index.put(key, stored))?;
        visible.history.start_at(visible.revision);
        let (announce, revision) = watch::channel(visible.revision);
        let visible = Arc::new(RwLock::new(visible));
        let (commands, queue) = mpsc::channel(QUEUE);
        let shared = visible.clone();
        let thread = std::thread::Builder::new()
            .name("kubeonkube-store".into())
            .spawn(move || writer::run(disk, queue, &shared, &announce))
            .map_err(DiskError::Thread)?;
        Ok(Self { visible, commands, revision, thread: Some(thread).into() })
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Visible> {
        // A panic while holding the lock can't leave it half changed in a way a restart would not show as well.
        self.visible.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.read().index.get(key)
    }

    /// Wakes whenever the revision grows; closes with the store.
    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.clone()
    }

    /// Stores `put` under `key`, or removes the object when it is `None`, if it is still at `expected` (`None`: does
    /// not exist). Returns what was stored (or removed), with its new resourceVersion, once it is on disk.
    pub(crate) async fn write(
        &self,
        key: Key,
        expected: Option<u64>,
        put: Option<Value>,
    ) -> Result<Arc<Stored>, WriteError> {
        let (reply, answer) = oneshot::channel();
        let write = Write { key, expected, put, reply };
        self.commands.send(Command::Write(write)).await.map_err(|_| WriteError::Closed)?;
        answer.await.map_err(|_| WriteError::Closed)?
    }

    /// A named value beside the objects: certificate authority, token.
    pub(crate) fn setting(&self, name: &'static str, make: impl FnOnce() -> String) -> Result<String, DiskError> {
        let (reply, answer) = std::sync::mpsc::sync_channel(1);
        let mut command = Command::Setting(name, make(), reply);
        while let Err(mpsc::error::TrySendError::Full(back)) = self.commands.try_send(command) {
            command = back;
            std::thread::yield_now();
        }
        answer.recv().unwrap_or(Err(DiskError::Closed))
    }

    /// Commits what is queued and ends the writer thread.
    pub(crate) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(thread) = thread {
            while let Err(mpsc::error::TrySendError::Full(_)) = self.commands.try_send(Command::Close) {
                std::thread::yield_now();
            }
            drop(thread.join());
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}
