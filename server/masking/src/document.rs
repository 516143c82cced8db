//! An inventory or a variables file, as a page may show it. Read as text, because it need not be valid YAML. What YAML says in
//! another way than text is hidden after that, by its value.

use std::collections::{BTreeSet, HashSet};

use aho_corasick::AhoCorasick;

use crate::assignment::{ANCHOR, Assignment, Line, split_marks};
use crate::forms::SHORTEST_LINE;
use crate::known::{self, OF_MATCHES};
use crate::name::is_secret_name;
use crate::private_key::{self, KeyLines};
use crate::reference::{LONGEST_CHAIN, REFERENCE};
use crate::scalar::{Place, items, scalar};
use crate::value::{CERTIFICATES, OF_LABELS, VAULT, is_harmless};
use crate::yaml::Documents;
use crate::{finder, shapes, variants};

/// Replaces a secret value.
pub const HIDDEN: &str = "(hidden)";

/// `text` with its secrets hidden: the rest of the line after a secret name, and everything indented below.
#[must_use]
pub fn hide_in_document(text: &str) -> String {
    let documents = Documents::read(text);
    // Tolerations and selectors have names of labels as `key`.
    let labels = documents.iter().flat_map(|documents| documents.beside(&OF_LABELS, &OF_MATCHES)).collect();
    let shown = hide_lines_except(text, &labels);
    let names = documents.iter().flat_map(Documents::keys).collect();
    let mut values = known::secrets(text);
    // Only YAML joins lines. In another text, each name of a long line may have the rest of it. Short parts are ordinary words.
    let folded = if documents.is_some() { folded(&values, text) } else { Vec::new() };
    let parts =
        folded.into_iter().flat_map(|value| variants::items(value, "")).filter(|part| part.len() >= SHORTEST_LINE);
    let parts: Vec<_> = parts.collect();
    values.extend(parts);
    finder::hide(shown, &values, &names, HIDDEN)
}

/// Those of the values of which `text` has only parts, because YAML joins the lines of a folded value.
fn folded<'v>(values: &'v [String], text: &str) -> Vec<&'v str> {
    let may_be_folded = |value: &&str| value.contains(char::is_whitespace);
    let values: Vec<&str> = values.iter().map(String::as_str).filter(may_be_folded).collect();
    let lines: Vec<(usize, &str)> = values
        .iter()
        .enumerate()
        .flat_map(|(at, value)| value.lines().map(move |line| (at, line.trim())))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    // There may be thousands of lines in a text of a megabyte, so it is read once, and each of them is searched for once.
    let different: BTreeSet<&str> = lines.iter().map(|(_, line)| *line).collect();
    let different: Vec<&str> = different.into_iter().collect();
    let Ok(searched) = AhoCorasick::new(&different) else { return values };
    let present: HashSet<&str> =
        searched.find_overlapping_iter(text).map(|found| different[found.pattern().as_usize()]).collect();
    let absent: BTreeSet<usize> = lines.iter().filter(|(_, line)| !present.contains(line)).map(|(at, _)| *at).collect();
    absent.into_iter().map(|at| values[at]).collect()
}

/// The same by text alone.
pub(crate) fn hide_lines(text: &str) -> String {
    hide_lines_except(text, &HashSet::new())
}

/// The same with the names of labels in the text. They stay.
fn hide_lines_except(text: &str, labels: &HashSet<&str>) -> String {
    let mut secret = HashSet::new();
    let mut shown = String::new();
    // A name usually comes before the reference that proves its value secret, which may be a reference itself.
    for _ in 0..LONGEST_CHAIN {
        let referenced;
        (shown, referenced) = hide(text, &secret, labels);
        if referenced.is_subset(&secret) {
            break;
        }
        secret.extend(referenced);
    }
    shown
}

