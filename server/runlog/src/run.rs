//! One run: its folder in the spool, its journal, and what its readers share in memory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::journal::{self, Record};
use crate::scan::{Extent, Point, Scan};
use crate::tail::{Batch, Tail};

const JOURNAL: &str = "journal";
const ABOUT: &str = "about.json";

/// The run that a folder belongs to. The folder's name is the uid of the Job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) operation: String,
    pub(crate) namespace: String,
    pub(crate) pod: String,
    /// The identity of the API server ([`crate::api_identity`]). `None` if it wasn't known yet, or if an older version wrote
    /// the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api: Option<String>,
}

impl About {
    pub(crate) fn save(&self, folder: &Path) -> io::Result<()> {
        disk::save(&folder.join(ABOUT), &serde_json::to_vec(self)?)
    }
}

/// A run whose journal is open.
#[derive(Debug)]
pub(crate) struct StoredRun {
    file: Arc<File>,
    scan: Mutex<Scan>,
    tail: Mutex<Tail>,
    extent: watch::Sender<Extent>,
}

/// The folder of a run in the spool. `None` if the uid isn't a plain name, which could point outside the spool.
pub(crate) fn folder(spool: &Path, uid: &str) -> Option<PathBuf> {
    let plain = !uid.is_empty() && uid.len() <= 64 && uid.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    plain.then(|| spool.join(uid))
}

/// Reads which run a folder belongs to.
pub(crate) fn about(folder: &Path) -> Option<About> {
    serde_json::from_slice(&fs::read(folder.join(ABOUT)).ok()?).ok()
}

/// Whether the log in the folder has ended: its journal has an end record. Reads only a few bytes.
pub(crate) fn has_ended(folder: &Path) -> bool {
    File::open(folder.join(JOURNAL)).and_then(|file| journal::has_ended(&file)).unwrap_or(false)
}

impl StoredRun {
    /// Opens the journal. Creates the folder and the journal if they don't exist. Blocking.
    pub(crate) fn create(folder: &Path, about: &About) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        if !folder.join(ABOUT).exists() {
            about.save(folder)?;
        }
        File::options().create(true).append(true).open(folder.join(JOURNAL))?;
        Self::open(folder)
    }

    /// Opens an existing journal and cuts off a torn last record. Blocking: reads the whole journal once.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let file = File::options().read(true).append(true).open(folder.join(JOURNAL))?;
        let scan = Scan::of(&file)?;
        if file.metadata()?.len() > scan.extent.bytes {
            file.set_len(scan.extent.bytes)?;
        }
        let extent = watch::Sender::new(scan.extent);
        Ok(Self { file: Arc::new(file), scan: Mutex::new(scan), tail: Mutex::default(), extent })
    }

    pub(crate) fn extent(&self) -> Extent {
        *self.extent.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Extent> {
        self.extent.subscribe()
    }

    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Everything the writer needs to resume.
    pub(crate) fn scan(&self) -> Scan {
        self.scan.lock().clone()
    }

    /// A position to read from that comes before both `line` and `event`.
    pub(crate) fn seek(&self, line: u64, event: u64) -> Point {
        self.scan.lock().seek(line, event)
    }

    /// The positions of the run's recaps.
    pub(crate) fn recaps(&self) -> Vec<Point> {
        self.scan.lock().recaps.clone()
    }

    pub(crate) fn batch_at(&self, offset: u64) -> Option<Arc<Batch>> {
        self.tail.lock().at(offset)
    }

    /// Makes records that were appended to the file visible to readers.
    pub(crate) fn publish(&self, bytes: &[u8], records: Vec<Record>) {
        let (start, extent) = {
            let mut scan = self.scan.lock();
            let start = point(&scan.extent);
            for record in bytes.split(|b| *b == b'\n').filter(|r| !r.is_empty()) {
                if scan.add(record).is_none() {
                    tracing::error!("a record that was just written cannot be read back");
                }
            }
            (start, scan.extent)
        };
        {
            let mut tail = self.tail.lock();
            if extent.end.is_some() {
                tail.clear();
            } else {
                tail.push(Batch { start, end: point(&extent), records });
            }
        }
        self.extent.send_modify(|e| *e = Extent { gone: e.gone, ..extent });
    }

    /// Ends all readers, because the run is being deleted.
    pub(crate) fn end_readers(&self) {
        self.extent.send_modify(|e| e.gone = true);
    }
}

fn point(extent: &Extent) -> Point {
    Point { offset: extent.bytes, lines: extent.lines, event: extent.event }
}
