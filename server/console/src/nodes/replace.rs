//! Replaces a node: for a worker, one operation adds a new machine and then removes the node. A control plane is removed first; then one
//! change of the inventory exchanges both machines, and an operation adds the new one.

use std::sync::Arc;

use api::cluster::{LastReplacement, NodeRow, Replacement, ReplacementStep};
use api::operation::Phase;
use api::{ClusterName, Problem, User};
use crd::ClusterOperation;
use inventory::{Inventory, Role, Vars};
use kube::ResourceExt;

use super::remove::consequences;
use super::{inventory_of, refuse_hosted, refused};
use crate::Console;
use crate::configuration::Inputs;
use crate::operations::{limited_to, phase, replaces};

impl Console {
    /// How `node` is replaced; changes nothing.
    pub(super) async fn plan_replacement(
        &self,
        user: &User,
        name: &ClusterName,
        node: &str,
    ) -> Result<Replacement, Problem> {
        self.may_see(user).await?;
        let cluster = self.cluster(user, name).await?;
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        let (_, inventory) = inventory_of(&inputs)?;
        refuse_hosted(&cluster, node)?;
        let operations = self.shared.operations.state();
        let removed_by = self.removed_by(&operations, name.as_str(), node);
        if is_control_plane(&inventory, node)? {
            if removed_by.is_none() {
                consequences(&inventory, node, false).map_err(refused)?;
                let members = if inventory.etcd().is_empty() { inventory.control_plane() } else { inventory.etcd() };
                if members.iter().any(|host| host.name == node) && members.len().is_multiple_of(2) {
                    return Err(refused(format!(
                        "{node} is one of {} members of etcd, which needs an odd number. Remove it, also from the inventory, and add control planes so that their number is odd.",
                        members.len()
                    )));
                }
            }
            let works = inventory.host(node).is_some_and(|host| host.roles.contains(&Role::Worker));
            return Ok(Replacement::ControlPlane { removed_by, works });
        }
        // After a replacement that succeeded, this node was added again: its name is now that of another machine.
        let newest = newest(&operations, name.as_str(), node, &inventory)
            .filter(|(operation, _)| removed_by.is_some() || phase(operation) != Phase::Succeeded);
        let vars = inputs.vars_or_none();
        let last = newest.map(|newest| self.last(name, node, newest, (&inventory, &vars), removed_by.is_some()));
        Ok(Replacement::Worker { last: last.transpose()? })
    }

    fn last(
        &self,
        cluster: &ClusterName,
        node: &str,
        (operation, machine): (&ClusterOperation, String),
        (inventory, vars): (&Inventory, &Vars),
        is_removed: bool,
    ) -> Result<LastReplacement, Problem> {
        let rows = self.live_rows(cluster, inventory, vars);
        let is_node = |host: &str| {
            let is_it = |row: &NodeRow| row.in_inventory && row.name == host && row.live.is_some();
            rows.as_ref().map(|rows| rows.iter().any(is_it))
        };
        let seen = Seen { joined: is_node(&machine), stayed: is_node(node), is_removed };
        let phase = phase(operation);
        let (state, next) = state(phase, node, &machine, seen);
        let by = operation.name_any().parse().map_err(|_| Problem::Internal)?;
        Ok(LastReplacement { by, phase, machine, state, next })
    }
}

/// Whether the host is a control plane. An error if it is not in the inventory, or runs only etcd.
pub(super) fn is_control_plane(inventory: &Inventory, node: &str) -> Result<bool, Problem> {
    let host = inventory.host(node).ok_or_else(|| Problem::NotFound {
        what: "host of the inventory".into(),
        name: node.chars().take(80).collect(),
    })?;
    let is_plane = host.roles.contains(&Role::ControlPlane);
    if !is_plane && host.roles.contains(&Role::Etcd) {
        return Err(refused(format!(
            "{node} runs etcd and no control plane, so this page can't replace it. Change the group etcd of the inventory by hand, as kubespray's documentation says."
        )));
    }
    Ok(is_plane)
}

/// The newest operation that replaces `node` by a machine that is still in the inventory, and that machine.
fn newest<'o>(
    operations: &'o [Arc<ClusterOperation>],
    cluster: &str,
    node: &str,
    inventory: &Inventory,
) -> Option<(&'o ClusterOperation, String)> {
    let own = operations.iter().map(Arc::as_ref).filter(|o| o.spec.cluster == cluster && replaces(o, node));
    let newest = own.max_by(|a, b| operation::order(a, b))?;
    let machine = limited_to(newest).into_iter().find(|name| inventory.host(name).is_some())?;
    Some((newest, machine))
}

/// What is known about the two machines. `None` if the cluster can't be read.
#[derive(Clone, Copy)]
struct Seen {
    /// The new machine is a node.
    joined: Option<bool>,
    /// The old one is a node.
    stayed: Option<bool>,
    /// A run has removed the old one.
    is_removed: bool,
}

/// The state of a replacement in sentences, and what continues it.
fn state(phase: Phase, node: &str, machine: &str, seen: Seen) -> (Vec<String>, ReplacementStep) {
    if seen.is_removed {
        let done =
            format!("{machine} has joined, and {node} was removed from the cluster. {node} is still in the inventory.");
        return (vec![done], ReplacementStep::Forget);
    }
    if !phase.is_final() {
        let plan = format!("{machine} joins the cluster. When that has succeeded, {node} is removed from it.");
        return (vec![plan], ReplacementStep::Wait);
    }
    let new = match seen.joined {
        Some(true) => format!("{machine} is a node of the cluster."),
        Some(false) => format!("{machine} is in the inventory, but not a node of the cluster."),
        None => format!(
            "{machine} is in the inventory. The cluster can't be read now, so it isn't known whether it has joined."
        ),
    };
    let old = seen.stayed.map(|stayed| {
        if stayed {
            format!("{node} is still a node.")
        } else {
            format!("{node} is no longer a node, but its machine may not be clean.")
        }
    });
    // The playbook that adds nodes changes nothing on those that have joined, so repeating the whole operation is safe.
    let next = if seen.joined == Some(true) { ReplacementStep::Remove } else { ReplacementStep::Repeat };
    (std::iter::once(new).chain(old).collect(), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_continues_where_it_stopped() {
        let of = |phase, joined, stayed, is_removed| {
            let (sentences, next) = state(phase, "w1", "w9", Seen { joined, stayed, is_removed });
            (sentences.join(" "), next)
        };
        assert_eq!(of(Phase::Queued, None, None, false).1, ReplacementStep::Wait);
        let (text, next) = of(Phase::Failed, Some(false), Some(true), false);
        assert_eq!((text.contains("but not a node"), next), (true, ReplacementStep::Repeat));
        let (text, next) = of(Phase::Failed, Some(true), Some(true), false);
        assert_eq!((text.contains("w1 is still a node"), next), (true, ReplacementStep::Remove));
        let (text, next) = of(Phase::Cancelled, None, None, false);
        assert_eq!((text.contains("can't be read"), next), (true, ReplacementStep::Repeat), "repeating is safe");
        assert_eq!(of(Phase::Succeeded, None, None, true).1, ReplacementStep::Forget);
    }
}
