//! The lock on the data directory: one server at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The reason why the data directory can't be locked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error(
        "the data directory {dir} is in use by process {pid}. Stop that server, or choose another directory with --data-dir."
    )]
    Held { dir: PathBuf, pid: String },
    #[error("the lock file {file} can't be used: {error}. Check that you own the data directory.")]
    Io { file: PathBuf, error: std::io::Error },
}

/// The lock, held until this value is dropped. The system releases it when the process ends, even after a crash.
#[derive(Debug)]
pub struct DataDirLock {
    _file: File,
}

/// Locks the data directory `dir`. The error names the process that holds the lock.
pub fn take(dir: &Path) -> Result<DataDirLock, LockError> {
    let path = dir.join("lock");
    let io = |error| LockError::Io { file: path.clone(), error };
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {
            // Padded and written over the old number, so that a start on a full disk needs no room. Without the number the lock
            // holds, too.
            let _ = file.rewind().and_then(|()| write!(file, "{:<10}", std::process::id()));
            Ok(DataDirLock { _file: file })
        }
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            file.read_to_string(&mut pid).map_err(io)?;
            let pid = if pid.trim().is_empty() { "?".into() } else { pid.trim().to_owned() };
            Err(LockError::Held { dir: dir.to_path_buf(), pid })
        }
        Err(TryLockError::Error(error)) => Err(io(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_server_learns_which_process_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let held = take(dir.path()).unwrap();
        let refused = take(dir.path()).unwrap_err().to_string();
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        drop(held);
        assert!(take(dir.path()).is_ok());
    }
}
