//! Finds `name: value` and `name=value` in a line of YAML, JSON or INI. The text need not be valid.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;
use crate::scalar::Place;

/// A name before a value. `:` needs a space after it, except after a quoted name.
static ASSIGNED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"["']?\b[\w.-]+(?:["'][ \t]*:|["']?[ \t]*(?::[ \t]|:$|=))[ \t]*"#));

/// Tags (`!unsafe`) and anchors (`&name`) before a value.
static MARKS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[!&][^\s,\[\]{}]*(?:[ \t]+|$))*"));

/// An anchor and the space after it.
pub(crate) static ANCHOR: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[\s\[{,])(&([^\s,\[\]{}]+)(?:[ \t]+|$))"));

/// A name and where its value begins.
pub(crate) struct Assignment<'l> {
    pub(crate) name: &'l str,
    /// The byte of the line at which the value begins.
    pub(crate) value_at: usize,
    pub(crate) place: Place,
}

/// The first assignment of `line` that begins at byte `from` or later.
pub(crate) fn next(line: &str, from: usize) -> Option<Assignment<'_>> {
    let found = ASSIGNED.find_at(line, from)?;
    let assigned = found.as_str().trim_end();
    Some(Assignment {
        name: assigned.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_')),
        value_at: found.end(),
        place: Place::after(&line[..found.start()], assigned),
    })
}

/// All assignments of `line`, also those within the value of another.
pub(crate) fn all(line: &str) -> impl Iterator<Item = Assignment<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || next(line, from).inspect(|found| from = found.value_at))
}

/// Splits the tags and anchors before a value from the value.
pub(crate) fn split_marks(rest: &str) -> (&str, &str) {
    rest.split_at(MARKS.find(rest).map_or(0, |marks| marks.end()))
}
