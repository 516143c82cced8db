//! A small file system that a test fills and frees again.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::skipped::skip;

/// A mounted tmpfs. It is unmounted when dropped.
pub(crate) struct SmallDisk(TempDir);

impl SmallDisk {
    /// A disk of this size for `test`. `None` if this machine doesn't allow to mount one; then the test is recorded as skipped.
    pub(crate) fn of(mebibytes: usize, test: &str) -> Option<Self> {
        let dir = tempfile::tempdir().expect("a directory");
        let options = format!("size={mebibytes}m,mode=0700");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "kubeonkube-test"]).arg(dir.path()).output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(dir)),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                skip(test, &format!("a small file system can't be mounted, which needs root ({why})"));
                None
            }
            Err(error) => {
                skip(test, &format!("the program `mount` can't be started ({error})"));
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk to its last byte. Can be repeated, for space that was freed meanwhile.
    pub(crate) fn fill(&self) {
        let mut filler = File::options().create(true).append(true).open(self.filler()).expect("a file");
        for block in [1 << 20, 4096, 1] {
            while filler.write(&vec![b'x'; block]).is_ok_and(|written| written > 0) {}
        }
    }

    /// Makes room again.
    pub(crate) fn free(&self) {
        fs::remove_file(self.filler()).expect("the filler");
    }

    fn filler(&self) -> std::path::PathBuf {
        self.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: processes of a failed test may still have files open.
        let unmounted = Command::new("umount").arg("-l").arg(self.path()).status();
        // Not a panic: it would hide the reason why the test failed.
        if !unmounted.is_ok_and(|status| status.success()) {
            let _ = writeln!(std::io::stderr(), "{} stays mounted", self.path().display());
        }
    }
}
