//! Secrets that must not reach the spool, a status or an Event: they have more readers than the inputs of a run.
//!
//! Known values come from the run's own inputs: whatever stands under a name like `…password`, `…secret`, `…token` or
//! `…key`. Beyond them, shapes that are secrets wherever they appear: private keys, kubeadm tokens, certificate keys,
//! passwords in URLs.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// What stands in a secret's place.
pub const MASK: &str = "••••••";

/// Shorter values would blank out half of every log.
const SHORTEST: usize = 4;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant and tested")
}

/// `name:` or `name=` before a value, in YAML, JSON and INI alike.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?i)["']?\b[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|key|_pass)[\w.-]*["']?[ \t]*(?:: |:$|=)[ \t]*"#)
});

/// Names that only point at a secret.
static POINTER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(_file|_path|_dir|_name|_type|_size|_enabled|_url|_hash_algorithm|_mode|_checking)$"));

static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?P<before>\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)(?P<password>[^\s/@]+)(?P<after>@)|\b(?P<token>[a-z0-9]{6}\.[a-z0-9]{16})\b|(?P<flag>--certificate-key[ =])[0-9a-f]{64}",
    )
});

static KEY_BEGIN: LazyLock<Regex> = LazyLock::new(|| regex(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"));
static KEY_INLINE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)"));
static KEY_END: LazyLock<Regex> = LazyLock::new(|| regex(r"^.*-----END [A-Z0-9 ]*PRIVATE KEY-----"));
/// One token of base64, quoted, indented or marked by a diff; or a header of the old PEM format.
static KEY_BODY: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^[\s"'|+-]*[A-Za-z0-9+/]*={0,2}[\s"',]*$|^\s*(?:Proc-Type|DEK-Info):"#));

/// What stands in place of a line of a run whose inputs are not known: anything in it could be a secret.
pub const HIDDEN: &str =
    "[not shown: the inputs of this run are gone or may not be read, so its secrets are not known]";

/// Masks the lines of one run, in order: a private key spans several. The default knows the shapes only.
#[derive(Debug, Default)]
pub struct Masker {
    known: Option<Regex>,
    in_key: bool,
    hides_all: bool,
}

impl Masker {
    /// A masker for a run with these inputs (inventory and variables) and this token.
    pub fn new(inputs: &str, token: Option<&str>) -> Self {
        let mut values = secrets(inputs);
        values.extend(token.map(str::to_owned));
        values.sort_by_key(|v| std::cmp::Reverse(v.len()));
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
            if let Some(end) = KEY_END.find(&text) {
                self.in_key = false;
                return format!("{MASK}{}", self.value(text[end.end()..].to_owned()));
            }
            if KEY_BODY.is_match(&text) {
                return MASK.to_owned();
            }
            self.in_key = false;
        }
        if let Some(begin) = KEY_BEGIN.find_iter(&text).last()
            && !KEY_END.is_match(&text[begin.start()..])
        {
            // `\n` as two characters: the whole key stands in this line, and ends with it.
            self.in_key = !text[begin.end()..].contains("\\n");
            let before = self.value(text[..begin.start()].to_owned());
            return if before.is_empty() { MASK.to_owned() } else { format!("{before}{MASK}") };
        }
        self.value(text)
    }

    /// One string by itself.
    pub fn value(&self, mut text: String) -> String {
        if self.hides_all {
            return MASK.to_owned();
        }
        if text.contains("PRIVATE KEY-----") {
            text = replaced(&KEY_INLINE, text.replace('\n', "\\n"), |_| MASK.to_owned());
        }
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

fn replaced(pattern: &Regex, text: String, with: impl Fn(&Captures<'_>) -> String) -> String {
    match pattern.replace_all(&text, |found: &Captures<'_>| with(found)) {
        Cow::Owned(changed) => changed,
        Cow::Borrowed(_) => text,
    }
}

/// The secret values in an inventory or a variables file. Read as text, not as YAML: it need not be valid, and nothing can blow up.
fn secrets(inputs: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut lines = inputs.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let mut at = 0;
        while let Some(found) = ASSIGNED.find_at(line, at) {
            let rest = &line[found.end()..];
            let name = found.as_str().trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
            let (value, length) =
                scalar(rest, found.as_str().ends_with('='), line[..found.start()].contains(['{', '[']));
            at = found.end() + length;
            if POINTER.is_match(name) {
                continue;
            }
            if matches!(value.as_str(), "|" | "|-" | "|+" | ">" | ">-" | ">+") {
                while let Some(next) = lines.next_if(|l| l.trim().is_empty() || l.len() - l.trim_start().len() > indent)
                {
                    values.extend(Some(next.trim().to_owned()).filter(|v| v.len() >= 8));
                }
            } else {
                values.push(value);
            }
        }
    }
    let harmless = |v: &String| {
        v.len() < SHORTEST
            || v.contains("{{")
            || v.starts_with('/')
            || ["true", "false", "null", "none", "!vault"].iter().any(|word| v.eq_ignore_ascii_case(word))
    };
    values.retain(|v| !harmless(v));
    values
}

/// The scalar that `rest` begins with, and how many bytes of it were read.
fn scalar(rest: &str, ini: bool, flow: bool) -> (String, usize) {
    match rest.chars().next() {
        Some('"') => {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let closes = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                closes
            });
            let end = end.map_or(rest.len(), |end| end + 2);
            let text = serde_json::from_str(&rest[..end]).unwrap_or_else(|_| rest[..end].trim_matches('"').to_owned());
            (text, end)
        }
        Some('\'') => {
            let mut end = 1;
            while let Some(quote) = rest[end..].find('\'') {
                end += quote + 1;
                if !rest[end..].starts_with('\'') {
                    break;
                }
                end += 1;
            }
            (rest[1..end].trim_end_matches('\'').replace("''", "'"), end)
        }
        _ => {
            let end = if ini {
                rest.find(char::is_whitespace)
            } else if flow {
                rest.find([',', '}', ']'])
            } else {
                rest.find(" #")
            };
            let end = end.unwrap_or(rest.len());
            (rest[..end].trim_end().to_owned(), end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_under_telling_names_are_secrets() {
        let inputs = r#"
all:
  hosts:
    m1: {ansible_host: 10.0.0.1, ansible_password: "s3cr\"et", "ansible_become_password": 'it''s'}
    m2: {api_token: flow-token}
vars:
  grafana_admin_password: plain-pass # comment
  kube_encrypt_token: |
    first line of it
    second line of it
  not_masked: visible
  ansible_ssh_private_key_file: /auth/ssh-privatekey
  use_token: true
  registry_password: "{{ lookup('env', 'X') }}"
  - secret: listed
[ini]
m3 ansible_ssh_pass=inipass
"#;
        let found = secrets(inputs);
        for wanted in [
            "s3cr\"et",
            "it's",
            "flow-token",
            "plain-pass",
            "first line of it",
            "second line of it",
            "listed",
            "inipass",
        ] {
            assert!(found.iter().any(|v| v == wanted), "{wanted} in {found:?}");
        }
        for harmless in ["visible", "/auth/ssh-privatekey", "true", "10.0.0.1"] {
            assert!(!found.iter().any(|v| v == harmless), "{harmless} in {found:?}");
        }
    }

    #[test]
    fn known_values_and_the_token_are_masked() {
        let mut masker = Masker::new("password: hunter22\nother_password: hunter22-long", Some("0123abcd"));
        assert_eq!(
            masker.line("login hunter22-long, hunter22, 0123abcd.".into()),
            format!("login {MASK}, {MASK}, {MASK}.")
        );
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
