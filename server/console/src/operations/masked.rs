//! Texts of a snapshot without what looks secret. A page shows what a run was given; it needn't show passwords for that.

/// What stands in the place of a value.
const HIDDEN: &str = "(hidden)";
/// A key with one of these in its name holds a secret.
const SECRET: [&str; 9] =
    ["pass", "secret", "token", "credential", "private_key", "api_key", "access_key", "encryption_key", "auth"];
/// Values that tell nothing.
const PLAIN: [&str; 10] = ["true", "false", "yes", "no", "null", "~", "{}", "[]", "\"\"", "''"];

/// `yaml` with the values of secrets hidden: the rest of their line, and what is indented below it.
pub(crate) fn masked(yaml: &str) -> String {
    let mut shown = String::with_capacity(yaml.len());
    // Lines deeper than this belong to a hidden value.
    let mut below: Option<usize> = None;
    for line in yaml.split_inclusive('\n') {
        let text = line.trim_end_matches(['\n', '\r']);
        let indent = text.len() - text.trim_start().len();
        // A list may stand right under its key, no deeper.
        let is_item = text[indent..].starts_with("- ") || &text[indent..] == "-";
        if below.is_some_and(|limit| text.trim().is_empty() || indent > limit || (indent == limit && is_item)) {
            continue;
        }
        below = None;
        match hidden_from(text) {
            None => shown.push_str(line),
            Some(at) => {
                shown.push_str(&text[..at]);
                shown.push_str(HIDDEN);
                shown.push_str(&line[text.len()..]);
                // In a list, what belongs to the key stands deeper than the key, not than the dash.
                let dashes = text[indent..].len() - text[indent..].trim_start_matches(['-', ' ']).len();
                below = Some(indent + dashes);
            }
        }
    }
    shown
}

/// Where the hidden part of a line begins.
fn hidden_from(line: &str) -> Option<usize> {
    if line.trim_start().starts_with('#') {
        // A commented password is a password.
        return line.to_ascii_lowercase().contains("pass").then(|| line.find('#').unwrap_or_default() + 1);
    }
    let keys = line.match_indices(':').filter(|(at, _)| {
        line[at + 1..].chars().next().is_none_or(|c| matches!(c, ' ' | '\t') || line[..*at].ends_with(['"', '\'']))
    });
    for (colon, _) in keys {
        let before = line[..colon].trim_end_matches(['"', '\'', ' ']);
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let key = before[start..].to_ascii_lowercase();
        let value = line[colon + 1..].trim();
        let first = value.split([',', '}', ' ']).next().unwrap_or_default();
        let tells = !PLAIN.contains(&first.to_ascii_lowercase().as_str());
        let is_secret = SECRET.iter().any(|word| key.contains(word)) && tells;
        if is_secret || value.starts_with("!vault") || carries_login(value) {
            let space = line[colon + 1..].len() - line[colon + 1..].trim_start().len();
            return Some(colon + 1 + space)
                .filter(|_| !value.is_empty())
                .or(Some(line.len()))
                .map(|at| at.max(colon + 1));
        }
    }
    None
}

/// A URL like `https://me:secret@example.com`.
fn carries_login(value: &str) -> bool {
    value
        .split_once("://")
        .and_then(|(_, rest)| rest.split(['/', ' ']).next()?.split_once('@'))
        .is_some_and(|(login, _)| login.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_look_secret_are_hidden_however_they_are_written() {
        let cases = [
            ("ansible_password: hunter2\nb: 1\n", "ansible_password: (hidden)\nb: 1\n"),
            ("a:\n  db_password: |\n    hunter2\n\n    more\n  b: 1\n", "a:\n  db_password: (hidden)\n  b: 1\n"),
            (
                "x: {ansible_host: h, \"ansible_become_password\": hunter2, c: d}\n",
                "x: {ansible_host: h, \"ansible_become_password\": (hidden)\n",
            ),
            ("- api_token: x\n  b: 1\n", "- api_token: (hidden)\n  b: 1\n"),
            ("v: !vault |\n  $ANSIBLE_VAULT;1.1\n  3031\nb: 1\n", "v: (hidden)\nb: 1\n"),
            ("proxy: http://me:hunter2@proxy:3128/\n", "proxy: (hidden)\n"),
            (
                "{\"all\":{\"vars\":{\"ansible_password\":\"hunter2\"}}}",
                "{\"all\":{\"vars\":{\"ansible_password\":(hidden)",
            ),
            ("registry_auth:\n  user: me\n  key: x\nb: 1", "registry_auth:(hidden)\nb: 1"),
            ("tokens:\n- one\n-\n  two\n- k: three\n  l: four\nb: 1\n", "tokens:(hidden)\nb: 1\n"),
            ("- api_tokens:\n  - one\n  b: 1\n- c: 2\n", "- api_tokens:(hidden)\n  b: 1\n- c: 2\n"),
            ("all:\n  passwords:\n  - one\n  b: 1\n", "all:\n  passwords:(hidden)\n  b: 1\n"),
            ("a_token: x\n---\n- b\n", "a_token: (hidden)\n---\n- b\n"),
            ("# ansible_password: hunter2\r\nb: 1\r\n", "#(hidden)\r\nb: 1\r\n"),
        ];
        for (yaml, shown) in cases {
            assert_eq!(masked(yaml), shown, "{yaml}");
        }
    }

    #[test]
    fn everything_else_is_shown_as_it_is() {
        let yaml = "# how it is built\nall:\n  hosts:\n    m1: {ansible_host: 192.0.2.1}\nkube_encrypt_secret_data: true\nmirror: https://example.com:5000/a\nt: 12:30:45\n";
        assert_eq!(masked(yaml), yaml);
    }
}
