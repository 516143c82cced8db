//! Collects hosts and groups, indexed by name.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::copies::Copies;
use crate::document::{Key, Value, at, to_object};
use crate::group_order::GroupOrder;
use crate::invalid::{Invalid, Kind, quoted};
use crate::inventory::{Group, Host, Inventory, Role};
use crate::reached::{self, first_set};
use crate::unread::odd_in_key;
use crate::variable_warnings::VariableWarnings;
use crate::vars::{Vars, text};
use crate::{limits, names, range};

pub(super) struct Collected {
    inventory: Inventory,
    hosts: HashMap<String, usize>,
    groups: HashMap<String, usize>,
    /// By host: the indices of the groups that list it.
    listed_in: Vec<Vec<usize>>,
    /// By group: the indices of its children.
    children: Vec<Vec<usize>>,
    /// The pairs (group, host) so far.
    host_of: HashSet<(usize, usize)>,
    /// The pairs (group, child) so far, with line and column.
    child_of: HashMap<(usize, usize), (usize, usize)>,
    mentions: usize,
    copies: Copies,
    variables: VariableWarnings,
    /// Hosts with the names of groups that every inventory has, and where they are.
    named_as_groups: Vec<(usize, Invalid)>,
}

impl Default for Collected {
    fn default() -> Self {
        let all = Group { name: "all".into(), ..Group::default() };
        Self {
            inventory: Inventory { groups: vec![all], ..Inventory::default() },
            hosts: HashMap::new(),
            groups: HashMap::from([("all".into(), 0)]),
            listed_in: Vec::new(),
            children: vec![Vec::new()],
            host_of: HashSet::new(),
            child_of: HashMap::new(),
            mentions: 0,
            copies: Copies::default(),
            variables: VariableWarnings { are_of_inventory: true, ..VariableWarnings::default() },
            named_as_groups: Vec::new(),
        }
    }
}

impl Collected {
    /// Adds a group and everything below it, and returns its index. The limit of the document's depth also limits the
    /// recursion.
    pub(super) fn group(&mut self, name: &Key, below: &Value, path: &str) -> Result<usize, Invalid> {
        let index = self.group_named(name)?;
        let Some(sections) = mapping(below, name, path)? else { return Ok(index) };
        for (key, section) in sections {
            let path = format!("{path}.{}", key.value);
            match key.value.as_str() {
                "hosts" => self.hosts_of(index, key, section, &path)?,
                "children" => self.children_of(index, key, section, &path)?,
                "vars" => {
                    let vars = mapping(section, key, &path)?.unwrap_or_default();
                    self.variables.note(vars);
                    let vars = to_object(vars);
                    self.inventory.groups[index].vars.extend(vars);
                }
                other => self.inventory.warnings.push(format!(
                    "Line {}: ansible skips {} in group {}: only hosts, children and vars are allowed there.{}",
                    key.referenced.line(),
                    quoted(other),
                    self.inventory.groups[index].name,
                    odd_in_key(other).map_or_else(String::new, |odd| format!(
                        " It contains {}. {}.",
                        odd.named(),
                        odd.instead()
                    )),
                )),
            }
        }
        Ok(index)
    }

    fn group_named(&mut self, name: &Key) -> Result<usize, Invalid> {
        is_text(name, "group")?;
        if let Some(&index) = self.groups.get(&name.value) {
            return Ok(index);
        }
        if !names::is_group_name(&name.value) {
            return Err(at(name, Kind::GroupName { name: name.value.clone() }));
        }
        if self.groups.len() >= limits::GROUPS {
            return Err(at(name, Kind::TooManyGroups));
        }
        let index = self.inventory.groups.len();
        self.inventory.groups.push(Group { name: name.value.clone(), ..Group::default() });
        self.children.push(Vec::new());
        self.groups.insert(name.value.clone(), index);
        Ok(index)
    }

