//! Files that are written as a whole: after a crash or a power cut there is the old file or the new one, never a part of it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::room::is_full;

/// Start and end of the names of temporary files.
const NAME: (&str, &str) = (".kubeonkube-", ".new");

/// Replaces the file at `path`, for its owner only (mode 0600). When this returns, content and name are on disk. If it fails, the old
/// file is unchanged.
pub fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let saved = NewFile::for_path(path).and_then(|mut file| {
        file.file().write_all(bytes)?;
        file.replace()
    });
    // Remembers a quota.
    saved.inspect_err(|error| {
        is_full(error);
    })
}

/// A temporary file (mode 0600) beside the path that it will get. Removed if it is dropped before.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// An empty file for `path`.
    pub fn for_path(path: &Path) -> io::Result<Self> {
        let file = Builder::new().prefix(NAME.0).suffix(NAME.1).tempfile_in(folder(path))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// The file, to write into it.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Where the file is until it gets its path.
    pub fn temporary(&self) -> &Path {
        self.file.path()
    }

    /// Gives the file its path, and replaces an older file there.
    pub fn replace(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path)?;
        sync_folder(&self.path)
    }

    /// Gives the file its path. Fails with `AlreadyExists` if there is a file.
    pub fn create(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(&self.path)?;
        sync_folder(&self.path)
    }
}

/// Removes temporary files that a killed process left in `folder`. Call it only while no other process and no other thread writes
/// there.
pub fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(NAME.0) && name.ends_with(NAME.1) {
            // What can't be removed now is removed at the next start.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The name of a file is in its folder: without this, a power cut may undo the renaming.
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path))?.sync_all()
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_saved_file_is_private_and_replaces_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        save(&path, b"one").unwrap();
        save(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn a_file_that_must_be_new_replaces_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        NewFile::for_path(&path).unwrap().create().unwrap();
        let again = NewFile::for_path(&path).unwrap().create().unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        save(&dir.path().join("kept"), b"kept").unwrap();
        let left = NewFile::for_path(&dir.path().join("kept")).unwrap();
        // As after `kill -9`: nothing is dropped.
        std::mem::forget(left);
        assert_eq!(names(dir.path()).len(), 2);
        remove_leftovers(dir.path());
        assert_eq!(names(dir.path()), ["kept"]);
    }
}
