//! Files with checksums.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::{NamedTempFile, TempDir};

use crate::curl::{self, Limit};
use crate::error::Error;
use crate::url::ShownUrl;

/// Start of the names of temporary files and folders.
const TEMPORARY: &str = ".download-";

/// How many letters and digits `tempfile` adds.
const TEMPORARY_SUFFIX: usize = 6;

/// Whether a file or folder has the name of a temporary one.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.strip_prefix(TEMPORARY)
        .is_some_and(|rest| rest.len() == TEMPORARY_SUFFIX && rest.chars().all(|c| c.is_ascii_alphanumeric()))
}

pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |error| Error::File { path, error }
}

pub(crate) fn create_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(at(folder))
}

/// The folder of a file. It is made if it doesn't exist.
fn parent(path: &Path) -> Result<&Path, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    Ok(folder)
}

/// A temporary file beside `path`, which can be renamed to it.
pub(crate) fn beside(path: &Path) -> Result<NamedTempFile, Error> {
    let folder = parent(path)?;
    NamedTempFile::with_prefix_in(TEMPORARY, folder).map_err(at(folder))
}

/// A temporary folder beside `path`.
pub(crate) fn folder_beside(path: &Path) -> Result<TempDir, Error> {
    let folder = parent(path)?;
    TempDir::with_prefix_in(TEMPORARY, folder).map_err(at(folder))
}

/// Gives a complete temporary file its name. Everyone may read it: it is served to machines.
pub(crate) fn keep(file: NamedTempFile, path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;

    let readable = fs::Permissions::from_mode(0o644);
    fs::set_permissions(file.path(), readable).map_err(at(path))?;
    file.as_file().sync_all().map_err(at(path))?;
    file.persist(path).map(drop).map_err(|failed| at(path)(failed.error))
}

/// Writes a file as a whole.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = beside(path)?;
    file.write_all(text.as_bytes()).map_err(at(path))?;
    keep(file, path)
}

pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(at(path))
}

pub(crate) fn size(path: &Path) -> Result<u64, Error> {
    fs::metadata(path).map(|found| found.len()).map_err(at(path))
}

/// The SHA-256 of a file.
pub(crate) fn sha256(path: &Path) -> Result<String, Error> {
    let mut file = File::open(path).map_err(at(path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer).map_err(at(path))?;
        if read == 0 {
            return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hash.update(&buffer[..read]);
    }
}

/// Downloads a file that must have this checksum. One that is already there and has it stays.
pub(crate) fn download(url: &str, to: &Path, expected: &str, report: &dyn Fn(&str)) -> Result<(), Error> {
    if to.exists() && sha256(to)? == expected {
        report(&format!("{}: already there", ShownUrl::new(url)));
        return Ok(());
    }
    let file = beside(to)?;
    curl::download(url, file.path(), Limit::File)?;
    let found = sha256(file.path())?;
    if found != expected {
        return Err(Error::Checksum { url: ShownUrl::new(url), found, expected: expected.to_owned() });
    }
    keep(file, to)?;
    report(ShownUrl::new(url).as_str());
    Ok(())
}

/// The names in a folder. None if it doesn't exist.
pub(crate) fn children(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let file = beside(&folder.path().join("file")).unwrap();
        let below = folder_beside(&folder.path().join("file")).unwrap();
        for path in [file.path(), below.path()] {
            assert!(is_temporary(path.file_name().unwrap().to_str().unwrap()), "{}", path.display());
        }
        for other in ["kubelet", ".download-", ".download-my-list", ".download-a.tar", ".downloads"] {
            assert!(!is_temporary(other), "{other}");
        }
    }
}
