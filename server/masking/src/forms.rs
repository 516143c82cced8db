//! The forms in which a secret value may be in a log: as it is, as other notations quote it, and encoded.
//! `deploy/runner/kubeonkube_masking.py` has the same function; `tests/in_the_pod.rs` compares the two.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;

use crate::name::{describes, ends_with, is_secret_in_log};
use crate::pattern::pattern;
use crate::value::is_harmless;
use crate::words::is_word;

/// Masking shorter values would mask half of every log. In bytes: [`crate::finder`] looks forms up by so many of their first bytes.
pub(crate) const SHORTEST: usize = 4;
/// The same for words that are lines of a longer value, and for parts of an encoded value.
pub(crate) const SHORTEST_LINE: usize = 8;
/// Of longer values with several lines, only the lines are searched for.
const LONGEST_QUOTED: usize = 512;
/// Texts of fewer bytes aren't folded, and those of more words aren't passphrases.
const SHORTEST_FOLDED: usize = 48;
const MOST_FOLDED: usize = 48;
/// Shorter runs of words of a text are ordinary ones.
const SHORTEST_RUN: usize = 24;
/// Longer values are files. Their lines are masked, but not their base64, because programs don't print whole files in base64.
const LONGEST_ENCODED: usize = 16 * 1024;
/// How often strings are within strings: ansible prints JSON with results of programs, which print JSON, too.
const NESTED: usize = 3;
/// Forms of more bytes are not nested again. Each nesting can double a text of quotes, and a value of thousands of them took seconds.
const LARGEST_NESTED: usize = 256 * 1024;
/// How many notations [`in_string`] writes a text in, so a text that is nested once more takes at least as many times its bytes.
const NOTATIONS: usize = 5;
/// How long lines of base64 are: of the program `base64`, and in PEM.
const WRAPS: [usize; 2] = [76, 64];

/// All forms of `value` that are long enough to be searched for. `budget` is how many bytes of forms there may be, of which this
/// takes its part. When it is used up, quotes within quotes are left out. The value, its lines and what each notation makes of them
/// are always among the forms.
pub(crate) fn within(value: &str, budget: &mut usize) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    for text in BTreeSet::from([value, value.trim()]) {
        if text.len() <= LONGEST_QUOTED || !text.contains('\n') {
            forms.extend(quoted(text, budget));
        }
        let lines = lines_with_secrets(text, "").into_iter().filter(|line| *line != text && is_long_enough(line));
        for line in lines {
            forms.extend(quoted(line, budget));
        }
        if text.len() <= LONGEST_ENCODED {
            forms.extend(encoded(text));
        }
        forms.extend(folded(text, budget));
    }
    // A log is searched line by line.
    forms.retain(|form| form.len() >= SHORTEST && !form.contains('\n'));
    forms
}

/// A line of YAML or of a configuration.
pub(crate) static OUTLINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^(?:- )*["']?(?P<name>[A-Za-z]+(?:[_./-][A-Za-z]+)*)["']?(?P<sign>:|[ \t]+=)(?:[ \t]+(?P<value>\S.*))?$"#,
        r"|^\[[A-Za-z]+(?:[ _./-][A-Za-z]+)*\]$|^(?:---|\.\.\.)$",
    ))
});

/// Whether a line of a longer value is searched for.
fn is_long_enough(line: &str) -> bool {
    line.len() >= SHORTEST_LINE || (line.len() >= SHORTEST && !is_word(line))
}

/// The lines of a value that may be secret, each without the spaces around it. `of` is the name of the map that they may be, if it is
/// known.
pub(crate) fn lines_with_secrets<'t>(text: &'t str, of: &str) -> Vec<&'t str> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_record = lines.len() > 1 && lines.iter().any(|line| names_secret(line.trim()));
    let (mut found, mut column_below) = (Vec::new(), 0);
    for line in lines.into_iter().rev() {
        let column = line.chars().take_while(|c| c.is_whitespace()).count();
        let line = line.trim();
        if !is_outline(line, column_below > column, of, is_record) {
            found.push(line);
        }
        if !line.is_empty() {
            column_below = column;
        }
    }
    found.reverse();
    found
}

