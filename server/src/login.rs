//! `kubeonkube login`: another sign-in link for the server that runs on a data directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    banner,
    session::{Links, SessionError, links},
};

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error(
        "no standalone server runs on {0}. Start one with `kubeonkube`, or name its directory with --data-dir. In a cluster \
         people sign in with their Kubernetes token."
    )]
    NotRunning(PathBuf),
    #[error("{0} belongs to another user. Run this as the user that runs the server, or as root.")]
    Forbidden(PathBuf),
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// The file that says where the server of this data directory is reached; there while it runs.
fn address_file(data: &Path) -> PathBuf {
    data.join("address")
}

/// Says where this server is reached.
pub fn announce(data: &Path, address: &str) -> io::Result<()> {
    fs::write(address_file(data), address)
}

/// The server stops.
pub fn withdraw(data: &Path) {
    let _ = fs::remove_file(address_file(data));
}

/// Makes a link. Only whoever may write into the data directory can.
pub fn link(data: &Path) -> Result<String, LoginError> {
    let address = fs::read_to_string(address_file(data)).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => LoginError::Forbidden(data.to_owned()),
        _ => LoginError::NotRunning(data.to_owned()),
    })?;
    // The file of a server that was killed is still there; its lock is not.
    if standalone::lock::take(data).is_ok() {
        withdraw(data);
        return Err(LoginError::NotRunning(data.to_owned()));
    }
    let token = Links::open(data)?.make(&links::this_person())?;
    Ok(banner::link(&address, &token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_for_a_server_that_runs() {
        let data = tempfile::tempdir().expect("a directory");
        assert!(matches!(link(data.path()), Err(LoginError::NotRunning(_))));
        announce(data.path(), "http://127.0.0.1:7080").expect("written");
        assert!(matches!(link(data.path()), Err(LoginError::NotRunning(_))), "that server was killed");
        announce(data.path(), "http://127.0.0.1:7080").expect("written");
        let _running = standalone::lock::take(data.path()).expect("a server");
        let made = link(data.path()).expect("a link");
        let token = made.strip_prefix("http://127.0.0.1:7080/login?token=").expect("whole");
        assert!(Links::open(data.path()).expect("open").waits(token));
        withdraw(data.path());
        assert!(matches!(link(data.path()), Err(LoginError::NotRunning(_))));
    }
}
