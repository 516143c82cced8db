//! Dates with the tag `!!timestamp`. Ansible reads them, and our YAML reader refuses the tag.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Parser};

const TAG: &str = "!!timestamp";
/// As long as [`TAG`], so that positions stay.
const AS_TEXT: &str = "!!str      ";

/// The text with each of these dates as a text.
pub(super) fn as_texts(text: &str) -> Cow<'_, str> {
    if !text.contains(TAG) {
        return Cow::Borrowed(text);
    }
    let scalars = scalars(text);
    let is_in_scalar = |at: usize| {
        let next = scalars.partition_point(|scalar| scalar.start <= at);
        next > 0 && scalars[next - 1].contains(&at)
    };
    let mut changed = text.to_owned();
    for (at, _) in text.match_indices(TAG) {
        let is_whole = text[at + TAG.len()..].starts_with(|c: char| c.is_ascii_whitespace());
        if is_whole && !is_in_scalar(at) {
            changed.replace_range(at..at + TAG.len(), AS_TEXT);
        }
    }
    Cow::Owned(changed)
}

/// Where the text has scalars, in bytes and in their order, up to the first error of syntax.
fn scalars(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new_from_str(text).map_while(Result::ok);
    let scalars = events.filter(|(event, _)| matches!(event, Event::Scalar(..)));
    scalars.filter_map(|(_, span)| Some(span.start.byte_offset()?..span.end.byte_offset()?)).collect()
}
