//! `lab status` and `lab logs`.

use std::{process::Command, time::Duration};

use lab::{Error, Lab, Machine};

use crate::commands::enter::become_program;

pub(crate) fn status() -> Result<(), Error> {
    let lab = Lab::attach()?;
    let words = if lab.is_ready() { "is up" } else { "is booting, or its boot has failed" };
    println!("the lab of {} {words}, since {}", lab.folder().display(), lab.since());
    println!("{:<8} {:<14} {:<8} {:>5}  {:<8} {:<8}", "machine", "address", "power", "boots", "network", "ssh");
    for machine in lab.machines()?.iter().chain(&lab.nodes()?) {
        row(&lab, machine);
    }
    if let Ok(file) = lab.kubeconfig() {
        println!("kubeconfig {}", file.display());
        if let Ok(mut kubectl) = lab.kubectl() {
            // Its own words say best what is wrong with it.
            let _told = kubectl.args(["get", "nodes", "--request-timeout=5s"]).status();
        }
    }
    Ok(())
}

fn row(lab: &Lab, machine: &Machine) {
    let (power, boots) =
        machine.state().map_or(("-".to_owned(), 0), |state| (format!("{:?}", state.power).to_lowercase(), state.boots));
    let network = if machine.is_cut_off() { "cut" } else { "plugged" };
    let ssh = lab.connect((machine.address(), 22).into(), Duration::from_secs(1));
    let ssh = if ssh.is_ok() { "answers" } else { "silent" };
    println!("{:<8} {:<14} {power:<8} {boots:>5}  {network:<8} {ssh:<8}", machine.name(), machine.address());
}

pub(crate) fn logs(of: Option<&str>, follow: bool) -> Result<(), Error> {
    let lab = Lab::attach()?;
    let Some(of) = of else {
        println!("machines: {}", names(&lab.machines()?));
        println!("nodes:    {}", names(&lab.nodes()?));
        println!("units:    etcd kube-apiserver kube-controller-manager kube-scheduler (n1)");
        println!("          containerd lab-images kubelet kube-proxy (every node: n2/kubelet)");
        return Ok(());
    };
    let follow = if follow { " --follow" } else { "" };
    if let Ok(machine) = lab.machine(of) {
        if machine.wait_reachable().is_ok() {
            return become_program(machine.ssh().arg(format!("journalctl --no-pager{follow}")));
        }
        eprintln!("{of} doesn't answer; this is its console:");
        return become_program(Command::new("cat").arg(machine.console()));
    }
    let (node, unit) = of.split_once('/').unwrap_or(("n1", of));
    become_program(lab.machine(node)?.ssh().arg(format!("journalctl --no-pager --unit '{unit}'{follow}")))
}

fn names(machines: &[Machine]) -> String {
    machines.iter().map(Machine::name).collect::<Vec<_>>().join(" ")
}
