//! A lab leaves nothing on the computer. Each test boots labs, so no other lab may be running:
//! `cargo test -p kubeonkube-lab --test life -- --ignored --test-threads=1`. The `lab` stage of `cargo xtask test` runs them.

mod traces;

use std::fs;
use std::process::Command;

use lab::Lab;
use lab::wait::{PATIENCE, until};

use crate::traces::{OfTheLab, Traces};

/// Waits until the lab has left nothing on the computer. Prints what other programs have changed in the meantime.
fn nothing_is_left(before: &Traces, lab: &OfTheLab) {
    let ended = Traces::now();
    let others = until("all traces of the lab to be gone", PATIENCE, || {
        let left = Traces::now().left(before, lab, &ended);
        if left.of_the_lab.is_empty() { Ok(left.of_others) } else { Err(left.of_the_lab.join("\n")) }
    });
    for other in others.unwrap() {
        eprintln!("not of the lab: {other}");
    }
}

/// The process outside the lab that holds its namespaces.
fn outside() -> i32 {
    let record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string("/run/kubeonkube-lab/lab.json").unwrap()).unwrap();
    record["namespaces"]["outside"]["pid"].as_i64().unwrap().try_into().unwrap()
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubeonkube-lab"));
    command.args(words).env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS");
    command
}

/// Runs the command line, which must succeed. Returns its output.
fn lab(words: &[&str]) -> String {
    let done = command(words).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "lab {words:?}: {said}");
    eprintln!("{said}");
    said
}

/// The faults that tests inject: a reboot, a new disk, a shutdown, a cut network.
fn faults(lab: &Lab) {
    let machine = |name| lab.machine(name).unwrap();
    let boots = machine("m1").state().unwrap().boots;
    // The connection may break before the command's exit status arrives.
    let _cut = machine("m1").run("systemctl reboot");
    machine("m1").wait_booted(boots + 1).unwrap();
    machine("m2").reset().unwrap();
    machine("m2").wait_reachable().unwrap();
    machine("m1").stop().unwrap();
    machine("m2").cut_network().unwrap();
}

#[test]
#[ignore = "it needs the computer for itself"]
fn three_labs_in_a_row_leave_nothing() {
    for round in 1..=3 {
        let before = Traces::now();
        let (words, machines): (&[_], _) = if round == 3 { (&["--meta-only"], 1) } else { (&["--machines", "2"], 3) };
        let said = lab(&[&["up"], words].concat());
        // The first boot may have to build parts.
        assert!(round == 1 || !said.contains(": building"), "{said}");
        let running = Lab::attach().unwrap();
        let mut of_the_lab = OfTheLab::in_folder(running.folder());
        of_the_lab.add(&before, &Traces::now(), outside());
        if round == 2 {
            faults(&running);
            of_the_lab.add(&before, &Traces::now(), outside());
        }
        assert_eq!(running.machines().unwrap().len() + running.nodes().unwrap().len(), machines);
        // Each machine and node has six namespaces, the lab itself three.
        let (processes, namespaces) = of_the_lab.sizes();
        assert!(
            processes >= 7 * machines && namespaces >= 3 + 6 * machines,
            "{processes} processes, {namespaces} namespaces"
        );
        lab(&["down"]);
        nothing_is_left(&before, &of_the_lab);
        assert!(!running.folder().join("run").exists());
    }
}

#[test]
#[ignore = "it needs the computer for itself"]
fn remains_of_a_crashed_lab_are_reported_and_removed_by_force() {
    let before = Traces::now();
    lab(&["up", "--machines-only", "--machines", "1"]);
    let mut of_the_lab = OfTheLab::in_folder(Lab::attach().unwrap().folder());
    of_the_lab.add(&before, &Traces::now(), outside());
    // Kill the lab, as the kernel would if it ran out of memory.
    assert!(Command::new("kill").args(["-KILL", &outside().to_string()]).status().unwrap().success());
    let said = until("the crash to be noticed", PATIENCE, || {
        let up = command(&["up", "--machines-only"]).output().unwrap();
        let said = String::from_utf8_lossy(&up.stderr).into_owned();
        if said.contains("crashed lab") { Ok(said) } else { Err(said) }
    });
    assert!(said.unwrap().contains("lab down --force"));
    lab(&["down", "--force"]);
    nothing_is_left(&before, &of_the_lab);
}

#[test]
#[ignore = "it needs the computer for itself"]
fn a_lab_ends_with_the_process_it_was_booted_for() {
    let mut process = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    lab(&["up", "--machines-only", "--machines", "1", "--until-exit-of", &process.id().to_string()]);
    Lab::attach().unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    until("the end of the lab", PATIENCE, || match Lab::attach() {
        Err(lab::Error::NoLab) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
}
