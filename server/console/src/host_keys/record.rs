//! A known_hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"): looks up and replaces the keys of a machine.

use api::configuration::Standing;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use ssh_key::known_hosts::{Entry, HostPatterns, Marker};
use ssh_key::{Algorithm, HashAlg, PublicKey};

use super::KnownKey;
use crate::ssh;

/// A parsed known_hosts file.
pub(super) struct Record(Vec<Line>);

struct Line {
    text: String,
    /// `None` for a blank line, a comment, or a line that can't be parsed.
    entry: Option<Entry>,
}

impl Record {
    pub(super) fn of(text: &str) -> Self {
        Self(text.lines().map(Line::of).collect())
    }

    pub(super) fn text(&self) -> String {
        self.0.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect()
    }

    /// The keys of a machine in this file.
    fn keys<'a>(&'a self, known_as: &'a str) -> impl Iterator<Item = &'a PublicKey> {
        self.entries().filter(move |entry| is_of(entry, known_as)).map(Entry::public_key)
    }

    /// Whether a key of this machine is confirmed.
    pub(super) fn knows(&self, known_as: &str) -> bool {
        self.keys(known_as).next().is_some()
    }

    /// The keys that are confirmed for single machines.
    pub(super) fn known(&self) -> impl Iterator<Item = KnownKey> {
        self.entries().filter(|entry| entry.marker().is_none()).map(|entry| KnownKey {
            fingerprint: entry.public_key().fingerprint(HashAlg::Sha256).to_string(),
            place: match entry.host_patterns() {
                HostPatterns::Patterns(names) => names.first().cloned().unwrap_or_default(),
                HostPatterns::HashedName { .. } => String::new(),
            },
        })
    }

    /// Compares the scanned keys of a machine (`shown`) with this file. Also returns the scanned key to display.
    pub(super) fn stands<'a>(&self, known_as: &'a str, shown: &'a Self) -> (Standing, Option<&'a PublicKey>) {
        let (revoked, usable): (Vec<_>, Vec<_>) = shown.keys(known_as).partition(|key| self.revokes(key));
        let recorded: Vec<_> = self.keys(known_as).map(PublicKey::key_data).collect();
        if let Some(key) = usable.iter().find(|key| recorded.contains(&key.key_data())) {
            return (Standing::Confirmed, Some(key));
        }
        match usable.into_iter().min_by_key(|key| preference(&key.algorithm())) {
            None => (if revoked.is_empty() { Standing::Unseen } else { Standing::Revoked }, revoked.first().copied()),
            best if recorded.is_empty() => (Standing::New, best),
            best => (Standing::Changed, best),
        }
    }

    /// Whether `key` is marked as revoked for any machine: no machine may use a leaked key.
    fn revokes(&self, key: &PublicKey) -> bool {
        let mut marked = self.entries().filter(|entry| entry.marker() == Some(&Marker::Revoked));
        marked.any(|entry| entry.public_key().key_data() == key.key_data())
    }

    /// Makes `key` the only key of this machine. Keeps other machines and comments.
    pub(super) fn put(&mut self, known_as: &str, key: &PublicKey) {
        let key = PublicKey::from(key.key_data().clone()).to_openssh().expect("a parsed key can be written");
        let added = Line::of(&format!("{known_as} {key}"));
        self.0 = std::mem::take(&mut self.0).into_iter().filter_map(|line| line.without(known_as)).collect();
        self.0.push(added);
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().filter_map(|line| line.entry.as_ref())
    }
}

impl Line {
    fn of(text: &str) -> Self {
        Self { text: text.to_owned(), entry: ssh::host_key(text).and_then(Result::ok) }
    }

    /// The line without this machine; `None` if the line is only about this machine.
    fn without(self, known_as: &str) -> Option<Self> {
        let Some(entry) = self.entry.as_ref().filter(|entry| is_of(entry, known_as)) else { return Some(self) };
        let HostPatterns::Patterns(names) = entry.host_patterns() else { return None };
        let others: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.eq_ignore_ascii_case(known_as)).collect();
        let (_, rest) = self.text.trim_start().split_once([' ', '\t'])?;
        (!others.is_empty()).then(|| Self::of(&format!("{} {}", others.join(","), rest.trim_start())))
    }
}

