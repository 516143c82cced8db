//! The columns of each kind.

use serde_json::{Value, json};

use crate::kind::{BuiltIn, Kind, Nature};

const EVENT: &[&str] =
    &["Last Seen", "Type", "Reason", "Object", "*Subobject", "*Source", "Message", "*First Seen", "*Count", "*Name"];

/// The columns of a built-in kind. An asterisk marks those that only `-o wide` shows.
fn built_in(kind: BuiltIn) -> &'static [&'static str] {
    match kind {
        BuiltIn::Namespace => &["Name", "Status", "Age"],
        BuiltIn::ConfigMap => &["Name", "Data", "Age"],
        BuiltIn::Secret => &["Name", "Type", "Data", "Age"],
        BuiltIn::Pod => {
            &["Name", "Ready", "Status", "Restarts", "Age", "*IP", "*Node", "*Nominated Node", "*Readiness Gates"]
        }
        BuiltIn::Job => &["Name", "Status", "Completions", "Duration", "Age", "*Containers", "*Images", "*Selector"],
        BuiltIn::Lease => &["Name", "Holder", "Age"],
        BuiltIn::Event | BuiltIn::NewEvent => EVENT,
        BuiltIn::ServiceAccount => &["Name", "Age"],
        BuiltIn::Role | BuiltIn::Definition => &["Name", "Created At"],
        BuiltIn::RoleBinding => &["Name", "Role", "Age"],
    }
}

pub(super) fn definitions(kind: &Kind) -> Vec<Value> {
    match &kind.nature {
        Nature::BuiltIn(built_in_kind) => built_in(*built_in_kind)
            .iter()
            .map(|title| {
                let (title, priority) = title.strip_prefix('*').map_or((*title, 0), |title| (title, 1));
                column(title, "string", title, priority)
            })
            .collect(),
        Nature::Empty => vec![column("Name", "string", "Name", 0)],
        Nature::Custom(custom) => {
            let own = custom.columns.iter().map(|declared| {
                let text = |field: &str| declared.get(field).and_then(Value::as_str).unwrap_or_default();
                let priority = declared.get("priority").and_then(Value::as_i64).unwrap_or(0);
                let mut column = column(text("name"), text("type"), text("description"), priority);
                column["format"] = text("format").into();
                column
            });
            let mut all = vec![column("Name", "string", "Name must be unique within a namespace.", 0)];
            all.extend(own);
            // A definition without columns gets the age, as in the API server.
            if custom.columns.is_empty() {
                all.push(column("Age", "date", "Time since the object was created.", 0));
            }
            all
        }
    }
}

fn column(name: &str, kind: &str, description: &str, priority: i64) -> Value {
    let format = if name == "Name" { "name" } else { "" };
    json!({"name": name, "type": kind, "format": format, "description": description, "priority": priority})
}
