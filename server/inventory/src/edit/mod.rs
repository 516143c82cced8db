//! Adds and removes hosts in the text of an inventory. Everything else in the text stays: comments, order, quotes, unknown keys.
//!
//! The text is changed line by line, at positions that the parser reports. So a result may be wrong for a layout that is valid YAML
//! but unusual. Therefore each result is parsed again, and is refused unless the wanted hosts are the only difference.

mod places;
mod text;
mod variable;
mod variables;

use std::fmt::Write as _;
use std::ops::Range;

use api::input::quoted;

use self::places::{Hosts, hosts_of};
use self::text::{Layout, Lines};
pub use self::variable::set_variable;
pub use self::variables::set_variables;
use crate::document;
use crate::inventory::{Inventory, Role};
use crate::machine::Machine;
use crate::vars::Vars;
use crate::write::scalar::{scalar, value};

/// Connection variables that a new host gets from the last host of its role, if they are not given for it.
const SHARED: [&str; 6] = [
    "ansible_user",
    "ansible_port",
    "ansible_become",
    "ansible_become_method",
    "ansible_python_interpreter",
    "ansible_ssh_common_args",
];

/// A machine that is added, and where its name is written.
struct Newcomer<'m> {
    machine: &'m Machine,
    roles: Vec<Role>,
    /// The groups of its roles, without those that contain another one of them.
    groups: Vec<String>,
    vars: Vars,
}

/// The inventory with `machines` as further nodes. Each is written below the last host of the groups of its roles, with the login of
/// that host. A machine without roles becomes a worker. A control plane also becomes a member of etcd if etcd runs on control planes only.
///
/// # Errors
/// A sentence that says why the text can't be changed in this way.
pub fn add_machines(text: &str, machines: &[Machine]) -> Result<String, String> {
    let before = crate::parse(text).map_err(|why| why.to_string())?;
    if let Some(known) = machines.iter().find(|machine| before.host(&machine.name).is_some()) {
        return Err(format!("{} is in the inventory already.", quoted(&known.name)));
    }
    let document = document::read(text).map_err(|why| why.to_string())?;
    let places = document.as_ref().map(hosts_of).unwrap_or_default();
    // With a list of all hosts, that is where the variables are.
    let all = places.iter().find(|place| place.group == "all" && !place.entries.is_empty());
    let mut names = member_names(&before);
    let newcomers = machines.iter().map(|machine| {
        let roles = roles_with_etcd(machine, &before);
        let groups = roles.iter().fold(Vec::new(), |mut groups, role| {
            let group = group_of(&before, *role);
            if !groups.contains(&group) {
                groups.push(group);
            }
            groups
        });
        // The last host of its group; the last host of all only if there is none, because that may be a bastion with another login.
        let own = groups.first().and_then(|group| place_of(&places, group)).and_then(|place| place.entries.last());
        let last = own.or_else(|| all?.entries.last());
        let like = last.and_then(|(key, _)| before.host(&key.value)).map(|host| &host.vars);
        let mut vars = vars_of(machine, like.unwrap_or(&Vars::new()));
        if roles.contains(&Role::Etcd)
            && let Some(name) = names.next()
        {
            vars.entry(MEMBER_NAME).or_insert_with(|| name.into());
        }
        Newcomer { machine, roles, groups, vars }
    });
    let newcomers: Vec<Newcomer<'_>> = newcomers.collect();
    let lines = Lines::of(text);
    let mut edits = Vec::new();
    if let Some(all) = all {
        edits.push(insertion(&lines, all, newcomers.iter().map(|new| (new, true)))?);
    }
    let mut groups: Vec<&String> = newcomers.iter().flat_map(|new| &new.groups).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let place = place_of(&places, group).ok_or_else(|| by_hand(&format!("The group {group} has no “hosts”.")))?;
        let own = newcomers.iter().filter(|new| new.groups.contains(group));
        edits.push(insertion(&lines, place, own.map(|new| (new, all.is_none() && new.groups.first() == Some(group))))?);
    }
    let edited = apply(text, edits);
    let after = crate::parse(&edited).map_err(|_| by_hand("The text has an unusual layout."))?;
    let added = newcomers.iter().map(|new| new.machine.name.as_str());
    if newcomers.iter().all(|new| new.is_in(&after)) && without(&after, added) == without(&before, [].into_iter()) {
        Ok(edited)
    } else {
        Err(by_hand("The text has an unusual layout."))
    }
}

