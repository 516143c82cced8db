//! The parts of a text that are secret, and the text without them.

use std::ops::Range;

/// `text` with `mark` in place of these parts, in any order. Parts that overlap become one.
pub(crate) fn hidden(text: String, mut parts: Vec<Range<usize>>, mark: &str) -> String {
    if parts.is_empty() {
        return text;
    }
    parts.sort_unstable_by_key(|part| (part.start, part.end));
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for part in parts {
        if part.start >= end {
            out.extend([&text[end..part.start], mark]);
        }
        end = end.max(part.end);
    }
    out + &text[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_overlap_are_hidden_once() {
        let hide = |parts: &[Range<usize>]| hidden("0123456789".into(), parts.to_vec(), "*");
        assert_eq!(hide(&[]), "0123456789");
        assert_eq!(hide(&[6..8, 1..3]), "0*345*89");
        assert_eq!(hide(&[1..5, 2..3, 4..6, 6..7, 9..10]), "0**78*");
    }
}
