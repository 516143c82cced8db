//! `kubeonkube backup FILE`: a consistent copy of the standalone database, even while a server writes to it.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

/// Why no copy was made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("there is no database in {0}. Name the data directory of a standalone server with --data-dir.")]
    NoDatabase(PathBuf),
    #[error("{0} already exists. Choose another name.")]
    Exists(PathBuf),
    #[error("can't write {file}: {error}.")]
    File { file: PathBuf, error: std::io::Error },
    #[error("can't copy the database: {0}. Check the free disk space, and that you may read the data directory.")]
    Copy(#[from] rusqlite::Error),
}

/// Copies the database in `data` to `file`, which must not exist. It gets mode 0600, because it contains all keys and tokens.
pub fn backup(data: &Path, file: &Path) -> Result<(), BackupError> {
    let database = data.join("state.db");
    if !database.is_file() {
        return Err(BackupError::NoDatabase(data.to_owned()));
    }
    // Create the empty file with its mode first: SQLite would create it readable for others.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => BackupError::Exists(file.to_owned()),
        _ => BackupError::File { file: file.to_owned(), error },
    })?;
    copy(&database, file).inspect_err(|_| {
        let _ = fs::remove_file(file);
    })
}

/// Copies in one read transaction. The server can write meanwhile.
fn copy(database: &Path, file: &Path) -> Result<(), BackupError> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    connection.execute("VACUUM INTO ?1", [file.to_string_lossy()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
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
