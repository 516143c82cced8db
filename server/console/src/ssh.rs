//! Generates, parses and checks SSH keys and host keys.

use ssh_key::known_hosts::Entry;
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, HashAlg, KnownHosts, LineEnding, PrivateKey, PublicKey};

/// Name of the public key's entry in the Secret with the private key.
pub(crate) const KEY_PUBLIC: &str = "ssh-publickey";

/// Maximum size of a private key, in bytes; real ones are far smaller.
const KEY_BYTES: usize = 64 * 1024;
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
    let mut key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519)?;
    key.set_comment(comment);
    Ok(KeyPair { public: Some(key.public_key().to_openssh()?), private: key.to_openssh(LineEnding::LF)?.to_string() })
}

/// Parses a private key that the user pasted. Corrects line ends and surrounding white space. The error is a sentence that says
/// why the key can't be used.
pub(crate) fn pasted(text: &str) -> Result<KeyPair, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("Paste or upload the private key, or choose another way.".into());
    }
    if text.len() > KEY_BYTES {
        return Err(format!("This has {} bytes; no private key has more than {KEY_BYTES}.", text.len()));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err("This is not UTF-8 text. Private keys start with “-----BEGIN … PRIVATE KEY-----”.".into());
    }
    if ["ssh-", "ecdsa-", "sk-"].iter().any(|start| text.starts_with(start))
        || text.starts_with("---- BEGIN SSH2 PUBLIC")
    {
        return Err("This is a public key. The private key is in the file of the same name without “.pub”.".into());
    }
    if text.starts_with("PuTTY-User-Key-File") {
        return Err(
            "This is a PuTTY key. Export it in OpenSSH format (PuTTYgen: Conversions, Export OpenSSH key).".into()
        );
    }
    let private: String = text.lines().map(str::trim).flat_map(|line| [line, "\n"]).collect();
    let label = private.strip_prefix("-----BEGIN ").and_then(|rest| rest.split_once("-----\n"));
    let Some((label, body)) = label.filter(|(label, _)| label.ends_with("PRIVATE KEY")) else {
        return Err("This is not a private key: it must start with “-----BEGIN … PRIVATE KEY-----”.".into());
    };
    if !body.ends_with(&format!("-----END {label}-----\n")) {
        return Err(format!("The end of this key is missing: its last line must be “-----END {label}-----”."));
    }
    if label.starts_with("ENCRYPTED")
        || body.lines().any(|line| line.starts_with("Proc-Type:") && line.contains("ENCRYPTED"))
    {
        return Err(PASSPHRASE.into());
    }
    let public = if label == "OPENSSH PRIVATE KEY" { Some(openssh(&private)?) } else { None };
    Ok(KeyPair { private, public })
}

const PASSPHRASE: &str = "Keys with a passphrase aren't supported, because operations run unattended. Remove the passphrase from a copy (ssh-keygen -p), or generate a key here.";

fn openssh(private: &str) -> Result<String, String> {
    let key = PrivateKey::from_openssh(private)
        .map_err(|_| "This key can't be read: a part of it is missing or was changed. Copy the whole file.")?;
    if key.is_encrypted() {
        return Err(PASSPHRASE.into());
    }
    if matches!(key.algorithm(), Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256) {
        return Err(
            "This key needs its hardware token, which isn't plugged in here. Generate a key here instead.".into()
        );
    }
    key.public_key().to_openssh().map_err(|_| "The public half of this key can't be derived.".into())
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
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n";
        let read = pasted(key).unwrap();
        assert!((read.private.as_str(), read.public) == (key, None));
    }

    #[test]
    fn a_text_that_is_not_a_key_is_refused_with_the_reason() {
        let why = |text: &str| pasted(text).err().unwrap();
        assert!(why("ssh-rsa AAAA me").contains("public key"));
        assert!(why("PuTTY-User-Key-File-3: ssh-ed25519").contains("OpenSSH"));
        assert!(why("hunter2").contains("BEGIN"));
        assert!(why("-----BEGIN RSA PRIVATE KEY-----\nMIIE").contains("end"));
        assert!(
            why("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----")
                .contains("can't be read")
        );
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
