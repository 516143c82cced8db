//! Serves the output of runs to the API's log route.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use standalone::{LogQuery, LogRefusal, LogSource, LogStream, PodLogs};

use super::records::{Filter, SHORTEST, after_last_newlines};
use crate::run_dir::{RunDir, is_run_name};

/// How often a follower of an active run checks for new output. A check costs one system call.
const POLL: Duration = Duration::from_millis(25);
/// Bytes per read.
const BLOCK: usize = 64 * 1024;

/// Serves the logs `<data>/runs/<uid>/log`.
#[derive(Debug, Clone)]
pub struct LocalLogs {
    data_dir: PathBuf,
}

impl LocalLogs {
    /// The logs of the runs below `data_dir`, which need not exist yet.
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
        if !is_run_name(source.uid.as_ref()) {
            return Err(waiting());
        }
        let dir = RunDir::of(&self.data_dir, &source.uid);
        let (at, tail) = (dir.log(), query.tail_lines);
        // Finding the last lines may mean reading a gigabyte, so it is done on a thread that may block.
        let opened = tokio::task::spawn_blocking(move || open(&at, tail)).await;
        let file = match opened.map_err(io::Error::other).flatten() {
            Ok(file) => file,
            // The run ended without output, or could not be started.
            Err(error) if error.kind() == io::ErrorKind::NotFound && dir.has_exit() => {
                return Ok(stream::empty().boxed());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(waiting()),
            Err(error) => return Err(LogRefusal::Unreadable(error.to_string())),
        };
        let since = query.since.map(|since| format!("{since:.9}"));
        let filter = Filter::new(since, query.timestamps, query.limit_bytes);
        let reader = Reader { dir, file, filter, follow: query.follow, pending: Vec::new() };
        let next = |mut reader: Reader| async move { Ok(reader.next().await?.map(|bytes| (bytes, reader))) };
        Ok(stream::try_unfold(reader, next).boxed())
    }
}

/// One reader of one log.
struct Reader {
    dir: RunDir,
    file: File,
    filter: Filter,
    follow: bool,
    /// Bytes that were read but not parsed yet: at most an incomplete record and a block.
    pending: Vec<u8>,
}

impl Reader {
    /// The next text, about a block at most. `None` at the end. Reads on this thread, as the data is mostly in the page cache.
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if self.filter.is_exhausted() {
                return Ok(None);
            }
            // Checked before reading: then this read, or a later one, gets everything that was written before the end.
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
                tokio::time::sleep(POLL).await;
            } else {
                // `since` skipped everything. Let other tasks run while a long log is skipped.
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

/// Opens a log at its start, or at the first of its last `tail` records. Blocks.
fn open(path: &Path, tail: Option<u64>) -> io::Result<File> {
    let mut file = File::open(path)?;
    if let Some(wanted) = tail {
        let start = tail_start(&mut file, wanted)?;
        file.seek(SeekFrom::Start(start))?;
    }
    Ok(file)
}

/// The position of the first of the last `wanted` records.
fn tail_start(file: &mut File, wanted: u64) -> io::Result<u64> {
    let mut newlines = wanted.saturating_add(1);
    let mut end = file.seek(SeekFrom::End(0))?;
    // The log is too short to have more records.
    if wanted.saturating_mul(SHORTEST) >= end {
        return Ok(0);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn log(bytes: u64, ending: &str) -> (tempfile::TempDir, LogSource) {
        let data = tempfile::tempdir().unwrap();
        let dir = RunDir::of(data.path(), "a-run");
        dir.make().unwrap();
        // A sparse file is read like any other, but needs no disk.
        let mut file = File::create(dir.log()).unwrap();
        file.set_len(bytes).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        io::Write::write_all(&mut file, ending.as_bytes()).unwrap();
        let name = || "a-run".to_owned();
        (data, LogSource { namespace: name(), pod: name(), uid: name(), container: name() })
    }

    #[tokio::test]
    async fn finding_the_last_lines_of_a_huge_log_does_not_block() {
        let (data, source) = log(64 << 20, "\n2026-11-21T07:00:00.100000000Z stdout F last\n");
        let logs = LocalLogs::new(data.path());
        let query = LogQuery { tail_lines: Some(2), ..LogQuery::default() };
        let mut opening = logs.open(&source, &query);
        assert!(futures::poll!(&mut opening).is_pending(), "the whole log was read without letting other tasks run");
        assert!(opening.await.is_ok());
    }

    #[tokio::test]
    async fn asking_for_more_lines_than_there_are_returns_all() {
        let line = "2026-11-21T07:00:00.100000000Z stdout F \n";
        let (data, source) = log(0, &line.repeat(3));
        let logs = LocalLogs::new(data.path());
        for (tail, lines) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (u64::MAX, 3)] {
            let query = LogQuery { tail_lines: Some(tail), ..LogQuery::default() };
            let Ok(stream) = logs.open(&source, &query).await else { panic!("not opened") };
            let read: Vec<_> = stream.map(Result::unwrap).collect().await;
            assert_eq!(read.concat(), "\n".repeat(lines).as_bytes(), "{tail}");
        }
    }
}
