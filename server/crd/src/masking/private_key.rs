//! A private key is a secret wherever it appears, over all its lines.

use std::sync::LazyLock;

use regex::Regex;

use super::{MASK, pattern, replaced};

static BEGIN: LazyLock<Regex> = LazyLock::new(|| pattern(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"));
static INLINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)"));
static END: LazyLock<Regex> = LazyLock::new(|| pattern(r"^.*-----END [A-Z0-9 ]*PRIVATE KEY-----"));
/// One token of base64, quoted, indented or marked by a diff; or a header of the old PEM format.
static BODY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^[\s"'|+-]*[A-Za-z0-9+/]*={0,2}[\s"',]*$|^\s*(?:Proc-Type|DEK-Info):"#));

/// Whether `line` ends a key that began before it, and where.
pub(super) fn end(line: &str) -> Option<usize> {
    END.find(line).map(|end| end.end())
}

/// Whether `line` may stand inside a key.
pub(super) fn is_body(line: &str) -> bool {
    BODY.is_match(line)
}

/// Where a key begins in `line` that doesn't end there, and whether the next lines are of it.
pub(super) fn begin(line: &str) -> Option<(usize, bool)> {
    let begin = BEGIN.find_iter(line).last().filter(|begin| !END.is_match(&line[begin.start()..]))?;
    // `\n` as two characters: the whole key stands in this line, and ends with it.
    Some((begin.start(), !line[begin.end()..].contains("\\n")))
}

/// `text` without the keys that stand in it.
pub(super) fn without(text: String) -> String {
    if !text.contains("PRIVATE KEY-----") {
        return text;
    }
    replaced(&INLINE, text.replace('\n', "\\n"), |_| MASK.to_owned())
}
