//! One value in a line of YAML, JSON or INI.

/// Where a value stands, which says where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Alone behind its name: to the end of the line, or a comment.
    Line,
    /// Among others in `{…}` or `[…]`.
    Flow,
    /// Behind `name=`: to the next space.
    Ini,
}

impl Place {
    /// The place behind `assigned` (`name:` or `name=`), which stands behind `before`.
    pub(super) fn after(before: &str, assigned: &str) -> Self {
        if assigned.ends_with('=') {
            Self::Ini
        } else if before.contains(['{', '[']) {
            Self::Flow
        } else {
            Self::Line
        }
    }
}

/// The scalar that `rest` begins with, and how many bytes of it were read.
pub(super) fn scalar(rest: &str, place: Place) -> (String, usize) {
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

/// The scalars of the list that `rest` begins with, up to its end or to something else, and how many bytes were read.
pub(super) fn items(rest: &str) -> (Vec<String>, usize) {
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
