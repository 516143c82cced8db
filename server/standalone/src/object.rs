//! Reading and changing the metadata of an object, which is plain JSON here.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// The fields of the metadata that only the server sets, besides `managedFields`.
pub(crate) const SERVER_FIELDS: [&str; 7] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// The string at `field`, or empty.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The string at `metadata.field`, or empty.
pub(crate) fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get("metadata").map(|metadata| text(metadata, field)).unwrap_or_default()
}

pub(crate) fn name(object: &Value) -> &str {
    meta(object, "name")
}

pub(crate) fn namespace(object: &Value) -> &str {
    meta(object, "namespace")
}

pub(crate) fn uid(object: &Value) -> &str {
    meta(object, "uid")
}

pub(crate) fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    object.pointer("/metadata/ownerReferences").and_then(Value::as_array).into_iter().flatten()
}

pub(crate) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    let list = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        metadata(object).shift_remove("finalizers");
    } else {
        metadata(object).insert("finalizers".into(), finalizers.into());
    }
}

pub(crate) fn is_deleting(object: &Value) -> bool {
    !meta(object, "deletionTimestamp").is_empty()
}

pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

/// `metadata`, created if it is missing or not an object.
pub(crate) fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    member(object, "metadata")
}

/// The object at `field`, created if it is missing or not an object.
pub(crate) fn member<'a>(value: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    entries(entries(value).entry(field).or_insert(Value::Null))
}

/// The members of `value`. Anything but an object is replaced by an empty one.
pub(crate) fn entries(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("replaced by an object above"),
    }
}

pub(crate) fn set_revision(object: &mut Value, revision: u64) {
    metadata(object).insert("resourceVersion".into(), revision.to_string().into());
}

/// The current time as Kubernetes writes it.
pub(crate) fn now() -> String {
    time(Timestamp::now())
}

/// A time as Kubernetes writes it: whole seconds, UTC.
pub(crate) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
