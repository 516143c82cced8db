//! One run's spool: its folder, its journal and what readers share.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::{
    journal::{self, Record},
    scan::{Extent, Point, Scan},
    tail::{Batch, Tail},
};

const JOURNAL: &str = "journal";
const ABOUT: &str = "about.json";

/// Whose spool a folder is. The folder's name is the uid of the Job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) operation: String,
    pub(crate) namespace: String,
    pub(crate) pod: String,
    /// What tells its API from others (`whose`); None where that was not known yet, or by versions before this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api: Option<String>,
}

impl About {
    /// Writes it into its folder: the whole file or none of it.
    pub(crate) fn save(&self, folder: &Path) -> io::Result<()> {
        let temporary = folder.join("about.new");
        fs::write(&temporary, serde_json::to_vec(self)?)?;
        fs::rename(&temporary, folder.join(ABOUT))
    }
}

/// A run whose journal is open.
#[derive(Debug)]
pub(crate) struct Run {
    file: Arc<File>,
    scan: Mutex<Scan>,
    tail: Mutex<Tail>,
    extent: watch::Sender<Extent>,
}

/// The folder of a run under the spool. None where the uid could leave it.
pub(crate) fn folder(spool: &Path, uid: &str) -> Option<PathBuf> {
    let plain = !uid.is_empty() && uid.len() <= 64 && uid.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    plain.then(|| spool.join(uid))
}

/// Reads whose spool a folder is.
pub(crate) fn about(folder: &Path) -> Option<About> {
    serde_json::from_slice(&fs::read(folder.join(ABOUT)).ok()?).ok()
}

/// Whether the folder holds a journal with its end. Reads a few bytes only.
pub(crate) fn is_complete(folder: &Path) -> bool {
    File::open(folder.join(JOURNAL)).and_then(|file| journal::has_ended(&file)).unwrap_or(false)
}

impl Run {
    /// Makes the folder if need be and opens its journal. Blocking.
    pub(crate) fn create(folder: &Path, about: &About) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        if !folder.join(ABOUT).exists() {
            about.save(folder)?;
        }
        File::options().create(true).append(true).open(folder.join(JOURNAL))?;
        Self::open(folder)
    }

    /// Opens an existing journal, cutting a torn tail. Blocking: reads all of it once.
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

    /// Everything the writer needs to go on.
    pub(crate) fn scan(&self) -> Scan {
        self.scan.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A place to read from that misses neither `line` nor `event`.
    pub(crate) fn seek(&self, line: u64, event: u64) -> Point {
        self.scan.lock().unwrap_or_else(PoisonError::into_inner).seek(line, event)
    }

    /// Where the recaps of the run begin.
    pub(crate) fn recaps(&self) -> Vec<Point> {
        self.scan.lock().unwrap_or_else(PoisonError::into_inner).recaps.clone()
    }

    pub(crate) fn batch_at(&self, offset: u64) -> Option<Arc<Batch>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).at(offset)
    }

    /// Tells readers of records that were appended to the file.
    pub(crate) fn publish(&self, bytes: &[u8], records: Vec<Record>) {
        let (start, extent) = {
            let mut scan = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
            let start = point(&scan.extent);
            for record in bytes.split(|b| *b == b'\n').filter(|r| !r.is_empty()) {
                if scan.add(record).is_none() {
                    tracing::error!("a record was written that can't be read back");
                }
            }
            (start, scan.extent)
        };
        {
            let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
            if extent.end.is_some() {
                tail.clear();
            } else {
                tail.push(Batch { start, end: point(&extent), records });
            }
        }
        self.extent.send_modify(|e| *e = Extent { gone: e.gone, ..extent });
    }

    /// Ends all readers: the run is being forgotten.
    pub(crate) fn end_readers(&self) {
        self.extent.send_modify(|e| e.gone = true);
    }
}

fn point(extent: &Extent) -> Point {
    Point { offset: extent.bytes, lines: extent.lines, event: extent.event }
}
