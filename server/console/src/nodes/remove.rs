//! Removes a node: first from the cluster, by an operation; then, if that succeeded, from the inventory.

use std::collections::HashMap;
use std::sync::Arc;

use api::backend::Configurations;
use api::cluster::{LiveNode, LiveState, NodeRow, Removal, ReviewedRemoval};
use api::configuration::{ChangeReview, Document};
use api::operation::{Action, NewOperation};
use api::{ClusterName, OperationName, Problem, User};
use crd::Cluster;
use inventory::{Inventory, Role, Vars};
use kube::ResourceExt;
use managed::Reading;

use super::evictions::sentences;
use super::{inventory_of, refuse_hosted, refused, stale, unusable};
use crate::Console;
use crate::clusters::{join, rows};
use crate::configuration::Inputs;
use crate::documents::{read_inventory, read_variables};
use crate::operations::named_in;

impl Console {
    /// What removing `node` takes now; changes nothing. With `gone`, the machine can't be reached any more.
    pub(super) async fn plan_removal(
        &self,
        user: &User,
        name: &ClusterName,
        node: &str,
        gone: bool,
    ) -> Result<Removal, Problem> {
        self.may_see(user).await?;
        let cluster = self.cluster(user, name).await?;
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        let hosts = inputs.hosts.usable().map_err(|why| unusable(Document::Inventory, &why))?;
        let vars = inputs.vars.usable().map_err(|why| unusable(Document::Variables, &why))?;
        let parsed = read_inventory(hosts).map_err(|why| unusable(Document::Inventory, &why))?;
        if parsed.host(node).is_none() {
            return Err(Problem::NotFound {
                what: "host of the inventory".into(),
                name: node.chars().take(80).collect(),
            });
        }
        if let Some(by) = self.removed_by(&self.shared.operations.state(), name.as_str(), node) {
            let text = inventory::remove_hosts(hosts, &[node]).map_err(refused)?;
            let after = read_inventory(&text).map_err(|why| unusable(Document::Inventory, &why))?;
            let change = ChangeReview {
                summary: inventory::diff::summary(&parsed, &after),
                lines: inventory::diff::lines(hosts, &text, 3),
                warnings: Vec::new(),
                version: inputs.hosts.version(),
            };
            let roles = parsed.host(node).map(|host| host.roles.as_slice()).unwrap_or_default();
            let control_plane = roles.contains(&Role::ControlPlane);
            return Ok(Removal::FromInventory { by, change, control_plane });
        }
        refuse_hosted(&cluster, node)?;
        let variables = read_variables(vars).map_err(|why| unusable(Document::Variables, &why))?;
        let (consequences, live) = self.consequences(&cluster, &parsed, &variables, node, gone).await?;
        let not_ready = live
            .filter(|live| !live.ready)
            .map(|live| if live.note.is_empty() { "The cluster doesn't say why.".into() } else { live.note });
        let operation = self.review_with_inputs(user, &removal(name, node, gone)?, &cluster, hosts, vars)?;
        Ok(Removal::FromCluster { consequences, gone, not_ready, operation })
    }

    /// What removing `node` means, as sentences, and the node as the cluster was last read.
    pub(super) async fn consequences(
        &self,
        cluster: &Cluster,
        inventory: &Inventory,
        vars: &Vars,
        node: &str,
        gone: bool,
    ) -> Result<(Vec<String>, Option<LiveNode>), Problem> {
        let mut sentences = consequences(inventory, node, gone).map_err(refused)?;
        let name: ClusterName = cluster.name_any().parse().map_err(|_| Problem::Internal)?;
        let live = self.live_node(&name, inventory, vars, node);
        if !gone {
            sentences.extend(match &live {
                Ok(live) => self.evicted(cluster, &live.name).await,
                Err(why) => vec![why.clone()],
            });
        }
        Ok((sentences, live.ok()))
    }

    /// The node of the host `node`, if the last attempt to read the cluster succeeded. Their names may differ. The error is a sentence.
    fn live_node(
        &self,
        cluster: &ClusterName,
        inventory: &Inventory,
        vars: &Vars,
        node: &str,
    ) -> Result<LiveNode, String> {
        let Some(rows) = self.live_rows(cluster, inventory, vars) else {
            return Err("The cluster can't be read now, so the pods on the node aren't known.".into());
        };
        let live = rows.into_iter().find(|row| row.in_inventory && row.name == node).and_then(|row| row.live);
        live.ok_or_else(|| "The cluster has no node with this name or address, so its pods aren't known.".into())
    }

    /// Hosts and nodes; `None` unless the last attempt to read the cluster succeeded.
    pub(super) fn live_rows(&self, cluster: &ClusterName, inventory: &Inventory, vars: &Vars) -> Option<Vec<NodeRow>> {
        let reading = self.shared.managed.newest(cluster.as_str());
        let is_current =
            |reading: &Arc<Reading>| matches!(reading.cluster.state, LiveState::Healthy | LiveState::Unhealthy);
        let reading = reading.filter(is_current)?;
        Some(join(rows(inventory, vars, &HashMap::new()), &reading.nodes))
    }

    /// What evicting the pods of the node would meet. `node` is its name in the cluster.
    async fn evicted(&self, cluster: &Cluster, node: &str) -> Vec<String> {
        match self.shared.managed.evictions(cluster, node).await {
            Ok(found) => sentences(node, &found),
            Err(why) => vec![format!("The pods on {node} can't be read. {why}")],
        }
    }

