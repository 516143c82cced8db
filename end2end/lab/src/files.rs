//! Files and folders, with errors that name them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::error::{Doing, Error};

/// Writes a file with this mode. Creates missing folders.
pub(crate) fn write(path: &Path, mode: u32, text: impl AsRef<[u8]>) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(mode)))
        .doing(|| format!("write {}", path.display()))
}

/// Replaces a file atomically: a concurrent reader gets the old text or the new one.
pub(crate) fn replace(path: &Path, mode: u32, text: impl AsRef<[u8]>) -> Result<(), Error> {
    let fresh = path.with_added_extension("new");
    write(&fresh, mode, text)?;
    fs::rename(&fresh, path).doing(|| format!("write {}", path.display()))
}

pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).doing(|| format!("read {}", path.display()))
}

pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).doing(|| format!("make the folder {}", path.display()))
}

/// Makes a symbolic link. Replaces a file or folder of this name.
pub(crate) fn link(target: impl AsRef<Path>, at: &Path) -> Result<(), Error> {
    remove(at)?;
    if let Some(folder) = at.parent() {
        make_folder(folder)?;
    }
    symlink(target, at).doing(|| format!("make the link {}", at.display()))
}

/// Removes a file, or a folder with its content. Does nothing if there is none.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    let gone = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match gone {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(|| format!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// The paths directly in a folder, sorted by name. Empty if there is no such folder.
pub(crate) fn children(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// All files in a folder and its subfolders, sorted by path. Links to folders are not followed.
pub(crate) fn all_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for path in children(folder) {
        if path.is_dir() && !path.is_symlink() { files.extend(all_files(&path)) } else { files.push(path) }
    }
    files
}
