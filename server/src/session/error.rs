//! Why sessions and sign-in links can't be read or stored.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(
        "{path}: {error}. Sign-in needs this file. Check who owns the data directory and whether its disk is full."
    )]
    File { path: PathBuf, error: io::Error },
    #[error("{0} doesn't contain a session key. Delete the file and restart: everybody then has to sign in again.")]
    Key(PathBuf),
    /// The size is that of the encrypted cookie, in bytes.
    #[error("This token is too long to be kept in a cookie ({0} bytes when encrypted). Use a token with fewer claims.")]
    TooLong(usize),
}

impl SessionError {
    /// Whether the same would succeed if the disk had room.
    pub(crate) fn is_full_disk(&self) -> bool {
        matches!(self, Self::File { error, .. } if disk::is_full(error))
    }
}
