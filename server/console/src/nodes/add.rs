//! Adds machines as workers and control planes.

use api::backend::Configurations;
use api::cluster::{NewNodes, NodesReview};
use api::configuration::{ChangeReview, Document};
use api::machine::MachineRole;
use api::operation::{NewOperation, ThenRemove};
use api::{ClusterName, FieldProblem, OperationName, Problem, User};
use crd::{Cluster, Engine};
use inventory::{Inventory, Machine, Role};
use kube::ResourceExt;

use super::joining::{self, Joining, is_control_plane};
use super::replace::is_control_plane as is_control_plane_of;
use super::{half_done, inventory_of, refuse_hosted, refused, stale, unusable};
use crate::Console;
use crate::clusters::machines;
use crate::configuration::Inputs;
use crate::documents::{read_inventory, read_variables};
use crate::operations::several;
use crate::other_clusters::{MachineClaim, OtherClusters};

impl Console {
    /// Reads, checks and asks the machines; changes nothing.
    pub(super) async fn review_nodes(
        &self,
        user: &User,
        name: &ClusterName,
        new: &NewNodes,
    ) -> Result<NodesReview, Problem> {
        let (machines, rows) = checked(new)?;
        let cluster = self.cluster(user, name).await?;
        self.refuse_wrong_engine(&cluster)?;
        let hosted = cluster.spec.hosted.is_some();
        if hosted {
            only_workers(&machines, &rows)?;
        }
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        let hosts = inputs.hosts.usable().map_err(|why| unusable(Document::Inventory, &why))?;
        let vars = inputs.vars.usable().map_err(|why| unusable(Document::Variables, &why))?;
        let parsed = read_inventory(hosts).map_err(|why| unusable(Document::Inventory, &why))?;
        let variables = read_variables(vars).map_err(|why| unusable(Document::Variables, &why))?;
        let replaced = self.replaced(&cluster, new, &machines, &parsed, &rows)?;
        let Change { text, before, after } = change(hosts, &machines, &rows, replaced.as_ref())?;
        self.refuse_removed(name, &machines, &before)?;
        let engine = self.engine_of(&cluster);
        let joining = Joining { machines: &machines, before: &before, after: &after, vars: &variables, engine, hosted };
        refuse(&joining, &rows)?;
        let names: Vec<String> = machines.iter().map(|machine| machine.name.clone()).collect();
        let others = self.compare_machines(user, name.as_str(), (&after, &variables), &names).await?;
        refuse_claimed_machines(&others, &names, &rows)?;
        let mut consequences = joining.consequences();
        match &replaced {
            Some(Replaced::Worker(old)) => {
                consequences
                    .push(format!("{} joins first. Only when that has succeeded, {old} is removed.", machines[0].name));
                consequences.extend(self.consequences(&cluster, &after, &variables, old, new.gone).await?.0);
            }
            Some(Replaced::ControlPlane(old)) if machines[0].name == *old => consequences.push(format!(
                "{old} is another machine from now on. If a load balancer sends requests to the old one, exchange its address there, too."
            )),
            Some(Replaced::ControlPlane(old)) => consequences.push(format!(
                "{old} leaves the inventory. If a load balancer sends requests to it, remove it there, too."
            )),
            None => {}
        }
        let submitted = with_removal(
            joining::operation(name, &machines, &after, &variables, engine, hosted),
            replaced.as_ref(),
            new.gone,
        );
        let keys = self.asked(user, name, &cluster, (&after, &variables), &names).await?;
        let warnings = [
            keys.warnings,
            others.same_keys(&keys.machines),
            self.same_machine_ids(name.as_str(), &others, &keys.machine_ids),
            others.incomplete().into_iter().collect(),
        ];
        let operation = self.review_with_inputs(user, &submitted, &cluster, &text, vars)?;
        // A machine that can't be reached stays as it is.
        let reset = submitted.then_remove.as_ref().filter(|then| !then.gone).map(|then| then.node.as_str());
        Ok(NodesReview {
            change: ChangeReview {
                summary: inventory::diff::summary(&parsed, &after),
                lines: inventory::diff::lines(hosts, &text, 3),
                // The review of the operation has them.
                warnings: Vec::new(),
                version: inputs.hosts.version(),
            },
            names,
            replaces: match replaced {
                Some(Replaced::Worker(old)) => old,
                _ => String::new(),
            },
            consequences,
            others: joining.others(&submitted.limit, reset),
            keys: keys.machines,
            host_keys: keys.text,
            host_keys_version: keys.version,
            warnings: warnings.concat(),
            operation,
        })
    }

