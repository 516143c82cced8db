//! Values beside a secret name in a line of a log or in a command: `password=…`, `"api_token": "…"`, `db_pwd: …`. They are
//! masked although no input of the run contains them, for example because a task generated them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::arguments::{as_variable, may_be_value};
use crate::document::HIDDEN;
use crate::forms::SHORTEST;
use crate::message::is_message;
use crate::name::{EDGES, ENDS, LAST, LAST_AFTER, LAST_AFTER_OTHERS, STEMS, is_secret_in_log};
use crate::parts::hidden;
use crate::pattern::pattern;
use crate::value::{FILE_NAME, HASH, is_harmless};

/// A name and its value. In JSON and Python both are quoted, in JSON within JSON the quotes are escaped; in YAML the line
/// has nothing else; and `name=value` and `--name value` may be anywhere. Without quotes only the first character of the value
/// after `=` matches (`v7`), and [`WORD_END`] tells where it ends: of `a=b=c=…` the pattern would otherwise match the rest of the line for every name.
pub(crate) static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"["'](?P<n1>[\w.-]+)["']: ?(?:"(?P<v1>(?:[^"\\]|\\.)*)"|'(?P<v2>(?:[^'\\]|\\.)*)')"#,
        r#"|\\"(?P<n2>[\w.-]+)\\": ?\\"(?P<v3>.*?)\\""#,
        r#"|(?P<n3>[\w.-]+)=(?:"(?P<v4>[^"]*)"|'(?P<v5>[^']*)'|\\"(?P<v6>.*?)\\"|(?P<v7>[^\s"'\\,;&)}\]]))"#,
        r#"|^\s*(?:- )?(?P<n4>[\w.-]+): (?P<v8>[^\s|>&*!\[{].*)$"#,
        r#"|(?:^|[\s"'(=]|\\[nrt])--(?P<n5>[A-Za-z][\w.-]*)[ \t]+(?:"(?P<v9>[^"]*)"|'(?P<v10>[^']*)'"#,
        r#"|\\"(?P<v13>(?:[^"\\]|\\[^"\\])*)\\"|(?P<v11>[^\s"'\\,;&()\[\]{}<>|-][^\s"'\\,;&)}\]]*))"#,
        r#"|["']--(?P<n6>[A-Za-z][\w.-]*)["'](?:, ?|[ \t]+)["'](?P<v12>[^"'-][^"']*)["']"#,
        r#"|\\"--(?P<n7>[A-Za-z][\w.-]*)\\"(?:, ?|[ \t]+)\\"(?P<v14>(?:[^"\\-]|\\[^"\\])(?:[^"\\]|\\[^"\\])*)\\""#,
    ))
});
/// What ends a value without quotes.
pub(crate) static WORD_END: LazyLock<Regex> = LazyLock::new(|| pattern(r#"[\s"'\\,;&)}\]]"#));
/// How many bytes of a value are searched for `{{`.
pub(crate) const TEMPLATE_WITHIN: usize = 512;
/// What every match of [`ASSIGNED`] with a secret name contains. Much quicker to search for.
static POSSIBLE: LazyLock<Regex> = LazyLock::new(|| {
    let stems = STEMS.iter().map(|(stem, _)| *stem).chain(EDGES).chain(LAST).chain(LAST_AFTER_OTHERS);
    let stems = stems.chain(ENDS.iter().map(|words| words[0])).chain(LAST_AFTER.iter().map(|(word, _)| *word));
    let stems: Vec<_> = stems.chain(["pw", "auth", "cert"]).collect();
    let stems = stems.join("|");
    pattern(&format!(r#"(?i)(?:{stems})[\w.-]*[\\"']*[:=]|--[\w.-]*(?:{stems})[\w.-]*(?:[ \t]|\\*["'])"#))
});
const NAMES: [&str; 4] = ["n1", "n2", "n3", "n4"];
const FLAGS: [&str; 3] = ["n5", "n6", "n7"];
const VALUES: [&str; 14] = ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14"];
/// Those that may be words after a flag without a value.
const OF_LISTS: [&str; 3] = ["v11", "v12", "v14"];

/// `text` with `mark` in place of the values of secret names.
pub(crate) fn masked(text: String, mark: &str) -> String {
    let parts = parts(&text, mark);
    hidden(text, parts, mark)
}

/// Where the values of secret names are in `text`. `mark` is none.
pub(crate) fn parts(text: &str, mark: &str) -> Vec<Range<usize>> {
    let (mut parts, mut at, mut word_end) = (Vec::new(), 0, 0);
    if !POSSIBLE.is_match(text) {
        return parts;
    }
    while let Some(found) = ASSIGNED.captures_at(text, at) {
        let Some(value) = first(&found, VALUES) else { break };
        let (start, flag) = (value.start(), first(&found, FLAGS).map(|flag| flag.as_str()));
        // The value may contain further names: `--extra-vars=password=…`, `--args "--token …"`. A flag begins after a quote.
        at = start - usize::from(flag.is_some());
        // A word after a flag may belong to a sentence or a description, or be an argument of its own: `--token string`.
        let is_sentence = first(&found, OF_LISTS).is_some_and(|value| is_letters(value.as_str()));
        let is_no_value =
            |flag| !may_be_value(flag, value.as_str()) || is_sentence || FILE_NAME.is_match(value.as_str());
        if flag.is_some_and(is_no_value) {
            continue;
        }
        let name =
            flag.map(as_variable).or(first(&found, NAMES).map(|name| name.as_str().to_owned())).unwrap_or_default();
        if !is_secret_in_log(&name) {
            continue;
        }
        let mut end = value.end();
        if found.name("v7").is_some() {
            // Names within one word share its end.
            if word_end <= start {
                word_end = WORD_END.find_at(text, start).map_or(text.len(), |found| found.start());
            }
            end = word_end;
        }
        let is_sentence = found.name("v8").is_some_and(|value| is_message(&name, value.as_str()));
        if !is_sentence && is_secret_value(&name, &text[start..end], mark) {
            parts.push(start..end);
            at = end;
        }
    }
    parts
}

fn is_letters(text: &str) -> bool {
    text.chars().all(char::is_alphabetic)
}

fn first<'t, const N: usize>(found: &Captures<'t>, names: [&str; N]) -> Option<regex::Match<'t>> {
    names.into_iter().find_map(|name| found.name(name))
}

/// Whether a text would show a secret: `value` beside `name`.
pub(crate) fn is_shown_secret(name: &str, value: &str, mark: &str) -> bool {
    is_secret_in_log(name) && is_secret_value(name, value, mark)
}

/// Whether `value` is a secret beside a secret name.
fn is_secret_value(name: &str, value: &str, mark: &str) -> bool {
    value.len() >= SHORTEST && value != mark && !is_marked(value) && !is_filled_in(value) && !is_harmless(name, value)
}

/// Whether a page or a title has hidden the secret already: `password=(hidden)`. A value without quotes ends before the last `)`.
fn is_marked(value: &str) -> bool {
    let is_whole = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    value.strip_prefix(HIDDEN).is_some_and(is_whole) || HIDDEN.strip_suffix(')') == Some(value)
}

/// `$` begins what a shell replaces, and `{{` what ansible replaces.
fn is_filled_in(value: &str) -> bool {
    let start = &value.as_bytes()[..value.len().min(TEMPLATE_WITHIN)];
    let plain = value.trim_start_matches(['"', '\'', '\\']);
    (plain.starts_with(['$', '`']) && !HASH.is_match(plain)) || start.windows(2).any(|two| two == b"{{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beside_a_secret_name_is_masked() {
        let cases = [
            (r#"{"db_password": "hunter22", "a": 1}"#, r#"{"db_password": "*", "a": 1}"#),
            (r"{'db_pwd': 'hunter22', 'a': 1}", r"{'db_pwd': '*', 'a': 1}"),
            (r#""msg": "{\"credentials\": \"hunter22\"}""#, r#""msg": "{\"credentials\": \"*\"}""#),
            ("run -e password=hunter22 -e b=hello", "run -e password=* -e b=hello"),
            ("+ export PGPASSWORD='hunter 22' x", "+ export PGPASSWORD='*' x"),
            ("    admin_pass: hunter 22", "    admin_pass: *"),
            (r#""cmd": "login --pass=\"hunter 22\" x""#, r#""cmd": "login --pass=\"*\" x""#),
            ("run --token made-1234 -v", "run --token * -v"),
            (r#"["run", "--db-password", "made 1234", "-v"]"#, r#"["run", "--db-password", "*", "-v"]"#),
            (r#"["run","--db-password","made-1234"]"#, r#"["run","--db-password","*"]"#),
            (r#"{"stdout": "a\n--token made-1234\nb"}"#, r#"{"stdout": "a\n--token *\nb"}"#),
            (r#""[\"--token\", \"made-1234\"]" x"#, r#""[\"--token\", \"*\"]" x"#),
            (r#""\"--token\" \"made 1\n4\"""#, r#""\"--token\" \"*\"""#),
            (r#""run --token \"made 1234\" '--key' 'x y z' x""#, r#""run --token \"*\" '--key' '*' x""#),
            ("run --token 'made 1234' --api-key \"x y z\" x", "run --token '*' --api-key \"*\" x"),
            ("run --token 12345678 --no-verify-secret hunter33-x", "run --token * --no-verify-secret *"),
            (
                "--credentials made-1234 --password-hash x1y2 --secret x=y1",
                "--credentials * --password-hash * --secret *",
            ),
            (r#"x --k3s-extra-args "--token made-1234" -v"#, r#"x --k3s-extra-args "--token *" -v"#),
            (r#""x --args \"--token made-1234\"""#, r#""x --args \"--token *\"""#),
            ("X-JFrog-Art-Api: made-1234", "X-JFrog-Art-Api: *"),
            ("password: (hidden)hunter22", "password: *"),
            ("KeyError=hunter22secret PasswordError=hunter22", "KeyError=* PasswordError=*"),
            ("a=token=$x=pass=hunter22=b=c; d=pass=hunter22", "a=token=$x=pass=*; d=pass=*"),
        ];
        for (text, wanted) in cases {
            assert_eq!(masked(text.into(), "*"), wanted);
        }
    }

    #[test]
    fn other_text_is_unchanged() {
        for text in [
            "TASK [set the password : m1]",
            "m1 : ok=12 changed=3 unreachable=0 failed=0",
            "-o PreferredAuthentications=publickey -o PasswordAuthentication=no",
            "password=\"$1\" token=$(cat x) secret={{ y }} key=/etc/ssl/web.key",
            "Permission denied (publickey,password).",
            "export PGPASSWORD=(hidden) ended with exit code 2.",
            "password: (hidden) ended with exit code 2.",
            r#"A_TOKEN='(hidden)' B_TOKEN="(hidden)" {"password": "(hidden)"} a=token=(hidden);"#,
            "the token: it has expired",
            "KeyError: 'x1'",
            "use --password-stdin r1.example.test, --ask-pass x1.yml or --skip-token x1y2",
            "kubeadm join h --discovery-token-ca-cert-hash sha256:0a1b",
            "    --discovery-token-ca-cert-hash sha256:0a1b \\",
            r#"["--discovery-token-ca-cert-hash", "sha256:0a1b", "--allow-unauthenticated", "install"]"#,
            "kubeadm join --discovery-token-unsafe-skip-ca-verification 10.0.0.1:6443",
            "apt --allow-unauthenticated containerd.io=1.7.24-1",
            "gpg --recv-keys 1234ABCD56 --quick-gen-key user1",
            "etcdctl get --keys-only /registry/pods; helm repo add --pass-credentials repo-1",
            "docker build --secret id=npm1 .",
            "  --api-key API_KEY   The key",
            "--no-password r1.example.test --prompt-token 10.0.0.1 --no-secret ../x1",
            "  --token string   The token to use",
            "run --key-file x1.pem --cert-key web1.key --token $TOKEN --token-ttl 24h0 --password --check-1",
        ] {
            assert_eq!(masked(text.into(), "*"), text);
        }
    }
}
