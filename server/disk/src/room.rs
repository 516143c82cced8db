//! How much room is left on the disk of a directory.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const MIB: u64 = 1024 * 1024;
/// A disk with less room than this counts as full. The rest is for operations that already run.
const RESERVE: u64 = 16 * MIB;
/// The same for a small disk: this part of it.
const RESERVE_PART: u64 = 50;
/// A disk with less room than this is almost full.
const LITTLE: u64 = 256 * MIB;
/// The same for a small disk: this part of it.
const LITTLE_PART: u64 = 20;

/// The reason that pages, probes and operations show while the disk is full.
pub const FULL: &str = "the disk of the data directory is full";

/// The room that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Enough,
    /// Less than this number of bytes.
    Little(u64),
    /// Nothing new is started. Operations that run continue if they can.
    Full,
}

impl Room {
    /// The room on the disk of the folder `path`. Asks the file system, which takes microseconds on a local disk and blocks while a
    /// network file system doesn't answer. After a write failed because of a quota, also writes a block.
    pub fn of(path: &Path) -> io::Result<Self> {
        if OVER_QUOTA.load(Ordering::Relaxed) && refuses_writes(path) {
            return Ok(Self::Full);
        }
        let disk = rustix::fs::statvfs(path)?;
        // Some file systems have no fixed number of inodes and report 0 of 0.
        if disk.f_files > 0 && disk.f_favail == 0 {
            return Ok(Self::Full);
        }
        Ok(Self::from(disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize)))
    }

    fn from(free: u64, total: u64) -> Self {
        let little = LITTLE.min(total / LITTLE_PART);
        if free < RESERVE.min(total / RESERVE_PART) {
            Self::Full
        } else if free < little {
            Self::Little(little)
        } else {
            Self::Enough
        }
    }

    /// A sentence for people. `None` if there is enough room.
    pub fn sentence(self) -> Option<String> {
        match self {
            Self::Enough => None,
            Self::Little(bytes) => Some(format!(
                "The disk of the data directory is almost full: less than {} MiB are free. When it is full, operations wait.",
                bytes.div_ceil(MIB)
            )),
            Self::Full => Some(
                "The disk of the data directory is full. Operations wait, and nothing is lost. Free some space; then they continue."
                    .into(),
            ),
        }
    }
}

/// Whether a write of this process has failed because of a quota. The free space of the file system doesn't show quotas.
static OVER_QUOTA: AtomicBool = AtomicBool::new(false);

/// A block of the usual file systems.
const BLOCK: [u8; 4096] = [b'x'; 4096];

/// Whether a write failed because the disk, or the quota of this user on it, is full. Then it is worth waiting. After an error because of
/// a quota, [`Room::of`] looks for the quota, too.
pub fn is_full(error: &io::Error) -> bool {
    let is_over_quota = error.kind() == io::ErrorKind::QuotaExceeded;
    if is_over_quota {
        OVER_QUOTA.store(true, Ordering::Relaxed);
    }
    is_over_quota || error.kind() == io::ErrorKind::StorageFull
}

/// Whether the folder's disk has no room for another block, or the quota allows none. Writes one into a file without a name.
pub fn refuses_writes(folder: &Path) -> bool {
    refused(tempfile::tempfile_in(folder).and_then(|mut file| file.write_all(&BLOCK)))
}

fn refused(written: io::Result<()>) -> bool {
    let is_refused = written.is_err_and(|error| is_full(&error));
    if !is_refused {
        OVER_QUOTA.store(false, Ordering::Relaxed);
    }
    is_refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_disk_keeps_a_fixed_reserve_and_a_small_one_a_part() {
        let large = 500 * 1024 * MIB;
        assert_eq!(Room::from(RESERVE - 1, large), Room::Full);
        assert_eq!(Room::from(RESERVE, large), Room::Little(LITTLE));
        assert_eq!(Room::from(LITTLE, large), Room::Enough);
        let small = 50 * MIB;
        assert_eq!(Room::from(MIB - 1, small), Room::Full);
        assert_eq!(Room::from(2 * MIB, small), Room::Little(small / 20));
        assert_eq!(Room::from(3 * MIB, small), Room::Enough);
    }

    #[test]
    fn a_quota_counts_as_a_full_disk_until_a_write_succeeds() {
        let over_quota = || io::Error::from(io::ErrorKind::QuotaExceeded);
        assert!(is_full(&over_quota()) && OVER_QUOTA.load(Ordering::Relaxed));
        assert!(refused(Err(over_quota())) && OVER_QUOTA.load(Ordering::Relaxed));
        let dir = tempfile::tempdir().unwrap();
        Room::of(dir.path()).unwrap();
        assert!(!OVER_QUOTA.load(Ordering::Relaxed), "a block was written");
    }

    #[test]
    fn the_sentence_names_the_disk_of_the_data_directory() {
        assert_eq!(Room::Enough.sentence(), None);
        assert!(Room::Full.sentence().unwrap().to_lowercase().starts_with(FULL));
        assert!(Room::Little(5 * MIB / 2).sentence().unwrap().contains("less than 3 MiB"));
    }
}