    /// Saves host keys and inventory, then submits the operation. Each step can be repeated.
    pub(super) async fn add_nodes(
        &self,
        user: &User,
        name: &ClusterName,
        new: &NewNodes,
    ) -> Result<OperationName, Problem> {
        let (machines, rows) = checked(new)?;
        let cluster = self.cluster(user, name).await?;
        self.refuse_wrong_engine(&cluster)?;
        let hosted = cluster.spec.hosted.is_some();
        if hosted {
            only_workers(&machines, &rows)?;
        }
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        let (hosts, parsed) = inventory_of(&inputs)?;
        let engine = self.engine_of(&cluster);
        let exchanges = !new.replaces.is_empty() && machines.iter().any(is_control_plane);
        // An earlier try may have saved the inventory without submitting the operation. A machine that replaces one of its own name is there
        // before, too.
        let is_saved = if exchanges {
            let vars = inputs.vars.usable().map_err(|why| unusable(Document::Variables, &why))?;
            crd::inputs_sha256(hosts, vars) == new.expected_inputs
        } else {
            machines.iter().all(|machine| is_there(machine, &parsed))
        };
        let replaced = match exchanges && is_saved {
            true => None,
            false => self.replaced(&cluster, new, &machines, &parsed, &rows)?,
        };
        let mut after = parsed.clone();
        if !is_saved {
            let known = if exchanges { Vec::new() } else { already_there(&machines, &parsed, &rows) };
            if !known.is_empty() {
                return Err(several(known));
            }
            if !inputs.hosts.is_at(&new.version) {
                return Err(refused("The inventory was changed since this was reviewed. Review it again.".into()));
            }
            let changed = change(hosts, &machines, &rows, replaced.as_ref())?;
            let (text, before) = (changed.text, changed.before);
            after = changed.after;
            self.refuse_removed(name, &machines, &before)?;
            let vars = inputs.vars_or_none();
            let joining = Joining { machines: &machines, before: &before, after: &after, vars: &vars, engine, hosted };
            refuse(&joining, &rows)?;
            let names: Vec<String> = machines.iter().map(|machine| machine.name.clone()).collect();
            let others = self.compare_machines(user, name.as_str(), (&after, &vars), &names).await?;
            refuse_claimed_machines(&others, &names, &rows)?;
            if !new.host_keys.is_empty() {
                let (version, keys) = (&new.host_keys_version, &new.host_keys);
                Configurations::save(self, user, name, Document::HostKeys, version, keys).await.map_err(stale)?;
            }
            Configurations::save(self, user, name, Document::Inventory, &new.version, &text).await.map_err(stale)?;
        }
        let vars = inputs.vars_or_none();
        let operation = joining::operation(name, &machines, &after, &vars, engine, hosted);
        let operation =
            with_removal(operation, replaced.as_ref(), new.gone).as_reviewed(&new.made_name, &new.expected_inputs);
        self.submit_operation(user, &operation).await.map_err(|problem| {
            let playbook = match machines.iter().any(is_control_plane) {
                _ if hosted => operation::JOIN,
                true => operation::CREATE,
                false => operation::ADD_NODES,
            };
            let message = format!(
                "The machines are in the inventory now, but the operation was not submitted. {problem} Press the button again, or run {playbook} limited to them.",
            );
            half_done(&problem, message)
        })
    }
}

/// The node that a machine replaces.
enum Replaced {
    /// The operation removes it when the machine has joined.
    Worker(String),
    /// A run has removed it from the cluster. It leaves the inventory.
    ControlPlane(String),
}

