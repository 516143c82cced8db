//! Finds `name: value` and `name=value` in a line of YAML, JSON or INI. The text need not be valid.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;
use crate::scalar::Place;

/// A name before a value. `:` needs a space after it, except after a quoted name.
static ASSIGNED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"["']?\b[\w.-]+(?:["'][ \t]*:|["']?[ \t]*(?::[ \t]|:$|=))[ \t]*"#));

/// The tag (`!unsafe`) and the anchor (`&name`) before a value. YAML allows one of each. With more, a line of anchors would be read once for
/// each of them.
static MARKS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[!&][^\s,\[\]{}]*(?:[ \t]+|$)){0,2}"));

/// An anchor and the space after it.
pub(crate) static ANCHOR: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[\s\[{,])(&([^\s,\[\]{}]+)(?:[ \t]+|$))"));

/// A name and where its value begins.
pub(crate) struct Assignment<'l> {
    pub(crate) name: &'l str,
    /// The byte of the line at which the value begins.
    pub(crate) value_at: usize,
    pub(crate) place: Place,
}

/// A line of text.
pub(crate) struct Line<'l> {
    text: &'l str,
    /// The first `{` or `[`. Searched for once: a line may have very many names.
    flow_from: usize,
}

impl<'l> Line<'l> {
    pub(crate) fn of(text: &'l str) -> Self {
        Self { text, flow_from: text.find(['{', '[']).unwrap_or(text.len()) }
    }

    /// The first assignment that begins at byte `from` or later.
    pub(crate) fn next(&self, from: usize) -> Option<Assignment<'l>> {
        let found = ASSIGNED.find_at(self.text, from)?;
        let assigned = found.as_str().trim_end();
        Some(Assignment {
            name: assigned.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_')),
            value_at: found.end(),
            place: self.place(found.start(), assigned),
        })
    }

    /// All assignments, also those within the value of another.
    pub(crate) fn assignments(&self) -> impl Iterator<Item = Assignment<'l>> {
        let mut from = 0;
        std::iter::from_fn(move || self.next(from).inspect(|found| from = found.value_at))
    }

    /// The place of a value after `assigned` (`name:` or `name=`), which begins at byte `at`.
    pub(crate) fn place(&self, at: usize, assigned: &str) -> Place {
        if assigned.ends_with('=') {
            Place::Ini
        } else if at > self.flow_from {
            Place::Flow
        } else {
            Place::Line
        }
    }
}

/// Splits the tags and anchors before a value from the value.
pub(crate) fn split_marks(rest: &str) -> (&str, &str) {
    rest.split_at(MARKS.find(rest).map_or(0, |marks| marks.end()))
}
