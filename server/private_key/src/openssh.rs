//! OpenSSH's own format: <https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key>

use ssh_key::{Algorithm, PrivateKey, PublicKey};

use crate::fault::Fault;

/// How every key in this format starts.
pub(crate) const MAGIC: &[u8] = b"openssh-key-v1\0";
/// How a file with one key and without a passphrase starts.
const PLAIN: &[u8] = b"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01";

/// The public key that is part of a private key.
pub(crate) fn public(bytes: &[u8]) -> Result<String, Fault> {
    let Ok(key) = PrivateKey::from_bytes(bytes) else { return short_ecdsa(bytes).ok_or(Fault::Broken) };
    if key.is_encrypted() {
        return Err(Fault::Passphrase);
    }
    if matches!(key.algorithm(), Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256) {
        return Err(Fault::HardwareToken);
    }
    key.public_key().to_openssh().map_err(|_| Fault::Broken)
}

/// The public key of an ECDSA key whose secret number has leading zeros, like every second one of the curve P-521. OpenSSH doesn't write
/// the zeros, and `ssh-key` 0.6 can't read the number without them: <https://github.com/RustCrypto/SSH/issues/350>
fn short_ecdsa(bytes: &[u8]) -> Option<String> {
    let mut rest = bytes.strip_prefix(PLAIN)?;
    let (public, private) = (field(&mut rest)?, field(&mut rest)?);
    let (checks, private) = private.split_at_checked(8)?;
    let mut private = private.strip_prefix(public)?;
    let (_secret, comment) = (field(&mut private)?, field(&mut private)?);
    let is_padding = private.len() < 8 && private.iter().zip(1..).all(|(byte, number)| *byte == number);
    let mut key = PublicKey::from_bytes(public).ok()?;
    if !rest.is_empty() || checks[..4] != checks[4..] || !is_padding || !key.algorithm().is_ecdsa() {
        return None;
    }
    key.set_comment(std::str::from_utf8(comment).ok()?);
    key.to_openssh().ok()
}

/// Takes the next field: its length in four bytes, then its content.
fn field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (content, after) = after.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    *rest = after;
    Some(content)
}
