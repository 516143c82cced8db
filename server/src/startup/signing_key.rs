//! The key that signs results and submitters on operations, in standalone mode: a file in the data directory that only the server's
//! user may read. It contains the second in which it was made, a space, and 32 random bytes (base64).

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use controller::Signer;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

const BYTES: usize = 32;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum SigningKeyError {
    #[error(
        "{path}: {error}. Results are signed with this file. Check who owns the data directory and whether its disk is full."
    )]
    File { path: PathBuf, error: io::Error },
    #[error(
        "{0} doesn't contain a key. Delete the file and restart: results of earlier operations then count by their status."
    )]
    Invalid(PathBuf),
}

/// Reads the key; makes one if the file doesn't exist. A backup doesn't contain it: with a new key, operations that are older than
/// it count by their status.
pub(super) fn read_or_make(data: &Path) -> Result<Signer, SigningKeyError> {
    let path = data.join("signing.key");
    let failed = |error| SigningKeyError::File { path: path.clone(), error };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = BASE64_STANDARD.encode(rand::random::<[u8; BYTES]>());
            let text = format!("{} {key}\n", Timestamp::now().as_second());
            disk::save(&path, text.as_bytes()).map_err(failed)?;
            text
        }
        Err(error) => return Err(failed(error)),
    };
    parse(&text).ok_or(SigningKeyError::Invalid(path))
}

fn parse(text: &str) -> Option<Signer> {
    let (since, key) = text.trim_end().split_once(' ')?;
    let key = BASE64_STANDARD.decode(key).ok().filter(|key| key.len() == BYTES)?;
    Some(Signer::new(&key, &Time(Timestamp::from_second(since.parse().ok()?).ok()?)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_owner_may_read_the_signing_key() {
        let data = tempfile::tempdir().expect("a directory");
        let path = data.path().join("signing.key");
        read_or_make(data.path()).expect("made");
        assert_eq!(fs::metadata(&path).expect("the key's file").permissions().mode() & 0o777, 0o600);
        let made = fs::read(&path).expect("read");
        read_or_make(data.path()).expect("read");
        assert_eq!(made, fs::read(&path).expect("read"), "it is made once");
        fs::write(&path, "1 short").expect("written");
        assert!(matches!(read_or_make(data.path()), Err(SigningKeyError::Invalid(_))));
    }
}
