//! Tables, which `kubectl get` prints.

mod cells;
mod columns;
mod jsonpath;

use serde_json::{Value, json};

use super::answer::partial;
use crate::events;
use crate::kind::Kind;
use crate::request::Query;
use crate::verbs::List;

pub(super) fn of_list(kind: &Kind, list: &List, query: &Query) -> Value {
    let rows: Vec<Value> = list.items.iter().map(|stored| row(kind, &stored.value, query)).collect();
    table(Some(kind), &json!({"resourceVersion": list.revision.to_string()}), &rows)
}

/// A table of one object. In a watch, only the first one has `columns`.
pub(super) fn of_one(kind: &Kind, stored: &Value, query: &Query, columns: bool) -> Value {
    let revision = stored.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
    table(columns.then_some(kind), &json!({"resourceVersion": revision}), &[row(kind, stored, query)])
}

/// A bookmark has no cells, only the revision that the watch has reached.
pub(super) fn of_bookmark(object: &Value) -> Value {
    table(None, &object["metadata"], &[json!({"cells": [], "object": object})])
}

fn table(columns_of: Option<&Kind>, metadata: &Value, rows: &[Value]) -> Value {
    let definitions = columns_of.map(columns::definitions).unwrap_or_default();
    json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": definitions, "rows": rows})
}

fn row(kind: &Kind, stored: &Value, query: &Query) -> Value {
    let object = match query.get("includeObject") {
        Some("None") => Value::Null,
        Some("Object") => events::outward(kind, stored).into_owned(),
        _ => partial(stored),
    };
    json!({"cells": cells::of(kind, stored), "object": object})
}
