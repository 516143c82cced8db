//! The output of local runs, as the log route of the API wants it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;

use super::process::is_plain;
use super::records::{Filter, after_last_newlines};
use super::run_dir::RunDir;
use crate::pod_log::{LogQuery, LogRefusal, LogSource, LogStream, PodLogs};

/// How soon a follower sees what was written. Looking costs one system call, and only while somebody follows a run that goes on.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes read at once.
const BLOCK: usize = 64 * 1024;

/// Reads `<data>/runs/<uid>/log`.
#[derive(Debug, Clone)]
pub struct LocalLogs {
    data_dir: PathBuf,
}

impl LocalLogs {
    /// Logs of the runs below this data directory; it need not exist yet.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self { data_dir: data_dir.into() }
    }
}

#[async_trait::async_trait]
impl PodLogs for LocalLogs {
    async fn open(&self, source: &LogSource, query: &LogQuery) -> Result<LogStream, LogRefusal> {
        if query.previous {
            return Err(LogRefusal::NoPrevious);
        }
        let waiting = || LogRefusal::NotStarted("ContainerCreating".into());
        if !is_plain(source.uid.as_ref()) {
            return Err(waiting());
        }
        let dir = RunDir::of(&self.data_dir, &source.uid);
        let file = match File::open(dir.log()) {
            Ok(file) => file,
            // It ended before it wrote anything, or could not be started.
            Err(error) if error.kind() == io::ErrorKind::NotFound && dir.has_exit() => {
                return Ok(stream::empty().boxed());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(waiting()),
            Err(error) => return Err(unreadable(&error)),
        };
        let reader = Reader::new(dir, file, query).map_err(|error| unreadable(&error))?;
        Ok(stream::unfold(Some(reader), |reader| async move {
            let mut reader = reader?;
            match reader.next().await {
                Ok(Some(bytes)) => Some((Ok(bytes), Some(reader))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed())
    }
}

fn unreadable(error: &io::Error) -> LogRefusal {
    LogRefusal::Unreadable(error.to_string())
}

/// One reader of one log.
struct Reader {
    dir: RunDir,
    file: File,
    filter: Filter,
    follow: bool,
    /// Read, and not yet understood: less than a record and a block.
    pending: Vec<u8>,
}

impl Reader {
    fn new(dir: RunDir, mut file: File, query: &LogQuery) -> io::Result<Self> {
        if let Some(lines) = query.tail_lines {
            let start = tail_start(&mut file, lines)?;
            file.seek(SeekFrom::Start(start))?;
        }
        let since = query.since.map(|since| format!("{since:.9}"));
        let filter = Filter::new(since, query.timestamps, query.limit_bytes);
        Ok(Self { dir, file, filter, follow: query.follow, pending: Vec::new() })
    }

    /// The next text, at most about a block; None at the end. Reads the page cache, so it is done where it stands.
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if self.filter.is_exhausted() {
                return Ok(None);
            }
            // Asked before reading: what is written before the end is then seen by this read or a later one.
            let ended = !self.follow || self.dir.has_exit() || !self.dir.path().exists();
            let read = self.read()?;
            let mut out = Vec::new();
            let taken = self.filter.take(&self.pending, &mut out);
            self.pending.drain(..taken);
            if !out.is_empty() {
                return Ok(Some(out.into()));
            }
            if read == 0 {
                if ended {
                    return Ok(None);
                }
                tokio::time::sleep(LOOK).await;
            } else {
                // Left out by `since`: a long log is skipped without holding the thread.
                tokio::task::yield_now().await;
            }
        }
    }

    fn read(&mut self) -> io::Result<usize> {
        let before = self.pending.len();
        self.pending.resize(before + BLOCK, 0);
        let read = self.file.read(&mut self.pending[before..]);
        self.pending.truncate(before + *read.as_ref().unwrap_or(&0));
        read
    }
}

/// Where the last `wanted` records begin: after the newline that ends the one before them.
fn tail_start(file: &mut File, wanted: u64) -> io::Result<u64> {
    let mut newlines = wanted.saturating_add(1);
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = vec![0; BLOCK];
    while end > 0 {
        let begin = end.saturating_sub(BLOCK as u64);
        let block = &mut block[..usize::try_from(end - begin).unwrap_or(BLOCK)];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(block)?;
        if let Some(at) = after_last_newlines(block, &mut newlines) {
            return Ok(begin + at as u64);
        }
        end = begin;
    }
    Ok(0)
}
