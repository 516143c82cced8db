//! Warnings about an inventory that is valid but will make a run fail. Shown before the run.

use std::collections::HashMap;

use api::input::Value;
use api::machine::NodeName;

use crate::inventory::{Inventory, Role};
use crate::vars::Vars;

/// The playbooks that an advice is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceFor {
    Kubespray,
    /// Those of the built-in engine.
    BuiltIn,
    /// Those that may have nothing to do with Kubernetes, such as a ping.
    Others,
}

/// What will make ansible or a playbook for Kubernetes fail with this inventory. Sentences, the worst first.
#[must_use]
pub fn advice(inventory: &Inventory) -> Vec<String> {
    advice_for(AdviceFor::Kubespray, inventory)
}

/// As [`advice`], without what doesn't concern these playbooks.
#[must_use]
pub fn advice_for(playbooks: AdviceFor, inventory: &Inventory) -> Vec<String> {
    let mut advice = Vec::new();
    if playbooks != AdviceFor::Others && inventory.control_plane().is_empty() {
        let meant = meant_as_control_plane(inventory).unwrap_or_default();
        advice.push(format!("Group kube_control_plane has no host. A Kubernetes cluster needs at least one.{meant}"));
    }
    if playbooks == AdviceFor::Kubespray {
        advice.extend(on_etcd(inventory));
    }
    advice.extend(not_nodes(inventory));
    advice.extend(same_address(inventory));
    advice.extend(inventory.warnings.iter().cloned());
    advice
}

fn on_etcd(inventory: &Inventory) -> Vec<String> {
    let mut advice = Vec::new();
    let etcd = inventory.etcd();
    let members = etcd.len();
    if members > 0 && members.is_multiple_of(2) {
        advice.push(format!(
            "etcd has {members} members. Kubespray refuses an even number, which tolerates no more failures than {}.",
            members - 1
        ));
    }
    if members > 1 {
        let unnamed: Vec<_> = etcd.iter().filter(|h| !h.vars.contains_key("etcd_member_name")).collect();
        if let Some(first) = unnamed.first() {
            advice.push(format!(
                "{} of {members} etcd members (first: {}) have no etcd_member_name. Kubespray then numbers them by \
                 position, and renames them when the order of hosts changes.",
                unnamed.len(),
                first.name
            ));
        }
    }
    advice
}

/// A hint at a group whose name is nearly that of the control planes, such as `masters` or `kube-control-plane`.
fn meant_as_control_plane(inventory: &Inventory) -> Option<String> {
    let is_meant = |name: &str| Role::from_word(name.trim_end_matches('s')) == Some(Role::ControlPlane);
    let group = inventory.groups.iter().find(|group| group.name != "kube_control_plane" && is_meant(&group.name))?;
    Some(format!(" If group {} is meant, rename it to kube_control_plane.", group.name))
}

fn not_nodes(inventory: &Inventory) -> Option<String> {
    let odd: Vec<_> = inventory.hosts.iter().filter(|h| NodeName::parse(&h.name).is_err()).collect();
    let first = odd.first()?;
    let others = if odd.len() > 1 { format!(" (and {} more)", odd.len() - 1) } else { String::new() };
    Some(format!(
        "Host {}{others} can't be a Kubernetes node: a node's name has only lower-case letters, digits, “-” and “.”.",
        first.name
    ))
}

fn same_address(inventory: &Inventory) -> Vec<String> {
    let mut seen: HashMap<(&str, Option<u16>), &str> = HashMap::new();
    let mut twice = Vec::new();
    let vars = Vars::new();
    for host in inventory.hosts.iter().filter(|h| !h.reached(&vars).is_local()) {
        let Some(address) = host.address.as_deref().filter(|a| !a.contains("{{")) else { continue };
        match seen.get(&(address, host.port)) {
            Some(other) => twice.push(format!("{other} and {} have the same address, {address}.", host.name)),
            None => _ = seen.insert((address, host.port), &host.name),
        }
    }
    twice.truncate(5);
    twice
}
