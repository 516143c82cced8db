//! The SSH keys of one lab: one that opens every machine, and a host key for each.

use std::path::{Path, PathBuf};

use ssh_key::{Algorithm, LineEnding, PrivateKey, rand_core::OsRng};

use crate::{error::Error, files};

/// Makes a key pair: the private key and the public one, in OpenSSH's formats.
pub(crate) fn pair(comment: &str) -> Result<(String, String), Error> {
    let mut key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519)?;
    key.set_comment(comment);
    Ok((key.to_openssh(LineEnding::LF)?.to_string(), key.public_key().to_openssh()? + "\n"))
}

/// The lab's own key, made at its boot.
pub(crate) fn make_own(folder: &Path) -> Result<(), Error> {
    let (private, public) = pair("lab")?;
    files::write(&own(folder), 0o600, private)?;
    files::write(&own(folder).with_extension("pub"), 0o644, public)
}

/// The private key that opens every machine.
pub(crate) fn own(folder: &Path) -> PathBuf {
    folder.join("id_ed25519")
}

/// The host keys of all machines, as ssh's `UserKnownHostsFile`.
pub(crate) fn known_hosts(folder: &Path) -> PathBuf {
    folder.join("known_hosts")
}
