//! Sets one variable in the text of a variables file. Everything else stays, and the result is parsed again.

use serde_json::Value;

use crate::document;
use crate::vars::parse_vars;
use crate::write::scalar::scalar;

/// The text with the variable `name` set to the text `new`: in its line, or in a new last line. A comment behind the value stays.
///
/// # Errors
/// A sentence that says why the text can't be changed in this way.
pub fn set_variable(text: &str, name: &str, new: &str) -> Result<String, String> {
    let by_hand = || format!("{name} can't be changed automatically. Change it on the Configuration tab.");
    let mut wanted = parse_vars(text).map_err(|why| why.to_string())?;
    wanted.insert(name.into(), Value::String(new.into()));
    let line = line_of(text, name)?;
    // Plain if it is a text then, too, as a version is.
    let ways = [new.to_owned(), scalar(new)];
    let edited = ways.iter().filter_map(|written| match line {
        Some(line) => in_line(text, line, new, written),
        None => Some(appended(text, name, written)),
    });
    let mut sound = edited.filter(|edited| parse_vars(edited).as_ref() == Ok(&wanted));
    sound.next().ok_or_else(by_hand)
}

/// The number of the line with the top-level key `name`, from 0.
fn line_of(text: &str, name: &str) -> Result<Option<usize>, String> {
    let document = document::read(text).map_err(|why| why.to_string())?;
    let Some(document::Value::Map(entries)) = document else { return Ok(None) };
    let key = entries.iter().map(|(key, _)| key).find(|key| key.value == name);
    Ok(key.map(|key| (key.referenced.line() as usize).saturating_sub(1)))
}

/// Replaces the value behind the first colon of a line by `new` in the quotes that are there, otherwise by `written`. `None` if the line
/// has another layout.
fn in_line(text: &str, number: usize, new: &str, written: &str) -> Option<String> {
    let line = text.split_inclusive('\n').nth(number)?;
    let start: usize = text.split_inclusive('\n').take(number).map(str::len).sum();
    let colon = line.find(':')? + 1;
    let value = colon + line[colon..].len() - line[colon..].trim_start_matches(' ').len();
    let rest = line[value..].trim_end_matches(['\n', '\r']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let length = match quote {
        Some(quote) => rest[1..].find(quote)? + 2,
        None if rest.starts_with('#') => 0,
        None => rest.find(" #").map_or(rest, |comment| &rest[..comment]).trim_end().len(),
    };
    let written = quote.map_or_else(|| written.to_owned(), |quote| format!("{quote}{new}{quote}"));
    let (before, after) = (&text[..start + value], &text[start + value + length..]);
    let space = if value == colon { " " } else { "" };
    let end = if after.starts_with('#') { " " } else { "" };
    Some(format!("{before}{space}{written}{end}{after}"))
}

fn appended(text: &str, name: &str, written: &str) -> String {
    let line_break = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{line_break}{name}: {written}\n")
}
