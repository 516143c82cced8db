//! Finds characters that look right and break YAML: no-break spaces as indentation, full-width colons, curly quotation marks, dashes
//! from a word processor. The parser gives up at a later line, or reads them as part of a text.

mod character;
mod prose;

pub use character::{Lookalike, Looks};

use crate::document::{plain_scalars, quoted_texts};
use crate::invalid::{Invalid, Kind};

/// How many lines with such characters are corrected on trial. Each doubling costs one more reading.
const LINES: usize = 1024;
/// How many warnings one document gets.
const WARNINGS: usize = 5;

/// A character and its place. Offset and line are from the start of the text.
struct Found {
    at: usize,
    line: usize,
    column: usize,
    found: Lookalike,
}

/// Reads a text. If that fails because of such a character, the error names the character, in its own line.
pub(crate) fn explained<T>(text: &str, read: impl Fn(&str) -> Result<T, Invalid>) -> Result<T, Invalid> {
    let result = read(text);
    if matches!(&result, Err(error) if matches!(error.kind, Kind::TooLarge { .. } | Kind::ControlCharacter { .. })) {
        return result;
    }
    if let Some(found) = line_break(text)
        && is_misread(text, &result, &read)
    {
        return Err(Invalid::at(found.line, found.column, Kind::Lookalike { found: found.found }));
    }
    let Err(error) = result else { return result };
    if matches!(error.kind, Kind::Lookalike { .. } | Kind::TextStartsWithTab { .. }) {
        return Err(error);
    }
    let all = in_syntax(text);
    let lines: Vec<usize> = all.iter().map(|found| found.line).take(LINES).collect();
    if lines.is_empty() {
        return Err(error);
    }
    // The error that stays if all these lines but the first ones are corrected.
    let after = |skipped: usize| read(&corrected(text, &lines[skipped..])).err();
    let best = after(0);
    // If the text has other errors, too, it can only be read further.
    let is_corrected = |after: Option<Invalid>| match (after, &best) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(after), Some(_)) => is_further(&error, &after),
    };
    if !is_corrected(best.clone()) {
        return Err(error);
    }
    let found = &all[last_true(lines.len(), |skipped| is_corrected(after(skipped)))];
    Err(Invalid::at(found.line, found.column, Kind::Lookalike { found: found.found }))
}

/// Line breaks to ansible, but not to the parser.
const LINE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

fn line_break(text: &str) -> Option<Found> {
    let at = text.find(LINE_BREAKS)?;
    let found = text[at..].chars().next().and_then(Lookalike::of)?;
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let (line, column) = (text[..at].matches('\n').count() + 1, text[start..at].chars().count() + 1);
    Some(Found { at, line, column, found })
}

/// Whether such line breaks are why ansible, or the parser, can't read the text.
fn is_misread<T>(text: &str, result: &Result<T, Invalid>, read: impl Fn(&str) -> Result<T, Invalid>) -> bool {
    // A text in quotes may go on in the next line.
    let quoted = quoted_texts(text);
    let is_quoted = |at: usize| {
        let next = quoted.partition_point(|text| text.start <= at);
        next > 0 && quoted[next - 1].contains(&at)
    };
    let is_read = |instead: &str| {
        let mut out = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            match c {
                c if !LINE_BREAKS.contains(&c) => out.push(c),
                _ if is_quoted(at) => out.push(' '),
                _ => out.push_str(instead),
            }
        }
        read(&out).is_ok()
    };
    match result {
        Ok(_) => !is_read("\n"),
        Err(_) => is_read("\n") || is_read(""),
    }
}

/// The last number below `end` for which `is_true`, if that is true for 0 and for no number after a false one.
fn last_true(end: usize, is_true: impl Fn(usize) -> bool) -> usize {
    let (mut last, mut end) = (0, end);
    while end - last > 1 {
        let middle = usize::midpoint(last, end);
        if is_true(middle) {
            last = middle;
        } else {
            end = middle;
        }
    }
    last
}

/// Whether a text with an error in it was read further than before.
fn is_further(before: &Invalid, after: &Invalid) -> bool {
    match (before.line, after.line) {
        (Some(before), Some(after)) => after > before,
        (Some(_), None) => true,
        (None, _) => before.kind != after.kind,
    }
}

/// Sentences about such characters in a text that can be read: ansible reads them as part of a value.
pub(crate) fn in_values(text: &str) -> Vec<String> {
    if !text.chars().any(|c| Lookalike::of(c).is_some()) {
        return Vec::new();
    }
    let scalars = plain_scalars(text);
    let warning = |found: &Found| {
        let next = scalars.partition_point(|scalar| scalar.range.start <= found.at);
        let scalar = scalars.get(next.checked_sub(1)?).filter(|scalar| scalar.range.contains(&found.at))?;
        // Other characters in keys are reported with the names of variables.
        let is_meant = match scalar.is_key {
            true => !text[..found.at].ends_with(':'),
            false => prose::is_prose(&text[scalar.range.clone()], found.at - scalar.range.start, found.found),
        };
        if is_meant || found.found.looks == Looks::LineBreak {
            return None;
        }
        let Found { line, found, .. } = found;
        let part = if scalar.is_key { "key" } else { "value" };
        Some(format!("Line {line}: {}, so ansible reads it as part of a {part}. {}.", found.is_none(), found.instead()))
    };
    in_syntax(text).iter().filter_map(warning).take(WARNINGS).collect()
}

/// The text with its likely meaning in these lines.
fn corrected(text: &str, lines: &[usize]) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if lines.binary_search(&number).is_err() {
            out.push_str(line);
            continue;
        }
        let mut is_start = true;
        for c in line.chars() {
            let found = if c == '\t' && is_start { Some(Lookalike::TAB) } else { Lookalike::of(c) };
            is_start &= c == ' ' || found.is_some_and(Lookalike::is_space);
            match found {
                Some(found) if found.is_sign(':') => out.push_str(": "),
                Some(found) => out.push_str(found.meant()),
                None => out.push(c),
            }
        }
    }
    out
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

/// A space or invisible character at the end of a value, or an invisible one in it that no script needs.
fn at_edges(value: &str) -> Option<(usize, Lookalike)> {
    let last = value.trim_end_matches(' ').char_indices().next_back();
    let last = last.and_then(|(at, c)| Some((at, Lookalike::of(c)?))).filter(|(_, found)| found.is_space());
    let inside = value.char_indices().find(|(_, c)| matches!(c, '\u{200B}' | '\u{2060}' | '\u{FEFF}'));
    inside.and_then(|(at, c)| Some((at, Lookalike::of(c)?))).or(last)
}

fn is_like_space(c: char) -> bool {
    c == ' ' || Lookalike::of(c).is_some_and(Lookalike::is_space)
}