impl Console {
    /// An error if control planes join while the inventory has one that a run has removed: it would join again, and counts as a member of
    /// etcd.
    fn refuse_removed(&self, name: &ClusterName, machines: &[Machine], before: &Inventory) -> Result<(), Problem> {
        if !machines.iter().any(is_control_plane) {
            return Ok(());
        }
        let operations = self.shared.operations.state();
        let is_removed = |host: &&&inventory::Host| self.removed_by(&operations, name.as_str(), &host.name).is_some();
        match before.control_plane().iter().find(is_removed) {
            None => Ok(()),
            Some(host) => Err(refused(format!(
                "{} was removed from the cluster and is still in the inventory. Remove it there first, or it would join again.",
                host.name
            ))),
        }
    }

    /// The node that the machine replaces, if it does. An error if this form can't do so.
    fn replaced(
        &self,
        cluster: &Cluster,
        new: &NewNodes,
        machines: &[Machine],
        inventory: &Inventory,
        rows: &[usize],
    ) -> Result<Option<Replaced>, Problem> {
        let old = new.replaces.trim();
        if old.is_empty() {
            return Ok(None);
        }
        refuse_hosted(cluster, old)?;
        let wrong =
            |machine, of, message| Err(several(vec![FieldProblem { field: field(rows, machine, of), message }]));
        let is_plane = is_control_plane_of(inventory, old)?;
        if machines.len() != 1 {
            return wrong(1, "name", format!("Name one other machine, which replaces {old}."));
        }
        if is_plane {
            if self.removed_by(&self.shared.operations.state(), &cluster.name_any(), old).is_none() {
                return Err(refused(format!("{old} is a control plane. Remove it from the cluster first.")));
            }
            if !is_control_plane(&machines[0]) {
                return wrong(0, "role", format!("{old} is a control plane, so a control plane replaces it."));
            }
            return Ok(Some(Replaced::ControlPlane(old.to_owned())));
        }
        if new.gone && self.engine_of(cluster) == Engine::Kubespray {
            return Err(refused(format!(
                "kubespray gathers the facts of all machines before one joins, so this fails while {old} can't be reached. Remove {old} first, then add the new machine."
            )));
        }
        if machines[0].name == old {
            return wrong(0, "name", format!("Name one other machine, which replaces {old}."));
        }
        if is_control_plane(&machines[0]) {
            let message = format!("{old} is a worker, so a worker replaces it. Add control planes on the Nodes tab.");
            return wrong(0, "name", message);
        }
        Ok(Some(Replaced::Worker(old.to_owned())))
    }
}

/// A change of the inventory.
#[derive(Debug)]
struct Change {
    text: String,
    /// Without a control plane that is replaced, and without the machines.
    before: Inventory,
    after: Inventory,
}

/// The inventory with the machines. An error at the form's fields if one is there already.
fn change(hosts: &str, machines: &[Machine], rows: &[usize], replaced: Option<&Replaced>) -> Result<Change, Problem> {
    let parse = |text: &str| read_inventory(text).map_err(|why| unusable(Document::Inventory, &why));
    let text = match replaced {
        Some(Replaced::ControlPlane(old)) => inventory::remove_hosts(hosts, &[old]).map_err(refused)?,
        _ => hosts.to_owned(),
    };
    let before = parse(&text)?;
    let known = already_there(machines, &before, rows);
    if !known.is_empty() {
        return Err(several(known));
    }
    let text = inventory::add_machines(&text, machines).map_err(refused)?;
    let after = parse(&text)?;
    if let Some(Replaced::ControlPlane(old)) = replaced {
        let is_member = |inventory: &Inventory, name: &str| inventory.etcd().iter().any(|host| host.name == name);
        if is_member(&parse(hosts)?, old) != is_member(&after, &machines[0].name) {
            return Err(refused(format!(
                "The group etcd of this inventory isn't the control planes, so this page can't tell whether {} belongs to it. Exchange {old} in the inventory by hand, then run {} as for new nodes.",
                machines[0].name,
                operation::CREATE
            )));
        }
    }
    Ok(Change { text, before, after })
}

