//! Checks the registration form field by field. Pure.

use api::cluster::{MachineRow, NewCluster};
use api::{ClusterName, FieldProblem};
use inventory::{Inventory, Machine, Vars};

use crate::ssh::{self, KeyPair};

/// A registration whose fields are all valid.
pub(crate) struct Registration {
    pub(crate) name: ClusterName,
    pub(crate) namespace: String,
    /// `hosts.yml`, as it will be written.
    pub(crate) hosts: String,
    /// `group_vars.yml`, as it was typed.
    pub(crate) vars: String,
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
pub(crate) fn check(new: &NewCluster, default_namespace: &str) -> Result<Registration, Vec<FieldProblem>> {
    let mut problems = Vec::new();
    let mut refuse = |field: &str, message: String| problems.push(FieldProblem { field: field.into(), message });
    let name: Option<ClusterName> =
        ClusterName::for_new(new.name.trim()).map_err(|why| refuse("name", why.to_string())).ok();
    let namespace = match new.namespace.trim() {
        "" => default_namespace.to_owned(),
        typed => typed.to_owned(),
    };
    if !crd::is_object_name(&namespace, false) {
        refuse(
            "namespace",
            "A namespace has lower-case letters, digits and “-”, and starts and ends with a letter or digit.".into(),
        );
    }
    let vars = new.variables.replace("\r\n", "\n");
    let parsed_vars =
        inventory::parse_vars(&vars).map_err(|why| refuse("variables", why.to_string())).unwrap_or_default();
    let key = match new.ssh.as_str() {
        "" | "generate" => Key::Generate,
        "none" => Key::None,
        "paste" => ssh::pasted(&new.ssh_key).map_err(|why| refuse("ssh_key", why)).map_or(Key::None, Key::Given),
        _ => {
            refuse("ssh", "Choose how the machines are reached.".into());
            Key::None
        }
    };
    let known_hosts = ssh::known_hosts(&new.known_hosts).map_err(|why| refuse("known_hosts", why)).unwrap_or_default();
    let hosts = match machines(new) {
        Ok(machines) => inventory::write(&machines),
        Err(more) => {
            problems.extend(more);
            String::new()
        }
    };
    let (Some(name), true) = (name, problems.is_empty()) else { return Err(problems) };
    // An inventory written from valid machines can always be parsed. If that is ever wrong, refuse it here.
    let inventory = inventory::parse(&hosts)
        .map_err(|why| vec![FieldProblem { field: "pasted".into(), message: why.to_string() }])?;
    Ok(Registration { name, namespace, hosts, vars, key, known_hosts, inventory, parsed_vars })
}

/// The machines of the rows, or of the pasted lines if all rows are empty.
fn machines(new: &NewCluster) -> Result<Vec<Machine>, Vec<FieldProblem>> {
    let filled = |row: &MachineRow| !row.name.trim().is_empty() || !row.address.trim().is_empty();
    if new.machines.iter().any(filled) {
        let at = |row: usize, field: &str| format!("machines[{row}][{field}]");
        let problem = |p: inventory::RowProblem| FieldProblem { field: at(p.row, p.field), message: p.message };
        let machines = inventory::machines_from_rows(&new.machines)
            .map_err(|all| all.into_iter().map(problem).collect::<Vec<_>>())?;
        return Ok(with_etcd(machines));
    }
    if new.pasted.trim().is_empty() {
        let message = "Name at least one machine, here or as pasted lines.".into();
        return Err(vec![FieldProblem { field: "machines[0][name]".into(), message }]);
    }
    let mut machines = inventory::machines_from_lines(&new.pasted).map_err(|all| {
        let message = all.iter().take(5).map(ToString::to_string).collect::<Vec<_>>().join(" ");
        vec![FieldProblem { field: "pasted".into(), message }]
    })?;
    if machines.is_empty() {
        return Err(vec![FieldProblem { field: "pasted".into(), message: "These lines contain no machine.".into() }]);
    }
    inventory::give_roles(&mut machines);
    Ok(machines)
}

/// Adds the etcd role to an odd number of control planes. Machines with role `none` get no role.
fn with_etcd(machines: Vec<Machine>) -> Vec<Machine> {
    let mut with_role: Vec<Machine> = machines.iter().filter(|m| !m.roles.is_empty()).cloned().collect();
    inventory::give_roles(&mut with_role);
    let mut given = with_role.into_iter();
    machines.into_iter().map(|m| if m.roles.is_empty() { m } else { given.next().unwrap_or(m) }).collect()
}