/// `text` with its secrets hidden, and the names that the hidden parts refer to. The values of the anchors and variables
/// named `secret` are hidden too.
fn hide<'t>(text: &'t str, secret: &HashSet<&str>, labels: &HashSet<&str>) -> (String, HashSet<&'t str>) {
    let mut shown = String::with_capacity(text.len());
    let mut aliases = HashSet::new();
    let mut key = KeyLines::default();
    let mut below: Option<Below> = None;
    let mut lines = text.split_inclusive('\n');
    while let Some(whole) = lines.next() {
        let line = whole.trim_end_matches(['\n', '\r']);
        let indent = line.len() - line.trim_start().len();
        if below.is_some_and(|below| below.contains(line, indent)) {
            aliases.extend(aliases_in(line));
            continue;
        }
        below = None;
        let is_harmless = |at: usize| {
            let Some(below) = Below::of(&line[..at], indent) else { return false };
            are_harmless(&line[..at], &line[at..], &below.lines(lines.clone()))
        };
        let hidden_from = hidden_from(line, secret, labels).filter(|at| !is_harmless(*at));
        let (before, hidden) = line.split_at(hidden_from.unwrap_or(line.len()));
        shown.push_str(&key.line(before.to_owned(), HIDDEN, masked));
        if hidden_from.is_some() {
            shown.push_str(HIDDEN);
            aliases.extend(aliases_in(hidden).chain(reference(hidden)));
            below = Below::of(before, indent);
        }
        shown.push_str(&whole[line.len()..]);
    }
    (shown, aliases)
}

/// Whether all values may be shown that a secret name at the end of `before` has: the items of a list or a certificate, in the rest of its line
/// or in the lines below. The name alone doesn't decide that: `imagePullSecrets:`.
fn are_harmless(before: &str, value: &str, below: &[&str]) -> bool {
    let Some(name) = Line::of(before).assignments().last().map(|found| found.name) else { return false };
    let is_harmless = |item: &str| is_harmless(name, &scalar(item, Place::Line).0);
    if value.starts_with('[') {
        // Kubernetes lists Secrets by name.
        let list = value.replace("{name: ", "").replace('}', "");
        let (items, read) = items(&list);
        return list[read..].trim_end() == "]" && !items.is_empty() && items.iter().all(|item| is_harmless(item));
    }
    let is_block = |text: &str| matches!(text, "|" | "|-" | "|+");
    if below.is_empty() || !(value.is_empty() || is_block(value)) {
        return false;
    }
    let items = below.iter().map(|line| line.strip_prefix("- "));
    let mut named = items.clone().map(|item| item.map(|item| item.strip_prefix("name: ").unwrap_or(item)));
    let texts: Vec<&str> =
        items.zip(below).map(|(item, line)| item.unwrap_or(line)).filter(|text| !is_block(text)).collect();
    named.all(|item| item.is_some_and(is_harmless)) || CERTIFICATES.is_match(&texts.join("\n"))
}

/// `text` without the secrets that are recognised by their form.
fn masked(text: String) -> String {
    shapes::masked(private_key::masked(text, HIDDEN), HIDDEN)
}

/// The lines below a hidden value that belong to it.
#[derive(Clone, Copy)]
struct Below {
    /// All lines with a deeper indentation.
    deeper_than: usize,
    /// Also the items of a list with this indentation: they may be in the same column as the list's name.
    items: bool,
}

impl Below {
    /// Below a line that is shown up to the end of `before` and hidden from there. `None` below a comment.
    fn of(before: &str, indent: usize) -> Option<Self> {
        let text = &before[indent..];
        let name = text.trim_start_matches(['-', ' ']);
        match text.rfind('-') {
            _ if text.starts_with('#') => None,
            // The value is an item without a name: it is indented deeper than the dash.
            Some(dash) if name.is_empty() => Some(Self { deeper_than: indent + dash, items: false }),
            // In an item, the value is indented deeper than the name.
            _ => Some(Self { deeper_than: before.len() - name.len(), items: true }),
        }
    }

    fn contains(self, line: &str, indent: usize) -> bool {
        let is_item = line[indent..].starts_with("- ") || &line[indent..] == "-";
        line.trim().is_empty() || indent > self.deeper_than || (self.items && is_item && indent == self.deeper_than)
    }

    /// The texts of those of the next lines that belong to the value.
    fn lines<'t>(self, next: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
        let lines = next.map(str::trim_end);
        let belong = lines.take_while(|line| self.contains(line, line.len() - line.trim_start().len()));
        belong.map(str::trim).filter(|line| !line.is_empty()).collect()
    }
}

