//! Generates SSH keys, and reads private keys and host keys.

use private_key::PrivateKey;
use ssh_key::known_hosts::Entry;
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, HashAlg, KnownHosts, LineEnding, PublicKey};

/// Name of the public key's entry in the Secret with the private key.
pub(crate) const KEY_PUBLIC: &str = "ssh-publickey";

/// Maximum size of a known_hosts file, in bytes: enough for thousands of machines.
const KNOWN_HOSTS_BYTES: usize = 512 * 1024;

/// A private key, and its public key if that is known.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct KeyPair {
    pub(crate) private: String,
    pub(crate) public: Option<String>,
}

/// A new ed25519 key.
pub(crate) fn generate(comment: &str) -> Result<KeyPair, ssh_key::Error> {
    let mut key = ssh_key::PrivateKey::random(&mut OsRng, Algorithm::Ed25519)?;
    key.set_comment(comment);
    Ok(KeyPair { public: Some(key.public_key().to_openssh()?), private: key.to_openssh(LineEnding::LF)?.to_string() })
}

/// Reads a private key that the user pasted, and corrects its lines. The error is a sentence that says why the key can't be used.
pub(crate) fn pasted(text: &str) -> Result<KeyPair, String> {
    if text.trim().is_empty() {
        return Err("Paste or upload the private key, or choose another way.".into());
    }
    private_key::pasted(text).map(KeyPair::from).map_err(|fault| fault.to_string())
}

/// Reads the private key in a Secret. ssh reads it as it is, so nothing is corrected. The error is a sentence like that of [`pasted`].
pub(crate) fn stored(text: &str) -> Result<KeyPair, String> {
    private_key::stored(text.as_bytes()).map(KeyPair::from).map_err(|fault| fault.to_string())
}

impl From<PrivateKey> for KeyPair {
    fn from(key: PrivateKey) -> Self {
        Self { private: key.text, public: key.public }
    }
}

/// The fingerprint of a public key, `SHA256:…`; `None` if it can't be parsed.
pub(crate) fn fingerprint(public: &str) -> Option<String> {
    Some(PublicKey::from_openssh(public.trim()).ok()?.fingerprint(HashAlg::Sha256).to_string())
}

/// The text of a known_hosts file with line ends corrected; `None` if it contains no host keys. The error names the first invalid
/// line.
pub(crate) fn known_hosts(text: &str) -> Result<Option<String>, String> {
    if text.len() > KNOWN_HOSTS_BYTES {
        return Err(format!("This has {} bytes; at most {KNOWN_HOSTS_BYTES} are allowed.", text.len()));
    }
    let fixed: String =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect();
    for (number, line) in (1..).zip(text.lines()) {
        if host_key(line).is_some_and(|entry| entry.is_err()) {
            return Err(format!(
                "Line {number} is not a host key. It must look like “192.0.2.1 ssh-ed25519 AAAA…”, as ssh-keyscan prints it."
            ));
        }
    }
    Ok(Some(fixed).filter(|text| crd::says_host_keys(text)))
}

/// The number of host keys in a known_hosts file.
pub(crate) fn host_keys(text: &str) -> u32 {
    crate::page::count(text.lines().filter(|line| host_key(line).is_some_and(|entry| entry.is_ok())).count())
}

/// Parses a line of a known_hosts file; `None` for a blank line or a comment.
pub(crate) fn host_key(line: &str) -> Option<Result<Entry, ssh_key::Error>> {
    // ssh accepts any white space between fields, but this parser accepts only one space.
    let fields = line.split([' ', '\t', '\r']).filter(|field| !field.is_empty());
    let line = fields.collect::<Vec<_>>().join(" ");
    KnownHosts::new(&line).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_key_is_accepted_when_pasted() {
        let made = generate("prod").unwrap();
        let again = pasted(&made.private.trim_end().replace('\n', "\r\n")).unwrap();
        assert!(again == made, "only line ends are corrected");
        assert!(made.public.as_deref().unwrap().ends_with(" prod"));
        assert_eq!(again.public, made.public);
        assert!(fingerprint(&made.public.unwrap()).unwrap().starts_with("SHA256:"));
    }

    #[test]
    fn a_key_in_another_format_is_accepted() {
        let key = "-----BEGIN EC PRIVATE KEY-----\n\
            MDECAQEEIESUEDE6uEOQ3+bCT37LqaBfRq7QZ4ZzwIefNjszoNxLoAoGCCqGSM49\n\
            AwEH\n\
            -----END EC PRIVATE KEY-----\n";
        let read = pasted(key).unwrap();
        assert!((read.private.as_str(), read.public) == (key, None));
    }

    /// A password manager's one-line field makes the whole key the label of its first line.
    #[test]
    fn a_key_in_one_line_is_corrected_and_no_message_quotes_it() {
        let made = generate("prod").unwrap();
        let one_line = made.private.trim_end().replace('\n', " ");
        assert!(pasted(&one_line).ok().unwrap() == made);
        let body = made.private.lines().nth(1).unwrap();
        for text in [
            one_line.replace("-----END", "----END"),
            one_line.replace("-----BEGIN", ""),
            format!("a {}", &one_line[..200]),
        ] {
            let why = pasted(&text).err().unwrap();
            assert!(!why.contains(body) && why.len() < 200, "{why}");
        }
    }

    #[test]
    fn a_stored_key_is_judged_as_it_is() {
        let made = generate("prod").unwrap();
        assert!(stored(&made.private).ok().unwrap() == made);
        assert!(stored(made.private.trim_end()).err().unwrap().contains("line end after its last line"));
        assert!(pasted(" \n").err().unwrap().starts_with("Paste or upload"));
    }

    #[test]
    fn host_keys_are_counted_and_invalid_lines_named() {
        let public = generate("x").unwrap().public.unwrap();
        let text = format!("# scanned\r\n\r\n192.0.2.1 {public}\r\n|1|c29tZXNhbHQ=|c29tZWhhc2g= \t{public}\r\n");
        let kept = known_hosts(&text).unwrap().unwrap();
        assert_eq!((host_keys(&kept), kept.contains('\r')), (2, false));
        assert_eq!(known_hosts("  \n# nothing\n"), Ok(None));
        assert!(known_hosts(&format!("192.0.2.1\u{a0}{public}\n")).unwrap_err().starts_with("Line 1"));
        assert!(known_hosts(&format!("192.0.2.1 {public}\nrubbish here\n")).unwrap_err().starts_with("Line 2"));
    }
}
