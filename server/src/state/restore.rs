//! `kubeonkube restore FILE`: replaces the state file by a copy of a backup. No server may run.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use disk::NewFile;
use rusqlite::Connection;
use standalone::Newest;

use super::{backup, file as state_file, is_full, queued, rename_away, rename_database};

/// Why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("{0} is not a backup of kubeonkube. Name a file that “kubeonkube backup” wrote.")]
    NoBackup(PathBuf),
    #[error(
        "{count} runs have not ended that {file} doesn't know (folders {folders} in {runs}). The restored server would kill them. Wait \
         until they have ended, or stop them, and try again. Nothing was changed."
    )]
    Unknown { count: usize, file: PathBuf, folders: String, runs: PathBuf },
    #[error(transparent)]
    Lock(#[from] standalone::lock::LockError),
    #[error(
        "there is not enough room in the data directory {0} for the restored data. Nothing was changed. Free some space and try again."
    )]
    Full(PathBuf),
    #[error("can't write to the data directory {0}: {1}. Check its owner and the free space. Nothing was changed.")]
    Io(PathBuf, io::Error),
    #[error("can't copy {0}: {1}. Nothing was changed.")]
    Copy(PathBuf, rusqlite::Error),
}

/// What was restored.
#[derive(Debug)]
pub struct Restored {
    /// The new name of the state file that was there before.
    pub replaced: Option<PathBuf>,
    /// The operations that were running when the backup was made. The server continues with them.
    pub running: Vec<String>,
    /// The operations that were queued then. They are records now and don't start.
    pub queued: Vec<String>,
}

/// Replaces the state file of `data` by a copy of `file`. Revisions continue after those that clients have seen.
pub fn restore(data: &Path, file: &Path) -> Result<Restored, RestoreError> {
    let failed = |error: io::Error| {
        if disk::is_full(&error) {
            RestoreError::Full(data.to_owned())
        } else {
            RestoreError::Io(data.to_owned(), error)
        }
    };
    DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(failed)?;
    let _lock = standalone::lock::take(data)?;
    let Ok(Some(found)) = Newest::of(file) else { return Err(RestoreError::NoBackup(file.to_owned())) };
    let copy = NewFile::for_path(&state_file(data)).map_err(failed)?;
    let (running, queued) = fill(data, file, copy.temporary(), &found)?;
    let replaced = rename_away(data).map_err(failed)?;
    // Without a record, the next start accepts the restored file and writes a new one. The record goes last: after a crash before
    // that, it makes the server refuse to start with a file that is missing.
    let placed = copy.create().and_then(|()| Newest::forget(data));
    if let (Err(_), Some(replaced)) = (&placed, &replaced) {
        drop(rename_database(replaced, &state_file(data)));
    }
    placed.map_err(failed)?;
    Ok(Restored { replaced, running, queued })
}

/// Fills the copy. Returns the operations that were running and those that were queued.
fn fill(data: &Path, file: &Path, copy: &Path, found: &Newest) -> Result<(Vec<String>, Vec<String>), RestoreError> {
    let failed = |error: rusqlite::Error| {
        if is_full(&error, data) {
            RestoreError::Full(data.to_owned())
        } else {
            RestoreError::Copy(file.to_owned(), error)
        }
    };
    backup::copy(file, copy).map_err(failed)?;
    let mut restored = Connection::open(copy).map_err(failed)?;
    let pods = "SELECT json_extract(body, '$.metadata.uid') FROM objects WHERE resource = 'pods'";
    let known: HashSet<String> = texts(&restored, pods).map_err(failed)?.into_iter().collect();
    let unknown: Vec<String> = runner::running(data).into_iter().filter(|uid| !known.contains(uid)).collect();
    if !unknown.is_empty() {
        let (count, file, runs) = (unknown.len(), file.to_owned(), data.join("runs"));
        return Err(RestoreError::Unknown { count, file, folders: unknown.join(", "), runs });
    }
    // A client that has seen a higher revision would take the restored objects for outdated ones.
    let seen = Newest::recorded(data).map_or(0, |newest| newest.revision).max(found.revision);
    let queued = queued::keep_as_records(&mut restored, seen + 1).map_err(failed)?;
    let running = texts(
        &restored,
        "SELECT name FROM objects WHERE resource LIKE 'clusteroperations.%' \
         AND coalesce(json_extract(body, '$.status.status'), '') NOT IN ('Succeeded', 'Failed') \
         AND coalesce(json_extract(body, '$.status.reason'), '') != 'Restored' ORDER BY name",
    );
    Ok((running.map_err(failed)?, queued))
}

/// The first column of a query.
fn texts(database: &Connection, query: &str) -> rusqlite::Result<Vec<String>> {
    database.prepare(query)?.query_map([], |row| row.get(0))?.collect()
}