/// The byte at which the hidden part of a line begins.
fn hidden_from(line: &str, secret: &HashSet<&str>, labels: &HashSet<&str>) -> Option<usize> {
    // Searched for once, and not in the rest of the line after each name, which would take hours for a long line of names.
    let recognised = line.rfind(VAULT).max(shapes::last_login(line));
    let whole = Line::of(line);
    let named = whole.assignments().find(|found| {
        recognised.is_some_and(|at| at >= found.value_at) || hides(found, &line[found.value_at..], secret, labels)
    });
    let named = named.map(|found| found.value_at);
    if let Some(comment) = line.find('#').filter(|at| line[..*at].trim().is_empty()) {
        // A password in a comment is still a password.
        return (named.is_some() || line.to_lowercase().contains("pass")).then_some(comment + 1);
    }
    let anchors = ANCHOR.captures_iter(line);
    let anchored =
        anchors.filter(|anchor| secret.contains(&anchor[2])).filter_map(|anchor| Some(anchor.get(1)?.start()));
    let vault = ["!vault", VAULT].into_iter().filter_map(|mark| line.find(mark));
    named.into_iter().chain(anchored).chain(vault).min()
}

/// Whether `value`, the rest of the line after a name, is hidden.
fn hides(found: &Assignment<'_>, value: &str, secret: &HashSet<&str>, labels: &HashSet<&str>) -> bool {
    let is_empty = |value: &str| value.starts_with("{}") || value.starts_with("[]");
    let is_label =
        |text: &str| labels.contains(text) && OF_LABELS.iter().any(|key| found.name.eq_ignore_ascii_case(key));
    let is_harmless = || {
        let text = scalar(value, found.place).0;
        !value.is_empty() && (is_empty(value) || is_harmless(found.name, &text) || is_label(&text))
    };
    ((is_secret_name(found.name) || secret.contains(found.name)) && !is_harmless())
        || split_marks(value).0.contains("!vault")
}

/// The names of the aliases (`*name`) in a hidden text. A password with an asterisk in it yields a name that no anchor has.
fn aliases_in(hidden: &str) -> impl Iterator<Item = &str> {
    let words = hidden.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}'));
    words.filter_map(|word| word.strip_prefix('*')).filter(|name| !name.is_empty())
}

