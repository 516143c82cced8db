//! JSON paths of printer columns. Supported are members, indices and one comparison, as in
//! `.status.conditions[?(@.type=="Ready")].status`.

use serde_json::Value;

/// The first value at `path`.
pub(super) fn find<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut at = object;
    let mut rest = path.trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[?(@.") {
            let (condition, after) = after.split_once(")]")?;
            let (member, wanted) = condition.split_once("==")?;
            let wanted = wanted.trim().trim_matches(['"', '\'']);
            at = at
                .as_array()?
                .iter()
                .find(|item| find(item, member.trim()).is_some_and(|found| equals(found, wanted)))?;
            rest = after;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']')?;
            at = match inside.trim_matches(['"', '\'']) {
                "*" => at.as_array()?.first()?,
                name if name.len() != inside.len() => at.get(name)?,
                index => at.get(index.parse::<usize>().ok()?)?,
            };
            rest = after;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let (name, after) = member(rest);
            at = at.get(&name)?;
            rest = after;
        }
    }
    Some(at)
}

/// Splits off the member name before the next dot or bracket. An escaped dot (`\.`) belongs to the name.
fn member(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[at..]),
            _ => name.push(c),
        }
    }
    (name, "")
}

fn equals(found: &Value, wanted: &str) -> bool {
    match found {
        Value::String(text) => text == wanted,
        other => serde_json::from_str::<Value>(wanted).is_ok_and(|wanted| wanted == *other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn printer_column_paths_find_their_values() {
        let object = json!({"spec": {"a": 1, "l": [{"n": 2}]}, "metadata": {"labels": {"x.y/z": "q"}},
            "status": {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "False"}]}});
        let found = |path| find(&object, path).cloned();
        assert_eq!(found(".spec.a"), Some(json!(1)));
        assert_eq!(found(".spec.l[0].n"), Some(json!(2)));
        assert_eq!(found(r".metadata.labels.x\.y/z"), Some(json!("q")));
        assert_eq!(found(".metadata.labels['x.y/z']"), Some(json!("q")));
        assert_eq!(found(".status.conditions[?(@.type==\"B\")].status"), Some(json!("False")));
        assert_eq!(found(".status.conditions[?(@.type=='C')].status"), None);
        assert_eq!(found(".spec.none.deeper"), None);
    }
}
