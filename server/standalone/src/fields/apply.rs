//! Server-side apply: merging a manager's configuration into the live object.

use serde_json::Value;

use super::last_applied;
use super::managed::{Entry, entries, set_entries};
use super::path::{Conflicts, Path, Paths, Step, key_of, leaves, shown};
use super::typing::{Merge, Typing};
use crate::cause::Cause;
use crate::failure::Failure;
use crate::kind::Kind;
use crate::object;
use crate::request::WriteOptions;

/// Refuses an apply without a field manager, `apiVersion` or `kind`, or with managed fields.
pub(crate) fn check(kind: &Kind, config: &Value, options: &WriteOptions) -> Result<(), Failure> {
    if !options.manager_named {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(Failure::invalid_options("PatchOptions", &[cause]));
    }
    for field in ["apiVersion", "kind"] {
        if object::text(config, field).is_empty() {
            return Err(Failure::bad_request(format!("an apply patch of {} must set {field}", kind.resource)));
        }
    }
    if config.pointer("/metadata/managedFields").is_some_and(|list| !list.is_null()) {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    Ok(())
}

/// The configuration has a field that the kind doesn't have.
pub(crate) fn undeclared(kind: &Kind, config: &Value, field: &str) -> Failure {
    let object =
        format!("{}/{}; {}, Kind={}", object::namespace(config), object::name(config), kind.api_version(), kind.kind);
    Failure::bad_request(format!(
        "failed to create typed patch object ({object}): .{field}: field not declared in schema"
    ))
}

/// Records the manager as the owner of the fields of a new object that are in its configuration.
pub(crate) fn own_new(kind: &Kind, object: &mut Value, config: &Value, options: &WriteOptions) {
    let paths = owned(kind, config, None);
    set_entries(object, vec![Entry::new(kind, &options.manager, "Apply", None, paths)]);
}

/// The paths that a configuration claims.
fn owned(kind: &Kind, config: &Value, subresource: Option<&str>) -> Paths {
    let status = Step::Field("status".into());
    let counts = |path: &Path| match subresource {
        Some(_) => path.first() == Some(&status),
        None => !kind.status || path.first() != Some(&status),
    };
    leaves(config, Typing::of(kind)).into_keys().filter(counts).collect()
}

/// `live` with `config` applied and ownership recorded, or a 409 with all conflicts.
pub(crate) fn applied(
    kind: &Kind,
    live: &Value,
    config: &Value,
    options: &WriteOptions,
    subresource: Option<&str>,
) -> Result<Value, Failure> {
    let typing = Typing::of(kind);
    let wanted = owned(kind, config, subresource);
    let mut entries = entries(live);
    let mine = entries.iter().position(|entry| entry.is(&options.manager, "Apply", subresource));
    let mut merged = live.clone();
    merge_root(&mut merged, config, typing, subresource);

    let before = leaves(live, typing);
    let after = leaves(&merged, typing);
    let differs = |path: &Path| after.contains_key(path) && before.get(path) != after.get(path);
    let conflicting: Conflicts = entries
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != mine)
        .map(|(index, entry)| {
            (index, entry.paths.iter().filter(|path| wanted.contains(*path) && differs(path)).cloned().collect())
        })
        .filter(|(_, paths): &(usize, Vec<Path>)| !paths.is_empty())
        .collect();
    if !conflicting.is_empty() && options.force != Some(true) {
        let refused = last_applied::without_allowed(kind, live, &before, options, &conflicting);
        if !refused.is_empty() {
            return Err(conflict(&entries, &refused));
        }
    }
    for (index, paths) in &conflicting {
        entries[*index].paths.retain(|path| !paths.contains(path));
    }

    // Remove the fields that this manager applied before and no longer does, unless another manager owns them, too.
    if let Some(mine) = mine {
        let dropped = entries[mine].paths.difference(&wanted);
        let orphans: Vec<Path> = dropped
            .filter(|path| {
                entries.iter().enumerate().all(|(index, entry)| index == mine || !entry.paths.contains(*path))
            })
            .cloned()
            .collect();
        // Longest first, so that the fields of a list item are removed before the item.
        for path in orphans.iter().rev() {
            if !has_members(&merged, path, typing) {
                remove(&mut merged, path, typing, 0);
            }
        }
    }
    let mut entry = Entry::new(kind, &options.manager, "Apply", subresource, wanted);
    if merged == *live {
        // The time is that of the last apply that changed the object. A manager that changed nothing has none.
        entry.time = mine.map(|mine| entries[mine].time.clone()).unwrap_or_default();
    }
    match mine {
        Some(mine) => entries[mine] = entry,
        None => entries.push(entry),
    }
    set_entries(&mut merged, entries);
    last_applied::keep_current(&mut merged, config, options);
    Ok(merged)
}

