//! The SQLite file: format, migrations, transactions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::index::{Key, Stored};

/// The statements at index n migrate a file from format n to n + 1. Only append to this list.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE objects (
        resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (resource, namespace, name)) WITHOUT ROWID;
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO settings VALUES ('revision', '0');
"];

/// Bytes that small writes can use while the disk is full, such as an operation and the snapshot of its inputs.
const RESERVE: u32 = 1024 * 1024;

/// The reason why the state file can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    #[error("the state file {0} can't be opened: {1}. Check that the disk has space and that you own the file.")]
    Open(PathBuf, rusqlite::Error),
    #[error(
        "the state file {0} was written by a newer kubeonkube (format {1}, this version reads up to {2}). Use that version, or restore a backup."
    )]
    Newer(PathBuf, usize, usize),
    #[error(
        "the state file {0} could not be copied to {1} before its upgrade: {2}. Nothing was changed. Free some space and start again."
    )]
    Copy(PathBuf, PathBuf, rusqlite::Error),
    #[error("the state file failed: {0}. Check the disk, or restore a backup.")]
    Sql(#[from] rusqlite::Error),
    #[error("the object {0} in the state file is not JSON: {1}. Restore a backup.")]
    Corrupt(String, serde_json::Error),
    #[error("the thread that writes the state file can't start: {0}")]
    Thread(std::io::Error),
    #[error("the state file is closed")]
    Closed,
}

/// One row to write (`body`) or to delete.
pub(super) struct Row {
    pub(super) key: Key,
    pub(super) revision: u64,
    pub(super) body: Option<String>,
}

pub(super) struct Disk {
    connection: Connection,
}

impl Disk {
    pub(super) fn open(file: &Path) -> Result<Self, DiskError> {
        Self::open_with(file, MIGRATIONS)
    }

    /// Opens the file and migrates it to the newest format of `migrations`.
    fn open_with(file: &Path, migrations: &[&str]) -> Result<Self, DiskError> {
        let opened = |error| DiskError::Open(file.to_path_buf(), error);
        let connection = Connection::open(file).map_err(opened)?;
        // FULL: an acknowledged write, such as the creation of a Job, must survive a power cut, not only a killed
        // process. All writes that arrive during one fsync share the next one.
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY;")
            .map_err(opened)?;
        let mut disk = Self { connection };
        disk.migrate(file, migrations)?;
        if let Err(error) = disk.make_reserve() {
            tracing::warn!(%error, "the state file has no reserve for a full disk");
        }
        Ok(disk)
    }

    /// Makes both files larger than their content. SQLite keeps the pages of deleted rows, and doesn't shrink its log. So objects can
    /// still be changed, and some created, when the disk is full.
    fn make_reserve(&self) -> rusqlite::Result<()> {
        let fill = "INSERT OR REPLACE INTO settings VALUES ('reserve', zeroblob(?1))";
        self.connection.execute(fill, [RESERVE])?;
        self.connection.execute("DELETE FROM settings WHERE name = 'reserve'", [])?;
        self.restart_log()
    }

