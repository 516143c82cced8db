//! The lock on the folder: one call at a time writes it.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::Error;
use crate::files;

/// Held until this value is dropped. The system releases it when the process ends, even after a crash.
pub(crate) enum Lock {
    Held(File),
    /// The file system has no locks, so another call may be writing the folder.
    Unsupported,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file isn't enough: a child that another thread has just forked has it open until the child calls exec.
        if let Self::Held(folder) = self {
            let _ = folder.unlock();
        }
    }
}

/// Locks a folder, which exists. The lock is on the folder itself, so no lock file is served to machines.
pub(crate) fn take(folder: &Path) -> Result<Lock, Error> {
    let opened = File::open(folder).map_err(files::at(folder))?;
    match opened.try_lock() {
        Ok(()) => Ok(Lock::Held(opened)),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { folder: folder.to_owned() }),
        Err(TryLockError::Error(_)) => Ok(Lock::Unsupported),
    }
}
