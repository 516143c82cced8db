//! `lab status` and `lab logs`.

use std::io::{self, Write};
use std::process::Command;
use std::time::Duration;

use lab::{Error, Lab, Machine, kubeconfig, requirements};

use crate::commands::enter::become_program;

/// Units of the first node only.
const CONTROL_PLANE: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
/// Units of every node.
const EVERY_NODE: [&str; 4] = ["containerd", "lab-images", "kubelet", "kube-proxy"];

pub(crate) fn status() -> Result<(), Error> {
    let lab = Lab::attach()?;
    print(&format!("the lab of {}, of {}, {}\n", lab.folder().display(), lab.since(), lab.condition()));
    // The state of machines can only be read by root, from inside the lab.
    requirements::root()?;
    let mut table =
        format!("{:<8} {:<14} {:<8} {:>5}  {:<8} {:<8}\n", "machine", "address", "power", "boots", "network", "ssh");
    match lab.machines().and_then(|machines| Ok([machines, lab.nodes()?].concat())) {
        Ok(all) => table.extend(all.iter().map(|machine| row(&lab, machine))),
        // Early in a boot they don't exist yet.
        Err(error) => table += &format!("no machines: {error}\n"),
    }
    if let Ok(files) = lab.kubeconfig() {
        table += &format!("kubeconfig {}\n", kubeconfig::list(files).display());
    }
    print(&table);
    if let Ok(mut kubectl) = lab.kubectl() {
        // kubectl prints its own error.
        let _status = kubectl.args(["get", "nodes", "--request-timeout=30s"]).status();
    }
    Ok(())
}

/// Prints a text. A closed pipe is no error: `lab status | head` is fine.
fn print(text: &str) {
    let _written = io::stdout().write_all(text.as_bytes());
}

fn row(lab: &Lab, machine: &Machine) -> String {
    let (power, boots) =
        machine.state().map_or(("-".to_owned(), 0), |state| (format!("{:?}", state.power).to_lowercase(), state.boots));
    let network = if machine.is_cut_off() { "cut" } else { "plugged" };
    let ssh = lab.connect((machine.address(), 22).into(), Duration::from_secs(1));
    let ssh = if ssh.is_ok() { "answers" } else { "silent" };
    format!(
        "{:<8} {:<14} {power:<8} {boots:>5}  {network:<8} {ssh:<8}\n",
        machine.name(),
        machine.address().to_string()
    )
}

pub(crate) fn logs(of: Option<&str>, follow: bool, lines: Option<u32>) -> Result<(), Error> {
    let lab = Lab::attach()?;
    let Some(of) = of else {
        print(&format!(
            "machines: {}\n\
             nodes:    {}\n\
             units:    {} (n1)\n          {} (every node: n2/kubelet)\n",
            names(&lab.machines()?),
            names(&lab.nodes()?),
            CONTROL_PLANE.join(" "),
            EVERY_NODE.join(" ")
        ));
        return Ok(());
    };
    let (machine, unit) = match (lab.machine(of), of.split_once('/')) {
        (Ok(machine), _) => (machine, None),
        (Err(_), Some((node, unit))) => (lab.machine(node)?, Some(unit)),
        (Err(_), None) if CONTROL_PLANE.contains(&of) || EVERY_NODE.contains(&of) => (lab.machine("n1")?, Some(of)),
        (Err(error), None) => return Err(error),
    };
    let Some(mut journal) = machine.journal() else {
        eprintln!("{} has no journal, because it has never booted. This is its console:", machine.name());
        return become_program(Command::new("cat").arg(machine.console()));
    };
    if let Some(unit) = unit {
        journal.args(["--unit", unit]);
    }
    if follow {
        journal.arg("--follow");
    }
    if let Some(lines) = lines {
        journal.args(["--lines", &lines.to_string()]);
    }
    become_program(&mut journal)
}

fn names(machines: &[Machine]) -> String {
    machines.iter().map(Machine::name).collect::<Vec<_>>().join(" ")
}