fn with_removal(operation: NewOperation, replaced: Option<&Replaced>, gone: bool) -> NewOperation {
    let then_remove = match replaced {
        Some(Replaced::Worker(node)) => Some(ThenRemove { node: node.clone(), gone }),
        _ => None,
    };
    NewOperation { then_remove, ..operation }
}

/// An error if one of the machines of a hosted cluster is to be a control plane.
fn only_workers(machines: &[Machine], rows: &[usize]) -> Result<(), Problem> {
    let Some(plane) = machines.iter().position(is_control_plane) else { return Ok(()) };
    let message = "The control plane of this cluster is hosted, so machines join as workers only.".into();
    Err(several(vec![FieldProblem { field: field(rows, plane, "role"), message }]))
}

/// An error at the form's fields if the playbooks would refuse the machines.
fn refuse(joining: &Joining<'_>, rows: &[usize]) -> Result<(), Problem> {
    let plane = joining.machines.iter().position(is_control_plane);
    // Workers are refused for their address only.
    let (machine, of) = plane.map_or((0, "address"), |machine| (machine, "role"));
    let problem = |message| FieldProblem { field: field(rows, machine, of), message };
    let refusals = joining.refusals();
    if refusals.is_empty() { Ok(()) } else { Err(several(vec![problem(refusals.join(" "))])) }
}

/// An error at the form's fields if other clusters have the machines with these names.
fn refuse_claimed_machines(others: &OtherClusters, names: &[String], rows: &[usize]) -> Result<(), Problem> {
    let problem = |claim: &MachineClaim| {
        let machine = names.iter().position(|name| *name == claim.machine).unwrap_or_default();
        FieldProblem { field: field(rows, machine, "address"), message: claim.refusal() }
    };
    let problems: Vec<FieldProblem> = others.claims.iter().map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(several(problems)) }
}

/// The machines, and the row of the form of each; no rows if they were pasted. Those without a role become workers.
fn checked(new: &NewNodes) -> Result<(Vec<Machine>, Vec<usize>), Problem> {
    let (mut machines, _) = machines(&new.machines, &new.pasted, MachineRole::Worker).map_err(several)?;
    for machine in &mut machines {
        if machine.roles.is_empty() {
            machine.roles.push(Role::Worker);
        }
    }
    let filled = (0..).zip(&new.machines).filter(|(_, row)| !row.is_empty()).map(|(row, _)| row);
    Ok((machines, filled.collect()))
}

/// The form's field for the `name` or `address` of a machine.
fn field(rows: &[usize], machine: usize, of: &str) -> String {
    rows.get(machine).map_or_else(|| "pasted".into(), |row| format!("machines[{row}][{of}]"))
}

/// A problem for each machine whose name or address is in the inventory.
fn already_there(machines: &[Machine], inventory: &Inventory, rows: &[usize]) -> Vec<FieldProblem> {
    let problem = |(index, machine): (usize, &Machine)| {
        if inventory.host(&machine.name).is_some() {
            let message = format!("{} is in the inventory already. Choose another name.", machine.name);
            return Some(FieldProblem { field: field(rows, index, "name"), message });
        }
        let port = |of: Option<u16>| of.unwrap_or(22);
        let same = |host: &&inventory::Host| {
            machine.address.is_some() && host.address == machine.address && port(host.port) == port(machine.port)
        };
        let host = inventory.hosts.iter().find(same)?;
        let address = machine.address.as_deref().unwrap_or_default();
        let message = format!("{address} is the address of {}. Enter another one for {}.", host.name, machine.name);
        Some(FieldProblem { field: field(rows, index, "address"), message })
    };
    machines.iter().enumerate().filter_map(problem).collect()
}

/// Whether the inventory has this machine with its roles.
fn is_there(machine: &Machine, inventory: &Inventory) -> bool {
    inventory.host(&machine.name).is_some_and(|host| {
        machine.roles.iter().all(|role| host.roles.contains(role))
            && host.roles.contains(&Role::ControlPlane) == is_control_plane(machine)
            && (machine.address.is_none() || host.address == machine.address)
    })
}
