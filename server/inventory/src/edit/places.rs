//! Finds where a document lists hosts.

use crate::document::{Key, Value};

/// A mapping of hosts in the document.
pub(super) struct Hosts<'d> {
    pub(super) group: &'d str,
    /// The key `hosts`.
    pub(super) key: &'d Key,
    /// Host names or ranges, with the variables written there.
    pub(super) entries: &'d [(Key, Value)],
}

/// All mappings of hosts, in the order of the document.
pub(super) fn hosts_of(document: &Value) -> Vec<Hosts<'_>> {
    let mut found = Vec::new();
    groups(document, &mut found);
    found
}

/// The limit of the document's depth also limits the recursion.
fn groups<'d>(groups_by_name: &'d Value, found: &mut Vec<Hosts<'d>>) {
    let Value::Map(entries) = groups_by_name else { return };
    for (group, below) in entries {
        let Value::Map(sections) = below else { continue };
        for (key, section) in sections {
            match (key.value.as_str(), section) {
                ("hosts", Value::Map(entries)) => found.push(Hosts { group: &group.value, key, entries }),
                ("hosts", Value::Null) => found.push(Hosts { group: &group.value, key, entries: &[] }),
                ("children", children) => groups(children, found),
                _ => {}
            }
        }
    }
}
