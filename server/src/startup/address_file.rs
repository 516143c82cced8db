//! The file in the data directory that contains the server's address while the server runs. `kubeonkube login` reads it.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("address")
}

/// A file that a killed server left with the same address is kept as it is, so that a restart needs no room on the disk.
pub(crate) fn write(data: &Path, address: &str) -> io::Result<()> {
    match read(data) {
        Ok(old) if old == address => Ok(()),
        _ => disk::save(&path(data), address.as_bytes()),
    }
}

/// Tries again every second until the file is written.
pub(crate) async fn write_when_there_is_room(data: PathBuf, address: String) {
    while write(&data, &address).is_err() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

pub(crate) fn read(data: &Path) -> io::Result<String> {
    fs::read_to_string(path(data))
}

/// Removes the file, if it exists.
pub(crate) fn remove(data: &Path) {
    let _ = fs::remove_file(path(data));
}
