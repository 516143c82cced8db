//! Private keys for SSH: reads pasted ones, corrects their lines, and says why a key can't be used. Pure.
//!
//! The console corrects a key that a user pastes. The controller only checks the key in a cluster's Secret, because ssh reads that file
//! as it is stored. Keys in OpenSSH's format are parsed. Of the others (`RSA PRIVATE KEY`, `PRIVATE KEY` and so on), the structure is
//! checked, but not the numbers.
//!
//! The rule is the ssh of the image for operations, OpenSSH 9.2 (`deploy/runner/Dockerfile`).
//!
//! No [`Fault`] contains text of the key, because pages and statuses show it.

mod der;
mod fault;
mod openssh;
mod pem;
mod stored;

pub use fault::Fault;
pub use stored::stored;

/// Maximum size of a private key, in bytes; real ones are far smaller.
const LIMIT: usize = 64 * 1024;

/// A private key that needs no passphrase. Without `Debug`, so that no log can contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateKey {
    /// The text of its file, with corrected line ends and one at the end.
    pub text: String,
    /// The public key in OpenSSH's format, with its comment. `None` unless the private key is in that format, too.
    pub public: Option<String>,
    /// The label of its first line.
    label: &'static str,
}

/// Reads the first key in a text that a user pasted, and drops the text around it. Corrects its lines: those of Windows, those that a
/// one-line field joined, `\n` as two characters, indentation, quotes around the key, and a missing last line end.
pub fn pasted(text: &str) -> Result<PrivateKey, Fault> {
    if text.len() > LIMIT {
        return Err(Fault::TooLong { bytes: text.len(), limit: LIMIT });
    }
    // `\n` in JSON and in environment files. Neither base64 nor the first and last line have backslashes.
    let text = text.replace("\\r", "\n").replace("\\n", "\n");
    let text = text.trim_matches(is_wrapping);
    if text.is_empty() {
        return Err(Fault::Empty);
    }
    let pem = pem::read(text)?;
    let bytes = pem.bytes()?;
    let public = if pem.label == pem::OPENSSH && bytes.starts_with(openssh::MAGIC) {
        Some(openssh::public(&bytes)?)
    } else {
        der::check(pem.label, &bytes)?;
        None
    };
    Ok(PrivateKey { text: pem.text(), public, label: pem.label })
}

/// White space, quotes and marks that other programs put around a key.
fn is_wrapping(c: char) -> bool {
    c.is_whitespace() || "\u{feff}\"'`“”".contains(c)
}
