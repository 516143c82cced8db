//! A machine as a person describes it, before it becomes a host of an inventory.

use std::collections::HashMap;

use api::input::Value;
use api::machine::{Address, Login, NodeName};
use serde::{Deserialize, Serialize};

use crate::invalid::quoted;
use crate::inventory::{Inventory, Role};
use crate::vars::Vars;

/// One machine of a cluster that is being registered. [`machines_from_lines`](crate::machines_from_lines) and
/// [`machines_from_rows`](crate::machines_from_rows) only return machines that they have checked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub name: String,
    /// IP address or DNS name. Without it, ansible connects to the name.
    pub address: Option<String>,
    pub user: Option<String>,
    /// 22 if there is none.
    pub port: Option<u16>,
    pub roles: Vec<Role>,
    /// Further host variables, such as `ip` or `ansible_connection`.
    pub vars: Vars,
}

/// The machines of an inventory, with the effective address, user and port of each. Group variables and groups without a
/// role aren't included, so an inventory can't be edited by writing these machines back.
#[must_use]
pub fn machines(inventory: &Inventory) -> Vec<Machine> {
    let elsewhere =
        ["ansible_host", "ansible_user", "ansible_port", "ansible_ssh_host", "ansible_ssh_user", "ansible_ssh_port"];
    inventory
        .hosts
        .iter()
        .map(|host| Machine {
            name: host.name.clone(),
            address: host.address.clone(),
            user: host.user.clone(),
            port: host.port,
            roles: host.roles.clone(),
            vars: host
                .vars
                .iter()
                .filter(|(k, _)| !elsewhere.contains(&k.as_str()))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
        })
        .collect()
}

/// Gives every machine without roles the role of a worker. If no machine has a role, the first one also becomes a control
/// plane; of three or more machines, the first three do. If no machine has the etcd role, an odd number of control planes
/// get it.
pub fn give_roles(machines: &mut [Machine]) {
    let planes = if machines.len() < 3 { 1 } else { 3 };
    let no_roles = machines.iter().all(|m| m.roles.is_empty());
    for (index, machine) in machines.iter_mut().enumerate() {
        if machine.roles.is_empty() {
            machine.roles =
                if no_roles && index < planes { vec![Role::ControlPlane, Role::Worker] } else { vec![Role::Worker] };
        }
    }
    if machines.iter().any(|m| m.roles.contains(&Role::Etcd)) {
        return;
    }
    // Two etcd members tolerate no more failures than one, and kubespray refuses an even number.
    let members = machines.iter().filter(|m| m.roles.contains(&Role::ControlPlane)).count();
    let members = if members.is_multiple_of(2) { members.saturating_sub(1) } else { members };
    for machine in machines.iter_mut().filter(|m| m.roles.contains(&Role::ControlPlane)).take(members) {
        machine.roles.push(Role::Etcd);
    }
}

/// A field of a machine that is refused, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub field: &'static str,
    pub message: String,
}

impl Machine {
    /// What is wrong with this machine, apart from the others.
    pub(crate) fn check(&self) -> Vec<Refused> {
        let mut refused = Vec::new();
        let mut refuse = |field, message| refused.push(Refused { field, message });
        if let Err(why) = NodeName::parse(&self.name) {
            refuse("name", why);
        }
        if let Some(Err(why)) = self.address.as_deref().map(Address::parse) {
            refuse("address", why);
        }
        if let Some(Err(why)) = self.user.as_deref().map(Login::parse) {
            refuse("user", why);
        }
        if self.port == Some(0) {
            refuse("port", "Port 0 does not exist. Ports are numbers from 1 to 65535.".into());
        }
        refused
    }
}

/// Finds machines that appear twice: with the same name, or with the same address and port.
#[derive(Default)]
pub(crate) struct Seen {
    names: HashMap<String, usize>,
    addresses: HashMap<(String, u16), usize>,
}

impl Seen {
    /// Adds the machine at `place` (a line or row). The error is the field that it shares with an earlier machine, and that
    /// machine's place.
    pub(crate) fn note(&mut self, machine: &Machine, place: usize) -> Result<(), (Refused, usize)> {
        let twice = |field, what: &str| Refused { field, message: format!("{what} appears twice") };
        if let Some(&earlier) = self.names.get(&machine.name) {
            return Err((twice("name", &format!("The name {}", quoted(&machine.name))), earlier));
        }
        self.names.insert(machine.name.clone(), place);
        if let Some(address) = &machine.address {
            let key = (address.to_ascii_lowercase(), machine.port.unwrap_or(22));
            if let Some(&earlier) = self.addresses.get(&key) {
                return Err((twice("address", &format!("The address {}", quoted(address))), earlier));
            }
            self.addresses.insert(key, place);
        }
        Ok(())
    }
}
