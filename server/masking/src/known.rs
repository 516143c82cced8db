//! The secret values in a run's inputs, for finding them in a log: as ansible gets them from YAML, and within other texts. Any
//! text can be searched; one that is no YAML is searched by [`crate::in_text`].

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::composed::Parts;
use crate::forms::{SHORTEST, SHORTEST_LINE};
use crate::name::{
    describes, holds_secrets, is_plural, is_reference, is_secret_in_log, is_secret_in_map, lists_logins,
};
use crate::reference::References;
use crate::value::{FILE_NAME, OF_LABELS, is_harmless};
use crate::yaml::{Documents, Node, Scalar};
use crate::{arguments, in_text, number, variants};

/// How often texts are searched that are within others: JSON in a variable, which may have JSON in a string.
const NESTED: usize = 3;

/// From this many nodes on, one that an alias repeats isn't searched again because of the names before it. Aliases of aliases may
/// repeat a node billions of times.
const MOST_SEARCHED: usize = 200_000;

/// Keys of a map that have the name of a variable or setting, whose value is in the same map.
pub(crate) const PAIR_NAMES: [&str; 45] = [
    "name",
    "key",
    "var",
    "variable",
    "env",
    "option",
    "param",
    "parameter",
    "property",
    "setting",
    "field",
    "header",
    "attribute",
    "item",
    "k",
    "title",
    "variable_name",
    "varname",
    "id",
    "identifier",
    "label",
    "question_name",
    "arg",
    "argument",
    "attr",
    "attribute_name",
    "config_key",
    "directive",
    "entry",
    "env_name",
    "env_var",
    "envvar",
    "environment_variable",
    "field_name",
    "header_name",
    "key_name",
    "keyname",
    "option_name",
    "param_name",
    "parameter_name",
    "parameter_key",
    "parameterkey",
    "property_name",
    "setting_name",
    "variablename",
];
/// Keys of a map that have the value for a name in the same map.
pub(crate) const PAIR_VALUES: [&str; 14] = [
    "value",
    "val",
    "v",
    "content",
    "contents",
    "data",
    "default",
    "defaultvalue",
    "default_value",
    "string",
    "variable_value",
    "parameter_value",
    "parametervalue",
    "answer",
];
/// Keys of a map that say of which type the value in the same map is, and types of secrets: `{type: password, default: …}`.
pub(crate) const PAIR_TYPES: [&str; 5] = ["type", "format", "input_type", "inputtype", "widget"];
pub(crate) const SECRET_TYPES: [&str; 4] = ["password", "passphrase", "securestring", "secureobject"];
/// Keys of a map that are switched on to say that the value in the same map is secret: `{sensitive: true, value: …}`.
pub(crate) const SECRET_SWITCHES: [&str; 9] =
    ["secret", "sensitive", "no_log", "masked", "is_secret", "issecret", "is_sensitive", "issensitive", "confidential"];
pub(crate) const SWITCHED_ON: [&str; 3] = ["true", "yes", "on"];
/// A map with one of these keys describes labels. Its `key` is a name.
pub(crate) const OF_MATCHES: [&str; 2] = ["operator", "effect"];
/// Entries of a Kubernetes Secret that hold its values.
pub(crate) const SECRET_DATA: [&str; 2] = ["data", "stringData"];

/// Headers with cookies.
const COOKIES: [&str; 4] = ["cookie", "cookies", "set-cookie", "set_cookie"];

/// Values, each with the names of the variables that have it. A value within another text has none.
#[derive(Default)]
pub(crate) struct Found(pub(crate) BTreeMap<String, BTreeSet<String>>);

impl Found {
    fn add(&mut self, value: &str, name: &str) {
        self.0.entry(value.to_owned()).or_default().insert(name.to_owned());
    }

    fn add_unnamed(&mut self, values: impl IntoIterator<Item = String>) {
        for value in values {
            self.0.entry(value).or_default();
        }
    }

    fn into_values(self) -> Vec<String> {
        self.0.into_keys().filter(|value| can_be_searched(value)).collect()
    }
}

/// The values in `text` that must not be in a log.
pub(crate) fn secrets(text: &str) -> Vec<String> {
    secrets_of_all(&[text])
}

/// The same for several texts, in which values may refer to variables of each other.
pub(crate) fn secrets_of_all(texts: &[&str]) -> Vec<String> {
    let mut found = found(texts);
    let literals: Vec<_> = found.0.keys().flat_map(|value| variants::literals(value)).collect();
    found.add_unnamed(literals);
    found.into_values()
}

