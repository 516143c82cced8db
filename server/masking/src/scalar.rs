//! One value in a line of YAML, JSON or INI.

/// The surroundings of a value, which decide where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Alone after its name: it ends with the line or at a comment.
    Line,
    /// In `{…}` or `[…]`: it ends at a comma or bracket.
    Flow,
    /// After `name=`: it ends at the next space.
    Ini,
}

/// The scalar at the start of `rest`, and how many bytes it takes there.
pub(crate) fn scalar(rest: &str, place: Place) -> (String, usize) {
    match rest.chars().next() {
        Some('"') => {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let closes = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                closes
            });
            let end = end.map_or(rest.len(), |end| end + 2);
            let text = serde_json::from_str(&rest[..end]).unwrap_or_else(|_| rest[..end].trim_matches('"').to_owned());
            (text, end)
        }
        Some('\'') => {
            let mut end = 1;
            while let Some(quote) = rest[end..].find('\'') {
                end += quote + 1;
                if !rest[end..].starts_with('\'') {
                    return (rest[1..end - 1].replace("''", "'"), end);
                }
                end += 1;
            }
            (rest[1..].replace("''", "'"), rest.len())
        }
        _ => {
            let end = match place {
                Place::Ini => rest.find(char::is_whitespace),
                Place::Flow => rest.find([',', '}', ']']),
                Place::Line => rest.find(" #"),
            };
            let end = end.unwrap_or(rest.len());
            (rest[..end].trim_end().to_owned(), end)
        }
    }
}

/// The scalars of the inline list at the start of `rest`, and how many bytes were read. Reading stops at the list's end, or
/// at an item that is no scalar.
pub(crate) fn items(rest: &str) -> (Vec<String>, usize) {
    let (mut found, mut at) = (Vec::new(), 1);
    loop {
        at = rest.len() - rest[at..].trim_start_matches([' ', '\t', ',']).len();
        if rest[at..].is_empty() || rest[at..].starts_with(['[', ']', '{', '}']) {
            return (found, at);
        }
        let (value, read) = scalar(&rest[at..], Place::Flow);
        found.push(value);
        at += read;
    }
}
