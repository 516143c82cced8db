//! What changed between the inputs that the user confirmed and those at the operation's turn. Only names are listed: values may be
//! secret, and more people can read a status than a ConfigMap.

use std::collections::BTreeSet;

use inventory::{Inventory, Vars};

use crate::status::sentence::list;

/// For confirmed inputs that are still known: ` (hosts added: w2; variables changed: kube_version)`.
pub(crate) fn between(before: (&Inventory, &Vars), now: (&Inventory, &Vars)) -> String {
    let hosts = |inventory: &Inventory| inventory.hosts.iter().map(|host| host.name.clone()).collect::<BTreeSet<_>>();
    let (old, new) = (hosts(before.0), hosts(now.0));
    let same_host = |name: &&String| before.0.host(name) != now.0.host(name);
    let variables = before.1.keys().chain(now.1.keys()).filter(|key| before.1.get(*key) != now.1.get(*key));
    let changes = [
        ("hosts added", new.difference(&old).cloned().collect()),
        ("hosts removed", old.difference(&new).cloned().collect()),
        ("hosts changed", old.intersection(&new).filter(same_host).cloned().collect()),
        ("variables changed", variables.cloned().collect::<BTreeSet<_>>()),
    ];
    let parts: Vec<String> = changes
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", list(names, 8)))
        .collect();
    if parts.is_empty() { " (in groups or comments)".into() } else { format!(" ({})", parts.join("; ")) }
}

/// For confirmed inputs that are no longer known: describes the present ones.
pub(crate) fn unknown(inventory: &Inventory, vars: &Vars) -> String {
    let hosts = list(inventory.hosts.iter().map(|host| &host.name), 8);
    format!(" (now: hosts {hosts}; {})", api::count(vars.len() as u64, "variable", "variables"))
}
