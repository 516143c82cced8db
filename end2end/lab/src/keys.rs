//! The SSH keys of a lab: one key for root on every machine, and a host key for each machine.

use std::path::{Path, PathBuf};

use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, LineEnding, PrivateKey};

use crate::error::Error;
use crate::files;

/// Makes a key pair. Returns the private and the public key in OpenSSH's formats.
pub(crate) fn pair(comment: &str) -> Result<(String, String), Error> {
    let mut key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519)?;
    key.set_comment(comment);
    Ok((key.to_openssh(LineEnding::LF)?.to_string(), key.public_key().to_openssh()? + "\n"))
}

/// Makes the key for root on every machine. Each boot of a lab makes a new one.
pub(crate) fn make_own(folder: &Path) -> Result<(), Error> {
    let (private, public) = pair("lab")?;
    files::write(&own(folder), 0o600, private)?;
    files::write(&own(folder).with_extension("pub"), 0o644, public)
}

/// The file of the private key for root on every machine.
pub(crate) fn own(folder: &Path) -> PathBuf {
    folder.join("id_ed25519")
}

/// The file with the host keys of all machines, for ssh's `UserKnownHostsFile`.
pub(crate) fn known_hosts(folder: &Path) -> PathBuf {
    folder.join("known_hosts")
}
