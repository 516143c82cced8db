//! The hosts of the inventory that are nodes, in the order in which they are upgraded.

use std::collections::HashMap;

use api::cluster::LiveNode;
use inventory::{Inventory, Role, Vars};
use managed::Reading;

use crate::clusters::{join, rows};

/// A host that is, or should be, a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) roles: Vec<String>,
    pub(super) control_plane: bool,
    /// As the cluster was last read; `None` if it wasn't read or doesn't have the node.
    pub(super) live: Option<LiveNode>,
}

/// The control planes, then the workers, each in the order of their group; and the nodes that only the cluster has.
pub(super) fn members(inventory: &Inventory, vars: &Vars, reading: &Reading) -> (Vec<Member>, Vec<LiveNode>) {
    let joined = join(rows(inventory, vars, &HashMap::new()), &reading.nodes);
    let (ours, others): (Vec<_>, Vec<_>) = joined.into_iter().partition(|row| row.in_inventory);
    let mut live: HashMap<String, LiveNode> = ours.into_iter().filter_map(|row| Some((row.name, row.live?))).collect();
    let planes = inventory.with_role(Role::ControlPlane);
    let workers = inventory.with_role(Role::Worker);
    let only_workers = workers.into_iter().filter(|host| !host.roles.contains(&Role::ControlPlane));
    let member = |host: &inventory::Host| Member {
        name: host.name.clone(),
        roles: host.roles.iter().map(ToString::to_string).collect(),
        control_plane: host.roles.contains(&Role::ControlPlane),
        live: live.remove(&host.name),
    };
    let members = planes.into_iter().chain(only_workers).map(member).collect();
    (members, others.into_iter().filter_map(|row| row.live).collect())
}

/// The names of the control planes, or of the other nodes.
pub(super) fn names(members: &[Member], control_planes: bool) -> Vec<&str> {
    let wanted = members.iter().filter(|member| member.control_plane == control_planes);
    wanted.map(|member| member.name.as_str()).collect()
}
