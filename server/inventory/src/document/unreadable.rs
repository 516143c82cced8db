//! Values that end ansible while it reads them: tags that it doesn't know, dates that don't exist. Tried with ansible-core 2.18.

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Tag};

use super::reading::{Reading, is_real_date, reading};
use crate::invalid::Kind;
use crate::lookalike::Lookalike;

/// What kind of node has a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    List,
    Map,
}

/// Why ansible can't read this scalar.
pub(super) fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, is_key: bool) -> Option<Kind> {
    let Some(tag) = tag else {
        let read_as = if style == ScalarStyle::Plain { plain(text, is_key) } else { None }?;
        return Some(Kind::Unreadable { text: text.to_owned(), read_as });
    };
    tagged(Shape::Scalar, tag).or_else(|| {
        let fits = of_yaml(tag).is_none_or(|name| fits(&name, text));
        (!fits).then(|| Kind::WrongTag { tag: tag.original() })
    })
}

/// What ansible takes a scalar without quotes for, if it can't read that.
fn plain(text: &str, is_key: bool) -> Option<&'static str> {
    if !is_key && matches!(text, "=" | "<<") {
        return Some("a sign of YAML");
    }
    match reading(text)? {
        Reading::Date if !is_real_date(text) => Some("a date, but no such date exists"),
        Reading::Number if has_no_digits(text) => Some("a number, but it has no digits"),
        _ => None,
    }
}

/// In brackets, a plain text doesn't start with a colon, as `::1` does, and the colon behind a plain key needs a space: not `{n1:}`. The text
/// starts with the plain one, which has this length.
pub(super) fn colon(text: &str, length: usize, is_in_brackets: bool) -> Option<Kind> {
    let (plain, after) = text.split_at(length);
    if !is_in_brackets || plain.is_empty() {
        return None;
    }
    let after = after.trim_start_matches(' ').strip_prefix(':');
    let is_key = after.is_some_and(|after| after.starts_with([',', '?', '[', ']', '{', '}']));
    if plain.starts_with(':') || is_key && plain.contains(':') {
        let colon = if is_key { ":" } else { "" };
        return Some(Kind::ColonsInBrackets { text: format!("{plain}{colon}") });
    }
    is_key.then(|| Kind::ColonWithoutSpace { key: plain.to_owned() })
}

/// Why ansible can't read an anchor with this name, and how many characters behind its `&` that is.
pub(super) fn anchor(name: &str) -> Option<(u32, Kind)> {
    let (at, odd) = (1..).zip(name.chars()).find(|(_, c)| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))?;
    Some(match Lookalike::of(odd) {
        Some(found) => (at, Kind::Lookalike { found }),
        None => (0, Kind::AnchorName),
    })
}

/// `0x_`.
fn has_no_digits(number: &str) -> bool {
    let unsigned = number.strip_prefix(['-', '+']).unwrap_or(number);
    let digits = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0b"));
    digits.is_some_and(|digits| digits.chars().all(|c| c == '_'))
}

/// Why ansible can't read a node of this shape with this tag.
pub(super) fn tagged(shape: Shape, tag: &Tag) -> Option<Kind> {
    let whole = format!("{}{}", tag.parts().0, tag.parts().1);
    let shapes: &[Shape] = match of_yaml(tag).as_deref() {
        Some("null" | "bool" | "int" | "float" | "binary" | "timestamp" | "str") => &[Shape::Scalar],
        Some("seq" | "omap" | "pairs") => &[Shape::List],
        Some("map" | "set") => &[Shape::Map],
        None if matches!(whole.as_str(), "!vault" | "!vault-encrypted") => &[Shape::Scalar],
        None if matches!(whole.as_str(), "!" | "!unsafe") => return None,
        _ => return Some(Kind::UnknownTag),
    };
    (!shapes.contains(&shape)).then(|| Kind::WrongTag { tag: tag.original() })
}

/// `int` of `!!int`.
pub(super) fn of_yaml(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

/// Whether ansible may make a value of this type from the text. Generous with the many spellings of numbers.
fn fits(name: &str, text: &str) -> bool {
    let has_digit = || text.contains(|c: char| c.is_ascii_digit()) && !has_no_digits(text);
    match name {
        "int" => has_digit(),
        "float" => {
            has_digit() || text.replace('_', "").parse::<f64>().is_ok() || reading(text) == Some(Reading::Number)
        }
        "bool" => matches!(text.to_lowercase().as_str(), "yes" | "no" | "true" | "false" | "on" | "off"),
        "timestamp" => reading(text) == Some(Reading::Date) && is_real_date(text),
        _ => true,
    }
}
