//! The textual form of keys, which RFC 7468 describes: a first line with a label, base64, and a last line with the same label.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::fault::Fault;

/// The label of OpenSSH's own format.
pub(crate) const OPENSSH: &str = "OPENSSH PRIVATE KEY";
pub(crate) const RSA: &str = "RSA PRIVATE KEY";
pub(crate) const EC: &str = "EC PRIVATE KEY";
pub(crate) const DSA: &str = "DSA PRIVATE KEY";
pub(crate) const PKCS8: &str = "PRIVATE KEY";
/// The label of a PKCS #8 key with a passphrase.
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
/// All labels that ssh reads.
const LABELS: [&str; 6] = [OPENSSH, RSA, EC, DSA, PKCS8, ENCRYPTED];

/// The longest line of RFC 1421 and MIME. Longer ones were joined.
const LONGEST_LINE: usize = 76;

/// A private key in textual form.
pub(crate) struct Pem<'a> {
    /// One of [`LABELS`].
    pub(crate) label: &'static str,
    /// The base64, in the lines or words in which it was found.
    words: Vec<&'a str>,
}

/// Finds the first key in a text without surrounding white space.
pub(crate) fn read(text: &str) -> Result<Pem<'_>, Fault> {
    let (start, label) = first(text, begin).ok_or_else(|| other(text))?;
    let rest = &text[start + begin(label).len()..];
    let (stop, end_label) = first(rest, end).ok_or(Fault::EndMissing { label })?;
    let body = &rest[..stop];
    if body.contains("-----") {
        return Err(Fault::EndMissing { label });
    }
    if label != end_label {
        return Err(Fault::EndDiffers { begin: label, end: end_label });
    }
    if !is_text(body) {
        return Err(Fault::NotText);
    }
    // OpenSSL writes that a key has a passphrase into a header: `Proc-Type: 4,ENCRYPTED`.
    if label == ENCRYPTED || (body.contains("Proc-Type:") && body.contains("ENCRYPTED")) {
        return Err(Fault::Passphrase);
    }
    Ok(Pem { label, words: body.split_whitespace().collect() })
}

fn is_text(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && !c.is_whitespace()) || c == char::REPLACEMENT_CHARACTER)
}

/// The first line of a key.
pub(crate) fn begin(label: &str) -> String {
    format!("-----BEGIN {label}-----")
}

/// The last line of a key.
pub(crate) fn end(label: &str) -> String {
    format!("-----END {label}-----")
}

/// The label of the first of these lines in the text, and where that line starts.
fn first(text: &str, line: fn(&str) -> String) -> Option<(usize, &'static str)> {
    LABELS.into_iter().filter_map(|label| Some((text.find(&line(label))?, label))).min()
}

/// What a text is that has no first line of a private key.
fn other(text: &str) -> Fault {
    let public =
        ["ssh-", "ecdsa-", "sk-", "---- BEGIN SSH2 PUBLIC", "-----BEGIN PUBLIC KEY", "-----BEGIN RSA PUBLIC KEY"];
    if !is_text(text) {
        Fault::NotText
    } else if public.iter().any(|start| text.starts_with(start)) {
        Fault::Public
    } else if text.starts_with("PuTTY-User-Key-File") {
        Fault::Putty
    } else {
        Fault::NotAKey
    }
}

impl Pem<'_> {
    /// What the base64 stands for.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Fault> {
        let joined = self.words.concat();
        if !joined.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)) {
            return Err(Fault::NotBase64);
        }
        STANDARD.decode(joined).ok().filter(|bytes| !bytes.is_empty()).ok_or(Fault::Broken)
    }

    /// The text of a file with this key.
    pub(crate) fn text(&self) -> String {
        let joined = self.words.concat();
        let mut text = begin(self.label) + "\n";
        for (at, char) in joined.char_indices() {
            if at > 0 && at % self.width() == 0 {
                text.push('\n');
            }
            text.push(char);
        }
        text + "\n" + &end(self.label) + "\n"
    }

    /// The length of a line: the one that was found, or, if lines were joined or cut, that of the program which writes this format.
    fn width(&self) -> usize {
        let usual = if self.label == OPENSSH { 70 } else { 64 };
        let Some((last, others)) = self.words.split_last() else { return usual };
        let found = others.first().unwrap_or(last).len();
        let is_even = last.len() <= found && others.iter().all(|word| word.len() == found);
        if is_even && found <= LONGEST_LINE { found } else { usual }
    }
}