impl Newcomer<'_> {
    /// Whether the inventory has it in exactly its groups. Only a control plane may get further roles from the groups above these.
    fn is_in(&self, inventory: &Inventory) -> bool {
        let Some(host) = inventory.host(&self.machine.name) else { return false };
        let is_in_groups =
            host.groups.len() == self.groups.len() && self.groups.iter().all(|group| host.groups.contains(group));
        let has_roles = if self.roles.contains(&Role::ControlPlane) {
            self.roles.iter().all(|role| host.roles.contains(role))
        } else {
            host.roles == self.roles
        };
        is_in_groups && has_roles
    }
}

/// Kubespray's variable for the name of a member of etcd. Without it, kubespray numbers the members by their position.
const MEMBER_NAME: &str = "etcd_member_name";

/// Names for further members of etcd. None if the members have no names in the inventory.
fn member_names(inventory: &Inventory) -> impl Iterator<Item = String> {
    let name = |host: &crate::Host| host.vars.get(MEMBER_NAME).map(crate::vars::text);
    let used: Vec<String> = inventory.hosts.iter().filter_map(name).collect();
    let numbers = if used.is_empty() { 1..1 } else { 1..1000 };
    numbers.map(|number| format!("etcd{number}")).filter(move |name| !used.contains(name))
}

/// The roles of a new machine, with etcd for a control plane if etcd runs on control planes only.
fn roles_with_etcd(machine: &Machine, inventory: &Inventory) -> Vec<Role> {
    if machine.roles.is_empty() {
        return vec![Role::Worker];
    }
    let mut roles = machine.roles.clone();
    let etcd = inventory.etcd();
    let is_stacked = !etcd.is_empty() && etcd.iter().all(|host| host.roles.contains(&Role::ControlPlane));
    if is_stacked && roles.contains(&Role::ControlPlane) && !roles.contains(&Role::Etcd) {
        roles.push(Role::Etcd);
    }
    roles
}

/// The inventory without these hosts, wherever they are listed.
///
/// # Errors
/// A sentence that says why the text can't be changed in this way.
pub fn remove_hosts(text: &str, names: &[&str]) -> Result<String, String> {
    let before = crate::parse(text).map_err(|why| why.to_string())?;
    if let Some(unknown) = names.iter().find(|name| before.host(name).is_none()) {
        return Err(format!("{} is not in the inventory.", quoted(unknown)));
    }
    // One after the other, because the edits of neighbours overlap.
    let mut edited = text.to_owned();
    for name in names {
        edited = without_host(&edited, name)?;
    }
    let refused = || by_hand("It is written with a range or in an unusual layout.");
    let after = crate::parse(&edited).map_err(|_| refused())?;
    let is_wanted = without(&after, [].into_iter()) == without(&before, names.iter().copied());
    if is_wanted { Ok(edited) } else { Err(refused()) }
}

fn without_host(text: &str, name: &str) -> Result<String, String> {
    let document = document::read(text).map_err(|why| why.to_string())?;
    let lines = Lines::of(text);
    let places = document.as_ref().map(hosts_of).unwrap_or_default();
    let listed = places.iter().flat_map(|place| place.entries).filter(|(key, _)| key.value == name);
    Ok(apply(text, listed.filter_map(|(key, _)| Some((lines.entry(key)?.removal, String::new()))).collect()))
}

fn by_hand(why: &str) -> String {
    format!("The inventory can't be changed automatically. {why} Change it on the Configuration tab.")
}

