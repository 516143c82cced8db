//! Events are stored once and shown in two versions. `v1` is the stored form; `events.k8s.io/v1` has other field names.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::cause::Cause;
use crate::kind::{BuiltIn, Kind};
use crate::object;

/// Field name in `v1`, field name in `events.k8s.io/v1`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// The stored object in the form of `kind`. Only `events.k8s.io/v1` Events differ from it.
pub(crate) fn outward<'a>(kind: &Kind, stored: &'a Value) -> Cow<'a, Value> {
    if !kind.is(BuiltIn::NewEvent) {
        return Cow::Borrowed(stored);
    }
    Cow::Owned(renamed(stored.clone(), kind.api_version(), |name| {
        NAMES.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
    }))
}

/// An object of `kind` in its stored form.
pub(crate) fn inward(kind: &Kind, shown: Value) -> Value {
    if !kind.is(BuiltIn::NewEvent) {
        return shown;
    }
    renamed(shown, "v1".into(), |name| NAMES.iter().find(|(_, new)| *new == name).map(|(old, _)| *old))
}

fn renamed(event: Value, api_version: String, name_of: impl Fn(&str) -> Option<&'static str>) -> Value {
    let Value::Object(members) = event else { return event };
    let mut renamed: Map<String, Value> =
        members.into_iter().map(|(name, value)| (name_of(&name).map_or(name, str::to_owned), value)).collect();
    renamed.insert("apiVersion".into(), api_version.into());
    Value::Object(renamed)
}

/// The rules for both versions, on the stored form.
pub(crate) fn check(old: Option<&Value>, event: &mut Value, causes: &mut Vec<Cause>) {
    let about = event.pointer("/involvedObject/namespace").and_then(Value::as_str).unwrap_or_default();
    let namespace = object::namespace(event);
    // Events about cluster-scoped objects live in the namespace `default`.
    let fits = about == namespace || (about.is_empty() && namespace == "default");
    if old.is_none() && !fits {
        let why = "does not match event.namespace";
        causes.push(Cause::invalid("involvedObject.namespace", &about.into(), why));
    }
}

/// The fields that are required in a new `events.k8s.io/v1` Event and optional in `v1`. `event` is in the stored form.
pub(crate) fn check_new_form(event: &Value) -> Vec<Cause> {
    const REQUIRED: [(&str, &str); 6] = [
        ("eventTime", "eventTime"),
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
        ("action", "action"),
        ("reason", "reason"),
        ("type", "type"),
    ];
    let missing = |field: &str| event.get(field).is_none_or(|value| value.is_null() || value == "");
    REQUIRED.iter().filter(|(stored, _)| missing(stored)).map(|(_, shown)| Cause::required(*shown, "")).collect()
}
