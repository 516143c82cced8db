//! Hides the secrets of one run in its lines and messages. Logs, statuses and Events have more readers than a run's inputs.

use std::sync::Arc;

use crate::finder::Finder;
use crate::parts::hidden;
use crate::private_key::{self, KeyLines};
use crate::{assigned, colours, known, shapes};

/// Replaces a secret.
pub const MASK: &str = "••••••";

/// Replaces a whole line of a run if the run's inputs are unknown: anything in it could be a secret.
pub const UNKNOWN_INPUTS: &str =
    "[not shown: the inputs of this run are gone or may not be read, so its secrets are not known]";

/// What is known of a run whose output is masked.
#[derive(Debug, Clone, Copy, Default)]
pub struct MaskedRun<'a> {
    /// The text of its inventory.
    pub inventory: &'a str,
    /// The text of its variables.
    pub variables: &'a str,
    /// The token that marks its events.
    pub token: &'a str,
    /// Further secret values: see [`secrets_of_run`](crate::secrets_of_run).
    pub secrets: &'a [String],
    /// Names of hosts and groups that contain a secret value. They stay readable.
    pub names: &'a [String],
}

/// Masks the lines of one run, in their order: a private key has several lines. [`Masker::default`] knows no values and only
/// masks what is secret by its form.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    known: Arc<Finder>,
    key: KeyLines,
    hides_all: bool,
}

impl Masker {
    /// A masker for messages about one text (inventory or variables), and for a run's token.
    #[must_use]
    pub fn new(inputs: &str, token: Option<&str>) -> Self {
        let values = known::secrets(inputs);
        Self::of_values(values.iter().map(String::as_str).chain(token), &[])
    }

    /// A masker for the output of a run.
    #[must_use]
    pub fn of_run(run: &MaskedRun<'_>) -> Self {
        let values = known::secrets_of_all(&[run.inventory, run.variables]);
        Self::of_values(values.iter().chain(run.secrets).map(String::as_str).chain([run.token]), run.names)
    }