    /// Copies the log into the file, so that the next write starts at the beginning of the log.
    fn restart_log(&self) -> rusqlite::Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))
    }

    fn migrate(&mut self, file: &Path, migrations: &[&str]) -> Result<(), DiskError> {
        let version: u32 = self.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let version = version as usize;
        if version > migrations.len() {
            return Err(DiskError::Newer(file.to_path_buf(), version, migrations.len()));
        }
        if version == migrations.len() {
            return Ok(());
        }
        if version > 0 {
            let copy = file.with_extension(format!("db.format-{version}"));
            drop(std::fs::remove_file(&copy));
            self.vacuum_into(&copy).map_err(|error| DiskError::Copy(file.to_path_buf(), copy, error))?;
        }
        let transaction = self.connection.transaction()?;
        for step in &migrations[version..] {
            transaction.execute_batch(step)?;
        }
        transaction.execute_batch(&format!("PRAGMA user_version = {}", migrations.len()))?;
        transaction.commit()?;
        Ok(())
    }

    pub(super) fn revision(&self) -> Result<u64, DiskError> {
        let text: String =
            self.connection.query_row("SELECT value FROM settings WHERE name = 'revision'", [], |row| row.get(0))?;
        Ok(text.parse().unwrap_or(0))
    }

    pub(super) fn load(&mut self, mut put: impl FnMut(Key, Arc<Stored>)) -> Result<(), DiskError> {
        let mut statement = self.connection.prepare("SELECT resource, namespace, name, revision, body FROM objects")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let resource: String = row.get(0)?;
            let key = Key { resource: resource.into(), namespace: row.get(1)?, name: row.get(2)? };
            let body: String = row.get(4)?;
            let value = serde_json::from_str(&body).map_err(|error| {
                DiskError::Corrupt(format!("{} {}/{}", key.resource, key.namespace, key.name), error)
            })?;
            put(key, Arc::new(Stored { revision: row.get::<_, i64>(3)?.cast_unsigned(), value, size: body.len() }));
        }
        Ok(())
    }

    /// Writes all rows or, on error, none.
    pub(super) fn commit(&mut self, rows: &[Row], revision: u64) -> rusqlite::Result<()> {
        match self.write(rows, revision) {
            // The log can't grow, but it may be possible to start it again.
            Err(error) if self.is_full(&error) => {
                self.restart_log()?;
                self.write(rows, revision)
            }
            outcome => outcome,
        }
    }

    fn write(&mut self, rows: &[Row], revision: u64) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut put = transaction.prepare_cached("INSERT OR REPLACE INTO objects VALUES (?1, ?2, ?3, ?4, ?5)")?;
            let mut delete = transaction
                .prepare_cached("DELETE FROM objects WHERE resource = ?1 AND namespace = ?2 AND name = ?3")?;
            for Row { key, revision, body } in rows {
                let resource: &str = &key.resource;
                match body {
                    Some(body) => {
                        put.execute(params![resource, key.namespace, key.name, revision.cast_signed(), body])?
                    }
                    None => delete.execute(params![resource, key.namespace, key.name])?,
                };
            }
            transaction
                .prepare_cached("UPDATE settings SET value = ?1 WHERE name = 'revision'")?
                .execute([revision.to_string()])?;
        }
        transaction.commit()
    }

    pub(super) fn setting(&mut self, name: &str, otherwise: &str) -> Result<String, DiskError> {
        let transaction = self.connection.transaction()?;
        let stored: Option<String> =
            transaction.query_row("SELECT value FROM settings WHERE name = ?1", [name], |row| row.get(0)).optional()?;
        if stored.is_none() {
            transaction.execute("INSERT INTO settings VALUES (?1, ?2)", [name, otherwise])?;
        }
        transaction.commit()?;
        Ok(stored.unwrap_or_else(|| otherwise.to_owned()))
    }

    /// Whether a write failed because the disk is full. SQLite reports a full quota as an I/O error.
    pub(super) fn is_full(&self, error: &rusqlite::Error) -> bool {
        let folder = self.connection.path().and_then(|file| Path::new(file).parent());
        error.sqlite_error().is_some_and(|error| match error.code {
            ErrorCode::DiskFull => true,
            ErrorCode::SystemIoFailure => {
                error.extended_code == SQLITE_IOERR_SHMSIZE || folder.is_some_and(disk::refuses_writes)
            }
            _ => false,
        })
    }

    fn vacuum_into(&self, to: &Path) -> rusqlite::Result<()> {
        self.connection.execute("VACUUM INTO ?1", [to.to_string_lossy()]).map(drop)
    }

    pub(super) fn close(self) {
        if let Err((_, error)) = self.connection.close() {
            tracing::warn!(%error, "the state file did not close cleanly; it will recover at the next start");
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
