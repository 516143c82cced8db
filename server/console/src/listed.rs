//! Names in a sentence.

/// `a, b and c`; with more than `most` names `a, b and 3 more`, where `more` is the last word.
pub(crate) fn listed<T: AsRef<str>>(names: &[T], most: usize, more: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [first @ .., last] if names.len() <= most && !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ if names.len() <= most => names.concat(),
        _ => format!("{} and {} {more}", names[..most].join(", "), names.len() - most),
    }
}
