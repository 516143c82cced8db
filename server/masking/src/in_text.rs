//! The secret values within a text that is no YAML: a script, a command, an INI file, a connection string, a YAML file with a
//! mistake. They are found by the names beside them, in the notations that programs use. Reading can't fail or take long.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::str::Lines;
use std::sync::LazyLock;

use regex::Regex;

use crate::arguments::as_variable;
use crate::assignment::{ANCHOR, Line, split_marks};
use crate::known::can_be_searched;
use crate::name::is_secret_in_log;
use crate::pattern::pattern;
use crate::reference::References;
use crate::scalar::{Place, items, scalar};
use crate::value::is_harmless;
use crate::variants;
use crate::words::is_word;

/// `|`, `>-` and the like: the lines below are the value.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[|>][-+0-9]{0,2}(?:[ \t]+#.*)?$"));

/// A flag and its value as two words: `--password hunter22`.
static FLAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:^|[\s"'\[,(])--?(?P<name>[A-Za-z][\w.-]+)[ \t]+(?:"(?P<v1>[^"]*)"|'(?P<v2>[^']*)'|(?P<v3>[^\s"'-][^\s"']*))"#,
    )
});
/// Notations of single programs: XML (`<password>…</password>`, `name="password" value="…"`), the login of `curl` (`-u me:…`), netrc, and
/// OpenSSL (`pass:…`).
static SPECIAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"<(?P<n1>[\w.:-]+)>(?P<v1>[^<>]+)</"#,
        r#"|\bname=["']?(?P<n2>[\w.-]+)["']?\s+value=["'](?P<v2>[^"']+)["']"#,
        r#"|(?:^|\s)(?:-u|-U|--user|--proxy-user)[ =]?["']?[^\s:"']+:(?P<v3>[^\s"']+)"#,
        r#"|\blogin\s+\S+\s+(?P<n4>password)\s+(?P<v4>\S+)"#,
        r#"|\bpass:(?P<v5>[^\s"']+)"#,
    ))
});
/// A file beside a flag such as `--key`.
static FILE_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:[\w.@-]*/)*[\w.@-]+\.(?:pem|key|crt|cer|csr|p12|pfx|jks|pub|json|ya?ml|txt|conf|env|gpg)$")
});

/// How many anchors of one line count. Each of them may have the rest of the line as its value.
const ANCHORS: usize = 100;

/// The values in `text` that must not be in a log: those under secret names, and under names that secrets refer to.
pub(crate) fn values(text: &str, references: &References) -> Vec<String> {
    let mut values = named(text, references);
    // A text of JSON within another text.
    if text.contains("\\\"") {
        values.extend(named(&text.replace("\\\"", "\""), references));
    }
    values.extend(text.lines().flat_map(beside_flags));
    values.extend(variants::of_logins(text));
    values
}

/// [`values`] that are worth searching for.
pub(crate) fn secrets(text: &str) -> Vec<String> {
    values(text, &References::default()).into_iter().filter(|value| can_be_searched(value)).collect()
}

/// Values of flags, and of the notations of single programs.
fn beside_flags(line: &str) -> Vec<String> {
    let flags = FLAG.captures_iter(line).filter_map(|found| {
        let value = ["v1", "v2", "v3"].into_iter().find_map(|group| found.name(group))?.as_str();
        let name = as_variable(&found["name"]);
        let is_secret = is_secret_in_log(&name) && !name.starts_with("ask_") && !FILE_NAME.is_match(value);
        (is_secret && !is_filled_in(value) && !is_harmless(&name, value)).then(|| value.to_owned())
    });
    let special = SPECIAL.captures_iter(line).filter_map(|found| {
        let name =
            ["n1", "n2", "n4"].into_iter().find_map(|group| found.name(group)).map_or("password", |name| name.as_str());
        let value = ["v1", "v2", "v3", "v4", "v5"].into_iter().find_map(|group| found.name(group))?.as_str();
        (is_secret_in_log(name) && !is_filled_in(value) && !is_harmless(name, value)).then(|| value.to_owned())
    });
    flags.chain(special).flat_map(|value| [vec![value.clone()], variants::of_value(&value)].concat()).collect()
}

/// The values beside secret names, and beside names that secrets refer to.
fn named(inputs: &str, references: &References) -> Vec<String> {
    let anchored = anchored(inputs);
    let mut values = Vec::new();
    let mut lines = inputs.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let mut at = 0;
        let names = Line::of(line);
        while let Some(found) = names.next(at) {
            at = found.value_at;
            if !is_secret_in_log(found.name) && !references.contain_name(found.name) {
                continue;
            }
            let behind = &line[found.value_at..];
            // In INI, `!` and `&` may be the first character of a password.
            let (marks, rest) = if found.place == Place::Ini { ("", behind) } else { split_marks(behind) };
            at = line.len() - rest.len();
            let mut these = Vec::new();
            if let Some(template) = template(rest) {
                at += template.len();
                these.push(template.to_owned());
            } else if BLOCK.is_match(rest) {
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
                let (mut value, read) = scalar(rest, found.place);
                at += read;
                if is_in_query(&line[..found.value_at], found.name) {
                    value.truncate(value.find(['&', '#', '"', '\'']).unwrap_or(value.len()));
                }
                these.extend(parts(&value, found.place));
                these.push(value);
            }
            // The log shows what vault decrypted, which isn't known here. The cipher text is no secret.
            if !marks.contains("!vault") {
                these.retain(|value| !is_harmless(found.name, value) && !is_filled_in(value));
                values.extend(these.iter().flat_map(|value| variants::of_value(value)));
                values.extend(these);
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

/// The reference to a variable at the start of a value.
fn template(rest: &str) -> Option<&str> {
    rest.starts_with("{{").then(|| rest.find("}}").map(|end| &rest[..end + 2])).flatten()
}

/// Whether `before`, which ends with this name and `=`, is part of a query string: `?token=…&user=…`.
fn is_in_query(before: &str, name: &str) -> bool {
    let before = before.strip_suffix('=').and_then(|before| before.strip_suffix(name));
    before.is_some_and(|before| before.ends_with(['?', '&']))
}

/// A shell fills in what begins with `$` or a backtick, so the text isn't the secret.
fn is_filled_in(value: &str) -> bool {
    value.starts_with(['$', '`'])
}

/// What a value may be if the text around it ends it earlier: a quote, the next entry of a connection string, or a space.
fn parts(value: &str, place: Place) -> Vec<String> {
    let ends: &[char] =
        if place == Place::Ini { &['"', '\'', ';', '&', ',', ')', ']', '}'] } else { &['"', '\'', ';', ' '] };
    let parts =
        value.split(ends).take(1).chain(value.split(['"', '\'']).take(1)).chain(value.split(['&', ';']).take(1));
    parts.filter(|part| *part != value && (place == Place::Ini || !is_word(part))).map(str::to_owned).collect()
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
