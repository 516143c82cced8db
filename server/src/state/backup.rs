//! `kubeonkube backup FILE`: a consistent copy of the standalone database, even while a server writes to it.

use std::io;
use std::path::{Path, PathBuf};

use disk::NewFile;
use rusqlite::{Connection, OpenFlags};

use super::{backups, file as state_file, is_full};

/// Why no copy was made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("there is no database in {0}. Name the data directory of a standalone server with --data-dir.")]
    NoDatabase(PathBuf),
    #[error("{0} already exists. Choose another name.")]
    Exists(PathBuf),
    #[error(
        "no backup was made, because there is not enough room for {0}, or in the data directory. Free some space, or write the backup to \
         another disk."
    )]
    Full(PathBuf),
    #[error("can't write {file}: {error}.")]
    File { file: PathBuf, error: io::Error },
    #[error("can't copy the database: {0}. Check the free disk space, and that you may read the data directory.")]
    Copy(#[from] rusqlite::Error),
}

/// Copies the database in `data` to `file`, which must not exist. It gets mode 0600, because it contains all keys and tokens.
pub fn backup(data: &Path, file: &Path) -> Result<(), BackupError> {
    let database = state_file(data);
    if !database.is_file() {
        return Err(BackupError::NoDatabase(data.to_owned()));
    }
    if file.exists() {
        return Err(BackupError::Exists(file.to_owned()));
    }
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(file.to_owned()),
        _ if disk::is_full(&error) => BackupError::Full(file.to_owned()),
        _ => BackupError::File { file: file.to_owned(), error },
    };
    // SQLite would create a file that others can read, and leave a part of it if it is killed or the disk is full.
    let new = NewFile::for_path(file).map_err(failed)?;
    let folder = new.temporary().parent().unwrap_or(data);
    copy(&database, new.temporary()).map_err(|error| {
        if is_full(&error, folder) || is_full(&error, data) {
            BackupError::Full(file.to_owned())
        } else {
            BackupError::Copy(error)
        }
    })?;
    new.create().map_err(failed)?;
    // The copy is complete without it. A start with a missing state file couldn't name it then.
    if let Err(error) = backups::remember(data, file) {
        let data = data.display();
        disk::complain(format_args!("kubeonkube: can't add the copy to the list of backups in {data}: {error}"));
    }
    Ok(())
}

/// Copies in one read transaction. The server can write meanwhile. `file` must be empty or missing.
pub(super) fn copy(database: &Path, file: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    connection.execute("VACUUM INTO ?1", [file.to_string_lossy()]).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_copy_is_complete_private_and_never_overwrites() {
        let data = tempfile::tempdir().expect("a directory");
        let file = data.path().join("copy.db");
        assert!(matches!(backup(data.path(), &file), Err(BackupError::NoDatabase(_))));
        let server = Connection::open(data.path().join("state.db")).expect("open");
        server
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n); INSERT INTO t VALUES (7)")
            .expect("filled");
        backup(data.path(), &file).expect("copied while it is open");
        let copy = Connection::open(&file).expect("open");
        assert_eq!(copy.query_row("SELECT n FROM t", [], |row| row.get::<_, u32>(0)).expect("there"), 7);
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
        assert!(matches!(backup(data.path(), &file), Err(BackupError::Exists(_))));
    }
}