    fn of_values<'v>(values: impl Iterator<Item = &'v str>, names: &[String]) -> Self {
        Self { known: Arc::new(Finder::of(values, names.iter().cloned())), ..Self::default() }
    }

    /// For a run whose inputs are unknown: every line becomes [`UNKNOWN_INPUTS`], every message [`MASK`].
    #[must_use]
    pub fn of_unknown_inputs() -> Self {
        Self { hides_all: true, ..Self::default() }
    }

    /// Continues after the last line that an earlier collector stored.
    pub fn resume_after(&mut self, last_line: Option<&str>) {
        // If the masked line was no key, the next line doesn't look like part of one, and nothing more is masked.
        self.key.inside = last_line.is_some_and(|line| line.ends_with(MASK));
    }

    /// The line as it may be stored.
    pub fn line(&mut self, text: String) -> String {
        if self.hides_all {
            return UNKNOWN_INPUTS.to_owned();
        }
        let before = std::mem::take(&mut self.key);
        let mut after = None;
        let line = colours::masked(text, |text| {
            let mut key = before.clone();
            let line = key.line(text, MASK, |text| self.masked(text));
            after.get_or_insert(key);
            line
        });
        self.key = after.unwrap_or_default();
        line
    }

    /// A text that is no line of the log, such as a message.
    pub fn value(&self, text: String) -> String {
        if self.hides_all {
            return MASK.to_owned();
        }
        if text.contains('\n') && !text.contains("PRIVATE KEY-----") {
            return text.split('\n').map(|line| self.value(line.to_owned())).collect::<Vec<_>>().join("\n");
        }
        colours::masked(text, |text| self.masked(text))
    }

    fn masked(&self, text: String) -> String {
        let text = private_key::masked(text, MASK);
        // Each of them searches the whole text: a known value may also be the name beside another one.
        let mut parts = self.known.parts(&text);
        parts.extend(shapes::parts(&text));
        parts.extend(shapes::long_parts(&text));
        parts.extend(assigned::parts(&text, MASK));
        hidden(text, parts, MASK)
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
    fn the_values_of_a_run_come_from_its_variables_and_token() {
        let run = MaskedRun {
            variables: "password: hunter22",
            token: "0123abcd",
            secrets: &["fur-ther".into()],
            ..MaskedRun::default()
        };
        let masker = Masker::of_run(&run);
        assert_eq!(masker.value("hunter22 0123abcd fur-ther".into()), format!("{MASK} {MASK} {MASK}"));
    }

    #[test]
    fn a_value_is_also_masked_as_json_writes_it() {
        let mut masker = Masker::new(r#"password: 's3cr"et\x'"#, None);
        assert_eq!(masker.line(r#"raw s3cr"et\x"#.into()), format!("raw {MASK}"));
        assert_eq!(masker.line(r#"{"cmd": "login s3cr\"et\\x"}"#.into()), format!(r#"{{"cmd": "login {MASK}"}}"#));
    }

    #[test]
    fn nothing_of_a_run_with_unknown_inputs_is_shown() {
        let mut masker = Masker::of_unknown_inputs();
        assert_eq!((masker.line("ok".into()).as_str(), masker.value("ok".into()).as_str()), (UNKNOWN_INPUTS, MASK));
    }

    #[test]
    fn secrets_are_recognised_by_their_form() {
        let mut masker = Masker::new("", None);
        let cases = [
            ("pull https://bob:pa55@registry/x", format!("pull https://{MASK}@registry/x")),
            ("clone https://ghp_pa55:@git.example/x", format!("clone https://{MASK}@git.example/x")),
            ("clone https://ghp_pa55:x-oauth-basic@git.example", format!("clone https://{MASK}@git.example")),
            ("pip git+https://ghp_pa55@git.example/x", format!("pip git+https://{MASK}@git.example/x")),
            ("use https://bob:pa@55@git.example/x", format!("use https://{MASK}@git.example/x")),
            ("use redis://:pa55@cache", format!("use redis://:{MASK}@cache")),
            ("use redis://pa55:@cache", format!("use redis://{MASK}@cache")),
            ("use postgres://bob:pa55@db/x", format!("use postgres://bob:{MASK}@db/x")),
            ("use smtp://me@corp:pa55@mail:587", format!("use smtp://me@corp:{MASK}@mail:587")),
            ("join --token abcdef.0123456789abcdef", format!("join --token {MASK}")),
            (&format!("--certificate-key {}", "a1".repeat(32)), format!("--certificate-key {MASK}")),
            ("clone https://ghp_pa55@git.example/x", format!("clone https://{MASK}@git.example/x")),
            ("https://host:6443/path", "https://host:6443/path".into()),
            ("ssh://root@10.0.0.1", "ssh://root@10.0.0.1".into()),
            ("pull docker://registry.example/x@sha256:00", "pull docker://registry.example/x@sha256:00".into()),
            ("Started abcdef.abcdefghijklmnop", "Started abcdef.abcdefghijklmnop".into()),
        ];
        for (line, wanted) in cases {
            assert_eq!(masker.line(line.into()), wanted);
        }
    }

    #[test]
    fn settings_of_logins_do_not_mask_words_of_every_log() {
        let inputs = "ansible_ssh_common_args: '-o PreferredAuthentications=publickey -o PasswordAuthentication=no'\n\
                      auth_method: password\noidc_auth_provider: github\ncert_management: script\n\
                      tolerations:\n- key: node-role.kubernetes.io/control-plane\n";
        let mut masker = Masker::new(inputs, None);
        for line in [
            "Permission denied (publickey).",
            "ask for the password, no",
            "clone from github by script",
            "taint node-role.kubernetes.io/control-plane:NoSchedule",
        ] {
            assert_eq!(masker.line(line.into()), line);
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
        assert_eq!(masker.line(line.into()), format!(r#"{{"key": "{MASK}", "rc": 0}}"#));
        assert_eq!(masker.line("next".into()), "next");
    }

    #[test]
    fn a_key_stays_masked_when_collecting_resumes_inside_it() {
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
    fn a_secret_that_colours_split_is_masked() {
        let mut masker = Masker::new("password: hunter22", None);
        let red = "\u{1b}[31m";
        let cases = [
            (format!("{red}login hunter22\u{1b}[0m"), format!("{red}login {MASK}\u{1b}[0m")),
            (format!("login hun{red}ter22\u{1b}[0m"), format!("login {MASK}")),
            (format!("{red}nothing"), format!("{red}nothing")),
            (r#"{"a": "hun\u001b[31mter22"}"#.into(), format!(r#"{{"a": "{MASK}"}}"#)),
        ];
        for (line, wanted) in cases {
            assert_eq!(masker.value(line.clone()), wanted);
            assert_eq!(masker.line(line), wanted);
        }
    }

    #[test]
    fn a_key_body_without_its_first_line_is_masked() {
        let mut masker = Masker::new("", None);
        let body = "QyNTUxOQAAACDkq0Xo7hW1yJ6bVv0yqzqk2bq4VZc5k1c2v3b4n5m6AAAAIgAAAAtz";
        assert_eq!(masker.line(body.into()), MASK);
        let quoted = format!(r#"{{"stdout": "{body}\n{body}\nAAAA==", "rc": 0}}"#);
        assert_eq!(masker.line(quoted), format!(r#"{{"stdout": "{MASK}\n{MASK}\nAAAA==", "rc": 0}}"#));
        for public in [
            format!("sha256:{}", "0a1b2c3d".repeat(8)),
            format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{}", "aB3".repeat(20)),
            format!("/{}", "usr/lib/python3/".repeat(6)),
        ] {
            assert_eq!(masker.line(public.clone()), public);
        }
    }

    #[test]
    fn a_key_without_an_end_does_not_swallow_the_log() {
        let mut masker = Masker::new("", None);
        masker.line("-----BEGIN RSA PRIVATE KEY-----".into());
        assert_eq!(masker.line("ok: [m1]".into()), "ok: [m1]");
    }
}
