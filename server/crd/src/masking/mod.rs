//! Secrets that must not reach the spool, a status or an Event: they have more readers than the inputs of a run.
//!
//! Known values come from the run's own inputs (`inputs`). Beyond them, shapes that are secrets wherever they appear: private
//! keys, kubeadm tokens, certificate keys, passwords in URLs.

mod inputs;
mod private_key;
mod scalar;

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock};

use k8s_openapi::ByteString;
use regex::{Captures, Regex};

use crate::names::{KEY_HOSTS, KEY_TOKEN, KEY_VARS};

/// What stands in a secret's place.
pub const MASK: &str = "••••••";

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant and tested")
}

static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?P<before>\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)(?P<password>[^\s/@]+)(?P<after>@)|\b(?P<token>[a-z0-9]{6}\.[a-z0-9]{16})\b|(?P<flag>--certificate-key[ =])[0-9a-f]{64}",
    )
});

/// What stands in place of a line of a run whose inputs are not known: anything in it could be a secret.
pub const HIDDEN: &str =
    "[not shown: the inputs of this run are gone or may not be read, so its secrets are not known]";

/// The token of the run whose inputs are the data of this Secret, by which it signs its events. None where it is no snapshot.
#[must_use]
pub fn snapshot_token(data: &BTreeMap<String, ByteString>) -> Option<String> {
    let token = text(data, KEY_TOKEN)?.trim().to_owned();
    Some(token).filter(|token| token.len() >= 8)
}

fn text<'a>(data: &'a BTreeMap<String, ByteString>, key: &str) -> Option<Cow<'a, str>> {
    data.get(key).map(|bytes| String::from_utf8_lossy(&bytes.0))
}

/// Masks the lines of one run, in order: a private key spans several. The default knows the shapes only.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    known: Option<Regex>,
    in_key: bool,
    hides_all: bool,
}

impl Masker {
    /// A masker for a run with these inputs (inventory and variables) and this token.
    pub fn new(inputs: &str, token: Option<&str>) -> Self {
        let mut values = inputs::secrets(inputs);
        // Ansible prints results as JSON.
        let in_json: Vec<_> = values.iter().filter_map(|value| in_json(value)).collect();
        values.extend(in_json);
        values.extend(token.map(str::to_owned));
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let alternatives: Vec<_> = values.iter().map(|v| regex::escape(v)).collect();
        // Many or huge secrets may exceed what a pattern can hold; the longest ones go first then.
        let known = (!alternatives.is_empty()).then(|| {
            (0..8).find_map(|halving| {
                Regex::new(&alternatives[..alternatives.len().div_ceil(1 << halving)].join("|")).ok()
            })
        });
        Self { known: known.flatten(), ..Self::default() }
    }

    /// A masker for the run whose inputs are the data of this Secret. None where it is no snapshot: one that only stands in for
    /// it has no token, and what is secret is not known.
    #[must_use]
    pub fn of_snapshot(data: &BTreeMap<String, ByteString>) -> Option<Self> {
        let token = snapshot_token(data)?;
        let inputs: Vec<_> = [KEY_HOSTS, KEY_VARS].into_iter().filter_map(|key| text(data, key)).collect();
        Some(Self::new(&inputs.join("\n"), Some(&token)))
    }

    /// For a run whose inputs are not known: every line becomes [`HIDDEN`].
    #[must_use]
    pub fn of_unknown_inputs() -> Self {
        Self { hides_all: true, ..Self::default() }
    }

    /// Goes on where an earlier collector stopped.
    pub fn resume_after(&mut self, last_line: Option<&str>) {
        // It may have been another secret: then the next line doesn't look like a key, and that is that.
        self.in_key = last_line.is_some_and(|line| line.ends_with(MASK));
    }

    /// The line as it may be stored.
    pub fn line(&mut self, text: String) -> String {
        if self.hides_all {
            return HIDDEN.to_owned();
        }
        if self.in_key {
            if let Some(end) = private_key::end(&text) {
                self.in_key = false;
                return format!("{MASK}{}", self.value(text[end..].to_owned()));
            }
            if private_key::is_body(&text) {
                return MASK.to_owned();
            }
            self.in_key = false;
        }
        if let Some((begin, goes_on)) = private_key::begin(&text) {
            self.in_key = goes_on;
            let before = self.value(text[..begin].to_owned());
            return if before.is_empty() { MASK.to_owned() } else { format!("{before}{MASK}") };
        }
        self.value(text)
    }

    /// One string by itself.
    pub fn value(&self, mut text: String) -> String {
        if self.hides_all {
            return MASK.to_owned();
        }
        text = private_key::without(text);
        if let Some(known) = &self.known {
            text = replaced(known, text, |_| MASK.to_owned());
        }
        replaced(&SHAPES, text, |found| {
            let part = |name| found.name(name).map_or("", |m| m.as_str());
            let is_word = found.name("token").is_some_and(|t| !t.as_str()[7..].contains(|c: char| c.is_ascii_digit()));
            if is_word {
                found[0].to_owned()
            } else {
                format!("{}{}{MASK}{}", part("before"), part("flag"), part("after"))
            }
        })
    }
}

