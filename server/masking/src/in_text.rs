//! The secret values in an inventory or a variables file, for finding them in a log. The input is read as text, not as YAML:
//! it need not be valid, and reading it can't fail or take long.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::str::Lines;
use std::sync::LazyLock;

use regex::Regex;

use crate::assignment::{ANCHOR, Line, split_marks};
use crate::forms::SHORTEST;
use crate::name::is_secret_in_log;
use crate::pattern::pattern;
use crate::scalar::{Place, items, scalar};
use crate::value::is_harmless;

/// `|`, `>-` and the like: the lines below are the value.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[|>][-+0-9]{0,2}(?:[ \t]+#.*)?$"));

/// A value that is only a reference to another variable: `{{ name }}`, perhaps with filters.
pub(crate) static REFERENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\{\{-?\s*(\w+)\s*(?:\|[^{}]*)?-?\}\}$"));

/// How many anchors of one line count. Each of them may have the rest of the line as its value.
const ANCHORS: usize = 100;

/// How many references may lead to a value.
pub(crate) const LONGEST_CHAIN: usize = 5;

/// The values in `inputs` that must not be in a log.
pub(crate) fn secrets(inputs: &str) -> Vec<String> {
    let mut referenced = HashSet::new();
    let mut values = named(inputs, &referenced);
    for _ in 0..LONGEST_CHAIN {
        let known = referenced.len();
        referenced.extend(values.iter().filter_map(|value| Some(REFERENCE.captures(value)?[1].to_owned())));
        if referenced.len() == known {
            break;
        }
        values = named(inputs, &referenced);
    }
    values.retain(|value| can_be_searched(value));
    values
}

/// The values under secret names, and under the names in `referenced`.
fn named(inputs: &str, referenced: &HashSet<String>) -> Vec<String> {
    let anchored = anchored(inputs);
    let mut values = Vec::new();
    let mut lines = inputs.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let mut at = 0;
        let names = Line::of(line);
        while let Some(found) = names.next(at) {
            at = found.value_at;
            if !is_secret_in_log(found.name) && !referenced.contains(found.name) {
                continue;
            }
            let behind = &line[found.value_at..];
            // In INI, `!` and `&` may be the first character of a password.
            let (marks, rest) = if found.place == Place::Ini { ("", behind) } else { split_marks(behind) };
            at = line.len() - rest.len();
            let mut these = Vec::new();
            if BLOCK.is_match(rest) {
                these.push(block(&mut lines, indent));
            } else if rest.starts_with('[') {
                let read;
                (these, read) = items(rest);
                at += read;
                if at == line.len() {
                    these.extend(below(&mut lines, indent));
                }
            } else if rest.starts_with('{') {
                // The names in it are found as assignments of their own.
                continue;
            } else if found.place != Place::Ini && (rest.is_empty() || rest.starts_with('#')) {
                at = line.len();
                these = below(&mut lines, indent);
            } else {
                let (value, read) = scalar(rest, found.place);
                at += read;
                these.push(value);
            }
            // The log shows what vault decrypted, which isn't known here. The cipher text is no secret.
            if !marks.contains("!vault") {
                values.extend(these.into_iter().filter(|value| !is_harmless(found.name, value)));
            }
        }
    }
    // Each once: many aliases may have the value of one long anchor.
    let values: HashSet<String> = values.into_iter().collect();
    let values = values.into_iter().map(|value| match value.strip_prefix('*').and_then(|name| anchored.get(name)) {
        Some(anchored) => anchored.clone(),
        None => value,
    });
    values.collect()
}

fn can_be_searched(value: &str) -> bool {
    value.len() >= SHORTEST && !value.contains("{{") && !is_harmless("", value)
}

/// The scalars with an anchor, by the anchor's name. An alias (`*name`) repeats them elsewhere.
fn anchored(inputs: &str) -> HashMap<&str, String> {
    let mut found = HashMap::new();
    for line in inputs.lines().filter(|line| line.contains('&')) {
        let places = Line::of(line);
        for anchor in ANCHOR.captures_iter(line).take(ANCHORS) {
            let (whole, name) = (anchor.get(0).expect("the match"), anchor.get(2).expect("the group isn't optional"));
            let (_, rest) = split_marks(&line[whole.end()..]);
            found.insert(name.as_str(), scalar(rest, places.place(whole.start(), "")).0);
        }
    }
    found
}

/// The text of a block scalar. Its lines are searched for one by one, too.
fn block(lines: &mut Peekable<Lines<'_>>, indent: usize) -> String {
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| line.trim().is_empty() || column(line) > indent) {
        text.extend([line.trim(), "\n"]);
    }
    text
}

/// The value below a name that has none beside it: a scalar, or the items of a list. Stops at a map, whose names are found
/// as assignments of their own.
fn below(lines: &mut Peekable<Lines<'_>>, indent: usize) -> Vec<String> {
    let mut values = Vec::new();
    let belongs = |line: &str| column(line) > indent || (column(line) == indent && line.trim_start().starts_with("- "));
    while let Some(value) = lines.peek().filter(|line| belongs(line)).and_then(|line| entry(line)) {
        lines.next();
        values.push(value);
    }
    values
}

