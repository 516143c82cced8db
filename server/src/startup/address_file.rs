//! The file in the data directory that contains the server's address while the server runs. `kubeonkube login` reads it.

use std::path::{Path, PathBuf};
use std::{fs, io};

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("address")
}

pub(crate) fn write(data: &Path, address: &str) -> io::Result<()> {
    fs::write(path(data), address)
}

pub(crate) fn read(data: &Path) -> io::Result<String> {
    fs::read_to_string(path(data))
}

/// Removes the file, if it exists.
pub(crate) fn remove(data: &Path) {
    let _ = fs::remove_file(path(data));
}
