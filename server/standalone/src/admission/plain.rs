//! Namespaces and ConfigMaps, and the rules that ConfigMaps and Secrets share.

use serde_json::{Value, json};

use crate::cause::Cause;
use crate::object;

/// Maximum bytes of data in one ConfigMap or Secret.
const LIMIT: usize = 1 << 20;

pub(super) fn namespace(old: Option<&Value>, namespace: &mut Value) {
    if old.is_none() {
        let name = object::name(namespace).to_owned();
        object::member(namespace, "metadata").entry("labels").or_insert_with(|| json!({}));
        namespace["metadata"]["labels"]["kubernetes.io/metadata.name"] = name.into();
        namespace["spec"] = json!({"finalizers": ["kubernetes"]});
        namespace["status"] = json!({"phase": "Active"});
    }
}

pub(super) fn config_map(old: Option<&Value>, map: &Value, causes: &mut Vec<Cause>) {
    let text = members(map, "data").map(|(_, value)| value.as_str().map_or(0, str::len));
    let binary = members(map, "binaryData").map(|(_, value)| decoded_length(value));
    let total = text.chain(binary).sum();
    for field in ["data", "binaryData"] {
        keys(map, field, causes);
    }
    size(total, "[]", causes); // the path of the whole object
    if let Some(old) = old {
        immutable(old, map, &["data", "binaryData"], causes);
    }
}

pub(super) fn members<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    object.get(field).and_then(Value::as_object).into_iter().flatten()
}

/// The decoded length of base64 text, computed without decoding it.
pub(super) fn decoded_length(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.trim_end_matches('=').len() * 3 / 4)
}

pub(super) fn size(total: usize, field: &str, causes: &mut Vec<Cause>) {
    if total > LIMIT {
        causes.push(Cause::too_long(field, LIMIT));
    }
}

pub(super) fn keys(object: &Value, field: &str, causes: &mut Vec<Cause>) {
    let valid = |key: &str| {
        let letters = key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        !key.is_empty() && key.len() <= 253 && letters && key != "." && !key.starts_with("..")
    };
    for (key, _) in members(object, field).filter(|(key, _)| !valid(key)) {
        let why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        causes.push(Cause::invalid(format!("{field}[{key}]"), &key.as_str().into(), why));
    }
}

pub(super) fn immutable(old: &Value, new: &Value, fields: &[&str], causes: &mut Vec<Cause>) {
    if old.get("immutable") != Some(&Value::Bool(true)) {
        return;
    }
    let why = "field is immutable when `immutable` is set";
    if new.get("immutable") != Some(&Value::Bool(true)) {
        causes.push(Cause::forbidden("immutable", why));
    }
    for field in fields {
        let of =
            |object: &Value| object.get(field).filter(|v| v.as_object().is_none_or(|map| !map.is_empty())).cloned();
        if of(old) != of(new) {
            causes.push(Cause::forbidden(*field, why));
        }
    }
}
