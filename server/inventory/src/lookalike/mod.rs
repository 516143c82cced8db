//! Finds characters that look right and break YAML: no-break spaces as indentation, full-width colons, curly quotation marks, dashes
//! from a word processor. The parser gives up at a later line, or reads them as part of a text.

mod cause;
mod character;
mod prose;

pub(crate) use cause::explained;
pub use character::{Lookalike, Looks};
pub(crate) use prose::hidden;

use crate::document::scalars;

/// How many warnings one document gets.
const WARNINGS: usize = 5;

/// A character and its place. Offset and line are from the start of the text.
struct Found {
    at: usize,
    line: usize,
    column: usize,
    found: Lookalike,
}

/// Sentences about such characters in a text that can be read: ansible reads them as part of a value.
pub(crate) fn in_values(text: &str) -> Vec<String> {
    if !text.chars().any(|c| Lookalike::of(c).is_some()) {
        return Vec::new();
    }
    let scalars = scalars(text);
    let in_syntax = in_syntax(text).into_iter().filter_map(|Found { at, found, .. }| {
        let next = scalars.partition_point(|scalar| scalar.range.start <= at);
        let scalar = scalars.get(next.checked_sub(1)?).filter(|scalar| scalar.range.contains(&at))?;
        // Other characters in keys are reported with the names of variables.
        let is_meant = match scalar.is_key {
            true => !text[..at].ends_with(':'),
            false => {
                found.looks == Looks::Invisible || prose::is_prose(scalar.of(text), at - scalar.range.start, found)
            }
        };
        let is_odd = scalar.is_plain && !is_meant && found.looks != Looks::LineBreak;
        is_odd.then_some((at, found, scalar.is_key))
    });
    let hidden = scalars.iter().filter(|scalar| !scalar.is_key).filter_map(|scalar| {
        let (at, found) = hidden(scalar.of(text))?;
        Some((scalar.range.start + at, found, false))
    });
    let mut all: Vec<_> = in_syntax.chain(hidden).collect();
    all.sort_by_key(|(at, ..)| *at);
    let warning = |(at, found, is_key): (usize, Lookalike, bool)| {
        let line = text[..at].matches('\n').count() + 1;
        let part = if is_key { "key" } else { "value" };
        format!("Line {line}: {}, so ansible reads it as part of a {part}. {}.", found.is_none(), found.instead())
    };
    all.into_iter().take(WARNINGS).map(warning).collect()
}

/// The characters that stand where YAML has syntax, at most one in each line. Comments have none.
fn in_syntax(text: &str) -> Vec<Found> {
    let mut all = Vec::new();
    let mut start = 0;
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        // The byte order mark of the text itself.
        let skipped = if line == 1 && content.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        if let Some((offset, found)) = in_line(content[skipped..].trim_end_matches(['\n', '\r'])) {
            let offset = skipped + offset;
            let column = content[..offset].chars().count() + 1;
            all.push(Found { at: start + offset, line, column, found });
        }
        start += content.len();
    }
    all
}

/// The first such character in a line, with its offset.
fn in_line(line: &str) -> Option<(usize, Lookalike)> {
    if line.trim_start_matches(' ').starts_with('#') {
        return None;
    }
    in_indentation(line).or_else(|| {
        let start = line.len() - line.trim_start_matches(' ').len();
        let found = in_entry(&line[start..])?;
        Some((start + found.0, found.1))
    })
}

fn in_indentation(line: &str) -> Option<(usize, Lookalike)> {
    let (offset, c) = line.char_indices().find(|(_, c)| *c != ' ')?;
    if c == '\t' {
        let is_blank = line.trim().is_empty();
        return (!is_blank).then_some((offset, Lookalike::TAB));
    }
    Lookalike::of(c).filter(|found| found.is_space()).map(|found| (offset, found))
}

/// In `- key: value`.
fn in_entry(entry: &str) -> Option<(usize, Lookalike)> {
    let mut start = 0;
    loop {
        let mut chars = entry[start..].chars();
        let (first, second) = (chars.next()?, chars.next());
        if !second.is_none_or(is_like_space) {
            break;
        }
        match Lookalike::of(first) {
            Some(dash) if dash.is_sign('-') => return Some((start, dash)),
            None if first == '-' => start += 1,
            _ => break,
        }
        if let Some(space) = second.and_then(Lookalike::of) {
            return Some((start, space));
        }
        start = entry.len() - entry[start..].trim_start_matches(' ').len();
    }
    in_pair(&entry[start..]).map(|(at, found)| (start + at, found))
}

