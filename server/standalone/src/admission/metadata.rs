//! The rules about metadata. Only the form of names depends on the kind.

use std::borrow::Cow;

use serde_json::Value;

use super::names;
use crate::cause::Cause;
use crate::kind::{BuiltIn, Kind};
use crate::object;

/// Maximum bytes of all annotations of an object, keys included.
const ANNOTATIONS: usize = 256 << 10;

pub(crate) fn annotations_fit(object: &Value) -> bool {
    let size = |(key, value): (&String, &Value)| key.len() + value.as_str().map_or(0, str::len);
    members(object, "annotations").map(size).sum::<usize>() <= ANNOTATIONS
}

pub(super) fn check(
    kind: &Kind,
    old: Option<&Value>,
    object: &Value,
    causes: &mut Vec<Cause>,
    warnings: &mut Vec<String>,
) {
    if old.is_none() {
        let name = object::name(object);
        let why = match kind.built_in() {
            Some(BuiltIn::Namespace) => names::label(name),
            Some(BuiltIn::Role | BuiltIn::RoleBinding) => names::path_segment(name),
            _ => names::subdomain(name),
        };
        causes.extend(why.map(|why| Cause::invalid("metadata.name", &name.into(), &why)));
    }
    for (key, value) in members(object, "labels") {
        causes.extend(names::label_key(key).map(|why| Cause::invalid("metadata.labels", &key.as_str().into(), &why)));
        let why = names::label_value(&value.as_str().map_or_else(|| value.to_string().into(), Cow::from));
        causes.extend(why.map(|why| Cause::invalid("metadata.labels", value, &why)));
    }
    for (key, _) in members(object, "annotations") {
        let why = names::label_key(&key.to_lowercase());
        causes.extend(why.map(|why| Cause::invalid("metadata.annotations", &key.as_str().into(), &why)));
    }
    if !annotations_fit(object) {
        causes.push(Cause::too_long("metadata.annotations", ANNOTATIONS));
    }
    owners(object, causes);
    finalizers(kind, old, object, causes, warnings);
}

fn members<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    object.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_object).into_iter().flatten()
}

fn owners(object: &Value, causes: &mut Vec<Cause>) {
    let mut controllers = 0;
    for (index, owner) in object::owners(object).enumerate() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if object::text(owner, field).is_empty() {
                let at = format!("metadata.ownerReferences[{index}].{field}");
                causes.push(Cause::invalid(at, &"".into(), "must not be empty"));
            }
        }
        controllers += usize::from(owner.get("controller").is_some_and(|is| is == true));
    }
    if controllers > 1 {
        let all = object.pointer("/metadata/ownerReferences").cloned().unwrap_or_default();
        let why = "Only one reference can have Controller set to true";
        causes.push(Cause::invalid("metadata.ownerReferences", &all, why));
    }
}

fn finalizers(kind: &Kind, old: Option<&Value>, object: &Value, causes: &mut Vec<Cause>, warnings: &mut Vec<String>) {
    let known: Vec<&str> = old.map(|old| object::finalizers(old).collect()).unwrap_or_default();
    let fresh: Vec<&str> = object::finalizers(object).filter(|finalizer| !known.contains(finalizer)).collect();
    if old.is_some_and(object::is_deleting) && !fresh.is_empty() {
        let why = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{\"{}\"}}",
            fresh.join("\", \"")
        );
        causes.push(Cause::forbidden("metadata.finalizers", &why));
    }
    for finalizer in fresh {
        let standard = matches!(finalizer, "orphan" | "foregroundDeletion" | "kubernetes");
        if let Some(why) = names::label_key(finalizer) {
            causes.push(Cause::invalid("metadata.finalizers", &finalizer.into(), &why));
        } else if !finalizer.contains('/') && !standard {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            if kind.custom().is_some() {
                warnings.push(format!(
                    "metadata.finalizers: \"{finalizer}\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"
                ));
            } else {
                causes.push(Cause::invalid("metadata.finalizers[0]", &finalizer.into(), why));
            }
        }
    }
}
