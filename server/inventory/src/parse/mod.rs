//! Turns a YAML document into an [`Inventory`], by the rules of ansible's `yaml` inventory plugin:
//!
//! - Any group may be at the top level.
//! - A host of any group is a host, even if `all` doesn't list it.
//! - A host in several places gets the variables of all of them. The later value of a variable wins.
//! - A section may be a single name instead of a mapping.
//! - `node[1:3]` means three hosts, and `node1:2222` a host and its port.
//!
//! Stricter than ansible: names with characters for a shell, duplicate keys and hosts in one place, and an inventory without
//! hosts are refused.

mod collect;
mod copies;

use crate::document::{self, Value};
use crate::ini;
use crate::invalid::{Invalid, Kind};
use crate::inventory::Inventory;
use crate::lookalike;
use crate::vars::no_vault;

/// Reads an inventory.
///
/// # Errors
/// Everything that would make ansible fail, or do nothing and report success, and a text beyond [`crate::limits`].
pub fn parse(text: &str) -> Result<Inventory, Invalid> {
    lookalike::explained(text, inventory_of)
}

fn inventory_of(text: &str) -> Result<Inventory, Invalid> {
    no_vault(text)?;
    // Only in a text that is no YAML mapping: a list may stand on its own line in YAML.
    let ini = || match ini::header(text) {
        Some(line) => Some(Invalid::at(line, 1, Kind::Ini)),
        None => ini::has_host_line(text).then(|| Invalid::whole(Kind::Ini)),
    };
    let read = document::read(text).map_err(|why| ini().filter(|_| is_syntax(&why.kind)).unwrap_or(why))?;
    let Some(value) = read else { return Err(Invalid::whole(Kind::Empty)) };
    let Value::Map(entries) = &value else {
        let kind = Kind::NotAMapping { what: "an inventory".into(), found: value.kind() };
        return Err(ini().unwrap_or_else(|| Invalid::whole(kind)));
    };
    let mut collected = collect::Collected::default();
    for (name, below) in entries {
        if name.value != "all" && !matches!(below, Value::Map(_) | Value::Null) {
            let kind = Kind::VariableAsGroup { name: name.value.clone(), found: below.kind() };
            return Err(document::at(name, kind));
        }
        collected.group(name, below, &name.value)?;
    }
    let mut inventory = collected.finish()?;
    let old = inventory.old_groups().into_iter().map(|(group, name)| {
        format!(
            "Group {} is called {name} now. Kubespray still reads the old name, but the built-in engine doesn't. Rename the \
             group to {name}.",
            group.name
        )
    });
    let old: Vec<String> = old.collect();
    inventory.warnings.splice(0..0, old);
    inventory.warnings.extend(lookalike::in_values(text));
    Ok(inventory)
}

fn is_syntax(kind: &Kind) -> bool {
    matches!(kind, Kind::NotYaml { .. } | Kind::SeveralDocuments | Kind::DuplicateKey { .. })
}