/// Sort key for algorithms, in ssh's order of preference.
fn preference(algorithm: &Algorithm) -> u8 {
    match algorithm {
        Algorithm::Ed25519 => 0,
        Algorithm::Ecdsa { .. } => 1,
        _ => 2,
    }
}

/// Whether the entry is about this machine by name or hash. Wildcards, revoked keys and certificate authorities don't count,
/// because they are not about a single machine.
fn is_of(entry: &Entry, known_as: &str) -> bool {
    entry.marker().is_none()
        && match entry.host_patterns() {
            HostPatterns::Patterns(names) => names.iter().any(|name| name.eq_ignore_ascii_case(known_as)),
            HostPatterns::HashedName { salt, hash } => Hmac::<Sha1>::new_from_slice(salt)
                .is_ok_and(|mac| mac.chain_update(known_as.as_bytes()).verify_slice(hash).is_ok()),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> PublicKey {
        PublicKey::from_openssh(ssh::generate("").unwrap().public.unwrap().trim()).unwrap()
    }

    /// The standing of a machine with the scanned key `key`.
    fn stands(record: &str, known_as: &str, key: &PublicKey) -> Standing {
        let shown = format!("{known_as} {}", key.to_openssh().unwrap());
        Record::of(record).stands(known_as, &Record::of(&shown)).0
    }

    fn with(record: &str, known_as: &str, key: &PublicKey) -> String {
        let mut record = Record::of(record);
        record.put(known_as, key);
        record.text()
    }

    /// The hash comes from `ssh-keygen -H`.
    #[test]
    fn a_hashed_name_is_found_and_replaced() {
        let (old, new) = (key(), key());
        let line = format!(
            "|1|+6TkJF1JnrCmF9oUpuLDIJv9Rd8=|OSRCg7o0zw5PxzIgOwoyOYbQgeg= {}",
            old.to_openssh().unwrap().trim()
        );
        assert_eq!(stands(&line, "192.0.2.1", &old), Standing::Confirmed);
        assert_eq!(stands(&line, "192.0.2.1", &new), Standing::Changed);
        assert_eq!(stands(&line, "192.0.2.2", &new), Standing::New);
        let text = with(&line, "192.0.2.1", &new);
        assert!(text.starts_with("192.0.2.1 ssh-ed25519 ") && text.lines().count() == 1, "{text}");
    }

    #[test]
    fn names_match_in_any_case_and_after_leading_spaces() {
        let (old, new) = (key(), key());
        let line = format!("  Node1,node2 {}\n", old.to_openssh().unwrap().trim());
        assert_eq!(stands(&line, "node1", &new), Standing::Changed);
        assert!(with(&line, "node1", &new).starts_with("node2 ssh-ed25519 "));
    }

    #[test]
    fn lines_with_wildcards_or_markers_stay_unchanged() {
        let key = key();
        let public = key.to_openssh().unwrap();
        let text = format!("*.example {public}\n@cert-authority 192.0.2.1 {public}\n");
        assert_eq!(stands(&text, "192.0.2.1", &key), Standing::New);
        assert!(with(&text, "192.0.2.1", &key).starts_with(&text));
    }

    #[test]
    fn a_revoked_key_is_never_confirmed() {
        let (old, new) = (key(), key());
        let line = |key: &PublicKey| format!("192.0.2.1 {}\n", key.to_openssh().unwrap());
        let record = format!("{}@revoked * {}\n", line(&old), old.to_openssh().unwrap());
        assert_eq!(stands(&record, "192.0.2.1", &old), Standing::Revoked);
        let both = Record::of(&(line(&old) + &line(&new)));
        let (standing, shown) = Record::of(&record).stands("192.0.2.1", &both);
        assert_eq!((standing, shown.unwrap().key_data()), (Standing::Changed, new.key_data()));
    }
}