/// All secret values, also those that can't be searched for.
pub(crate) fn found(texts: &[&str]) -> Found {
    let read: Vec<_> = texts.iter().map(|text| (*text, Documents::read(text))).collect();
    let mut references = References::default();
    let mut found = loop {
        let mut found = Found::default();
        for (text, documents) in &read {
            match documents {
                Some(documents) => Search::of(documents, &references, 0, &mut found).all("", false),
                None => found.add_unnamed(in_text::values(text, &references)),
            }
        }
        if !references.add_all(found.0.keys()) {
            break found;
        }
    };
    let documents = read.iter().enumerate().filter_map(|(at, (_, documents))| Some((at, documents.as_ref()?)));
    let scalars = documents
        .flat_map(|(at, documents)| documents.scalars().map(move |(map, name, value)| ((at, map), name, value)));
    let mut parts = Parts::of(scalars);
    let composed: Vec<_> = found.0.keys().flat_map(|value| parts.composed(value)).collect();
    found.add_unnamed(composed);
    found
}

/// The secrets within a value that is secret under any name.
pub(crate) fn parts(value: &str) -> Vec<String> {
    let mut found = Found::default();
    let references = References::default();
    match Documents::read(value).filter(|_| is_json(value)) {
        Some(documents) => Search::of(&documents, &references, 1, &mut found).all("", true),
        None => found.add_unnamed(in_text::values(value, &references)),
    }
    found.add_unnamed(variants::of_value(value));
    found.into_values()
}

/// Whether a value may be searched for: see the crate's documentation.
pub(crate) fn can_be_searched(value: &str) -> bool {
    value.len() >= SHORTEST && !(value.contains("{{") && value.contains("}}")) && !is_harmless("", value)
}

/// Whether a text may have a secret within: all other texts are skipped.
fn is_worth_searching(text: &str) -> bool {
    text.len() > SHORTEST && variants::may_name_secret(text)
}

/// Where a node stands in a document.
#[derive(Clone, Copy)]
struct Place<'d> {
    /// The name of the variable, or of the entry of a map, that the node belongs to.
    name: &'d str,
    /// The number of the path to it: see [`Search::paths`].
    path: usize,
    /// A scalar here is a secret.
    is_secret: bool,
    /// The values in a map here are secret.
    holds_secrets: bool,
}

struct Search<'d, 's> {
    documents: &'d Documents,
    references: &'s References,
    /// The name of each entry that was reached, and the number of the path before it.
    paths: Vec<(usize, &'d str)>,
    /// Nodes that were searched, and [`Search::before`] of each: an alias repeats a node elsewhere.
    done: HashSet<(usize, bool, bool, u64)>,
    level: usize,
    found: &'s mut Found,
}

impl<'d, 's> Search<'d, 's> {
    fn of(documents: &'d Documents, references: &'s References, level: usize, found: &'s mut Found) -> Self {
        Self { documents, references, paths: vec![(0, "")], done: HashSet::new(), level, found }
    }

    /// Searches all documents, which are the value of this name.
    fn all(mut self, name: &'d str, holds_secrets: bool) {
        let top = Place { name, path: 0, is_secret: holds_secrets, holds_secrets };
        // The least deep first, so that the limits concern only what aliases repeat.
        let mut open: VecDeque<_> = self.documents.roots.iter().map(|root| (*root, top)).collect();
        while let Some((node, place)) = open.pop_front() {
            let before = self.before(node, place);
            if !self.done.insert((node, place.is_secret, place.holds_secrets, before)) {
                continue;
            }
            match self.documents.node(node) {
                Node::Scalar(scalar) => self.scalar(scalar, place),
                Node::List(items) => {
                    self.command(items);
                    open.extend(self.items(items, place));
                }
                Node::Map(entries) => open.extend(self.entries(entries, place)),
            }
        }
    }

