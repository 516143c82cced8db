//! `kubeonkube login`: another sign-in link for the server that uses a data directory.

use std::io;
use std::path::{Path, PathBuf};

use crate::session::{Links, SessionError, links};
use crate::startup::address_file;

/// Why no link was made.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error(
        "no standalone server uses the data directory {0}. Start one with `kubeonkube`, or name its directory with --data-dir. \
         In a cluster, sign in with your Kubernetes token."
    )]
    NotRunning(PathBuf),
    #[error("{0} belongs to another user. Run this command as the user that runs the server, or as root.")]
    Forbidden(PathBuf),
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Makes a link. This needs write access to the data directory.
pub fn link(data: &Path) -> Result<String, LoginError> {
    let address = address_file::read(data).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => LoginError::Forbidden(data.to_owned()),
        _ => LoginError::NotRunning(data.to_owned()),
    })?;
    // A killed server leaves its address file behind, but its lock is free.
    if standalone::lock::take(data).is_ok() {
        address_file::remove(data);
        return Err(LoginError::NotRunning(data.to_owned()));
    }
    let token = Links::open(data)?.make(&links::this_user())?;
    Ok(links::url(&address, &token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_needs_a_running_server() {
        let data = tempfile::tempdir().expect("a directory");
        assert!(matches!(link(data.path()), Err(LoginError::NotRunning(_))));
        address_file::write(data.path(), "http://127.0.0.1:7080").expect("written");
        assert!(matches!(link(data.path()), Err(LoginError::NotRunning(_))), "the server was killed");
        address_file::write(data.path(), "http://127.0.0.1:7080").expect("written");
        let _running = standalone::lock::take(data.path()).expect("the lock");
        let made = link(data.path()).expect("a link");
        let token = made.strip_prefix("http://127.0.0.1:7080/login?token=").expect("whole");
        assert!(Links::open(data.path()).expect("open").is_valid(token));
        address_file::remove(data.path());
        assert!(matches!(link(data.path()), Err(LoginError::NotRunning(_))));
    }
}
