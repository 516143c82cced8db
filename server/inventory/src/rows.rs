//! Reads machines from the rows of the registration form.

use api::cluster::MachineRow;

use crate::inventory::Role;
use crate::limits;
use crate::machine::{Machine, Refused, Seen, port};

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

/// The machines of all rows. Empty rows are skipped.
///
/// # Errors
/// Every field that is refused. Reading stops after [`limits::PROBLEMS`].
pub fn machines_from_rows(rows: &[MachineRow]) -> Result<Vec<Machine>, Vec<RowProblem>> {
    let (mut machines, mut problems, mut seen) = (Vec::new(), Vec::new(), Seen::default());
    let filled = |row: &MachineRow| !row.name.trim().is_empty() || !row.address.trim().is_empty();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| filled(row)) {
        let (machine, mut refused) = machine(row);
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

fn machine(row: &MachineRow) -> (Machine, Vec<Refused>) {
    let mut refused = Vec::new();
    let roles = match row.role.trim() {
        "" | "both" => vec![Role::ControlPlane, Role::Worker],
        "none" => Vec::new(),
        word => Role::from_word(word).map_or_else(
            || {
                let message = "Choose control plane, worker, both or none.".into();
                refused.push(Refused { field: "role", message });
                Vec::new()
            },
            |role| vec![role],
        ),
    };
    let port = match row.port.trim() {
        "" => None,
        text => port(text).map_err(|message| refused.push(Refused { field: "port", message })).ok(),
    };
    let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let machine = Machine {
        name: row.name.trim().to_owned(),
        address: filled(&row.address),
        user: filled(&row.user),
        port,
        roles,
        ..Machine::default()
    };
    if machine.name.is_empty() {
        refused.push(Refused { field: "name", message: "Give this machine a name.".into() });
    }
    refused.extend(machine.check().into_iter().filter(|r| r.field != "name" || !machine.name.is_empty()));
    (machine, refused)
}
