//! The arguments of a command: `-e password=…`, `--token …`.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::assigned::{self, is_shown_secret};
use crate::document::HIDDEN;
use crate::pattern::pattern;
use crate::{finder, known, private_key, shapes};

/// The arguments with their secrets hidden, as a page may show them.
#[must_use]
pub fn hide_in_arguments(arguments: &[String]) -> Vec<String> {
    let parts = arguments.iter().enumerate().map(|(n, word)| match secret_part(arguments, n) {
        Some(at) => format!("{}{HIDDEN}", &word[..at]),
        None => hide_in_script(word),
    });
    parts.collect()
}

/// The text of a script with its secrets hidden, as a page may show it. What a shell fills in (`$1`) stays.
#[must_use]
pub fn hide_in_script(text: &str) -> String {
    let masked = |line: &str| {
        let line = assigned::masked(line.to_owned(), HIDDEN);
        shapes::masked(private_key::masked(line, HIDDEN), HIDDEN)
    };
    let mut key = private_key::KeyLines::default();
    let lines = text.split('\n').map(|line| key.line(line.to_owned(), HIDDEN, |line| masked(&line)));
    finder::hide(lines.collect::<Vec<_>>().join("\n"), &known::secrets(text), &HashSet::new(), HIDDEN)
}

/// The values in arguments that must not be in a log.
pub(crate) fn secrets(arguments: &[String]) -> Vec<String> {
    let whole = (0..arguments.len()).filter_map(|n| {
        let at = secret_part(arguments, n)?;
        Some(arguments[n][at..].trim_matches(['"', '\'']).to_owned())
    });
    whole.chain(arguments.iter().flat_map(|argument| known::secrets(argument))).collect()
}

/// Where the secret begins, if the n-th argument is `name=secret` or follows the flag of a secret.
fn secret_part(arguments: &[String], n: usize) -> Option<usize> {
    let word = arguments[n].as_str();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c));
    if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
        return is_shown_secret(&as_variable(name), value, HIDDEN).then(|| name.len() + 1);
    }
    is_secret_after(arguments.get(n.checked_sub(1)?)?, word).then_some(0)
}

/// Whether `word` is a secret because `flag` is before it: `--password`.
pub(crate) fn is_secret_after(flag: &str, word: &str) -> bool {
    let is_flag = |flag: &&str| flag.len() > 1 && flag.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c));
    let Some(flag) = flag.strip_prefix("--").or_else(|| flag.strip_prefix('-')).filter(is_flag) else { return false };
    may_be_value(flag, word) && !word.starts_with('-') && is_shown_secret(&as_variable(flag), word, HIDDEN)
}

/// First and last words of flags that have no secret value: `--ask-become-pass`, `--password-stdin`, `--recv-keys`.
pub(crate) const FIRST_OF_SWITCHES: [&str; 4] = ["ask", "quick", "recv", "skip"];
pub(crate) const LAST_OF_SWITCHES: [&str; 7] =
    ["ca-cert-hash", "keys-only", "pass-credentials", "prompt", "stdin", "unauthenticated", "verification"];
/// First words of flags that have no value more often than others: `--no-password`.
pub(crate) const FIRST_OF_DOUBTFUL: [&str; 2] = ["no", "prompt"];

/// What isn't the value of a doubtful flag: a word, a path or a host.
pub(crate) static NO_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:[A-Za-z]+|\.{1,2}(?:/\S*)?|(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?",
        r"|[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]+)?)$",
    ))
});

/// Whether the word after a flag may be a secret. Not if it has the name of the flag, as in a description (`--api-key API_KEY`), or
/// is the name of a secret of `docker build`.
pub(crate) fn may_be_value(flag: &str, word: &str) -> bool {
    let flag = as_variable(flag);
    let dashed = flag.replace('_', "-");
    let ends_with = |last: &&str| dashed.strip_suffix(last).is_some_and(|rest| rest.is_empty() || rest.ends_with('-'));
    let first = dashed.split('-').next().unwrap_or_default();
    let is_switch = FIRST_OF_SWITCHES.contains(&first) || LAST_OF_SWITCHES.iter().any(ends_with);
    let has_no_value = is_switch || (FIRST_OF_DOUBTFUL.contains(&first) && NO_VALUE.is_match(word));
    let is_name = word == flag.to_uppercase() || (flag == "secret" && word.starts_with("id="));
    !has_no_value && !is_name
}

/// `--vault-password-file` is the variable `vault_password_file`.
pub(crate) fn as_variable(flag: &str) -> String {
    flag.trim_start_matches('-').replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split('|').map(str::to_owned).collect()
    }

    #[test]
    fn secrets_in_arguments_are_hidden_and_found() {
        let cases = [
            ("-e|password=hunter22", "-e|password=(hidden)", "hunter22"),
            ("-e|a=1 db_pwd=hunter22 b=2", "-e|a=1 db_pwd=(hidden) b=2", "hunter22"),
            (r#"-e|{"api_token": "hunter22"}"#, r#"-e|{"api_token": "(hidden)"}"#, "hunter22"),
            ("password=two words", "password=(hidden)", "two words"),
            ("--extra-vars=password=hunter22", "--extra-vars=password=(hidden)", "hunter22"),
            ("--token|hunter22|x", "--token|(hidden)|x", "hunter22"),
            ("--db-password=hunter22", "--db-password=(hidden)", "hunter22"),
        ];
        for (given, shown, secret) in cases {
            assert_eq!(hide_in_arguments(&words(given)), words(shown));
            assert!(secrets(&words(given)).iter().any(|found| found == secret), "{given}");
        }
    }

    #[test]
    fn other_arguments_are_shown() {
        for given in [
            "--limit=m1|--check|-e|kube_version=1.34.4",
            "--vault-password-file|secret.txt|--private-key|/auth/ssh-privatekey",
            "--ask-become-pass|site.yml|-e|use_token=true",
            "motd=it's; $(here)|two words|#no comment",
        ] {
            assert_eq!(hide_in_arguments(&words(given)), words(given));
            assert_eq!(secrets(&words(given)), [""; 0], "{given}");
        }
    }

    #[test]
    fn secrets_in_a_script_are_hidden() {
        let script = "export DB_PASSWORD=hunter22\nlogin --pass \"$1\"\nkey=$(cat x)\n";
        assert_eq!(hide_in_script(script), "export DB_PASSWORD=(hidden)\nlogin --pass \"$1\"\nkey=$(cat x)\n");
    }
}
