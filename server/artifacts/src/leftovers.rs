//! What an interrupted call leaves: temporary files, and folders in which nothing was completed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use operation::versions;

use crate::error::Error;
use crate::files;

/// Removes it from the folders in which this program writes. The caller holds the lock, so no other call still needs it.
pub(crate) fn remove(folder: &Path) -> Result<(), Error> {
    for folder in written_folders(folder) {
        for name in files::children(&folder).into_iter().filter(|name| files::is_temporary(name)) {
            let path = folder.join(name);
            remove_temporary(&path).map_err(files::at(&path))?;
        }
        // Fails if something is in it.
        let _kept = fs::remove_dir(&folder);
    }
    Ok(())
}

/// The folders that may have temporary files, and those above them. A folder follows all that are in it. The user may keep other things
/// beside them, so no other folder is looked into.
fn written_folders(folder: &Path) -> Vec<PathBuf> {
    let plugins = versions::plugins().map(|(name, _)| name);
    let mut found = Vec::new();
    for top in ["release", "containerd", "runc"].into_iter().chain(plugins).map(|name| folder.join(name)) {
        for version in files::children(&top).into_iter().filter(|name| is_version(name)).map(|name| top.join(name)) {
            let programs = version.join("bin/linux");
            found.extend(files::children(&programs).into_iter().map(|processor| programs.join(processor)));
            found.extend([programs, version.join("bin"), version.join("images"), version]);
        }
        found.push(top);
    }
    found
}

/// `v1.36.4`
fn is_version(name: &str) -> bool {
    name.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn remove_temporary(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
