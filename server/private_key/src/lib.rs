//! Private keys for SSH: reads pasted ones, corrects their lines, and says why a key can't be used. Pure.
//!
//! The console corrects a key that a user pastes. The controller only checks the key in a cluster's Secret, because ssh reads that file
//! as it is stored. Keys in OpenSSH's format are parsed. Of the others (`RSA PRIVATE KEY`, `PRIVATE KEY` and so on), only the form is
//! checked: first and last line, and base64 in between.
//!
//! No [`Fault`] contains text of the key, because pages and statuses show it.

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
}

/// Reads a key that a user pasted. Corrects its lines: those of Windows, those that a one-line field joined, `\n` as two characters,
/// indentation, quotes around the key, and a missing last line end.
pub fn pasted(text: &str) -> Result<PrivateKey, Fault> {
    if text.len() > LIMIT {
        return Err(Fault::TooLong { bytes: text.len(), limit: LIMIT });
    }
    // `\n` in JSON and in environment files. Neither base64 nor the first and last line have backslashes.
    let text = text.replace("\\r", "\n").replace("\\n", "\n");
    let text = text.trim_matches(|c: char| c.is_whitespace() || "\u{feff}\"'`“”".contains(c));
    if text.is_empty() {
        return Err(Fault::Empty);
    }
    if text.chars().any(|c| (c.is_control() && !c.is_whitespace()) || c == char::REPLACEMENT_CHARACTER) {
        return Err(Fault::NotText);
    }
    let pem = pem::read(text)?;
    let bytes = pem.bytes()?;
    let public = if pem.label == pem::OPENSSH { Some(openssh::public(&bytes)?) } else { None };
    Ok(PrivateKey { text: pem.text(), public })
}