/// In `key: value` or in a single value.
fn in_pair(pair: &str) -> Option<(usize, Lookalike)> {
    if let Some(sign) = pair.chars().next().and_then(Lookalike::of).filter(|found| is_opening(*found)) {
        return Some((0, sign));
    }
    let comment = pair.find(" #").unwrap_or(pair.len());
    let pair = &pair[..comment];
    let colon = pair.char_indices().find(|(at, c)| ends_key(pair, *at, *c));
    let Some((at, c)) = colon else {
        if pair.starts_with(['{', '[']) {
            return in_flow(pair);
        }
        return half_quoted(pair).or_else(|| dash_before_word(pair)).or_else(|| at_edges(pair));
    };
    if let Some(found) = Lookalike::of(c) {
        return Some((at, found));
    }
    let in_key = pair[..at].char_indices().find_map(|(at, c)| Some((at, Lookalike::of(c)?)));
    let in_key = in_key.filter(|(_, found)| found.is_space());
    let after = &pair[at + 1..];
    let value = after.trim_start_matches(' ');
    let start = pair.len() - value.len();
    let first = value.chars().next().and_then(Lookalike::of).filter(|found| found.is_space() || is_opening(*found));
    let in_brackets = || if value.starts_with(['{', '[']) { in_flow(value) } else { None };
    let in_value = || half_quoted(value).or_else(|| dash_before_word(value));
    in_key
        .or_else(|| half_quoted(&pair[..at]))
        .or_else(|| in_value().map(|(at, found)| (start + at, found)))
        .or_else(|| in_brackets().map(|(at, found)| (start + at, found)))
        .or_else(|| first.map(|found| (start, found)))
        .or_else(|| at_edges(value).map(|(at, found)| (start + at, found)))
}

/// In `"text”`: the sign that looks like the second quotation mark.
fn half_quoted(text: &str) -> Option<(usize, Lookalike)> {
    let open = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let is_closed = text[1..].contains(open);
    let mut signs = text.char_indices().rev().filter_map(|(at, c)| Some((at, Lookalike::of(c)?)));
    signs.find(|(_, found)| !is_closed && found.is_sign(open))
}

/// In `−1` and `–node-ip=x`: the sign at the start.
fn dash_before_word(value: &str) -> Option<(usize, Lookalike)> {
    let mut chars = value.chars();
    let dash = chars.next().and_then(Lookalike::of).filter(|found| found.is_sign('-'))?;
    let is_like_dash = |c: char| c == '-' || Lookalike::of(c).is_some_and(|found| found.is_sign('-'));
    chars.find(|c| !is_like_dash(*c)).filter(char::is_ascii_alphanumeric).map(|_| (0, dash))
}

/// In `{key: value, key: value}` on one line: a colon, or a character beside a sign of YAML.
fn in_flow(flow: &str) -> Option<(usize, Lookalike)> {
    let mut quote = None;
    let mut before = '{';
    for (at, c) in flow.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(open)) => {
                let half = Lookalike::of(c).filter(|found| found.is_sign(open));
                if let Some(found) = half.filter(|_| ends_item(&flow[at + c.len_utf8()..])) {
                    return Some((at, found));
                }
            }
            ('"' | '\'', None) => quote = Some(c),
            _ => {
                let after = &flow[at + c.len_utf8()..];
                let is_beside =
                    "{[,:".contains(before) || ends_item(after) || after.trim_start_matches(' ').starts_with(':');
                let ends_entry = "}]\"'".contains(before) || after.starts_with(' ');
                let is_syntax = |found: &Lookalike| found.is_sign(':') || is_beside || found.is_sign(',') && ends_entry;
                if let Some(found) = Lookalike::of(c).filter(is_syntax) {
                    return Some((at, found));
                }
            }
        }
        if c != ' ' {
            before = c;
        }
    }
    None
}

/// Whether an item of a list or mapping in brackets ends before this text.
fn ends_item(after: &str) -> bool {
    after.trim_start_matches(' ').chars().next().is_none_or(|after| "}],".contains(after))
}

/// Whether `c` is the colon behind a key, or looks like it.
fn ends_key(pair: &str, at: usize, c: char) -> bool {
    let looks = Lookalike::of(c).is_some_and(|found| found.is_sign(':'));
    looks || c == ':' && pair[at + 1..].chars().next().is_none_or(is_like_space)
}

/// Whether it looks like the start of a quoted text or of a mapping or list in brackets.
fn is_opening(found: Lookalike) -> bool {
    found.is_quote() || found.is_sign('{') || found.is_sign('[')
}

/// A space or invisible character at the end of a value, or an invisible one in it that its language doesn't need.
fn at_edges(value: &str) -> Option<(usize, Lookalike)> {
    let last = value.trim_end_matches(' ').char_indices().next_back();
    let last = last.and_then(|(at, c)| Some((at, Lookalike::of(c)?))).filter(|(_, found)| found.is_space());
    hidden(value).or(last)
}

fn is_like_space(c: char) -> bool {
    c == ' ' || Lookalike::of(c).is_some_and(Lookalike::is_space)
}
