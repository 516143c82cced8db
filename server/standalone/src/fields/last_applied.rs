//! The annotation in which `kubectl apply` keeps the configuration that it applied client-side.
//!
//! `kubectl apply --server-side` must be able to take such an object over: the fields belong to the manager of the client-side
//! apply, so each changed one would be a conflict. As in the API server, the manager `kubectl` may change what the annotation
//! says that it applied before, and the server keeps the annotation current afterwards. Other managers get the conflict.

use std::collections::BTreeMap;

use serde_json::Value;

use super::path::{Conflicts, Path, leaves};
use super::typing::Typing;
use crate::admission::annotations_fit;
use crate::kind::Kind;
use crate::object;
use crate::request::WriteOptions;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The field manager of `kubectl apply --server-side`.
const KUBECTL: &str = "kubectl";

/// The conflicts without those over fields that `live` still has as kubectl applied them client-side. `before` are the leaves of
/// `live`.
pub(super) fn without_allowed(
    kind: &Kind,
    live: &Value,
    before: &BTreeMap<Path, Option<&Value>>,
    options: &WriteOptions,
    conflicts: &Conflicts,
) -> Conflicts {
    let last = annotation(live).filter(|_| options.manager == KUBECTL);
    let last = last.and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or_default();
    let applied = if object::text(&last, "apiVersion") == kind.api_version() {
        leaves(&last, Typing::of(kind))
    } else {
        BTreeMap::new()
    };
    let is_allowed = |path: &Path| applied.get(path).is_some_and(|value| before.get(path) == Some(value));
    let rest = conflicts
        .iter()
        .map(|(index, paths)| (*index, paths.iter().filter(|path| !is_allowed(path)).cloned().collect::<Vec<_>>()));
    rest.filter(|(_, paths)| !paths.is_empty()).collect()
}

/// Writes what kubectl has just applied into the annotation of an object that has one, so that a later client-side apply
/// compares with it.
pub(super) fn keep_current(object: &mut Value, config: &Value, options: &WriteOptions) {
    if options.manager != KUBECTL || annotation(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(annotations) = config.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.shift_remove(ANNOTATION);
    }
    config.sort_all_objects();
    // In the form of Go's encoder, so that both APIs store the same text.
    let text = config.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026") + "\n";
    object["metadata"]["annotations"][ANNOTATION] = text.into();
    if !annotations_fit(object) {
        object::member(&mut object["metadata"], "annotations").shift_remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    let text = object.pointer("/metadata/annotations")?.get(ANNOTATION)?.as_str();
    text.filter(|text| !text.is_empty())
}
