//! The newest revision of the state file, in a small file beside it. With it, the next start notices that the state file is
//! missing or was replaced by an older one, and that runs and logs would be taken for leftovers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde::{Deserialize, Serialize};

/// A state of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Newest {
    /// Identifies the database; its backups have the same. Empty if an older version wrote the file.
    pub database: String,
    pub revision: u64,
}

/// The name of the setting with the identity of the database.
pub(super) const DATABASE: &str = "database";

impl Newest {
    /// The newest state that a server has recorded in this data directory. `None` if there is no record.
    pub fn recorded(data_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path(data_dir)).ok()?).ok()
    }

    /// The state of `state.db`, or of a copy. `None` if the file has no objects, or is empty or missing.
    pub fn of(file: &Path) -> rusqlite::Result<Option<Self>> {
        if fs::metadata(file).map_or(0, |metadata| metadata.len()) == 0 {
            return Ok(None);
        }
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let format: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if format == 0 {
            return Ok(None);
        }
        let setting = |name: &str| -> rusqlite::Result<Option<String>> {
            let query = "SELECT value FROM settings WHERE name = ?1";
            connection.query_row(query, [name], |row| row.get(0)).optional()
        };
        let revision = setting("revision")?.and_then(|text| text.parse().ok()).unwrap_or(0);
        let database = setting(DATABASE)?.unwrap_or_default();
        Ok((revision > 0).then_some(Self { database, revision }))
    }

    /// Replaces the record.
    pub fn record(&self, data_dir: &Path) -> io::Result<()> {
        disk::save(&path(data_dir), &serde_json::to_vec(self)?)
    }

    /// Removes the record, so that a new database can start.
    pub fn forget(data_dir: &Path) -> io::Result<()> {
        match fs::remove_file(path(data_dir)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("state.newest")
}