fn conflict(entries: &[Entry], conflicting: &Conflicts) -> Failure {
    let mut causes = Vec::new();
    let mut sections = Vec::new();
    for (index, paths) in conflicting {
        let entry = &entries[*index];
        let using = if entry.operation == "Update" { format!(" using {}", entry.api_version) } else { String::new() };
        let with = format!("\"{}\"{using}", entry.manager);
        for path in paths {
            let message = format!("conflict with {with}");
            causes.push(Cause::new("FieldManagerConflict", shown(path), message));
        }
        let fields: Vec<String> = paths.iter().map(shown).collect();
        sections.push((with, fields));
    }
    let text = if let [(with, fields)] = sections.as_slice()
        && let [field] = fields.as_slice()
    {
        format!("conflict with {with}: {field}")
    } else {
        let lines = sections.iter().map(|(with, fields)| format!("conflicts with {with}:\n- {}", fields.join("\n- ")));
        lines.collect::<Vec<_>>().join("\n")
    };
    let plural = if causes.len() == 1 { "" } else { "s" };
    Failure::new(409, "Conflict", format!("Apply failed with {} conflict{plural}: {text}", causes.len()))
        .with_causes(&causes)
}

fn merge_root(live: &mut Value, config: &Value, typing: Typing<'_>, subresource: Option<&str>) {
    let (Value::Object(live), Value::Object(config)) = (live, config) else { return };
    for (name, value) in config {
        let counts = match (name.as_str(), subresource) {
            ("apiVersion" | "kind", _) => false,
            ("metadata", _) | (_, None) => true,
            (name, Some(_)) => name == "status",
        };
        if counts {
            match live.get_mut(name) {
                Some(at) => merge(at, value, typing.field(name)),
                None => drop(live.insert(name.clone(), value.clone())),
            }
        }
    }
}

fn merge(live: &mut Value, config: &Value, typing: Typing<'_>) {
    match (typing.merge(config), live, config) {
        (Merge::Granular, Value::Object(live), Value::Object(config)) => {
            for (name, value) in config {
                match live.get_mut(name) {
                    Some(at) => merge(at, value, typing.field(name)),
                    None => drop(live.insert(name.clone(), value.clone())),
                }
            }
        }
        (Merge::ByKey(keys), Value::Array(live), Value::Array(config)) => {
            let names = keys.names();
            for item in config {
                let key = key_of(item, &names);
                match live.iter_mut().find(|known| key_of(known, &names) == key) {
                    Some(known) => merge(known, item, typing.item()),
                    None => live.push(item.clone()),
                }
            }
        }
        (Merge::Set, Value::Array(live), Value::Array(config)) => {
            for item in config {
                if !live.contains(item) {
                    live.push(item.clone());
                }
            }
        }
        (_, live, config) => *live = config.clone(),
    }
}

/// Whether the list or map at `path` has members: then its presence isn't given up.
fn has_members(object: &Value, path: &Path, typing: Typing<'_>) -> bool {
    let inside = |leaf: &Path| leaf.len() > path.len() && leaf.starts_with(path);
    matches!(path.last(), Some(Step::Field(_))) && leaves(object, typing).keys().any(inside)
}

/// Removes the value at `path`, and maps and lists that this empties. Returns whether to remove `value` itself.
fn remove(value: &mut Value, path: &[Step], typing: Typing<'_>, depth: usize) -> bool {
    let Some((step, rest)) = path.split_first() else { return true };
    match (step, value) {
        (Step::Field(name), Value::Object(members)) => {
            if let Some(member) = members.get_mut(name)
                && remove(member, rest, typing.field(name), depth + 1)
            {
                members.shift_remove(name);
                return members.is_empty() && depth > 1;
            }
            false
        }
        (Step::Key(key), Value::Array(items)) => {
            let Merge::ByKey(keys) = typing.merge(&Value::Array(Vec::new())) else { return false };
            let names = keys.names();
            // The key fields of an item are removed only with the item.
            let is_key = matches!(rest, [Step::Field(name)] if names.contains(&name.as_str()));
            let position = items.iter().position(|item| key_of(item, &names) == *key);
            if let Some(position) = position.filter(|_| !is_key)
                && remove(&mut items[position], rest, typing.item(), depth + 1)
            {
                items.remove(position);
            }
            items.is_empty()
        }
        (Step::Item(item), Value::Array(items)) => {
            if let Ok(gone) = serde_json::from_str::<Value>(item) {
                items.retain(|known| *known != gone);
            }
            items.is_empty()
        }
        _ => false,
    }
}
