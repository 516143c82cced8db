//! Checks the registration form field by field. Pure.

use api::cluster::{KeySource, MachineRow, Namespace, NewCluster, Purpose};
use api::machine::MachineRole;
use api::{ClusterName, FieldProblem};
use crd::Engine;
use inventory::{Inventory, Machine, Role, Vars};

use super::settings;
use crate::ssh::{self, KeyPair};

/// A registration whose fields are all valid.
pub(crate) struct Registration {
    pub(crate) name: ClusterName,
    pub(crate) namespace: String,
    /// `hosts.yml`, as it will be written.
    pub(crate) hosts: String,
    /// `group_vars.yml`: as it was typed, with the settings of a cluster that is to be created.
    pub(crate) vars: String,
    pub(crate) purpose: Purpose,
    pub(crate) key: Key,
    pub(crate) known_hosts: Option<String>,
    pub(crate) inventory: Inventory,
    pub(crate) parsed_vars: Vars,
}

/// The SSH key for the machines.
pub(crate) enum Key {
    None,
    /// A key that is generated when the registration is written.
    Generate,
    Given(KeyPair),
}

/// The registration, or the errors of all fields.
pub(crate) fn check(
    new: &NewCluster,
    default_namespace: &str,
    engine: Engine,
    image: &str,
) -> Result<Registration, Vec<FieldProblem>> {
    let mut problems = Vec::new();
    let mut refuse = |field: &str, message: String| problems.push(FieldProblem { field: field.into(), message });
    let name: Option<ClusterName> = new.name.value().map_err(|why| refuse("name", why.into())).ok().cloned();
    let namespace = new.namespace.value().map_err(|why| refuse("namespace", why.into())).ok().and_then(Option::as_ref);
    let namespace = namespace.map_or(default_namespace, Namespace::as_str).to_owned();
    let purpose = new.purpose.value().map_err(|why| refuse("purpose", why.into())).ok().copied().unwrap_or_default();
    let mut vars = new.variables.replace("\r\n", "\n");
    if let Err(why) = inventory::parse_vars(&vars) {
        refuse("variables", why.to_string());
    } else if purpose == Purpose::Create {
        match settings::applied(&vars, &new.settings, engine, image) {
            Ok(with_settings) => vars = with_settings,
            Err(more) => more.into_iter().for_each(|problem| refuse(&problem.field, problem.message)),
        }
    }
    let parsed_vars = inventory::parse_vars(&vars).unwrap_or_default();
    let key = match new.ssh.value() {
        Ok(KeySource::Generate) => Key::Generate,
        Ok(KeySource::None) => Key::None,
        Ok(KeySource::Paste) => {
            ssh::pasted(&new.ssh_key).map_err(|why| refuse("ssh_key", why)).map_or(Key::None, Key::Given)
        }
        Err(why) => {
            refuse("ssh", why.into());
            Key::None
        }
    };
    let known_hosts = ssh::known_hosts(&new.known_hosts).map_err(|why| refuse("known_hosts", why)).unwrap_or_default();
    let hosts = match machines(&new.machines, &new.pasted, MachineRole::Both) {
        Ok((machines, are_rows)) => {
            // Without a load balancer, our playbooks create one control plane.
            let one = purpose == Purpose::Create
                && engine == Engine::Kubeonkube
                && !parsed_vars.contains_key("loadbalancer_apiserver");
            inventory::write(&with_roles(machines, are_rows, one))
        }
        Err(more) => {
            problems.extend(more);
            String::new()
        }
    };
    let (Some(name), true) = (name, problems.is_empty()) else { return Err(problems) };
    // An inventory written from valid machines can always be parsed. If that is ever wrong, refuse it here.
    let inventory = inventory::parse(&hosts)
        .map_err(|why| vec![FieldProblem { field: "pasted".into(), message: why.to_string() }])?;
    if purpose == Purpose::Create {
        let refused = settings::refused(&inventory, &parsed_vars, engine, |host| role_field(new, host));
        if !refused.is_empty() {
            return Err(refused);
        }
    }
    Ok(Registration { name, namespace, hosts, vars, purpose, key, known_hosts, inventory, parsed_vars })
}

/// The form's field for the role of a machine.
fn role_field(new: &NewCluster, host: &str) -> String {
    let row = new.machines.iter().position(|row| row.name.to_string() == host);
    row.map_or_else(|| "pasted".into(), |row| format!("machines[{row}][role]"))
}

/// The machines of the rows, or of the pasted lines if all rows are empty; and whether they are from rows, which name their roles. A
/// row without a role gets `role`.
pub(crate) fn machines(
    rows: &[MachineRow],
    pasted: &str,
    role: MachineRole,
) -> Result<(Vec<Machine>, bool), Vec<FieldProblem>> {
    if rows.iter().any(|row| !row.is_empty()) {
        let at = |row: usize, field: &str| format!("machines[{row}][{field}]");
        let problem = |p: inventory::RowProblem| FieldProblem { field: at(p.row, p.field), message: p.message };
        let machines = inventory::machines_from_rows(rows, role)
            .map_err(|all| all.into_iter().map(problem).collect::<Vec<_>>())?;
        return Ok((machines, true));
    }
    if pasted.trim().is_empty() {
        let message = "Name at least one machine, here or as pasted lines.".into();
        return Err(vec![FieldProblem { field: "machines[0][name]".into(), message }]);
    }
    let machines = inventory::machines_from_lines(pasted).map_err(|all| {
        let message = all.iter().take(5).map(ToString::to_string).collect::<Vec<_>>().join(" ");
        vec![FieldProblem { field: "pasted".into(), message }]
    })?;
    if machines.is_empty() {
        return Err(vec![FieldProblem { field: "pasted".into(), message: "These lines contain no machine.".into() }]);
    }
    Ok((machines, false))
}

/// Machines from lines without any role get roles: with `one`, only the first becomes a control plane.
fn with_roles(mut machines: Vec<Machine>, are_rows: bool, one: bool) -> Vec<Machine> {
    if are_rows {
        return with_etcd(machines);
    }
    if one && machines.iter().all(|machine| machine.roles.is_empty()) {
        machines.first_mut().into_iter().for_each(|first| first.roles = vec![Role::ControlPlane, Role::Worker]);
    }
    inventory::give_roles(&mut machines);
    machines
}

/// Adds the etcd role to an odd number of control planes. Machines with role `none` get no role.
fn with_etcd(machines: Vec<Machine>) -> Vec<Machine> {
    let mut with_role: Vec<Machine> = machines.iter().filter(|m| !m.roles.is_empty()).cloned().collect();
    inventory::give_roles(&mut with_role);
    let mut given = with_role.into_iter();
    machines.into_iter().map(|m| if m.roles.is_empty() { m } else { given.next().unwrap_or(m) }).collect()
}
