//! Removing unknown fields and filling in defaults.

use serde_json::Value;

/// Removes unknown fields of a custom resource and adds their paths to `unknown`. A schema doesn't describe the root's
/// `apiVersion`, `kind` and `metadata`, so these are kept.
pub(crate) fn prune(schema: &Value, object: &mut Value, unknown: &mut Vec<String>) {
    members(schema, object, "", true, unknown);
}

fn at(schema: &Value, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(_) => {
            let embedded = flag(schema, "x-kubernetes-embedded-resource");
            members(schema, value, path, embedded, unknown);
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter_mut().enumerate() {
                    at(schema, item, &format!("{path}[{index}]"), unknown);
                }
            }
        }
        _ => {}
    }
}

fn members(schema: &Value, value: &mut Value, path: &str, resource: bool, unknown: &mut Vec<String>) {
    let Value::Object(map) = value else { return };
    let properties = schema.get("properties").and_then(Value::as_object);
    let additional = schema.get("additionalProperties");
    let open = flag(schema, "x-kubernetes-preserve-unknown-fields") || additional == Some(&Value::Bool(true));
    map.retain(|name, member| {
        if resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            return true;
        }
        let here = child(path, name);
        if let Some(schema) = properties.and_then(|all| all.get(name)).or(additional.filter(|a| a.is_object())) {
            at(schema, member, &here, unknown);
            return true;
        }
        if !open {
            unknown.push(here);
        }
        open
    });
}

/// Sets missing fields to their defaults, at every depth. A missing object isn't created for the defaults inside it.
pub(crate) fn fill_defaults(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                if let Some(default) = schema.get("default") {
                    // A null counts as missing where the schema doesn't allow null.
                    let missing = map.get(name).is_none_or(|value| value.is_null() && !flag(schema, "nullable"));
                    if missing {
                        map.insert(name.clone(), default.clone());
                    }
                }
                if let Some(member) = map.get_mut(name) {
                    fill_defaults(schema, member);
                }
            }
            if let Some(schema) = schema.get("additionalProperties").filter(|schema| schema.is_object()) {
                let undeclared = |name: &String| properties.is_none_or(|all| !all.contains_key(name));
                for (_, member) in map.iter_mut().filter(|(name, _)| undeclared(name)) {
                    fill_defaults(schema, member);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| fill_defaults(schema, item));
            }
        }
        _ => {}
    }
}

pub(super) fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Adds the paths of fields that `before` has and `after`, its round trip through a Rust type, has not.
pub(crate) fn lost(before: &Value, after: &Value, path: &str, unknown: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before.iter().filter(|(_, value)| !value.is_null()) {
                let here = child(path, name);
                match after.get(name) {
                    Some(kept) => lost(value, kept, &here, unknown),
                    None => unknown.push(here),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (one, other)) in before.iter().zip(after).enumerate() {
                lost(one, other, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}
