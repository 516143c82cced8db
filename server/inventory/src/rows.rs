//! Reads machines from the rows of the registration form.

use api::cluster::MachineRow;
use api::input::{Input, Value};
use api::machine::{MachineRole, Port};

use crate::inventory::Role;
use crate::limits;
use crate::machine::{Machine, Refused, Seen};

/// What is wrong with one field of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// The index of the row, from 0.
    pub row: usize,
    /// `name`, `address`, `user`, `port` or `role`: the field of [`MachineRow`].
    pub field: &'static str,
    /// The sentence shown at the field.
    pub message: String,
}

/// The machines of all rows. Empty rows are skipped. A row without a role gets `role`.
///
/// # Errors
/// Every field that is refused. Reading stops after [`limits::PROBLEMS`].
pub fn machines_from_rows(rows: &[MachineRow], role: MachineRole) -> Result<Vec<Machine>, Vec<RowProblem>> {
    let (mut machines, mut problems, mut seen) = (Vec::new(), Vec::new(), Seen::default());
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let (machine, mut refused) = machine(row, role);
        if refused.is_empty()
            && let Err((twice, earlier)) = seen.note(&machine, index)
        {
            let message = format!("{}: in rows {} and {}. Remove one of them.", twice.message, earlier + 1, index + 1);
            refused.push(Refused { message, ..twice });
        }
        problems.extend(refused.into_iter().map(|r| RowProblem { row: index, field: r.field, message: r.message }));
        machines.push(machine);
        if problems.len() >= limits::PROBLEMS {
            break;
        }
        if machines.len() > limits::HOSTS {
            let message = format!("There are more than {} machines.", limits::HOSTS);
            problems.push(RowProblem { row: index, field: "name", message });
            break;
        }
    }
    if problems.is_empty() { Ok(machines) } else { Err(problems) }
}

fn machine(row: &MachineRow, otherwise: MachineRole) -> (Machine, Vec<Refused>) {
    let mut refused = Vec::new();
    let roles = value(&row.role, "role", &mut refused).map_or_else(Vec::new, |role| roles(role.unwrap_or(otherwise)));
    let port = value(&row.port, "port", &mut refused).copied().flatten().map(Port::number);
    let name = value(&row.name, "name", &mut refused).map_or_else(String::new, |name| name.as_str().to_owned());
    let address = value(&row.address, "address", &mut refused).and_then(Option::as_ref);
    let user = value(&row.user, "user", &mut refused).and_then(Option::as_ref);
    let machine = Machine {
        name,
        address: address.map(|address| address.as_str().to_owned()),
        user: user.map(|user| user.as_str().to_owned()),
        port,
        roles,
        ..Machine::default()
    };
    (machine, refused)
}

fn value<'a, T: Value>(input: &'a Input<T>, field: &'static str, refused: &mut Vec<Refused>) -> Option<&'a T> {
    input.value().map_err(|why| refused.push(Refused { field, message: why.to_owned() })).ok()
}

fn roles(role: MachineRole) -> Vec<Role> {
    match role {
        MachineRole::Both => vec![Role::ControlPlane, Role::Worker],
        MachineRole::ControlPlane => vec![Role::ControlPlane],
        MachineRole::Worker => vec![Role::Worker],
        MachineRole::None => Vec::new(),
    }
}
