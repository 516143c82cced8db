//! The state file of standalone mode, `state.db`, outside of a running server: checked before a start, backed up, restored.

mod backup;
mod backups;
mod check;
mod queued;
mod restore;

pub use backup::{BackupError, backup};
pub use check::{StateError, check, set_aside};
pub use restore::{RestoreError, Restored, restore};

use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::ErrorCode;

/// Whether a database in `folder` couldn't be written because the disk, or the quota of this user on it, is full. SQLite reports a full
/// quota as an I/O error.
fn is_full(error: &rusqlite::Error, folder: &Path) -> bool {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => true,
        Some(ErrorCode::SystemIoFailure) => disk::refuses_writes(folder),
        _ => false,
    }
}

/// The state file of a data directory.
fn file(data: &Path) -> PathBuf {
    data.join("state.db")
}

/// Renames the state file and what SQLite keeps beside it. Returns the new name; `None` if there is no state file.
fn rename_away(data: &Path) -> io::Result<Option<PathBuf>> {
    let file = file(data);
    if !file.exists() {
        return Ok(None);
    }
    let free = |number: &u32| !data.join(format!("state.db.replaced-{number}")).exists();
    let number = (1..).find(free).unwrap_or_default();
    let to = data.join(format!("state.db.replaced-{number}"));
    rename_database(&file, &to)?;
    Ok(Some(to))
}

/// Renames a database with what SQLite keeps beside it. If that fails, for example because the folder can't grow on a full disk, all
/// files have their old names.
fn rename_database(from: &Path, to: &Path) -> io::Result<()> {
    // The write-ahead log first: with it, the file is whole under the new name, too.
    const ENDS: [&str; 3] = ["-wal", "-shm", ""];
    for (done, end) in ENDS.iter().enumerate() {
        match fs::rename(with_end(from, end), with_end(to, end)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                ENDS[..done].iter().for_each(|end| drop(fs::rename(with_end(to, end), with_end(from, end))));
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

fn with_end(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_that_fails_halfway_is_undone() {
        let data = tempfile::tempdir().expect("a directory");
        let (from, to) = (data.path().join("state.db"), data.path().join("state.db.replaced-1"));
        for end in ["", "-wal", "-shm"] {
            fs::write(with_end(&from, end), end).expect("written");
        }
        // A file can't replace a folder.
        fs::create_dir(with_end(&to, "-shm")).expect("a folder");
        rename_database(&from, &to).expect_err("the second rename fails");
        for end in ["", "-wal", "-shm"] {
            assert_eq!(fs::read_to_string(with_end(&from, end)).expect("its old name"), end);
        }
    }
}