    fn children_of(&mut self, group: usize, key: &Key, section: &Value, path: &str) -> Result<(), Invalid> {
        for (name, below) in names_in(section, key, "group", path)? {
            let path = format!("{path}.{}", name.value);
            let child = match below {
                Some(below) => self.group(&name, below, &path)?,
                None => self.group_named(&name)?,
            };
            let place = (name.referenced.line() as usize, name.referenced.column() as usize);
            if let Entry::Vacant(new) = self.child_of.entry((group, child)) {
                new.insert(place);
                self.children[group].push(child);
                self.inventory.groups[group].children.push(name.value.clone());
            }
        }
        Ok(())
    }

    fn hosts_of(&mut self, group: usize, key: &Key, section: &Value, path: &str) -> Result<(), Invalid> {
        let mut here = HashSet::new();
        for (pattern, below) in names_in(section, key, "host", path)? {
            is_text(&pattern, "host").map_err(|refused| refused.within(path))?;
            let vars = below
                .map(|below| mapping(below, &pattern, &format!("{path}.{}", pattern.value)))
                .transpose()?
                .flatten();
            self.variables.note(vars.unwrap_or_default());
            let mut vars = vars.map(to_object).unwrap_or_default();
            let (hosts, port) = split_port(&pattern.value);
            if let Some(port) = port {
                vars.entry("ansible_port").or_insert(port.into());
            }
            let hosts = range::expand(hosts)
                .map_err(|why| at(&pattern, Kind::Range { pattern: pattern.value.clone(), why }).within(path))?;
            self.copies.of_vars(&vars, hosts.len()).map_err(|kind| at(&pattern, kind).within(path))?;
            for name in hosts {
                if !names::is_host_name(&name) {
                    return Err(at(&pattern, Kind::HostName { name }).within(path));
                }
                let host = self.host_named(name, &pattern)?;
                if !here.insert(host) {
                    let host = self.inventory.hosts[host].name.clone();
                    return Err(at(&pattern, Kind::DuplicateHost { host, group: path.to_owned() }).within(path));
                }
                check_port(&self.inventory.hosts[host].name, &vars).map_err(|kind| at(&pattern, kind).within(path))?;
                self.inventory.hosts[host].vars.extend(vars.clone());
                let name = &self.inventory.hosts[host].name;
                if matches!(name.as_str(), "all" | "ungrouped") {
                    let kind = Kind::HostIsGroup { name: name.clone() };
                    self.named_as_groups.push((host, at(&pattern, kind).within(path)));
                }
                self.list(group, host);
            }
        }
        Ok(())
    }

    fn host_named(&mut self, name: String, place: &Key) -> Result<usize, Invalid> {
        self.mentions += 1;
        if self.mentions > limits::MENTIONS {
            return Err(at(place, Kind::TooManyMentions));
        }
        if let Some(&index) = self.hosts.get(&name) {
            return Ok(index);
        }
        let index = self.inventory.hosts.len();
        if index >= limits::HOSTS {
            return Err(at(place, Kind::TooManyHosts));
        }
        self.hosts.insert(name.clone(), index);
        self.inventory.hosts.push(Host { name, ..Host::default() });
        self.listed_in.push(Vec::new());
        Ok(index)
    }

    fn list(&mut self, group: usize, host: usize) {
        if !self.host_of.insert((group, host)) {
            return;
        }
        self.listed_in[host].push(group);
        let Inventory { hosts, groups, .. } = &mut self.inventory;
        groups[group].hosts.push(hosts[host].name.clone());
        if group != 0 {
            hosts[host].groups.push(groups[group].name.clone());
        }
    }

