//! A private key (PEM) is a secret wherever it appears, over all its lines.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;
use crate::shapes::replaced;

pub(crate) static BEGIN: LazyLock<Regex> = LazyLock::new(|| pattern(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"));
pub(crate) static INLINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)"));
pub(crate) static END: LazyLock<Regex> = LazyLock::new(|| pattern(r"^.*-----END [A-Z0-9 ]*PRIVATE KEY-----"));
/// A line of base64, possibly quoted, indented or marked by a diff; or a header of the old PEM format. Each character can be matched in
/// one way only, because Python would try all others for a long line.
pub(crate) static BODY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^[\s"'|+-]*(?:(?:[A-Za-z0-9/][A-Za-z0-9+/]*={0,2}|={1,2}|,)[\s"',]*)?$"#,
        r"|^\s*(?:Proc-Type|DEK-Info):",
    ))
});

/// Hides private keys in consecutive lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyLines {
    /// The previous line belongs to a key that hasn't ended.
    pub(crate) inside: bool,
}

impl KeyLines {
    /// The next line, with `mark` in place of its part of a key. `rest` hides other secrets in the text around a key.
    pub(crate) fn line(&mut self, text: String, mark: &str, rest: impl Fn(String) -> String) -> String {
        if self.inside {
            if let Some(end) = END.find(&text) {
                self.inside = false;
                return format!("{mark}{}", rest(text[end.end()..].to_owned()));
            }
            if BODY.is_match(&text) {
                return mark.to_owned();
            }
            self.inside = false;
        }
        match begin(&text) {
            Some((begin, continues)) => {
                self.inside = continues;
                format!("{}{mark}", rest(text[..begin].to_owned()))
            }
            None => rest(text),
        }
    }
}

/// Where a key begins that doesn't end in `line`, and whether the next lines belong to it.
fn begin(line: &str) -> Option<(usize, bool)> {
    let begin = BEGIN.find_iter(line).last().filter(|begin| !END.is_match(&line[begin.start()..]))?;
    // An escaped `\n` means that the whole key is a string in this line.
    Some((begin.start(), !line[begin.end()..].contains("\\n")))
}

/// `text` with `mark` in place of each key in it.
pub(crate) fn masked(text: String, mark: &str) -> String {
    if !text.contains("PRIVATE KEY-----") {
        return text;
    }
    replaced(&INLINE, text.replace('\n', "\\n"), |_| mark.to_owned())
}
