//! Values as Go prints them. The API server quotes a strategic merge patch in this form.

use serde_json::Value;

/// `value` as `fmt.Sprintf("%v")` prints it: maps with sorted keys, and texts without quotes.
pub(crate) fn in_go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::String(text) => text.clone(),
        Value::Array(list) => format!("[{}]", list.iter().map(in_go).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            let entries = entries.into_iter().map(|(name, value)| format!("{name}:{}", in_go(value)));
            format!("map[{}]", entries.collect::<Vec<_>>().join(" "))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_are_printed_as_in_go() {
        let value = json!({"z": [1, null, true], "a": {"b": "c d"}, "e": {}});
        assert_eq!(in_go(&value), "map[a:map[b:c d] e:map[] z:[1 <nil> true]]");
    }
}