/// The scalar that a line consists of. `None` if the line is anything else.
fn entry(line: &str) -> Option<String> {
    let (_, text) = split_marks(line.trim().trim_start_matches("- ").trim_start());
    if text.is_empty() || text.starts_with(['[', ']', '{', '}', '#']) {
        return None;
    }
    let (value, read) = scalar(text, Place::Line);
    let is_name = match text.starts_with(['"', '\'']) {
        true => text[read..].trim_start().starts_with(':'),
        false => value.contains(": ") || value.ends_with(':'),
    };
    (!is_name).then(|| value.trim_end_matches(',').to_owned())
}

/// The column at which a line's text begins.
fn column(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn are_found(inputs: &str, wanted: &[&str]) {
        let found = secrets(inputs);
        for wanted in wanted {
            assert!(found.iter().any(|value| value == wanted), "{wanted} is missing in {found:?}");
        }
    }

    #[test]
    fn values_under_secret_names_are_found() {
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
        are_found(
            inputs,
            &[
                "s3cr\"et",
                "it's",
                "flow-token",
                "plain-pass",
                "first line of it\nsecond line of it\n",
                "listed",
                "inipass",
            ],
        );
        let found = secrets(inputs);
        for harmless in ["visible", "/auth/ssh-privatekey", "true", "10.0.0.1"] {
            assert!(!found.iter().any(|v| v == harmless), "{harmless} in {found:?}");
        }
    }

    #[test]
    fn a_value_with_a_leading_slash_is_secret_unless_it_is_a_file() {
        are_found(
            "password: /9j4AAQ+SkZJ=\ntoken: /hunter/22\nkey: /varX9\n",
            &["/9j4AAQ+SkZJ=", "/hunter/22", "/varX9"],
        );
        assert_eq!(secrets("tls_key: /etc/ssl/private/web.key\nssh_key: /root/.ssh/id_ed25519"), [""; 0]);
    }

    #[test]
    fn tags_and_anchors_are_not_part_of_a_value() {
        are_found("password: !unsafe \"hunter{22\"\ntoken: &t !!str tok-plain # one\n", &["hunter{22", "tok-plain"]);
        are_found("x: {a_secret: &a 'an-anchor', b: 1}", &["an-anchor"]);
        assert_eq!(secrets("password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  62313365396662343061\nb: 1\n"), [""; 0]);
    }

    #[test]
    fn an_ini_password_may_start_with_any_character() {
        are_found("m1 ansible_ssh_pass=!bang22 b_token=&and22 c_secret=#hash22", &["!bang22", "&and22", "#hash22"]);
    }

    #[test]
    fn a_variable_that_a_secret_refers_to_is_secret() {
        let chain = "ansible_password: \"{{ base | default('x') }}\"\nbase: \"{{ deeper }}\"\ndeeper: hunter22\n";
        are_found(chain, &["hunter22"]);
        assert_eq!(secrets("token: \"{{ hosts[name] }}-{{ name }}\"\nname: worker-1\n"), [""; 0]);
    }

    #[test]
    fn an_alias_has_the_value_of_its_anchor() {
        are_found("shared: &pw hunter22\nansible_password: *pw\n", &["hunter22"]);
    }

    #[test]
    fn a_value_below_its_name_is_found() {
        are_found("vars:\n  password:\n    hunter22\n  b: plain\n", &["hunter22"]);
        are_found("password: &p\n  \"hunter 22\"\ntoken: # below\n  tok-one\n", &["hunter 22", "tok-one"]);
        are_found("api_tokens:\n- tok-one\n- 'tok-two'\nb: 1\n", &["tok-one", "tok-two"]);
        are_found("api_tokens: [tok-one, \"tok,two\"]\n", &["tok-one", "tok,two"]);
        are_found("{\n  \"tokens\": [\n    \"tok-one\",\n    \"tok-two\"\n  ]\n}\n", &["tok-one", "tok-two"]);
        assert_eq!(secrets("registry_secret:\n  user: somebody\n  enabled: true\n"), [""; 0]);
    }

    #[test]
    fn names_inside_a_map_with_a_secret_name_are_found() {
        are_found("registry_secret: {user: somebody, password: hunter22}\n", &["hunter22"]);
        are_found(r#"{"all":{"vars":{"ansible_password":"hunter22","b":"c"}}}"#, &["hunter22"]);
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        for odd in [
            "key: [",
            "key: {",
            "key: \"",
            "key: '",
            "key: [,",
            "key: [[a], b]",
            "key: &",
            "key: !",
            "key: *",
            "key:",
            "=key=",
            "ключ_token: ё\n  ё:",
            "key: [\"é",
        ] {
            secrets(odd);
        }
    }
}
