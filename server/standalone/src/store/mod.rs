//! The store: every object in memory for readers, and every change on disk before a reader can see it.
//!
//! One thread owns the SQLite file and is the only writer. It commits the queued writes in one transaction, with one fsync
//! for many writes, and then makes them visible: index, history, revision. The lock is never held during disk access, so
//! readers don't wait for the disk.

mod disk;
mod history;
mod index;
mod newest;
mod visible;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use serde_json::Value;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};

pub use self::disk::DiskError;
pub(crate) use history::Change;
pub(crate) use index::{Key, Stored};
pub use newest::Newest;
pub(crate) use visible::Visible;
pub(crate) use writer::WriteError;

use self::disk::Disk;
use self::writer::{Command, Record, Write};

/// Maximum writes that wait for the disk. With a full queue, callers wait: back-pressure from a slow disk.
const QUEUE: usize = 1024;

pub(crate) struct Store {
    visible: Arc<RwLock<Visible>>,
    commands: mpsc::Sender<Command>,
    revision: watch::Receiver<u64>,
    refusals: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens or creates the state file and reads all objects.
    pub(crate) fn open(file: &Path) -> Result<Self, DiskError> {
        let mut disk = Disk::open(file)?;
        let database = disk.setting(newest::DATABASE, &uuid::Uuid::new_v4().to_string())?;
        let mut visible = Visible { revision: disk.revision()?, ..Visible::default() };
        let record = Record::new(file, Newest { database, revision: visible.revision });
        disk.load(|key, stored| visible.index.put(key, stored))?;
        visible.history.start_at(visible.revision);
        let (announce, revision) = watch::channel(visible.revision);
        let visible = Arc::new(RwLock::new(visible));
        let (commands, queue) = mpsc::channel(QUEUE);
        let shared = visible.clone();
        let refusals = Arc::new(AtomicU64::new(0));
        let counted = refusals.clone();
        let thread = thread::Builder::new()
            .name("kubeonkube-store".into())
            .spawn(move || writer::run(disk, record, queue, &shared, &announce, &counted))
            .map_err(DiskError::Thread)?;
        Ok(Self { visible, commands, revision, refusals, thread: Mutex::new(Some(thread)) })
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Visible> {
        self.visible.read()
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.read().index.get(key)
    }

    /// Wakes at each new revision. The sender is dropped when the store closes.
    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.clone()
    }

    /// How often writes have failed because of the disk.
    pub(crate) fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Acquire)
    }

    /// Stores `put` under `key`, or removes the object if `put` is `None`. The object must be at revision `expected`, or
    /// not exist if that is `None`. Returns the stored or removed object with its new resourceVersion, once it is on disk.
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

    /// A value stored beside the objects, such as the token. If it doesn't exist yet, the result of `make` is stored.
    /// Blocks until it is on disk.
    pub(crate) fn setting(&self, name: &'static str, make: impl FnOnce() -> String) -> Result<String, DiskError> {
        let (reply, answer) = std::sync::mpsc::sync_channel(1);
        self.send_blocking(Command::Setting(name, make(), reply));
        answer.recv().unwrap_or(Err(DiskError::Closed))
    }

    /// Commits the queued writes and ends the writer thread.
    pub(crate) fn close(&self) {
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            self.send_blocking(Command::Close);
            drop(thread.join());
        }
    }

    /// For callers that may be on a runtime's thread, where `blocking_send` would panic.
    fn send_blocking(&self, mut command: Command) {
        while let Err(TrySendError::Full(back)) = self.commands.try_send(command) {
            command = back;
            thread::yield_now();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}