    /// A hash of the names before the entries of a map or list that may be part of a reference to them. All other names are the same.
    fn before(&self, node: usize, place: Place<'d>) -> u64 {
        let mut hasher = DefaultHasher::new();
        if !matches!(self.documents.node(node), Node::Scalar(_)) && self.done.len() <= MOST_SEARCHED {
            for name in self.path(place.path).take(self.references.longest().saturating_sub(1)) {
                Some(name).filter(|name| self.references.have_name(name)).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Searches a list of words as the command that it may be: `[mysql, -phunter22]`.
    fn command(&mut self, items: &[usize]) {
        let words: Vec<&str> = items.iter().map_while(|item| self.documents.text(*item)).collect();
        if words.len() == items.len() && words.len() > 1 {
            self.found.add_unnamed(in_text::in_words(&words));
        }
    }

    fn items(&self, items: &[usize], place: Place<'d>) -> Vec<(usize, Place<'d>)> {
        let is_pair = items.len() == 2;
        let follows_name = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| self.documents.text(items[before]));
            let word = self.documents.text(items[at]);
            before.zip(word).is_some_and(|(before, word)| {
                arguments::is_secret_after(before, word)
                    || (is_pair && is_variable_of_secret(before) && !are_names(before, word))
            })
        };
        let with_place =
            |(at, item): (usize, &usize)| (*item, Place { is_secret: place.is_secret || follows_name(at), ..place });
        items.iter().enumerate().map(with_place).collect()
    }

    fn entries(&mut self, entries: &'d [(usize, usize)], place: Place<'d>) -> Vec<(usize, Place<'d>)> {
        let names: Vec<&str> = entries.iter().filter_map(|(key, _)| self.documents.text(*key)).collect();
        let has = |wanted: &[&str]| names.iter().any(|name| wanted.iter().any(|key| name.eq_ignore_ascii_case(key)));
        let key_is_name = is_reference(place.name) || has(&OF_MATCHES) || has(&PAIR_VALUES);
        let (pair, is_kubernetes_secret) = (self.secret_pair(entries), self.is_kubernetes_secret(entries));
        let is_record = has(&PAIR_VALUES) || names.iter().any(|name| is_secret_in_log(name));
        let mut below = Vec::new();
        for (key, value) in entries {
            let Some(name) = self.documents.text(*key) else {
                below.extend([(*key, place), (*value, place)]);
                continue;
            };
            if is_worth_searching(name) {
                self.found.add_unnamed(in_text::values(name, self.references));
            }
            // The entries of a merged map are entries of this one.
            let path = if name == "<<" {
                place.path
            } else {
                self.paths.push((place.path, name));
                self.paths.len() - 1
            };
            let is_one_of = |keys: &[&str]| keys.iter().any(|key| name.eq_ignore_ascii_case(key));
            let belongs = (place.holds_secrets && !describes(name, place.name, is_record))
                || self.references.contain(&self.path(path))
                || (is_one_of(&PAIR_VALUES) && pair.is_some_and(|pair| !self.is_harmless(pair, *value)))
                || (lists_logins(name, place.name) && matches!(self.documents.node(*value), Node::Map(_)))
                || (is_kubernetes_secret && SECRET_DATA.contains(&name));
            let is_secret = belongs
                || is_secret_in_map(name, place.name)
                || (is_secret_in_log(name) && !(key_is_name && is_one_of(&OF_LABELS)));
            let holds_secrets =
                belongs || (place.holds_secrets && !is_reference(name)) || (is_secret && holds_secrets(name));
            below.push((*value, Place { name, path, is_secret, holds_secrets }));
        }
        below
    }

    /// The names on a path, the last first.
    fn path(&self, last: usize) -> impl Iterator<Item = &'d str> + Clone {
        let before = |at: &usize| Some(self.paths[*at].0).filter(|before| *before > 0);
        std::iter::successors(Some(last), before).map(|at| self.paths[at].1)
    }

    /// The secret name for which a map has a value: `{name: DB_PASSWORD, value: …}`. An empty name if the map says without one that its value
    /// is secret: `{type: password, default: …}`.
    fn secret_pair(&self, entries: &[(usize, usize)]) -> Option<&'d str> {
        let text = |node: &usize| self.documents.text(*node).unwrap_or_default();
        let is = |text: &str, wanted: &[&str]| wanted.iter().any(|name| text.eq_ignore_ascii_case(name));
        let has = |says: &dyn Fn(&str, &str) -> bool| {
            entries.iter().map(|(key, value)| (text(key), text(value))).find(|(key, value)| says(key, value))
        };
        if has(&|key, _| is(key, &OF_MATCHES)).is_some() {
            return None;
        }
        let says_so = |key: &str, value: &str| {
            (is(key, &PAIR_TYPES) && is(value, &SECRET_TYPES)) || (is(key, &SECRET_SWITCHES) && is(value, &SWITCHED_ON))
        };
        let named = || has(&|key, value| is(key, &PAIR_NAMES) && is_word_of_secret(value));
        has(&says_so).map(|_| "").or_else(|| named().map(|(_, name)| name))
    }

    /// Whether the value of a pair may be shown, as beside its name.
    fn is_harmless(&self, name: &str, value: usize) -> bool {
        self.documents.text(value).is_some_and(|text| is_harmless(name, text))
    }

    fn is_kubernetes_secret(&self, entries: &[(usize, usize)]) -> bool {
        let is = |node: &usize, wanted| self.documents.text(*node) == Some(wanted);
        entries.iter().any(|(key, value)| is(key, "kind") && is(value, "Secret"))
    }

