//! The key that seals cookies: 64 random bytes in a file that only the server's user may read.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use cookie::Key;
use sha2::{Digest, Sha256};

use super::SessionError;

/// The key in `path`, made there at first.
pub(super) fn read_or_make(path: &Path) -> Result<Key, SessionError> {
    let failed = |error| SessionError::File { path: path.to_owned(), error };
    match fs::read(path) {
        Ok(bytes) => Key::try_from(bytes.as_slice()).map_err(|_| SessionError::Key(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = Key::generate();
            // Whole or not at all: a crash must not leave half a key.
            let fresh = path.with_extension("new");
            write_private(&fresh, key.master()).and_then(|()| fs::rename(&fresh, path)).map_err(failed)?;
            Ok(key)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Eight characters that tell this key with this API from others, and nothing else about them.
pub(super) fn name(key: &Key, api: &str) -> String {
    let digest = Sha256::digest([b"cookie name", key.master(), api.as_bytes()].concat());
    digest[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file of mode 0600, durably.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_sealing_key_is_the_owners_alone() {
        let data = tempfile::tempdir().expect("a directory");
        let path = data.path().join("session.key");
        let made = read_or_make(&path).expect("made");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(made.master(), read_or_make(&path).expect("read").master());
        fs::write(&path, "short").expect("written");
        assert!(matches!(read_or_make(&path), Err(SessionError::Key(_))));
    }
}
