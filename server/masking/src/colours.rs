//! Colours and other escape sequences of a terminal within a text: `hun<red>ter22` is as secret as `hunter22`.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;

/// Colours as JSON, Python and shells write them within a string.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\+(?:u001b|x1b|033|e)\[[0-9;:]*m"));
/// What starts a control string, such as the title of a window.
const STRING_START: &str = r"(?:\x1b[\]PX^_]|[\u{90}\u{98}\u{9d}-\u{9f}])";
static STRINGS: LazyLock<Regex> = LazyLock::new(|| pattern(STRING_START));
/// Control sequences, control strings and all other escape sequences of ECMA-48, also if they are cut off. A string without an end ends
/// with its line. `INVISIBLE` in deploy/runner/kubeonkube_masking.py has the same rule.
static ESCAPES: LazyLock<Regex> = LazyLock::new(|| {
    let string = format!(r"{STRING_START}[^\x07\x1b\u{{9c}}\n]*(?:\x07|\x1b\\|\u{{9c}})?");
    pattern(&format!(r"(?:\x1b\[|\u{{9b}})[0-?]*(?:[ -/]*[@-~]|[!-/]*)|{string}|\x1b(?:[ -/]*[0-~]|[!-/]*)"))
});
const ESC: char = '\u{1b}';

/// A line of the log without its colours (`ESC [ … m`). Of a colour that was cut off, only what is left of it is removed. Lines have no
/// other sequences: the collector removes them. For any other text, use [`without_escapes`].
#[must_use]
pub fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(ESC) {
        out.push_str(&rest[..at]);
        rest = after_colour(&rest[at + 1..]);
    }
    out.push_str(rest);
    out
}

/// What follows the sequence whose `ESC` is right before `text`. A space is text: it follows a colour that was cut off.
fn after_colour(text: &str) -> &str {
    let Some(parameters) = text.strip_prefix('[') else { return text };
    let end = parameters.trim_start_matches(|c| matches!(c, '0'..='?'));
    end.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(end)
}

/// A text of any program without its escape sequences: colours, and all others that a terminal doesn't show. Other control characters
/// stay.
#[must_use]
pub fn without_escapes(text: &str) -> String {
    if has_escapes(text) { ESCAPES.replace_all(text, "").into_owned() } else { text.to_owned() }
}

fn has_escapes(text: &str) -> bool {
    text.contains(|c| matches!(c, ESC | '\u{90}' | '\u{98}' | '\u{9b}'..='\u{9f}'))
}

/// Masks `text` and keeps its escape sequences, except if they split a secret. `mask` gets the text without them first.
pub(crate) fn masked(text: String, mut mask: impl FnMut(String) -> String) -> String {
    if !text.contains('\\') && !has_escapes(&text) {
        return mask(text);
    }
    let plain = without_any(&text);
    let masked_plain = mask(plain.clone());
    // A control string may contain a secret that the plain text doesn't have.
    if masked_plain == plain && !STRINGS.is_match(&text) {
        return text;
    }
    let masked = mask(text);
    if without_any(&masked) == masked_plain { masked } else { masked_plain }
}

fn without_any(text: &str) -> String {
    let text = without_escapes(text);
    if text.contains('\\') { WRITTEN.replace_all(&text, "").into_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_has_no_colours() {
        assert_eq!(without_colours("\u{1b}[0;32mok\u{1b}[0m: m1"), "ok: m1");
        assert_eq!(without_colours("ok \u{1b}[0;3 … [cut here: many]"), "ok  … [cut here: many]");
        assert_eq!(without_colours("ok \u{1b}\u{1b}[ \u{1b}"), "ok  ");
    }

    #[test]
    fn text_after_a_colour_that_was_cut_off_stays() {
        let line = "\u{1b}[0;31mred\u{1b}[38:2::1:2:3m✓\u{1b}[mm";
        for (end, _) in line.char_indices() {
            let plain = without_colours(&line[..end]);
            assert_eq!(without_colours(&format!("{} … [cut here]", &line[..end])), format!("{plain} … [cut here]"));
            assert!("red✓m".starts_with(&plain), "{plain:?}");
        }
        assert_eq!(without_colours("\u{1b}[3 of 4 \u{1b}[2Jx\u{1b}"), " of 4 x");
    }

    #[test]
    fn no_escape_sequence_leaves_a_rest() {
        let sequences = [
            "\u{1b}[31m",
            "\u{1b}[38:2::1:2:3m",
            "\u{1b}[?25l",
            "\u{1b}[2 q",
            "\u{1b}[>4;2m",
            "\u{9b}31m",
            "\u{1b}]0;title\u{7}",
            "\u{1b}]8;;http://x/\u{1b}\\",
            "\u{9d}0;title\u{9c}",
            "\u{1b}Pq#0\u{1b}\\",
            "\u{1b}_apc\u{1b}\\",
            "\u{1b}(B",
            "\u{1b}=",
            "\u{1b}7",
            "\u{1b}c",
            "\u{1b}M",
        ];
        for first in sequences {
            for second in sequences {
                let text = format!("{first}a {second}b ä{second}{first}\n{first}");
                assert_eq!(without_escapes(&text), "a b ä\n", "{text:?}");
            }
            // The space of a sequence that was cut off may be text.
            for (end, _) in first.char_indices().skip(1) {
                let cut = &first[..end];
                assert_eq!(without_escapes(&format!("a{cut}")).trim_end(), "a", "{cut:?}");
                assert_eq!(without_escapes(&format!("a{cut}\nb")).replace(' ', ""), "a\nb", "{cut:?}");
            }
        }
        for text in ["plain", "ä€ \t\u{7}\u{85}\r\n", ""] {
            assert_eq!(without_escapes(text), text);
        }
    }

    #[test]
    fn a_secret_in_or_around_an_escape_sequence_is_masked() {
        let mask = |text: String| text.replace("hunter22", "•");
        let masked = |text: &str| masked(text.to_owned(), mask);
        for sequence in ["\u{1b}[2J", "\u{9b}31m", "\u{1b}(B", "\u{1b}]0;x\u{7}", "\u{1b}Px\u{1b}\\", "\u{1b}c"] {
            assert_eq!(masked(&format!("a hun{sequence}ter22")), "a •", "{sequence:?}");
            assert_eq!(masked(&format!("{sequence}a hunter22")), format!("{sequence}a •"));
            assert_eq!(masked(&format!("{sequence}a")), format!("{sequence}a"));
        }
        assert_eq!(masked("a\u{1b}]0;hunter22\u{7}b"), "a\u{1b}]0;•\u{7}b");
        assert_eq!(masked("a\u{9d}hunter22"), "a\u{9d}•");
    }
}
