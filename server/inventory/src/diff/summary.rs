//! What a change of an inventory or of variables does, in words.

use std::collections::{HashMap, HashSet};

use masking::is_secret;
use serde_json::Value;

use crate::inventory::{Group, Host, Inventory};
use crate::vars::{Vars, text};

/// One sentence without a full stop for each change: `node4 added to kube_node, etcd`, `node2 removed`,
/// `ansible_host of node1 changed from 10.0.0.1 to 10.0.0.9`. Secret values are never shown.
#[must_use]
pub fn summary(old: &Inventory, new: &Inventory) -> Vec<String> {
    let mut changes = Vec::new();
    let before: HashMap<&str, &Host> = old.hosts.iter().map(|h| (h.name.as_str(), h)).collect();
    let after: HashSet<&str> = new.hosts.iter().map(|h| h.name.as_str()).collect();
    for host in &new.hosts {
        match before.get(host.name.as_str()) {
            None if host.groups.is_empty() => changes.push(format!("{} added", host.name)),
            None => changes.push(format!("{} added to {}", host.name, host.groups.join(", "))),
            Some(was) => {
                let joined = missing(&host.groups, &was.groups);
                let left = missing(&was.groups, &host.groups);
                changes.extend(joined.map(|groups| format!("{} added to {groups}", host.name)));
                changes.extend(left.map(|groups| format!("{} removed from {groups}", host.name)));
                vars_of(&mut changes, &was.vars, &host.vars, &format!(" of {}", host.name));
            }
        }
    }
    let gone = old.hosts.iter().filter(|host| !after.contains(host.name.as_str()));
    changes.extend(gone.map(|host| format!("{} removed", host.name)));
    groups(&mut changes, old, new);
    changes
}

/// [`summary`] for two files of variables.
#[must_use]
pub fn summary_of_vars(old: &Vars, new: &Vars) -> Vec<String> {
    let mut changes = Vec::new();
    vars_of(&mut changes, old, new, "");
    changes
}

fn groups(changes: &mut Vec<String>, old: &Inventory, new: &Inventory) {
    let nothing = Group::default();
    let before: HashMap<&str, &Group> = old.groups.iter().map(|g| (g.name.as_str(), g)).collect();
    for group in &new.groups {
        let name = &group.name;
        let was = before.get(name.as_str()).copied().unwrap_or(&nothing);
        if was.name.is_empty() {
            changes.push(format!("group {name} added"));
        }
        if name != "all" {
            changes.extend(missing(&group.children, &was.children).map(|c| format!("group {c} added to {name}")));
            changes.extend(missing(&was.children, &group.children).map(|c| format!("group {c} removed from {name}")));
        }
        // The order matters: the first control plane is special, and kubespray numbers etcd members by position.
        if reordered(&was.hosts, &group.hosts) && name != "all" {
            changes.push(format!("order of hosts in {name} changed"));
        }
        let of = if name == "all" { String::new() } else { format!(" of group {name}") };
        vars_of(changes, &was.vars, &group.vars, &of);
    }
    let after: HashSet<&str> = new.groups.iter().map(|g| g.name.as_str()).collect();
    let gone = old.groups.iter().filter(|group| !after.contains(group.name.as_str()));
    changes.extend(gone.map(|group| format!("group {} removed", group.name)));
}

fn vars_of(changes: &mut Vec<String>, old: &Vars, new: &Vars, of: &str) {
    let variable = if of.is_empty() { "variable " } else { "" };
    for (name, value) in new {
        match old.get(name) {
            Some(was) if was == value => {}
            Some(was) if is_secret(name, was) || is_secret(name, value) => {
                changes.push(format!("{variable}{name}{of} changed"));
            }
            Some(was) => changes.push(format!("{variable}{name}{of} changed from {} to {}", short(was), short(value))),
            None if is_secret(name, value) => changes.push(format!("{variable}{name}{of} set")),
            None => changes.push(format!("{variable}{name}{of} set to {}", short(value))),
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        changes.push(format!("{variable}{name}{of} removed"));
    }
}

/// The items of `these` that `those` doesn't have, as a list.
fn missing(these: &[String], those: &[String]) -> Option<String> {
    let found: Vec<&str> = these.iter().filter(|x| !those.contains(x)).map(String::as_str).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// Whether the hosts in both lists have another order.
fn reordered(old: &[String], new: &[String]) -> bool {
    let (before, after): (HashSet<_>, HashSet<_>) = (old.iter().collect(), new.iter().collect());
    let kept = old.iter().filter(|host| after.contains(host));
    !kept.eq(new.iter().filter(|host| before.contains(host)))
}

fn short(value: &Value) -> String {
    let text: String = text(value).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match text.trim() {
        "" => "“”".into(),
        text if text.chars().count() > 60 => text.chars().take(60).chain(['…']).collect(),
        text => text.to_owned(),
    }
}
