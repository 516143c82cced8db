//! JSON patch (RFC 6902).

use serde_json::Value;

use crate::cause::Cause;
use crate::failure::Failure;
use crate::kind::Kind;

/// Applies a JSON patch. Like the API server, it is lenient in two cases: `test` for null passes on a missing path, and
/// `replace` adds a missing member.
pub(crate) fn json(kind: &Kind, name: &str, mut object: Value, patch: &Value) -> Result<Value, Failure> {
    let Value::Array(steps) = patch else {
        return Err(Failure::bad_request("a JSON patch must be an array of operations"));
    };
    for step in steps {
        apply(&mut object, step).map_err(|why| {
            let message = "the server rejected our request due to an error in our request";
            let failure = Failure::new(422, "Invalid", message).about(name, &kind.group, &kind.plural);
            failure.with_causes(&[Cause::new("FieldValueInvalid", "patch", why)])
        })?;
    }
    Ok(object)
}

fn apply(object: &mut Value, step: &Value) -> Result<(), String> {
    let operation = step.get("op").and_then(Value::as_str).unwrap_or_default();
    let path = step.get("path").and_then(Value::as_str).unwrap_or_default();
    let mut step = step.clone();
    match operation {
        "test" if step.get("value").is_none_or(Value::is_null) && object.pointer(path).is_none() => return Ok(()),
        "replace" if object.pointer(path).is_none() && parent_is_object(object, path) => step["op"] = "add".into(),
        "test" | "add" if step.get("value").is_none() => step["value"] = Value::Null,
        _ => {}
    }
    let one = serde_json::from_value(Value::Array(vec![step])).map_err(|error| error.to_string())?;
    let one: json_patch::Patch = one;
    json_patch::patch(object, &one).map_err(|error| error.to_string())
}

fn parent_is_object(object: &Value, path: &str) -> bool {
    path.rsplit_once('/').and_then(|(parent, _)| object.pointer(parent)).is_some_and(Value::is_object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_patch_is_lenient_in_two_cases_only() {
        let patched = |patch: Value| {
            let mut object = json!({"metadata": {}});
            patch.as_array().unwrap().iter().try_for_each(|step| apply(&mut object, step)).map(|()| object)
        };
        assert!(patched(json!([{"op": "test", "path": "/metadata/finalizers", "value": null}])).is_ok());
        let added = patched(json!([{"op": "replace", "path": "/metadata/x", "value": 1}])).unwrap();
        assert_eq!(added, json!({"metadata": {"x": 1}}));
        assert!(patched(json!([{"op": "remove", "path": "/metadata/x"}])).is_err());
        assert!(patched(json!([{"op": "add", "path": "/spec/x", "value": 1}])).is_err());
        assert!(patched(json!([{"op": "test", "path": "/metadata/x", "value": 1}])).is_err());
    }
}