    /// Submits the operation that removes the node from the cluster.
    pub(super) async fn remove_node(
        &self,
        user: &User,
        name: &ClusterName,
        node: &str,
        reviewed: &ReviewedRemoval,
    ) -> Result<OperationName, Problem> {
        let cluster = self.cluster(user, name).await?;
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        let (_, parsed) = inventory_of(&inputs)?;
        refuse_hosted(&cluster, node)?;
        consequences(&parsed, node, reviewed.gone).map_err(refused)?;
        let operation = removal(name, node, reviewed.gone)?.as_reviewed(&reviewed.made_name, &reviewed.expected_inputs);
        self.submit_operation(user, &operation).await
    }

    /// Removes the node from the inventory. Refused unless a run has removed it from the cluster.
    pub(super) async fn forget_node(
        &self,
        user: &User,
        name: &ClusterName,
        node: &str,
        version: &str,
    ) -> Result<(), Problem> {
        let cluster = self.cluster(user, name).await?;
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        let (hosts, parsed) = inventory_of(&inputs)?;
        if parsed.host(node).is_none() {
            return Ok(()); // By an earlier click.
        }
        if self.removed_by(&self.shared.operations.state(), name.as_str(), node).is_none() {
            let message = format!("{node} may be part of the cluster. Remove it from the cluster first.");
            return Err(refused(message));
        }
        let text = inventory::remove_hosts(hosts, &[node]).map_err(refused)?;
        Configurations::save(self, user, name, Document::Inventory, version, &text).await.map(drop).map_err(stale)
    }
}

fn removal(cluster: &ClusterName, node: &str, gone: bool) -> Result<NewOperation, Problem> {
    let parameters = named_in(operation::REMOVE_NODES, node).ok_or(Problem::Internal)?;
    let action = Action::Builtin { playbook: operation::REMOVE_NODES.into(), parameters: Some(parameters) };
    let arguments = if gone { operation::WITHOUT_MACHINE.map(str::to_owned).to_vec() } else { Vec::new() };
    Ok(NewOperation { arguments, ..NewOperation::new(cluster.clone(), action) })
}

/// What a user has to know first, as sentences. The error says why the node can't be removed.
pub(super) fn consequences(inventory: &Inventory, node: &str, gone: bool) -> Result<Vec<String>, String> {
    let with = |role: Role| inventory.with_role(role).into_iter().map(|host| host.name.as_str()).collect::<Vec<_>>();
    let (planes, workers, mut members) = (with(Role::ControlPlane), with(Role::Worker), with(Role::Etcd));
    // Without the group `etcd`, the control planes run it.
    if members.is_empty() {
        members.clone_from(&planes);
    }
    if planes == [node] {
        return Err(format!(
            "{node} is the only control plane, so removing it would end the cluster. To remove the whole cluster, run {}.",
            operation::RESET
        ));
    }
    if planes.first() == Some(&node) {
        return Err(format!(
            "{node} is the first control plane, and the playbooks work through it. Move another one to the first place of kube_control_plane in the inventory, then remove {node}."
        ));
    }
    let (pods, machine) = if gone {
        (
            format!(
                "The pods on {node} count as lost and start on other nodes, if these have room. Pods that still run on the machine can't be stopped: two of one StatefulSet may write to the same volume."
            ),
            "The operation doesn't log in to the machine. Kubernetes stays on it, so erase the machine before you start it again in this network.",
        )
    } else {
        (
            format!(
                "The pods on {node} are evicted and start on other nodes, if these have room. Data in emptyDir and hostPath volumes is lost. If a PodDisruptionBudget doesn't allow the eviction, the operation fails and names it; the node stays in the cluster."
            ),
            "Kubernetes and its data are deleted from the machine.",
        )
    };
    let then =
        "The machine stays in the inventory. When the operation has succeeded, the console offers to remove it there.";
    let mut sentences = vec![pods, format!("{machine} {then}")];
    if workers == [node] {
        sentences.push("It is the last worker. Pods that the control planes don't accept have to wait.".into());
    }
    if members.contains(&node) {
        let left = members.len() - 1;
        let failures = left.saturating_sub(1) / 2;
        sentences.push(format!(
            "It is a member of etcd. With {}, the cluster survives the failure of {}.",
            api::count(left as u64, "member left", "members left"),
            if failures == 0 { "none of them".into() } else { format!("{failures} of them") }
        ));
    }
    Ok(sentences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_or_first_control_plane_can_not_be_removed() {
        let inventory = |planes: &str| {
            let groups = format!("kube_control_plane: {{hosts: {{{planes}}}}}\nkube_node: {{hosts: {{w1: }}}}\n");
            inventory::parse(&groups).unwrap()
        };
        assert!(consequences(&inventory("m1: "), "m1", false).unwrap_err().contains("only control plane"));
        assert!(consequences(&inventory("m1: , m2: , m3: "), "m1", false).unwrap_err().contains("first control plane"));
        let of_three = consequences(&inventory("m1: , m2: , m3: "), "m2", false).unwrap();
        assert!(of_three.last().unwrap().contains("2 members left, the cluster survives the failure of none"));
        let last_worker = consequences(&inventory("m1: "), "w1", true).unwrap();
        assert!(last_worker.last().unwrap().contains("last worker"));
        assert!(last_worker[1].starts_with("The operation doesn't log in"), "{last_worker:?}");
    }
}
