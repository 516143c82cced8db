//! The lines of a document: where an entry of a mapping begins and ends.

use std::ops::Range;

use super::places::Hosts;
use crate::document::{Key, Value};

pub(super) struct Lines<'t> {
    text: &'t str,
    /// The offset of each line's first byte.
    starts: Vec<usize>,
}

/// Where and how to write further entries of a mapping.
pub(super) struct Layout {
    /// Offset of the first byte after the last entry.
    pub(super) at: usize,
    /// The mapping is written as `{a: …, b: …}`.
    pub(super) is_flow: bool,
    /// The last entry's value is written as `{…}` on the line of its key.
    pub(super) values_in_flow: bool,
    /// Spaces before a key.
    pub(super) indent: usize,
    /// Further spaces before a key of its value.
    pub(super) step: usize,
    /// A line break, if the last line of the document has none.
    pub(super) before: &'static str,
}

/// The text of one entry.
pub(super) struct Entry {
    /// What to delete to remove the entry.
    pub(super) removal: Range<usize>,
    /// The end of its text.
    end: usize,
    is_flow: bool,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// Where further entries of `hosts` are written; `None` if the layout is not understood.
    pub(super) fn after(&self, hosts: &Hosts<'_>) -> Option<Layout> {
        let Some((last, of)) = hosts.entries.last() else { return self.first(hosts.key) };
        let entry = self.entry(last)?;
        let indent = self.indent(self.offset(last)?);
        let first_of_value = match of {
            Value::Map(entries) => entries.first().map(|(key, _)| key),
            _ => None,
        };
        let on_one_line = first_of_value.is_some_and(|key| key.referenced.line() == last.referenced.line());
        let step =
            first_of_value.and_then(|key| self.offset(key)).map_or(0, |at| self.indent(at)).saturating_sub(indent);
        Some(Layout {
            at: entry.end,
            is_flow: entry.is_flow,
            values_in_flow: on_one_line,
            indent,
            step: if step == 0 || on_one_line { 2 } else { step },
            before: self.line_break(entry.end, entry.is_flow),
        })
    }

    /// The first entry below `hosts:`, which has no value yet.
    fn first(&self, hosts: &Key) -> Option<Layout> {
        let at = self.offset(hosts)?;
        let is_block = self.is_alone(at);
        let end = self.end_of_line(at);
        is_block.then(|| Layout {
            at: end,
            is_flow: false,
            values_in_flow: false,
            indent: self.indent(at) + 2,
            step: 2,
            before: self.line_break(end, false),
        })
    }

    /// The text of the entry with this key.
    pub(super) fn entry(&self, key: &Key) -> Option<Entry> {
        let at = self.offset(key)?;
        if self.is_alone(at) { Some(self.block_entry(at)) } else { self.flow_entry(at) }
    }

    /// The line of the key, and the following lines that are indented further.
    fn block_entry(&self, at: usize) -> Entry {
        let indent = self.indent(at);
        let mut end = self.end_of_line(at);
        let mut next = end;
        while next < self.text.len() {
            let line = &self.text[next..self.end_of_line(next)];
            if !line.trim().is_empty() {
                if line.len() - line.trim_start_matches(' ').len() <= indent {
                    break;
                }
                end = next + line.len();
            }
            next += line.len();
        }
        Entry { removal: at - indent..end, end, is_flow: false }
    }

    /// Up to the next comma, or to the bracket that ends the mapping.
    fn flow_entry(&self, at: usize) -> Option<Entry> {
        let (mut depth, mut quote) = (0, None);
        for (offset, c) in self.text[at..].char_indices() {
            match c {
                _ if quote.is_some() => quote = quote.filter(|open| *open != c),
                '"' | '\'' => quote = Some(c),
                '{' | '[' => depth += 1,
                '}' | ']' | ',' if depth == 0 => {
                    let end = at + self.text[at..at + offset].trim_end().len();
                    return Some(Entry { removal: self.flow_removal(at, at + offset, c == ','), end, is_flow: true });
                }
                '}' | ']' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// The entry with the comma after it, or with the comma before it if it is the last one.
    fn flow_removal(&self, start: usize, end: usize, comma_follows: bool) -> Range<usize> {
        if comma_follows {
            let after = &self.text[end + 1..];
            return start..end + 1 + (after.len() - after.trim_start_matches(' ').len());
        }
        let before = self.text[..start].trim_end();
        if before.ends_with(',') { before.len() - 1..end } else { start..end }
    }

    fn offset(&self, key: &Key) -> Option<usize> {
        let (line, column) = (key.referenced.line() as usize, key.referenced.column() as usize);
        let start = *self.starts.get(line.checked_sub(1)?)?;
        let (offset, _) = self.text[start..].char_indices().nth(column.checked_sub(1)?)?;
        Some(start + offset)
    }

    fn start_of_line(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |before| before + 1)
    }

    /// After the line break.
    fn end_of_line(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |length| at + length + 1)
    }

    fn indent(&self, at: usize) -> usize {
        at - self.start_of_line(at)
    }

    /// Whether only spaces are before `at` in its line.
    fn is_alone(&self, at: usize) -> bool {
        self.text[self.start_of_line(at)..at].chars().all(|c| c == ' ')
    }

    fn line_break(&self, at: usize, is_flow: bool) -> &'static str {
        if is_flow || self.text[..at].ends_with('\n') { "" } else { "\n" }
    }
}