/// Whether a line has no secret, so that any file may have it: `data:` above its entries, `kind: Secret`, `enabled: true`. In a record,
/// another line has a secret name.
fn is_outline(line: &str, has_entries: bool, of: &str, is_record: bool) -> bool {
    let Some(found) = OUTLINE.captures(line) else { return false };
    let Some(name) = found.name("name").map(|name| name.as_str()) else { return true };
    let Some(value) = found.name("value").map(|value| value.as_str()) else {
        return has_entries || &found["sign"] != ":";
    };
    // Anyone with the URL of a webhook may call it.
    let describes = describes(name, of, is_record) && !ends_with(name, "url");
    name == "apiVersion" || describes || is_harmless(name, value)
}

/// Whether a line has a secret name.
fn names_secret(line: &str) -> bool {
    OUTLINE.captures(line).and_then(|found| found.name("name")).is_some_and(|name| is_secret_in_log(name.as_str()))
}

/// The text as it is, and as YAML, shells, URLs, JSON and Python write it. The last two within each other, too, at most
/// [`NESTED`] times and within the budget.
fn quoted(text: &str, budget: &mut usize) -> BTreeSet<String> {
    let by_shell = [text.replace('\'', r"'\''"), text.replace('\'', r#"'"'"'"#)];
    let mut forms = BTreeSet::from([text.to_owned(), text.replace('\'', "''"), in_html(text)]);
    forms.extend(by_shell);
    forms.extend(in_yaml(text));
    // As a part of a path, of a query, and of anything.
    forms.extend([in_url(text, "/"), in_url(text, " ").replace(' ', "+"), in_url(text, "")]);
    let mut inner = forms.clone();
    for _ in 0..NESTED {
        let size = inner.iter().map(String::len).sum::<usize>();
        if size > LARGEST_NESTED || NOTATIONS * size > *budget {
            break;
        }
        inner = inner.iter().flat_map(|text| in_string(text)).filter(|text| forms.insert(text.clone())).collect();
    }
    forms.extend(in_string(text));
    *budget = budget.saturating_sub(forms.iter().map(String::len).sum());
    forms
}

/// The text within a string of JSON, with and without other letters than those of ASCII, as Go writes it, and of Python with
/// either quotes.
fn in_string(text: &str) -> [String; NOTATIONS] {
    let json = in_json(text);
    let by_go = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let python = text.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r").replace('\t', r"\t");
    [in_ascii(&json), by_go, json, python.replace('\'', r"\'"), python]
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn in_ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// The runs of words that YAML may write in one line: it folds long texts at spaces. None if they are more than the budget.
fn folded(text: &str, budget: &mut usize) -> Vec<String> {
    if !(SHORTEST_FOLDED..=LONGEST_QUOTED).contains(&text.len()) || text.contains('\n') {
        return Vec::new();
    }
    let ends: Vec<_> = text.match_indices(' ').map(|(at, _)| at).chain([text.len()]).collect();
    if ends.len() > MOST_FOLDED {
        return Vec::new();
    }
    let starts = || std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let runs = starts().flat_map(|start| ends.iter().filter_map(move |end| text.get(start..*end)));
    // The last line may be short. Without a digit, it may be in other texts.
    let is_last = |run: &str| {
        text.ends_with(run) && run.len() >= SHORTEST_LINE && run.contains(|c: char| c.is_ascii_digit()) && !is_word(run)
    };
    let runs: Vec<_> = runs.filter(|run| *run != text && (run.len() >= SHORTEST_RUN || is_last(run))).collect();
    let forms: Vec<_> = runs.iter().flat_map(|run| [(*run).to_owned(), in_json(run)]).collect();
    let size: usize = forms.iter().map(String::len).sum();
    if size > *budget {
        return Vec::new();
    }
    *budget -= size;
    forms
}

/// As YAML writes it that must not have characters above U+FFFF, such as emojis.
fn in_yaml(text: &str) -> Option<String> {
    let is_above = |c: char| c > '\u{ffff}';
    let escaped = |c: char| if is_above(c) { format!("\\U{:08X}", u32::from(c)) } else { c.into() };
    text.contains(is_above).then(|| in_json(text).chars().map(escaped).collect())
}

/// As HTML writes it, in pages and attributes.
fn in_html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

/// The characters in `safe` stay, too.
fn in_url(text: &str, safe: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => out.push(byte.into()),
            _ if safe.as_bytes().contains(&byte) => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The text in base64: alone, with the newline that `echo` adds, in lines, and as part of a longer text such as `user:password`.
fn encoded(text: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        for whole in [text.to_owned(), format!("{text}\n")] {
            let padding = "=".repeat((3 - whole.len() % 3) % 3);
            let whole = alphabet.encode(whole) + &padding;
            for width in WRAPS.into_iter().filter(|width| *width < whole.len()) {
                let lines = whole.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned());
                forms.extend(lines.filter(|line| line.len() >= SHORTEST_LINE));
            }
            forms.insert(whole);
        }
        forms.extend((0..3).filter_map(|before| part(&alphabet, text, before)));
    }
    forms
}

/// What base64 writes for `text` after `before` other bytes, without the characters that depend on its neighbours.
fn part(alphabet: &GeneralPurpose, text: &str, before: usize) -> Option<String> {
    let whole = alphabet.encode([&b"\0\0"[..before], text.as_bytes()].concat());
    let (start, end) = ((before * 8).div_ceil(6), (before + text.len()) * 8 / 6);
    Some(whole.get(start..end)?.to_owned()).filter(|part| part.len() >= SHORTEST_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finder::BUDGET;

    fn forms(value: &str) -> BTreeSet<String> {
        within(value, &mut usize::MAX.clone())
    }

    #[test]
    fn the_budget_limits_the_bytes_of_forms() {
        let values: Vec<_> = (0..400).map(|n| format!("x{n}{}", "\"\\<é".repeat(60))).collect();
        let mut budget = BUDGET;
        let all: Vec<_> = values.iter().flat_map(|value| within(value, &mut budget)).collect();
        assert!(all.iter().map(String::len).sum::<usize>() <= 2 * BUDGET);
        // What is left when others have used it up.
        for form in ["ca\"nary-1", "ca\\\"nary-1", "ca%22nary-1", "canary-2 it''s"] {
            let found = within("ca\"nary-1\ncanary-2 it's\n", &mut 0);
            assert!(found.contains(form), "{form} is missing in {found:?}");
        }
    }

    #[test]
    fn a_value_without_spaces_around_it_is_quoted_once() {
        let value = "canary horse battery staple purple monkey dishwasher elephant 1";
        let (mut once, mut all) = (BUDGET, BUDGET);
        quoted(value, &mut once);
        folded(value, &mut once);
        within(value, &mut all);
        assert!(all == once && all < BUDGET);
    }

    #[test]
    fn a_value_is_found_in_every_notation() {
        let value = "it's \"hunter22\"\\é";
        let all = forms(value);
        for form in [
            value,
            r#"it's \"hunter22\"\\é"#,
            r#"it's \"hunter22\"\\\u00e9"#,
            r#"it's \\\"hunter22\\\"\\\\é"#,
            r#"it\'s "hunter22"\\é"#,
            r#"it''s "hunter22"\é"#,
            r#"it'\''s "hunter22"\é"#,
            "it%27s%20%22hunter22%22%5C%C3%A9",
        ] {
            assert!(all.contains(form), "{form} is missing in {all:?}");
        }
    }

    #[test]
    fn a_value_is_found_in_base64() {
        let all = forms("hunter22");
        let found = |text: &str| all.iter().any(|form| text.contains(form));
        // Alone, from `echo`, and as the password of a basic login with user names of different length.
        for text in ["aHVudGVyMjI=", "aHVudGVyMjIK", "YTpodW50ZXIyMg==", "YWI6aHVudGVyMjI=", "YWJjOmh1bnRlcjIy"] {
            assert!(found(text), "{text}: {all:?}");
        }
        assert!(!found("aHVudGVyMzM="));
    }

    #[test]
    fn lines_that_only_look_like_an_outline_are_found() {
        for text in ["AbcdefghIjkl=", "correct-horse-battery:", "correct-horse-battery:\nx: y"] {
            assert_eq!(lines_with_secrets(text, "")[0], text.lines().find(|line| !line.contains(": ")).unwrap());
        }
        for text in ["data:\n\n  a: x7x7", "region = eu\nkey = x7x7", "region =\nkey = x7x7"] {
            assert!(
                lines_with_secrets(text, "").iter().all(|line| line.is_empty() || line.ends_with("x7x7")),
                "{text}"
            );
        }
    }

    #[test]
    fn the_lines_of_a_long_value_are_found() {
        let all = forms("first line of it\nab\nsecond line of it\n");
        assert!(all.contains("first line of it") && all.contains("second line of it") && !all.contains("ab"));
        assert!(all.contains(r"first line of it\nab\nsecond line of it"));
    }
}
