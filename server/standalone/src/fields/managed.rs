//! `metadata.managedFields`: one entry per manager, operation and subresource.

use serde_json::{Value, json};

use super::path::{Path, Paths, Step, from_fields, leaves_and_parents, to_fields};
use super::typing::Typing;
use crate::kind::Kind;
use crate::object;
use crate::request::WriteOptions;

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) manager: String,
    pub(super) operation: String,
    pub(super) subresource: String,
    pub(super) api_version: String,
    pub(super) time: Value,
    pub(super) paths: Paths,
}

impl Entry {
    pub(super) fn is(&self, manager: &str, operation: &str, subresource: Option<&str>) -> bool {
        self.manager == manager && self.operation == operation && self.subresource == subresource.unwrap_or_default()
    }

    pub(super) fn new(kind: &Kind, manager: &str, operation: &str, subresource: Option<&str>, paths: Paths) -> Self {
        Self {
            manager: manager.to_owned(),
            operation: operation.to_owned(),
            subresource: subresource.unwrap_or_default().to_owned(),
            api_version: kind.api_version(),
            time: object::now().into(),
            paths,
        }
    }
}

pub(super) fn entries(object: &Value) -> Vec<Entry> {
    let list = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let read = |entry: &Value| Entry {
        manager: object::text(entry, "manager").to_owned(),
        operation: object::text(entry, "operation").to_owned(),
        subresource: object::text(entry, "subresource").to_owned(),
        api_version: object::text(entry, "apiVersion").to_owned(),
        time: entry.get("time").cloned().unwrap_or_default(),
        paths: entry.get("fieldsV1").map(from_fields).unwrap_or_default(),
    };
    list.into_iter().flatten().map(read).collect()
}

/// Writes the entries in the order of the API server.
pub(super) fn set_entries(object: &mut Value, mut entries: Vec<Entry>) {
    let order = |entry: &Entry| {
        let time = entry.time.as_str().unwrap_or_default().to_owned();
        (entry.operation.clone(), time, entry.manager.clone(), entry.api_version.clone(), entry.subresource.clone())
    };
    entries.sort_by_cached_key(order);
    let list: Vec<Value> = entries
        .iter()
        .filter(|entry| !entry.paths.is_empty())
        .map(|entry| {
            let mut value = json!({"apiVersion": entry.api_version, "fieldsType": "FieldsV1", "fieldsV1": to_fields(&entry.paths),
                "manager": entry.manager, "operation": entry.operation});
            if !entry.time.is_null() {
                value["time"] = entry.time.clone();
            }
            if !entry.subresource.is_empty() {
                value["subresource"] = entry.subresource.as_str().into();
            }
            value
        })
        .collect();
    if list.is_empty() {
        object::metadata(object).shift_remove("managedFields");
    } else {
        object::metadata(object).insert("managedFields".into(), list.into());
    }
}

/// Makes the manager of a write other than apply the only owner of the fields that it changed.
pub(crate) fn after_update(
    kind: &Kind,
    old: Option<&Value>,
    new: &mut Value,
    options: &WriteOptions,
    subresource: Option<&str>,
) {
    let (changed, removed) = {
        let before = old.map(|old| leaves_and_parents(old, Typing::of(kind))).unwrap_or_default();
        let after = leaves_and_parents(new, Typing::of(kind));
        // The status of a new object comes from the server, so it has no owner.
        let ours = |path: &Path| old.is_some() || !kind.status || path.first() != Some(&Step::Field("status".into()));
        let differs = |path: &Path, value| before.get(path) != Some(value);
        let changed = after.iter().filter(|(path, value)| differs(path, value) && ours(path));
        let removed = before.keys().filter(|path| !after.contains_key(*path));
        (changed.map(|(path, _)| path.clone()).collect::<Paths>(), removed.cloned().collect::<Paths>())
    };
    if changed.is_empty() && removed.is_empty() {
        return;
    }
    let mut entries = entries(new);
    for entry in &mut entries {
        entry.paths.retain(|path| !changed.contains(path) && !removed.contains(path));
    }
    if !changed.is_empty() {
        match entries.iter_mut().find(|entry| entry.is(&options.manager, "Update", subresource)) {
            Some(entry) => {
                entry.paths.extend(changed);
                entry.time = object::now().into();
            }
            None => entries.push(Entry::new(kind, &options.manager, "Update", subresource, changed)),
        }
    }
    set_entries(new, entries);
}

/// Clients may replace the list, as kubectl does when it moves an object to server-side apply, or clear it with `[{}]`. A
/// missing or empty list changes nothing.
pub(crate) fn take_manual(next: &mut Value, current: &Value, given: Option<&Value>) {
    let kept = current.pointer("/metadata/managedFields");
    let wanted = match given.and_then(Value::as_array) {
        Some(list) if list.len() == 1 && list[0].as_object().is_some_and(serde_json::Map::is_empty) => None,
        Some(list) if !list.is_empty() => given,
        _ => kept,
    };
    set(next, wanted.cloned());
}

pub(crate) fn set(object: &mut Value, list: Option<Value>) {
    match list {
        Some(list) => drop(object::metadata(object).insert("managedFields".into(), list)),
        None => drop(object::metadata(object).shift_remove("managedFields")),
    }
}
