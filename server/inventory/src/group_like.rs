//! Recognises groups of an inventory among variables.

use crate::document::{Key, Value};
use crate::inventory::Role;

const SECTIONS: [&str; 3] = ["hosts", "children", "vars"];

/// The first entry that is surely a group: it has the name of one, and its sections.
pub(crate) fn group(entries: &[(Key, Value)]) -> Option<&Key> {
    entries.iter().find(|(key, below)| is_named_group(&key.value, below)).map(|(key, _)| key)
}

fn is_named_group(name: &str, below: &Value) -> bool {
    let Value::Map(sections) = below else { return false };
    let has_all = || sections.iter().all(|(key, _)| SECTIONS.contains(&key.value.as_str()));
    let is_section = |below: &Value| matches!(below, Value::Null | Value::Map(_));
    let lists =
        || sections.iter().any(|(key, below)| matches!(key.value.as_str(), "hosts" | "children") && is_section(below));
    let has_one = || sections.iter().any(|(key, below)| is_nearly_section(&key.value) && is_section(below));
    match name {
        // These may be variables of a playbook.
        "etcd" | "bastion" => has_all() && lists(),
        name => is_group_name(name) && (has_one() || has_all() && lists()),
    }
}

fn is_group_name(name: &str) -> bool {
    matches!(name, "all" | "k8s_cluster" | "k8s-cluster") || Role::ALL.iter().any(|role| role.is_given_by(name))
}

/// Also one that is misspelt, or has an odd space before it.
fn is_nearly_section(name: &str) -> bool {
    let word = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(word.as_str(), "host" | "hosts" | "child" | "children" | "var" | "vars")
}

/// Why a variable looks like a part of an inventory, and what to do: two sentences. `None` if it doesn't.
pub(crate) fn misplaced(name: &str, value: &Value) -> Option<&'static str> {
    if is_group(value) {
        return Some(
            "looks like a group of an inventory, but ansible reads it as a variable here. If it is a group, move it to the \
             left edge of the inventory.",
        );
    }
    let is_section = match name {
        "hosts" => lists_hosts(value),
        "children" => lists_groups(value) && !has_only_names(value),
        _ => false,
    };
    is_section.then_some(
        "looks like a section of a group, but ansible reads it as a variable here. If it is one, move it below its group in \
         the inventory.",
    )
}

fn is_group(value: &Value) -> bool {
    let Value::Map(sections) = value else { return false };
    sections.iter().all(|(key, _)| SECTIONS.contains(&key.value.as_str()))
        && sections.iter().any(|(key, below)| match key.value.as_str() {
            "hosts" => lists_hosts(below),
            "children" => lists_groups(below),
            _ => false,
        })
}

/// Whether these are hosts, with or without variables. Other mappings may be anything, such as the hosts of a load balancer.
fn lists_hosts(section: &Value) -> bool {
    let Value::Map(hosts) = section else { return false };
    let is_of_host = |name: &str| name.starts_with("ansible_") || matches!(name, "ip" | "access_ip");
    let is_host = |vars: &Value| match vars {
        Value::Map(vars) => vars.is_empty() || vars.iter().any(|(key, _)| is_of_host(&key.value)),
        other => matches!(other, Value::Null),
    };
    hosts.iter().all(|(_, vars)| matches!(vars, Value::Null | Value::Map(_)))
        && hosts.iter().any(|(_, vars)| is_host(vars))
}

fn lists_groups(section: &Value) -> bool {
    let Value::Map(groups) = section else { return false };
    !groups.is_empty() && groups.iter().all(|(_, below)| matches!(below, Value::Null) || is_group(below))
}

fn has_only_names(section: &Value) -> bool {
    let Value::Map(groups) = section else { return false };
    groups.iter().all(|(_, below)| matches!(below, Value::Null))
}