    fn scalar(&mut self, scalar: &'d Scalar, place: Place<'d>) {
        let text = scalar.text.as_str();
        // The log shows what vault decrypted, which isn't known here. The cipher text is no secret.
        if scalar.is_vault || (place.is_secret && scalar.marks.is_empty() && is_harmless(place.name, text)) {
            return;
        }
        if place.is_secret {
            // The entries of JSON are found one by one. So its braces and the names of users stay readable.
            if is_json(text) && self.within(text, place.name, true) {
                return;
            }
            self.found.add(text, place.name);
            self.found.add_unnamed(scalar.marks.iter().cloned());
            // A document, or what templating turns into a list: `"['one', 'two']"`.
            let is_list = text.trim_start().starts_with(['{', '[']);
            let is_document = text.contains('\n') && !is_of_kubernetes(text);
            let is_read = (is_list || is_document) && self.within(text, place.name, is_list || place.holds_secrets);
            let lines = scalar.lines.iter().filter(|line| line.len() >= SHORTEST_LINE);
            self.found.add_unnamed(lines.cloned());
            let variants = variants::of_value(text);
            let (json, others): (Vec<_>, Vec<_>) = variants.into_iter().partition(|variant| is_json(variant));
            for json in json {
                self.within(&json, place.name, true);
            }
            self.found.add_unnamed(others);
            // In a text of passwords, YAML may read one as a tag, an anchor or a comment: `web: !hunter22`.
            if is_plural(place.name) && !(is_list && is_read) && !text.contains("{{") {
                self.found.add_unnamed(variants::items(text, place.name));
            }
            if scalar.is_plain {
                self.found.add_unnamed(number::as_ansible_reads(text));
            }
        }
        if COOKIES.iter().any(|name| place.name.eq_ignore_ascii_case(name)) {
            self.found.add_unnamed(in_text::of_cookies(text));
        }
        if !place.is_secret
            && let Some(json) = variants::json_of_base64(text)
        {
            self.within(&json, "", false);
        }
        if is_worth_searching(text) {
            let values = match self.within(text, "", false) {
                true => in_text::in_commands(text),
                false => in_text::values(text, self.references),
            };
            self.found.add_unnamed(values);
        }
    }

    /// Searches a map or a list that is written in a scalar. Whether the text is one, and has no other notation.
    fn within(&mut self, text: &str, name: &str, holds_secrets: bool) -> bool {
        let start = text.trim_start();
        // `{{` begins a template, which is a map of a map to YAML.
        let may_be = !start.starts_with("{{") && (text.contains('\n') || start.starts_with(['{', '[']));
        let documents = (self.level < NESTED && may_be).then(|| Documents::read(text)).flatten();
        let Some(documents) = documents else { return false };
        Search::of(&documents, self.references, self.level + 1, self.found).all(name, holds_secrets);
        !documents.has_other_notation()
    }
}

/// Whether a text is a secret name, and not a sentence about a secret.
fn is_word_of_secret(text: &str) -> bool {
    !text.contains(char::is_whitespace) && is_secret_in_log(text)
}

/// Whether a text is the name of a variable or a header for a secret, and not an ordinary word, a file, or the name of a package,
/// a role or a host: `python3-keyring`.
fn is_variable_of_secret(text: &str) -> bool {
    let has_its_form = if text.contains('-') { text.contains(char::is_uppercase) } else { text.contains(['_', '.']) };
    has_its_form && !FILE_NAME.is_match(text) && is_word_of_secret(text)
}

/// Whether two texts are names of variables with the same first word: `[smtp_password, smtp_user]`.
fn are_names(first: &str, second: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let first_word =
        |name: &str| Some(name.split_once('_')?.0).filter(|_| name.split('_').all(is_part)).map(str::to_owned);
    first_word(first).is_some_and(|word| first_word(second) == Some(word))
}

/// Whether a text is a file of Kubernetes, such as a manifest. Its secrets have secret names.
fn is_of_kubernetes(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("kind:"))
}

/// Whether a text is a map or a list of JSON.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(text).is_ok()
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
    fn aliases_of_aliases_are_searched_within_a_limit() {
        let long = vec!["a"; 30].join(".");
        let mut inputs = format!("p_password: '{{{{ l0.a ~ b.{long} }}}}'\nl0: &l0 {{a: canary-a, b: c}}\n");
        for level in 1..60 {
            inputs += &format!("l{level}: &l{level} {{a: *l{0}, b: *l{0}}}\n", level - 1);
        }
        are_found(&inputs, &["canary-a"]);
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
