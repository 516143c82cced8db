//! The output of local runs, as the log route of the API wants it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;

use super::process::is_plain;
use super::records::{Filter, SHORTEST, after_last_newlines};
use super::run_dir::RunDir;
use standalone::{LogQuery, LogRefusal, LogSource, LogStream, PodLogs};

/// How soon a follower sees what was written. Looking costs one system call, and only while somebody follows a run that goes on.
const LOOK: Duration = Duration::from_millis(25);
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
        let (at, tail) = (dir.log(), query.tail_lines);
        // The end of a log of a gigabyte may be far from its last lines.
        let opened = tokio::task::spawn_blocking(move || open(&at, tail)).await;
        let file = match opened.map_err(io::Error::other).flatten() {
            Ok(file) => file,
            // It ended before it wrote anything, or could not be started.
            Err(error) if error.kind() == io::ErrorKind::NotFound && dir.has_exit() => {
                return Ok(stream::empty().boxed());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(waiting()),
            Err(error) => return Err(unreadable(&error)),
        };
        let reader = Reader::new(dir, file, query);
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
    fn new(dir: RunDir, file: File, query: &LogQuery) -> Self {
        let since = query.since.map(|since| format!("{since:.9}"));
        let filter = Filter::new(since, query.timestamps, query.limit_bytes);
        Self { dir, file, filter, follow: query.follow, pending: Vec::new() }
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

/// A log, at its beginning or at its last `tail` records. Blocks.
fn open(path: &Path, tail: Option<u64>) -> io::Result<File> {
    let mut file = File::open(path)?;
    if let Some(wanted) = tail {
        let start = tail_start(&mut file, wanted)?;
        file.seek(SeekFrom::Start(start))?;
    }
    Ok(file)
}

/// Where the last `wanted` records begin: after the newline that ends the one before them.
fn tail_start(file: &mut File, wanted: u64) -> io::Result<u64> {
    let mut newlines = wanted.saturating_add(1);
    let mut end = file.seek(SeekFrom::End(0))?;
    // So many there can't be.
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
        // A hole: it is read like any other gigabyte, and needs no disk.
        let mut file = File::create(dir.log()).unwrap();
        file.set_len(bytes).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        io::Write::write_all(&mut file, ending.as_bytes()).unwrap();
        let name = || "a-run".to_owned();
        (data, LogSource { namespace: name(), pod: name(), uid: name(), container: name() })
    }

    #[tokio::test]
    async fn the_last_lines_of_a_huge_log_are_looked_for_beside_the_requests() {
        let (data, source) = log(64 << 20, "\n2026-11-21T07:00:00.100000000Z stdout F last\n");
        let logs = LocalLogs::new(data.path());
        let query = LogQuery { tail_lines: Some(2), ..LogQuery::default() };
        let mut opening = logs.open(&source, &query);
        assert!(futures::poll!(&mut opening).is_pending(), "the whole log was read before anybody else had a turn");
        assert!(opening.await.is_ok());
    }

    #[tokio::test]
    async fn more_lines_than_a_log_can_have_are_all_of_it() {
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
