//! Characters that are right in a text for people.

use super::character::{Lookalike, Looks};

/// Whether the character at `at` in a value is one of its language, not one of YAML.
pub(super) fn is_prose(value: &str, at: usize, found: Lookalike) -> bool {
    if found.is_sign(':') || found.is_sign(',') {
        return value[..at].chars().next_back().is_some_and(is_of_other_script);
    }
    if found.is_quote() && at == 0 {
        let is_other_language = matches!(found.character, '«' | '»') && value.chars().any(is_of_other_script);
        return is_other_language || !is_wrapped(value);
    }
    false
}

/// The first invisible character in a text, unless the language of the text needs it.
pub(crate) fn hidden(text: &str) -> Option<(usize, Lookalike)> {
    let is_ascii = !text.chars().any(|c| !c.is_ascii() && Lookalike::of(c).is_none());
    // Marks of the direction of a script, and joiners.
    let is_mark = |c: char| matches!(c, '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let mut odd = text.char_indices().filter_map(|(at, c)| Some((at, Lookalike::of(c)?)));
    odd.find(|(_, found)| found.looks == Looks::Invisible && (is_ascii || !is_mark(found.character)))
}

fn is_of_other_script(c: char) -> bool {
    !c.is_ascii() && c.is_alphabetic()
}

/// Whether the value is in quotation marks as a whole: `“x”`, but not `“x” and y` or `« x »`.
fn is_wrapped(value: &str) -> bool {
    let is_mark = |c: char| matches!(c, '"' | '\'') || Lookalike::of(c).is_some_and(Lookalike::is_quote);
    let mut inside = value.chars();
    let (first, last) = (inside.next(), inside.next_back());
    let inside = inside.as_str();
    first.is_some_and(is_mark)
        && last.is_some_and(is_mark)
        && !inside.contains(is_mark)
        && !inside.starts_with(super::is_like_space)
}
