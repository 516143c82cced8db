//! Strategic merge patch: a merge patch that also merges the lists of built-in kinds.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::fields::{merge_key, merges_as_set};
use crate::kind::Kind;

const REMOVE_ITEMS: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

pub(crate) fn strategic(kind: &Kind, object: Value, patch: &Value) -> Result<Value, Failure> {
    if kind.custom().is_some() {
        let accepted = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
        return Err(Failure::unsupported_media_type(&accepted));
    }
    match (object, patch) {
        (Value::Object(object), Value::Object(patch)) => Ok(Value::Object(merged(object, patch)?)),
        _ => Err(Failure::bad_request("a strategic merge patch must be an object")),
    }
}

fn merged(mut object: Map<String, Value>, patch: &Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    match patch.get("$patch").and_then(Value::as_str) {
        None | Some("merge") => {}
        Some("replace") => {
            return Ok(patch
                .iter()
                .filter(|(name, _)| *name != "$patch")
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect());
        }
        Some("delete") => return Ok(Map::new()),
        Some(other) => {
            return Err(Failure::bad_request(format!("$patch must be merge, replace or delete, not {other}")));
        }
    }
    if let Some(Value::Array(kept)) = patch.get("$retainKeys") {
        object.retain(|name, _| kept.iter().any(|kept| kept == name));
    }
    for (name, value) in patch.iter().filter(|(name, _)| name.starts_with(REMOVE_ITEMS)) {
        let list = name.trim_start_matches(REMOVE_ITEMS);
        if let (Some(Value::Array(items)), Value::Array(gone)) = (object.get_mut(list), value) {
            items.retain(|item| !gone.contains(item));
        }
    }
    for (name, value) in patch.iter().filter(|(name, _)| !name.starts_with('$')) {
        let next = match (object.shift_remove(name), value) {
            (_, Value::Null) => continue,
            (Some(Value::Object(old)), Value::Object(new)) => Value::Object(merged(old, new)?),
            (None, Value::Object(new)) => Value::Object(merged(Map::new(), new)?),
            (old, Value::Array(new)) => {
                let old = if let Some(Value::Array(old)) = old { old } else { Vec::new() };
                Value::Array(merged_list(name, old, new)?)
            }
            (_, value) => value.clone(),
        };
        object.insert(name.clone(), next);
    }
    for (name, order) in patch.iter().filter(|(name, _)| name.starts_with(ORDER)) {
        let list = name.trim_start_matches(ORDER);
        if let (Some(Value::Array(items)), Value::Array(order)) = (object.get_mut(list), order) {
            let key = merge_key(list);
            let place = |item: &Value| {
                order.iter().position(|wanted| match key {
                    Some(key) => item.get(key) == wanted.get(key),
                    None => item == wanted,
                })
            };
            items.sort_by_key(|item| place(item).unwrap_or(usize::MAX));
        }
    }
    Ok(object)
}

fn merged_list(name: &str, mut old: Vec<Value>, new: &[Value]) -> Result<Vec<Value>, Failure> {
    let is_replacement = |item: &Value| item.get("$patch").is_some_and(|how| how == "replace");
    if new.iter().any(is_replacement) {
        return Ok(new.iter().filter(|item| !is_replacement(item)).cloned().collect());
    }
    if merges_as_set(name) {
        old.extend(new.iter().filter(|item| !old.contains(item)).cloned().collect::<Vec<_>>());
        return Ok(old);
    }
    let Some(key) = merge_key(name) else { return Ok(new.to_vec()) };
    for item in new {
        let Some(wanted) = item.get(key) else {
            return Err(Failure::bad_request(format!("map: {item} does not contain declared merge key: {key}")));
        };
        let at = old.iter().position(|known| known.get(key) == Some(wanted));
        if item.get("$patch").is_some_and(|how| how == "delete") {
            old.retain(|known| known.get(key) != Some(wanted));
            continue;
        }
        let Value::Object(item) = item else { continue };
        match at {
            Some(at) => {
                if let Value::Object(known) = old[at].take() {
                    old[at] = Value::Object(merged(known, item)?);
                }
            }
            None => old.push(Value::Object(merged(Map::new(), item)?)),
        }
    }
    Ok(old)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(object: Value, patch: &Value) -> Value {
        let (Value::Object(object), Value::Object(patch)) = (object, patch) else { panic!("objects only") };
        Value::Object(merged(object, patch).unwrap())
    }

    #[test]
    fn containers_merge_by_name_and_null_deletes() {
        let object = json!({"containers": [{"name": "a", "image": "x", "args": ["1"]}, {"name": "b"}], "gone": 1});
        let patch = json!({"containers": [{"name": "a", "image": "y"}, {"name": "c"}], "gone": null});
        let expected =
            json!({"containers": [{"name": "a", "image": "y", "args": ["1"]}, {"name": "b"}, {"name": "c"}]});
        assert_eq!(patched(object, &patch), expected);
    }

    #[test]
    fn directives_delete_replace_and_order() {
        let object = json!({"finalizers": ["a", "b"], "containers": [{"name": "a"}, {"name": "b"}], "data": {"x": 1}});
        let patch = json!({"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"], "$setElementOrder/containers": [{"name": "c"}, {"name": "b"}],
            "containers": [{"name": "a", "$patch": "delete"}, {"name": "c"}], "data": {"$patch": "replace", "y": 2}});
        let expected =
            json!({"finalizers": ["b", "c"], "containers": [{"name": "c"}, {"name": "b"}], "data": {"y": 2}});
        assert_eq!(patched(object, &patch), expected);
    }
}
