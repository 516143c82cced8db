//! Colours of a terminal within a secret: `hun<red>ter22` is as secret as `hunter22`.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;

/// Colours as JSON, Python and shells write them within a string.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\+(?:u001b|x1b|033|e)\[[0-9;:]*m"));
const ESC: char = '\u{1b}';

/// `text` without its colours (`ESC [ … m`). Of a colour that was cut off, only what is left of it is removed.
#[must_use]
pub fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESC) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(numbers) = rest.strip_prefix('[') {
            let end = numbers.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':'));
            rest = end.strip_prefix('m').unwrap_or(end);
        }
    }
    out.push_str(rest);
    out
}

/// Masks `text` and keeps its colours, except if they split a secret. `mask` gets the text without colours first.
pub(crate) fn masked(text: String, mut mask: impl FnMut(String) -> String) -> String {
    if !text.contains([ESC, '\\']) {
        return mask(text);
    }
    let plain = without_any(&text);
    let masked_plain = mask(plain.clone());
    if masked_plain == plain {
        return text;
    }
    let masked = mask(text);
    if without_any(&masked) == masked_plain { masked } else { masked_plain }
}

fn without_any(text: &str) -> String {
    let text = without_colours(text);
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
}
