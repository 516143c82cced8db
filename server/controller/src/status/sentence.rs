//! Shortening texts to the space that they have.

pub(crate) use operation::cut;

/// `a, b, c and 4 more`.
pub(crate) fn list<S: AsRef<str>>(names: impl IntoIterator<Item = S>, limit: usize) -> String {
    let names: Vec<S> = names.into_iter().collect();
    let shown = names.iter().take(limit).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(limit).filter(|&more| more > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None if names.is_empty() => "none".into(),
        None => shown,
    }
}
