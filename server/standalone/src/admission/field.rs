//! Rules about single fields.

use serde_json::{Map, Value};

use crate::cause::Cause;

/// Refuses a change of the value at `pointer`. `field` is its name in the message.
pub(super) fn unchanged(old: &Value, new: &Value, pointer: &str, field: &str, causes: &mut Vec<Cause>) {
    let at = |object: &Value| object.pointer(pointer).filter(|value| !value.is_null()).cloned();
    if at(old) != at(new) {
        causes.push(Cause::invalid(field, &at(new).unwrap_or_default(), "field is immutable"));
    }
}

/// Sets `field` to `value` if it is missing or null.
pub(super) fn default_to(map: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    if map.get(field).is_none_or(Value::is_null) {
        map.insert(field.into(), value.into());
    }
}
