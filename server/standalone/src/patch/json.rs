//! JSON patch (RFC 6902).

use serde_json::Value;

use crate::failure::Failure;
use crate::limits::{self, too_large};

/// Operations in one patch, as many as in the API server.
const OPERATIONS: usize = 10_000;

/// Applies a JSON patch. Like the API server, it is lenient in two cases: `test` for null passes on a missing path, and
/// `replace` adds a missing member. A patch with too many operations, or that copies too much, is a 413.
pub(crate) fn json(mut object: Value, patch: &Value) -> Result<Value, Failure> {
    let Value::Array(steps) = patch else {
        return Err(Failure::bad_request("a JSON patch must be an array of operations"));
    };
    if steps.len() > OPERATIONS {
        let count = steps.len();
        return Err(too_large(format_args!(
            "The allowed maximum operations in a JSON patch is {OPERATIONS}, got {count}"
        )));
    }
    let mut copies = Copies { left: limits::REQUEST };
    for step in steps {
        copies.check(&object, step)?;
        apply(&mut object, step).map_err(|why| {
            tracing::debug!(why, "a JSON patch doesn't fit its object");
            Failure::unfit_patch()
        })?;
    }
    Ok(object)
}

/// What one patch may still copy. A patch of 1 KB doubles an object with every `copy`, so its size is known before it is made.
struct Copies {
    /// Bytes as JSON.
    left: usize,
}

impl Copies {
    /// Refuses the next operation if it would exceed the limits of copies or depth.
    fn check(&mut self, object: &Value, step: &Value) -> Result<(), Failure> {
        let text = |field: &str| step.get(field).and_then(Value::as_str).unwrap_or_default();
        // The API server doesn't count what is moved. Here it takes time, because its depth is checked.
        let is_copy = matches!(text("op"), "copy" | "move");
        let value = if is_copy { object.pointer(text("from")) } else { step.get("value") };
        // Without a value, `apply` says what is wrong.
        let Some(value) = value else { return Ok(()) };
        if is_copy {
            let size = limits::size(value, self.left).ok_or_else(|| {
                too_large(format_args!("one JSON patch can copy and move {} bytes in total", limits::REQUEST))
            })?;
            self.left -= size;
        }
        limits::check_depth(value, text("path").matches('/').count())
    }
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

    fn doubling(copies: usize) -> Vec<Value> {
        let copy = |n| json!({"op": "copy", "from": "/data", "path": format!("/data/k{n}")});
        (0..copies).map(copy).collect()
    }

    #[test]
    fn copies_are_refused_before_they_take_memory() {
        let mut object = json!({"data": {"a": "x"}});
        let mut copies = Copies { left: limits::REQUEST };
        let mut made = 0;
        let refused = doubling(25).iter().find_map(|step| {
            copies.check(&object, step).err().or_else(|| {
                made += 1;
                apply(&mut object, step).unwrap();
                None
            })
        });
        assert_eq!(refused.expect("refused").code, 413);
        assert!(made < 20, "{made} copies");
        let size = object.to_string().len();
        assert!(size < 2 * limits::REQUEST, "{size} bytes");
    }

    #[test]
    fn no_sequence_of_operations_makes_a_deep_object() {
        let mut object = json!({"data": {}, "x": {}});
        let mut copies = Copies { left: limits::REQUEST };
        let around = [
            json!({"op": "move", "from": "/x", "path": "/data/x"}),
            json!({"op": "move", "from": "/data", "path": "/x"}),
        ];
        let fresh = json!({"op": "add", "path": "/data", "value": {}});
        let refused = (0..1000).flat_map(|_| [&around[0], &around[1], &fresh]).find_map(|step| {
            copies.check(&object, step).err().or_else(|| {
                apply(&mut object, step).unwrap();
                None
            })
        });
        assert!(refused.expect("refused").message.contains("levels deep"));
    }
}
