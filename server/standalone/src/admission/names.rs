//! The forms of names, label keys and label values.

/// The longest generated name, in bytes, including its suffix.
pub(crate) const LONGEST_GENERATED: usize = 63;

/// The alphabet of generated suffixes: no vowels, so that no words appear, and no characters that look alike.
pub const SUFFIX_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const WORD: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// `None` if `name` is a DNS label, otherwise the reason why it isn't.
pub(super) fn label(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some("must be no more than 63 bytes".into());
    }
    (!is_label(name)).then(|| LABEL.to_owned())
}

/// `None` if `name` is a DNS subdomain, otherwise the reason why it isn't.
pub(super) fn subdomain(name: &str) -> Option<String> {
    if name.len() > 253 {
        return Some("must be no more than 253 bytes".into());
    }
    (!name.split('.').all(is_label)).then(|| SUBDOMAIN.to_owned())
}

/// `None` if `name` can be a segment of a path, otherwise the reason why it can't.
pub(super) fn path_segment(name: &str) -> Option<String> {
    if matches!(name, "." | "..") {
        return Some(format!("may not be '{name}'"));
    }
    let bad = name.chars().find(|c| matches!(c, '/' | '%'))?;
    Some(format!("may not contain '{bad}'"))
}

/// `None` if `key` has the form of a label key, as keys of annotations and finalizers have, too: an optional subdomain and a slash, then a word.
pub(super) fn label_key(key: &str) -> Option<String> {
    let (prefix, word) = match key.split_once('/') {
        None => (None, key),
        Some((_, rest)) if rest.contains('/') => {
            let form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return Some(format!("a valid label key {WORD} {form}"));
        }
        Some((prefix, word)) => (Some(prefix), word),
    };
    if prefix == Some("") {
        return Some("prefix part must be non-empty".into());
    }
    if let Some(why) = prefix.and_then(subdomain) {
        return Some(format!("prefix part {why}"));
    }
    match word.len() {
        0 => Some("name part must be non-empty".into()),
        64.. => Some("name part must be no more than 63 bytes".into()),
        _ => (!is_word(word)).then(|| format!("name part {WORD}")),
    }
}

/// `None` if `value` is a label value, otherwise the reason why it isn't.
pub(super) fn label_value(value: &str) -> Option<String> {
    if value.len() > 63 {
        return Some("must be no more than 63 bytes".into());
    }
    (!value.is_empty() && !is_word(value)).then(|| VALUE.to_owned())
}

fn is_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_word(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && edge(text.chars().next())
        && edge(text.chars().next_back())
}