/// The role's group, such as `kube_node`, unless its hosts are in a group below it.
fn group_of(inventory: &Inventory, role: Role) -> String {
    let lists_hosts = |name: &str| inventory.group(name).is_some_and(|group| !group.hosts.is_empty());
    let old = role.old_group().filter(|old| lists_hosts(old) && !lists_hosts(role.group()));
    let group = old.unwrap_or(role.group());
    let below = inventory.group(group).into_iter().flat_map(|group| &group.children);
    if lists_hosts(group) {
        return group.into();
    }
    below.rev().find(|child| lists_hosts(child)).cloned().unwrap_or_else(|| group.into())
}

/// Where the hosts of a group are listed; the longest list if there are several.
fn place_of<'p, 'd>(places: &'p [Hosts<'d>], group: &str) -> Option<&'p Hosts<'d>> {
    places.iter().filter(|place| place.group == group).max_by_key(|place| place.entries.len())
}

/// The machines below the last host of `place`, each with or without its variables.
fn insertion<'n, 'm: 'n>(
    lines: &Lines<'_>,
    place: &Hosts<'_>,
    machines: impl Iterator<Item = (&'n Newcomer<'m>, bool)>,
) -> Result<(Range<usize>, String), String> {
    let layout = lines.after(place).ok_or_else(|| by_hand("The text has an unusual layout."))?;
    let all = machines
        .map(|(new, with_vars)| (new.machine.name.as_str(), if with_vars { new.vars.clone() } else { Vars::new() }));
    Ok((layout.at..layout.at, written(&layout, all)))
}

fn vars_of(machine: &Machine, like: &Vars) -> Vars {
    let mut vars = crate::write::connection(machine);
    vars.extend(machine.vars.clone());
    for name in SHARED {
        if let Some(shared) = like.get(name).filter(|_| !vars.contains_key(name)) {
            vars.insert(name.into(), shared.clone());
        }
    }
    // Kubespray's `ip` is the address of the machine in the cluster, often the same as `ansible_host`.
    if let (Some(ip), Some(address)) = (like.get("ip"), &machine.address)
        && like.get("ansible_host") == Some(ip)
    {
        vars.entry("ip").or_insert_with(|| address.clone().into());
    }
    let mut ordered = Vars::new();
    ordered.extend(like.keys().filter_map(|name| vars.remove_entry(name)));
    ordered.extend(vars);
    ordered
}

fn written<'m>(layout: &Layout, hosts: impl Iterator<Item = (&'m str, Vars)>) -> String {
    let mut out = String::from(layout.before);
    for (name, vars) in hosts {
        let inline = || {
            let pairs: Vec<_> = vars.iter().map(|(name, v)| format!("{}: {}", scalar(name), value(v))).collect();
            format!("{{{}}}", pairs.join(", "))
        };
        let name = scalar(name);
        let _ = match (layout.is_flow, layout.values_in_flow, vars.is_empty()) {
            (true, ..) => write!(out, ", {name}: {}", inline()),
            (false, _, true) => writeln!(out, "{:1$}{name}:", "", layout.indent),
            (false, true, false) => writeln!(out, "{:2$}{name}: {}", "", inline(), layout.indent),
            (false, false, false) => {
                let _ = writeln!(out, "{:1$}{name}:", "", layout.indent);
                for (name, v) in &vars {
                    let _ = writeln!(out, "{:3$}{}: {}", "", scalar(name), value(v), layout.indent + layout.step);
                }
                Ok(())
            }
        };
    }
    out
}

/// Makes all edits. They must not overlap.
fn apply(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut edited = text.to_owned();
    for (range, new) in edits {
        edited.replace_range(range, &new);
    }
    edited
}

/// The inventory without these hosts, and without warnings, which name lines. Groups stay, even if they have no host any more.
fn without<'n>(inventory: &Inventory, names: impl Iterator<Item = &'n str>) -> Inventory {
    let names: Vec<&str> = names.collect();
    let mut rest = Inventory { warnings: Vec::new(), ..inventory.clone() };
    rest.hosts.retain(|host| !names.contains(&host.name.as_str()));
    for group in &mut rest.groups {
        group.hosts.retain(|host| !names.contains(&host.as_str()));
    }
    rest
}
