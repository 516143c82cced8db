//! The lock that allows one lab per computer.
//!
//! The lock is the folder `/run/kubeonkube-lab`. It holds one file, the lab's [`Record`]: every checkout on this computer
//! finds it there. The record names the process that boots the lab, which distinguishes a lab that is starting from a lab
//! whose boot was killed.
//!
//! To take the lock, a process writes the record into a temporary folder and renames that folder. To release the lock, it
//! renames the folder back. Both are atomic, so no other process ever sees a lock without a record.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::{Doing, Error};
use crate::namespaces::Namespaces;
use crate::process::Process;
use crate::record::Record;
use crate::{cgroups, files};

/// The folder of the lock. A reboot empties it, and ends the lab.
const RUN: &str = "/run";
const NAME: &str = "kubeonkube-lab";
/// The record contains no secret. All users may read it, so `lab status` works without root.
const MODE: u32 = 0o644;

/// What exists of a lab on this computer.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// The lock is taken, but the lab has no processes yet.
    Starting(Box<Record>),
    /// The lab's namespaces exist. Its boot may be finished, failed or still running.
    Running(Box<Record>),
    /// A lab that crashed, or whose boot was killed. The text names one of the remaining folders.
    LeftOvers(String),
}

/// Looks for a lab, also for remains of one that has no lock any more.
pub(crate) fn find() -> Found {
    match lock().find() {
        Found::Nothing => match cgroups::left() {
            left if left.is_empty() => Found::Nothing,
            left => Found::LeftOvers(left[0].display().to_string()),
        },
        found => found,
    }
}

/// Reads the record of the lab.
pub(crate) fn read() -> Result<Record, Error> {
    lock().read()
}

/// Takes the lock.
///
/// # Errors
/// If there is a lab already.
pub(crate) fn take(record: &Record) -> Result<(), Error> {
    require_none(find())?;
    lock().take(record)
}

/// Replaces the record.
///
/// # Errors
/// If another process ended this lab.
pub(crate) fn write(record: &Record) -> Result<(), Error> {
    lock().write(record)
}

/// Releases the lock.
pub(crate) fn release() -> Result<(), Error> {
    lock().release()
}

/// Removes what processes left that were killed while they took or released the lock.
pub(crate) fn remove_abandoned() -> Result<(), Error> {
    lock().remove_abandoned()
}

fn lock() -> Lock<'static> {
    Lock(Path::new(RUN))
}

/// Returns an error if there is a lab: no second one can be booted.
pub(crate) fn require_none(found: Found) -> Result<(), Error> {
    match found {
        Found::Nothing => Ok(()),
        Found::Starting(record) => Err(starting(*record)),
        Found::Running(record) => Err(match record.failure() {
            Some(why) => Error::BootFailed { folder: record.folder, why },
            None => Error::Running { since: record.since, folder: record.folder },
        }),
        Found::LeftOvers(what) => Err(Error::LeftOvers { what }),
    }
}

pub(crate) fn starting(record: Record) -> Error {
    Error::Starting { process: record.booter.pid, since: record.since, folder: record.folder }
}

/// The lock in a folder, which is [`RUN`] except in tests.
struct Lock<'a>(&'a Path);

impl Lock<'_> {
    fn folder(&self) -> PathBuf {
        self.0.join(NAME)
    }

    fn file(&self) -> PathBuf {
        self.folder().join("lab.json")
    }

    /// The name under which this process prepares the lock's folder or a new record, and removes a released lock.
    fn temporary(&self) -> PathBuf {
        self.0.join(format!("{NAME}.{}", std::process::id()))
    }

    fn find(&self) -> Found {
        if !self.folder().exists() {
            return Found::Nothing;
        }
        match self.read() {
            Ok(record) if record.namespaces.is_some_and(Namespaces::are_alive) => Found::Running(Box::new(record)),
            Ok(record) if record.namespaces.is_none() && record.failure().is_none() => {
                Found::Starting(Box::new(record))
            }
            // Released since the first check.
            Err(_) if !self.folder().exists() => Found::Nothing,
            _ => Found::LeftOvers(self.folder().display().to_string()),
        }
    }

    fn read(&self) -> Result<Record, Error> {
        let file = self.file();
        serde_json::from_str(&files::read(&file)?).map_err(|error| Error::Malformed { file, why: error.to_string() })
    }

    fn take(&self, record: &Record) -> Result<(), Error> {
        self.remove_abandoned()?;
        let temporary = self.temporary();
        files::write(&temporary.join("lab.json"), MODE, self.text(record)?)?;
        let taken = fs::rename(&temporary, self.folder());
        if taken.is_err() {
            files::remove(&temporary)?;
        }
        match taken {
            // Another process was faster.
            Err(error) if [io::ErrorKind::DirectoryNotEmpty, io::ErrorKind::AlreadyExists].contains(&error.kind()) => {
                require_none(self.find())?;
                Err(error)
            }
            taken => taken,
        }
        .doing(|| format!("make {}", self.folder().display()))
    }

    fn write(&self, record: &Record) -> Result<(), Error> {
        if !self.read().is_ok_and(|locked| locked.booter == record.booter) {
            return Err(Error::Ended);
        }
        self.replace(&self.text(record)?)
    }

    /// Renames a new file over the record. This fails if the lock was released in the meantime, so it can't create a lock.
    fn replace(&self, text: &str) -> Result<(), Error> {
        let temporary = self.temporary();
        files::write(&temporary, MODE, text)?;
        fs::rename(&temporary, self.file()).or_else(|error| {
            files::remove(&temporary)?;
            if error.kind() == io::ErrorKind::NotFound {
                Err(Error::Ended)
            } else {
                Err(error).doing(|| format!("write {}", self.file().display()))
            }
        })
    }

    /// Does nothing if there is no lock.
    fn release(&self) -> Result<(), Error> {
        self.remove_abandoned()?;
        let temporary = self.temporary();
        match fs::rename(self.folder(), &temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).doing(|| format!("remove {}", self.folder().display()))
            }
            _ => files::remove(&temporary),
        }
    }

    /// Removes temporary folders of processes that were killed while they took or released the lock.
    fn remove_abandoned(&self) -> Result<(), Error> {
        let is_abandoned = |path: &PathBuf| {
            let pid = path.file_name()?.to_str()?.strip_prefix(NAME)?.strip_prefix('.')?.parse().ok()?;
            Process::now(pid).is_none().then_some(())
        };
        let all = files::children(self.0);
        all.iter().filter(|path| is_abandoned(path).is_some()).try_for_each(|path| files::remove(path))
    }

    fn text(&self, record: &Record) -> Result<String, Error> {
        serde_json::to_string_pretty(record)
            .map_err(|error| Error::Malformed { file: self.file(), why: error.to_string() })
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
