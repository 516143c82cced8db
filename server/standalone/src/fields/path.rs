//! Paths to leaf values, and sets of them as `FieldsV1`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::typing::{Merge, Typing};
use crate::object::SERVER_FIELDS;

/// One step of a path, in the order and spelling of `FieldsV1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Field(String),
    /// The item of a list with these key fields, as JSON.
    Key(String),
    /// An item of a set, as JSON.
    Item(String),
}

pub(super) type Path = Vec<Step>;
pub(super) type Paths = BTreeSet<Path>;

/// The fields over which an apply conflicts with other managers, by the index of the manager's entry.
pub(super) type Conflicts = BTreeMap<usize, Vec<Path>>;

/// The fields of an object. The value is `None` for the presence of a list item, a list or a map.
pub(super) type Fields<'v> = BTreeMap<Path, Option<&'v Value>>;

/// Every leaf of an object, and every list item.
pub(super) fn leaves<'v>(object: &'v Value, typing: Typing<'_>) -> Fields<'v> {
    collected(object, typing, false)
}

/// The leaves, and the lists and maps that an object may lack. A write that adds one owns its presence.
pub(super) fn leaves_and_parents<'v>(object: &'v Value, typing: Typing<'_>) -> Fields<'v> {
    collected(object, typing, true)
}

fn collected<'v>(object: &'v Value, typing: Typing<'_>, parents: bool) -> Fields<'v> {
    let mut found = BTreeMap::new();
    let Value::Object(root) = object else { return found };
    let mut walk = |value, typing, path: &mut Path| walk(value, typing, path, &mut found, parents);
    for (name, value) in root {
        let mut path = vec![Step::Field(name.clone())];
        match name.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => {
                for (name, value) in value.as_object().into_iter().flatten().filter(|(name, _)| is_owned(name)) {
                    path.push(Step::Field(name.clone()));
                    walk(value, typing.field("metadata").field(name), &mut path);
                    path.pop();
                }
            }
            _ => walk(value, typing.field(name), &mut path),
        }
    }
    found
}

/// Whether a field of the metadata has owners. What only the server sets or what never changes has none.
fn is_owned(field: &str) -> bool {
    !SERVER_FIELDS.contains(&field) && !matches!(field, "name" | "namespace" | "generateName" | "managedFields")
}

fn walk<'v>(value: &'v Value, typing: Typing<'_>, path: &mut Path, found: &mut Fields<'v>, parents: bool) {
    let is_empty = value.as_object().is_none_or(Map::is_empty) && value.as_array().is_none_or(Vec::is_empty);
    if parents && !is_empty && typing.merge(value) != Merge::Atomic && may_be_missing(typing, path) {
        found.insert(path.clone(), None);
    }
    match (typing.merge(value), value) {
        (Merge::Granular, Value::Object(members)) if !members.is_empty() => {
            for (name, member) in members {
                path.push(Step::Field(name.clone()));
                walk(member, typing.field(name), path, found, parents);
                path.pop();
            }
        }
        (Merge::ByKey(keys), Value::Array(items)) if !items.is_empty() => {
            for item in items {
                path.push(Step::Key(key_of(item, &keys.names())));
                found.insert(path.clone(), None);
                if item.as_object().is_some_and(|item| !item.is_empty()) {
                    walk(item, typing.item(), path, found, parents);
                }
                path.pop();
            }
        }
        (Merge::Set, Value::Array(items)) if !items.is_empty() => {
            for item in items {
                path.push(Step::Item(item.to_string()));
                found.insert(path.clone(), None);
                path.pop();
            }
        }
        _ => drop(found.insert(path.clone(), Some(value))),
    }
}

/// Whether an object may lack this list or map. In the Go types of the built-in kinds, some are always there.
fn may_be_missing(typing: Typing<'_>, path: &Path) -> bool {
    let always = |name: &str| matches!(name, "spec" | "status" | "template" | "metadata" | "containers" | "source");
    !matches!((typing, path.last()), (Typing::BuiltIn(_), Some(Step::Field(name))) if always(name))
}

/// The key of a list item, as `FieldsV1` writes it: field names in order.
pub(super) fn key_of(item: &Value, names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.sort_unstable();
    let mut key = Map::new();
    for name in names {
        // The API server fills in the default protocol before it computes keys.
        let default = (name == "protocol").then(|| json!("TCP"));
        if let Some(value) = item.get(name).cloned().or(default) {
            key.insert(name.to_owned(), value);
        }
    }
    Value::Object(key).to_string()
}

/// A set of paths as a `FieldsV1` tree.
pub(super) fn to_fields(paths: &Paths) -> Value {
    let mut root = Map::new();
    // Backwards, so that a list item comes after its fields: if it has owned ones, its own presence is marked with `.`.
    for path in paths.iter().rev() {
        let at = path.iter().try_fold(&mut root, |at, step| {
            let name = match step {
                Step::Field(name) => format!("f:{name}"),
                Step::Key(key) => format!("k:{key}"),
                Step::Item(item) => format!("v:{item}"),
            };
            if !at.contains_key(&name) {
                at.shift_insert(0, name.clone(), json!({}));
            }
            at.get_mut(&name).and_then(Value::as_object_mut)
        });
        if let Some(at) = at.filter(|at| !at.is_empty()) {
            at.shift_insert(0, ".".into(), json!({}));
        }
    }
    Value::Object(root)
}

/// The paths in a `FieldsV1` tree. Unreadable entries are skipped.
pub(super) fn from_fields(fields: &Value) -> Paths {
    let mut paths = Paths::new();
    collect(fields, &mut Vec::new(), &mut paths);
    paths
}

fn collect(node: &Value, path: &mut Path, paths: &mut Paths) {
    let Value::Object(members) = node else { return };
    if members.is_empty() && !path.is_empty() {
        paths.insert(path.clone());
    }
    for (name, inner) in members {
        let step = match name.split_once(':') {
            Some(("f", name)) => Step::Field(name.to_owned()),
            Some(("k", key)) => Step::Key(key.to_owned()),
            Some(("v", item)) => Step::Item(item.to_owned()),
            _ => {
                if name == "." {
                    paths.insert(path.clone());
                }
                continue;
            }
        };
        path.push(step);
        collect(inner, path, paths);
        path.pop();
    }
}

/// `.spec.containers[name="a"].image`, as in conflict messages.
pub(super) fn shown(path: &Path) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Field(name) => format!(".{name}"),
        Step::Key(key) => {
            let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
            let parts: Vec<String> = key.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("[{}]", parts.join(","))
        }
        Step::Item(item) => format!("[={item}]"),
    });
    steps.collect()
}
