//! The key that encrypts cookies: 64 random bytes in a file that only the server's user may read.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use cookie::Key;
use sha2::{Digest, Sha256};

use super::SessionError;

/// Reads the key in `path`; makes one there if the file doesn't exist.
pub(super) fn read_or_make(path: &Path) -> Result<Key, SessionError> {
    let failed = |error| SessionError::File { path: path.to_owned(), error };
    match fs::read(path) {
        Ok(bytes) => Key::try_from(bytes.as_slice()).map_err(|_| SessionError::Key(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = Key::generate();
            disk::save(path, key.master()).map_err(failed)?;
            Ok(key)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Eight characters that differ for every pair of key and API, and reveal neither.
pub(super) fn name(key: &Key, api: &str) -> String {
    let digest = Sha256::digest([b"cookie name", key.master(), api.as_bytes()].concat());
    digest[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_owner_may_read_the_session_key() {
        let data = tempfile::tempdir().expect("a directory");
        let path = data.path().join("session.key");
        let made = read_or_make(&path).expect("made");
        assert_eq!(fs::metadata(&path).expect("the key's file").permissions().mode() & 0o777, 0o600);
        assert_eq!(made.master(), read_or_make(&path).expect("read").master());
        fs::write(&path, "short").expect("written");
        assert!(matches!(read_or_make(&path), Err(SessionError::Key(_))));
    }
}
