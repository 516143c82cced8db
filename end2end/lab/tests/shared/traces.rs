//! What Kubernetes leaves on a machine.

use lab::Machine;

/// What Kubernetes could leave on a machine, in order.
pub(crate) fn traces(machine: &Machine) -> Vec<String> {
    let said = machine.run(include_str!("traces.sh")).unwrap();
    let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// The lines that a machine has now and had not before, or the other way round.
pub(crate) fn changes(before: &[String], machine: &Machine) -> Vec<String> {
    let now = traces(machine);
    let added = now.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}"));
    let gone = before.iter().filter(|line| !now.contains(line)).map(|line| format!("- {line}"));
    added.chain(gone).collect()
}
