//! The steps of admission, for any kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use super::{job, metadata, plain, pod, secret};
use crate::cause::Cause;
use crate::failure::Failure;
use crate::kind::{BuiltIn, Kind, Nature};
use crate::schema::{self, lost};
use crate::{events, object};

/// Checks that `apiVersion` and `kind` are those of the path.
pub(crate) fn type_checked(kind: &Kind, mut body: Value) -> Result<Value, Failure> {
    let Value::Object(map) = &mut body else {
        return Err(Failure::bad_request(format!("the body must be a {} object", kind.kind)));
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (version, given) = (text(map.get("apiVersion")), text(map.get("kind")));
    let expected = kind.api_version();
    let custom = kind.custom().is_some();
    if custom && given.is_empty() {
        return Err(Failure::bad_request(format!("Object 'Kind' is missing: set kind to {}", kind.kind)));
    }
    if (custom || !version.is_empty()) && version != expected {
        let message =
            format!("the API version in the data ({version}) does not match the expected API version ({expected})");
        return Err(Failure::bad_request(message));
    }
    if !given.is_empty() && given != kind.kind {
        if custom {
            let cause = Cause::invalid("kind", &given.into(), &format!("must be {}", kind.kind));
            return Err(Failure::invalid(kind, object::name(&body), &[cause]));
        }
        let message = format!(
            "{given} in version \"{version}\" cannot be handled as a {}: another kind is expected here",
            kind.kind
        );
        return Err(Failure::bad_request(message));
    }
    if version.is_empty() || given.is_empty() {
        map.insert("apiVersion".into(), expected.into());
        map.insert("kind".into(), kind.kind.clone().into());
    }
    Ok(body)
}

/// The object in its stored form, without unknown fields, and the paths of these.
pub(crate) fn shaped(kind: &Kind, body: Value) -> Result<(Value, Vec<String>), Failure> {
    let mut unknown = Vec::new();
    let unreadable = |error: serde_json::Error| Failure::unreadable(kind, &error);
    match &kind.nature {
        Nature::BuiltIn(built_in) => {
            let typed = built_in.retype(body.clone()).map_err(unreadable)?;
            lost(&body, &typed, "", &mut unknown);
            Ok((events::inward(kind, typed), unknown))
        }
        Nature::Empty => Err(Failure::never_stored(kind)),
        Nature::Custom(custom) => {
            let mut body = body;
            schema::prune(&custom.schema, &mut body, &mut unknown);
            let metadata = body.get("metadata").filter(|metadata| !metadata.is_null()).cloned();
            let metadata = metadata.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
            let typed: ObjectMeta = serde_json::from_value(metadata.clone()).map_err(unreadable)?;
            let typed = serde_json::to_value(typed).map_err(unreadable)?;
            lost(&metadata, &typed, "metadata", &mut unknown);
            body["metadata"] = typed;
            Ok((body, unknown))
        }
    }
}

/// Fills in defaults, then checks every rule of the kind. `object` replaces `old`.
pub(crate) fn admitted(
    kind: &Kind,
    old: Option<&Value>,
    mut object: Value,
    warnings: &mut Vec<String>,
) -> Result<Value, Failure> {
    let mut causes = Vec::new();
    let name = object::name(&object).to_owned();
    metadata::check(kind, old, &object, &mut causes, warnings);
    match &kind.nature {
        Nature::Custom(custom) => {
            schema::fill_defaults(&custom.schema, &mut object);
            let found = custom.rules.check(&custom.schema, &object, old);
            // A newer definition may refuse a spec that was accepted before. Changes of status and metadata must still
            // be possible then.
            let untouched = old.is_some_and(|old| same_spec(old, &object));
            causes.extend(found.into_iter().filter(|cause| !untouched || cause.field.starts_with("status")));
        }
        Nature::BuiltIn(built_in) => match built_in {
            BuiltIn::Namespace => plain::namespace(old, &mut object),
            BuiltIn::ConfigMap => plain::config_map(old, &object, &mut causes),
            BuiltIn::Secret => secret::admit(old, &mut object, &mut causes),
            BuiltIn::Lease => drop(object::member(&mut object, "spec")),
            BuiltIn::Event => events::check(old, &mut object, &mut causes),
            BuiltIn::Pod => pod::admit(old, &mut object, &mut causes),
            BuiltIn::Job => job::admit(old, &mut object, &mut causes),
            _ => {}
        },
        Nature::Empty => {}
    }
    if causes.is_empty() { Ok(object) } else { Err(Failure::invalid(kind, &name, &causes)) }
}

/// Whether two objects are equal except for metadata and status.
pub(crate) fn same_spec(one: &Value, other: &Value) -> bool {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return one == other };
    let counts = |key: &str| key != "metadata" && key != "status";
    one.iter().all(|(key, value)| !counts(key) || other.get(key) == Some(value))
        && other.keys().all(|key| !counts(key) || one.contains_key(key))
}
