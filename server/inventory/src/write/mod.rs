//! Writes an inventory as a person would.

pub(crate) mod scalar;

use std::fmt::Write as _;

use scalar::{scalar, value};
use serde_json::Value;

use crate::inventory::Role;
use crate::machine::Machine;
use crate::vars::Vars;

/// The machines as an inventory for kubespray: the hosts with their connection, then the groups of their roles.
///
/// Every etcd member gets an `etcd_member_name`. Without it, kubespray numbers members by position, and renames them when
/// the order changes. Every text that YAML could read as another value is quoted.
#[must_use]
pub fn write(machines: &[Machine]) -> String {
    let mut out = String::from("all:\n  hosts:\n");
    let mut members = Members::of(machines);
    for machine in machines {
        let mut vars = connection(machine);
        vars.extend(machine.vars.clone());
        if machine.roles.contains(&Role::Etcd) && !vars.contains_key(MEMBER) {
            vars.insert(MEMBER.into(), members.free_name().into());
        }
        line(&mut out, 2, &machine.name, None);
        for (name, value) in &vars {
            line(&mut out, 3, name, Some(value));
        }
    }
    out.push_str("  children:\n");
    for role in Role::ALL {
        let with_role: Vec<_> = machines.iter().filter(|m| m.roles.contains(&role)).collect();
        let cluster = matches!(role, Role::ControlPlane | Role::Worker | Role::Etcd);
        if with_role.is_empty() && !cluster {
            continue;
        }
        line(&mut out, 2, role.group(), None);
        line(&mut out, 3, "hosts", None);
        for machine in with_role {
            line(&mut out, 4, &machine.name, None);
        }
    }
    out.push_str("    k8s_cluster:\n      children:\n        kube_control_plane:\n        kube_node:\n");
    out
}

const MEMBER: &str = "etcd_member_name";

pub(crate) fn connection(machine: &Machine) -> Vars {
    let mut vars = Vars::new();
    if let Some(address) = &machine.address {
        vars.insert("ansible_host".into(), address.clone().into());
    }
    if let Some(port) = machine.port {
        vars.insert("ansible_port".into(), port.into());
    }
    if let Some(user) = &machine.user {
        vars.insert("ansible_user".into(), user.clone().into());
    }
    vars
}

fn line(out: &mut String, level: usize, key: &str, of: Option<&Value>) {
    let _ = write!(out, "{:indent$}{}:", "", scalar(key), indent = level * 2);
    if let Some(of) = of {
        let _ = write!(out, " {}", value(of));
    }
    out.push('\n');
}

/// The names of etcd members.
struct Members<'m> {
    taken: Vec<&'m str>,
    next: usize,
}

impl<'m> Members<'m> {
    fn of(machines: &'m [Machine]) -> Self {
        let taken = machines.iter().filter_map(|m| m.vars.get(MEMBER)?.as_str()).collect();
        Self { taken, next: 1 }
    }

    fn free_name(&mut self) -> String {
        loop {
            let name = format!("etcd{}", self.next);
            self.next += 1;
            if !self.taken.contains(&name.as_str()) {
                return name;
            }
        }
    }
}