/// The value as it stands within a string of JSON, where that is written otherwise.
fn in_json(value: &str) -> Option<String> {
    let quoted = serde_json::to_string(value).ok()?;
    let inside = quoted[1..quoted.len() - 1].to_owned();
    (inside != value).then_some(inside)
}

fn replaced(pattern: &Regex, text: String, with: impl Fn(&Captures<'_>) -> String) -> String {
    match pattern.replace_all(&text, |found: &Captures<'_>| with(found)) {
        Cow::Owned(changed) => changed,
        Cow::Borrowed(_) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_the_token_are_masked() {
        let mut masker = Masker::new("password: hunter22\nother_password: hunter22-long", Some("0123abcd"));
        assert_eq!(
            masker.line("login hunter22-long, hunter22, 0123abcd.".into()),
            format!("login {MASK}, {MASK}, {MASK}.")
        );
    }

    #[test]
    fn a_value_is_masked_as_json_writes_it_too() {
        let mut masker = Masker::new(r#"password: 's3cr"et\x'"#, None);
        assert_eq!(masker.line(r#"raw s3cr"et\x"#.into()), format!("raw {MASK}"));
        assert_eq!(masker.line(r#"{"cmd": "login s3cr\"et\\x"}"#.into()), format!(r#"{{"cmd": "login {MASK}"}}"#));
    }

    #[test]
    fn a_secret_that_only_stands_in_for_a_snapshot_says_nothing_about_secrets() {
        let data = |token: &str| {
            let field = |key: &str, text: &str| (key.to_owned(), ByteString(text.as_bytes().to_vec()));
            BTreeMap::from([field(KEY_VARS, "password: hunter22"), field(KEY_TOKEN, token)])
        };
        assert!(Masker::of_snapshot(&data("")).is_none() && Masker::of_snapshot(&BTreeMap::new()).is_none());
        let masker = Masker::of_snapshot(&data("0123abcd\n")).unwrap();
        assert_eq!(masker.value("hunter22 0123abcd".into()), format!("{MASK} {MASK}"));
    }

    #[test]
    fn nothing_of_a_run_with_unknown_inputs_is_shown() {
        let mut masker = Masker::of_unknown_inputs();
        assert_eq!((masker.line("ok".into()).as_str(), masker.value("ok".into()).as_str()), (HIDDEN, MASK));
    }

    #[test]
    fn secret_shapes_are_masked_wherever_they_appear() {
        let mut masker = Masker::new("", None);
        let cases = [
            ("pull https://bob:pa55@registry/x", format!("pull https://bob:{MASK}@registry/x")),
            ("join --token abcdef.0123456789abcdef", format!("join --token {MASK}")),
            (&format!("--certificate-key {}", "a1".repeat(32)), format!("--certificate-key {MASK}")),
            ("https://host:6443/path", "https://host:6443/path".into()),
        ];
        for (line, wanted) in cases {
            assert_eq!(masker.line(line.into()), wanted);
        }
    }

    #[test]
    fn a_private_key_is_masked_over_all_its_lines() {
        let mut masker = Masker::new("", None);
        let lines = [
            "key: -----BEGIN OPENSSH PRIVATE KEY-----",
            "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB",
            "AAAA==",
            "-----END OPENSSH PRIVATE KEY----- done",
            "TASK [next]",
        ];
        let masked: Vec<_> = lines.into_iter().map(|l| masker.line(l.into())).collect();
        assert_eq!(masked, [&format!("key: {MASK}"), MASK, MASK, &format!("{MASK} done"), "TASK [next]"]);
    }

    #[test]
    fn a_private_key_inside_one_line_is_masked_and_the_rest_stays() {
        let mut masker = Masker::new("", None);
        let line = r#"{"key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n", "rc": 0}"#;
        assert_eq!(masker.line(line.into()), format!(r#"{{"key": "{MASK}\n", "rc": 0}}"#));
        assert_eq!(masker.line("next".into()), "next");
    }

    #[test]
    fn a_key_stays_masked_when_collecting_stops_in_its_middle() {
        let begin = Masker::new("", None).line("key: -----BEGIN RSA PRIVATE KEY-----".into());
        let mut masker = Masker::new("", None);
        masker.resume_after(Some(&begin));
        assert_eq!(masker.line("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUA".into()), MASK);
        assert_eq!(
            masker.line("TASK [kubernetes/control-plane : install]".into()),
            "TASK [kubernetes/control-plane : install]"
        );
    }

    #[test]
    fn a_key_without_an_end_does_not_swallow_the_log() {
        let mut masker = Masker::new("", None);
        masker.line("-----BEGIN RSA PRIVATE KEY-----".into());
        assert_eq!(masker.line("ok: [m1]".into()), "ok: [m1]");
    }
}