    /// Applies the variables and roles of the groups to the hosts.
    pub(super) fn finish(mut self) -> Result<Inventory, Invalid> {
        let Inventory { hosts, groups, warnings } = &mut self.inventory;
        let order = GroupOrder::new(&self.children).map_err(|circle| {
            let place = circle.windows(2).find_map(|edge| self.child_of.get(&(edge[0], edge[1])));
            let kind = Kind::Cycle { groups: circle.iter().map(|&g| groups[g].name.clone()).collect() };
            place
                .map_or_else(|| Invalid::whole(kind.clone()), |&(line, column)| Invalid::at(line, column, kind.clone()))
        })?;
        if hosts.is_empty() {
            return Err(Invalid::whole(Kind::NoHosts));
        }
        // Ansible makes them children of a group.
        let is_ungrouped = |host: usize| self.listed_in[host].iter().all(|&group| group == 0);
        if let Some((_, why)) = self.named_as_groups.iter().find(|(host, _)| is_ungrouped(*host)) {
            return Err(why.clone());
        }
        for (host, direct) in hosts.iter_mut().zip(&self.listed_in) {
            let above = order.above(direct, |g| groups[g].name.as_str());
            host.roles =
                Role::ALL.into_iter().filter(|role| above.iter().any(|&g| role.is_given_by(&groups[g].name))).collect();
            let applied = |names| {
                first_set(&host.vars, names)
                    .or_else(|| above.iter().rev().find_map(|&g| first_set(&groups[g].vars, names)))
            };
            let address = applied(reached::ADDRESS);
            let port = applied(reached::PORT).and_then(|port| port.parse().ok());
            let user = applied(reached::USER);
            let connection = applied(reached::CONNECTION);
            self.copies.of_texts([&address, &user, &connection]).map_err(Invalid::whole)?;
            (host.address, host.port, host.user, host.connection) = (address, port, user, connection);
            if self.groups.contains_key(&host.name) {
                warnings.push(format!("{} is the name of a host and of a group. Ansible may mix them up.", host.name));
            }
        }
        warnings.extend(self.variables.sentences);
        Ok(self.inventory)
    }
}

/// The entries of the mapping below `key`. `None` if nothing is there.
fn mapping<'v>(below: &'v Value, key: &Key, path: &str) -> Result<Option<&'v [(Key, Value)]>, Invalid> {
    match below {
        Value::Null => Ok(None),
        Value::Map(entries) => Ok(Some(entries)),
        other => Err(at(key, Kind::NotAMapping { what: quoted(path), found: other.kind() }).within(path)),
    }
}

/// The names in a `hosts` or `children` section, with the value below each. As in ansible, `hosts: node1` is one name.
fn names_in<'v>(
    section: &'v Value,
    key: &Key,
    of: &'static str,
    path: &str,
) -> Result<Vec<(Key, Option<&'v Value>)>, Invalid> {
    if let Value::Text(name) = section {
        let read_as = key.value_read_as;
        return Ok(vec![(Key { value: name.clone(), read_as, ..key.clone() }, None)]);
    }
    if matches!(section, Value::Bool(_) | Value::Number(_)) {
        let kind = Kind::NameNotAText { what: path.to_owned(), of, read_as: section.kind() };
        return Err(at(key, kind).within(path));
    }
    let entries = mapping(section, key, path)?.unwrap_or_default();
    Ok(entries.iter().map(|(name, below)| (name.clone(), Some(below))).collect())
}

/// A name that ansible reads as a number, a date or the like makes it refuse the whole inventory.
fn is_text(name: &Key, of: &'static str) -> Result<(), Invalid> {
    let Some(read_as) = name.read_as else { return Ok(()) };
    Err(at(name, Kind::NotAText { of, name: name.value.clone(), read_as }))
}

/// Splits `node1:2222` into a host and its port. An IPv6 address without brackets is only a host.
fn split_port(pattern: &str) -> (&str, Option<u16>) {
    if let Some((host, port)) = pattern.strip_prefix('[').and_then(|p| p.split_once(']'))
        && host.parse::<std::net::Ipv6Addr>().is_ok()
    {
        return (host, port.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match pattern.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => (pattern, None),
        },
        _ => (pattern, None),
    }
}

/// A port must be a number from 1 to 65535, or a template (`{{ port }}`) or vault value, which only ansible can read.
fn check_port(host: &str, vars: &Vars) -> Result<(), Kind> {
    for name in ["ansible_port", "ansible_ssh_port"] {
        let Some(value) = vars.get(name) else { continue };
        let fine = match value {
            Json::Number(n) => n.as_u64().is_some_and(|n| (1..=65535).contains(&n)),
            Json::String(s) => {
                s.contains("{{") || s.starts_with("$ANSIBLE_VAULT") || s.parse::<u16>().is_ok_and(|n| n > 0)
            }
            Json::Null => true,
            _ => false,
        };
        if !fine {
            return Err(Kind::Port { host: host.to_owned(), value: text(value) });
        }
    }
    Ok(())
}
