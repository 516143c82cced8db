//! Kubernetes' rules for labels.

/// Whether `text` is a valid, non-empty label value.
pub(crate) fn is_value(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && edge(text.chars().next())
        && edge(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