/// The name of the variable that a hidden value consists of: `{{ name }}`.
fn reference(hidden: &str) -> Option<&str> {
    let value = hidden.trim().trim_matches(['"', '\'']).trim();
    Some(REFERENCE.captures(value)?.get(1)?.as_str())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::known;

    #[test]
    fn a_long_text_of_equal_lines_is_hidden_quickly() {
        let start = Instant::now();
        let shown = hide_in_document(&format!("a_secret: |\n{}", "  - b\n".repeat(10_000)));
        assert!(
            shown.starts_with("a_secret: (hidden)") && start.elapsed() < Duration::from_secs(30),
            "{:?}",
            start.elapsed()
        );
    }

    #[test]
    fn a_long_line_of_names_is_read_soon() {
        let started = Instant::now();
        for name in [
            "&a: ",
            "a: ",
            "a=b ",
            "{a: ",
            "\"a\": ",
            "$ANSIBLE_VAULT a: ",
            "https://a:b@c a: ",
            "&a x ",
            "password: *a\n",
            ", a_password: b}",
        ] {
            let line = format!("https://a:b@c $ANSIBLE_VAULT {}", name.repeat(30_000));
            let _ = hide_in_document(&line);
            known::secrets(&line);
            let _ = hide_in_document(&name.repeat(30_000));
        }
        // If the time grew with the square of the length, each would take minutes.
        assert!(started.elapsed() < Duration::from_secs(240), "{:?}", started.elapsed());
    }

    #[test]
    fn secret_values_are_hidden_in_every_notation() {
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
            ("# the pass is hunter2\n  b: 1\n", "#(hidden)\n  b: 1\n"),
            ("b: 1 # api_token: x\n", "b: 1 # api_token: (hidden)\n"),
            ("m1 ansible_ssh_pass=hunter2\n", "m1 ansible_ssh_pass=(hidden)\n"),
            ("password: no way\n", "password: (hidden)\n"),
            ("mirrors:\n- http://me:hunter2@mirror/\n- b\n", "mirrors:\n- http://(hidden)@mirror/\n- b\n"),
            ("- https://ghp_abc:@git.example/x\n- b\n", "- https://(hidden)@git.example/x\n- b\n"),
            ("- https://ghp_abc:x-oauth-basic@git.example/x\n", "- https://(hidden)@git.example/x\n"),
            ("{\n  \"a_token\": hunter2,\n  \"b\": 1\n}\n", "{\n  \"a_token\": (hidden)\n  \"b\": 1\n}\n"),
            ("- key: hunter2\n  b: 1\n", "- key: (hidden)\n  b: 1\n"),
            ("- !vault |\n  $ANSIBLE_VAULT;1.1\n  3031\n- b\n", "- (hidden)\n- b\n"),
            ("shared: &pw hunter2\nansible_password: *pw\n", "shared: (hidden)\nansible_password: (hidden)\n"),
            ("base: hunter22\nansible_password: \"{{ base }}\"\n", "base: (hidden)\nansible_password: (hidden)\n"),
            ("shared: &auth\n  a: b\nregistry_auth: *auth\n", "shared: (hidden)\nregistry_auth: (hidden)\n"),
            (
                "files:\n  - |\n    -----BEGIN RSA PRIVATE KEY-----\n    MIIE\n    -----END RSA PRIVATE KEY-----\nb: 1\n",
                "files:\n  - |\n    (hidden)\n(hidden)\n(hidden)\nb: 1\n",
            ),
        ];
        for (yaml, shown) in cases {
            assert_eq!(hide_in_document(yaml), shown, "{yaml}");
        }
    }

    #[test]
    fn words_of_a_password_stay_where_they_are_no_secret() {
        let yaml = "a_password: kube-x of v1.2 and registry-mirror\nb: kube-x v1.2 registry-mirror\n";
        assert_eq!(hide_in_document(yaml), "a_password: (hidden)\nb: kube-x v1.2 registry-mirror\n");
        // Without the name, only the parts of a folded value show that it is one.
        let folded = "a: &x >-\n  canary-one\n  v1.2\nb_password: *x\nc: v1.2\n";
        let shown = hide_in_document(folded);
        assert!(!shown.contains("canary") && shown.ends_with("c: v1.2\n"), "{shown}");
    }

    #[test]
    fn a_list_below_a_secret_name_is_hidden_unless_it_is_harmless() {
        for shown in [
            "imagePullSecrets:\n- name: regcred\n- name: db-2\nb: 1\n",
            "image_pull_secrets: [{name: regcred}, db-2]\n",
            "docker_repo_key_info:\n  url: https://x.example.test/gpg\n  repo_keys:\n\n  - 9DC858229FC7DD38854AE2D88D81803C0EBFCD88\n",
            "ca_certs:\n  - |\n    -----BEGIN CERTIFICATE-----\n    MIID\n    -----END CERTIFICATE-----\n  - |-\n    -----BEGIN CERTIFICATE-----\n    MIIE==\n    -----END CERTIFICATE-----\n",
            "tls_cert: |\n  -----BEGIN CERTIFICATE-----\n  MIID\n  -----END CERTIFICATE-----\nb: 1\n",
            "tolerations:\n- key: dedicated\n  operator: Equal\nx: [{key: gpu2, operator: Exists}]\n",
        ] {
            assert_eq!(hide_in_document(shown), shown);
        }
        for (text, shown) in [
            ("imagePullSecrets:\n- name: a\n  auth: b\nb: 1\n", "imagePullSecrets:(hidden)\nb: 1\n"),
            ("imagePullSecrets:\n- {auths: {x: y}}\n", "imagePullSecrets:(hidden)\n"),
            ("pull_secret: '{\"auths\": {}}'\n", "pull_secret: (hidden)\n"),
            ("tokens:\n- regcred\n", "tokens:(hidden)\n"),
            ("api_key_info: {id: a, value: b}\n", "api_key_info: (hidden)\n"),
            ("tls_cert: |\n  -----BEGIN CERTIFICATE-----\n  MIID\n  hunter 2\n", "tls_cert: (hidden)\n"),
            ("password: >\n  true\n", "password: (hidden)\n"),
            ("token:\n", "token:(hidden)\n"),
        ] {
            assert_eq!(hide_in_document(text), shown);
        }
    }

    #[test]
    fn everything_else_is_unchanged() {
        let yaml = "# how it is built\nauthor: me\nauthorization_modes: [Node, RBAC]\ncert_manager_namespace: cert-manager\ntls_key: /etc/ssl/web.key\nuse: {a_token: true, b_token: {}}\nall:\n  hosts:\n    m1: {ansible_host: 192.0.2.1}\nkube_encrypt_secret_data: true\nmirror: https://example.com:5000/a\nt: 12:30:45\nsupplementary_addresses_in_ssl_keys: [192.0.2.9]\ntolerations:\n- key: node-role.kubernetes.io/control-plane\n  operator: Exists\nargs: '-o PasswordAuthentication=no'\n{\n  \"use_token\": true,\n  \"b\": 1\n}\n";
        assert_eq!(hide_in_document(yaml), yaml);
    }
}
