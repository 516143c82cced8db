//! What machines can do, and what can be done to them. The lab is booted once and shared.

mod shared;

use std::{
    path::Path,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use lab::{Lab, Machine, machine::Power, wait::until};

const PATIENCE: Duration = Duration::from_secs(60);

/// One test at a time: they break machines.
fn lab() -> (Lab, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (shared::lab(), turn)
}

#[test]
fn a_machine_that_reboots_comes_back_with_its_disk_and_its_network_card() {
    let (lab, _turn) = lab();
    let machine = lab.machine("m1").unwrap();
    let boots = machine.state().unwrap().boots;
    let card = "cat /sys/class/net/eth0/address";
    let before = machine.run(card).unwrap();
    machine.run("echo kept > /root/note").unwrap();
    // The connection may break before its end is told.
    let _cut = machine.run("systemctl reboot");
    machine.wait_booted(boots + 1).unwrap();
    assert_eq!(machine.run("cat /root/note").unwrap(), "kept\n");
    // Another one would leave it silent for half a minute: its neighbours remember the old.
    assert_eq!(machine.run(card).unwrap(), before);
}

#[test]
fn a_machine_is_stopped_and_started_and_a_reset_forgets_everything() {
    let (lab, _turn) = lab();
    let machine = lab.machine("m2").unwrap();
    let boots = machine.state().unwrap().boots;
    machine.run("echo kept > /root/note && systemd-cat echo last words").unwrap();
    machine.stop().unwrap();
    assert_eq!(machine.state().unwrap().power, Power::Off);
    let journal = machine.journal().expect("it has booted").output().unwrap();
    assert!(String::from_utf8_lossy(&journal.stdout).contains("last words"), "{journal:?}");
    assert!(machine.stop().unwrap_err().to_string().contains("off already"));
    machine.start().unwrap();
    machine.wait_reachable().unwrap();
    assert_eq!(machine.run("cat /root/note").unwrap(), "kept\n");
    assert_eq!(machine.state().unwrap().boots, boots + 1);
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    assert_eq!(machine.state().unwrap().boots, 1);
    assert!(machine.run("cat /root/note").is_err());
}

#[test]
fn a_machine_that_boots_or_reboots_is_stopped_cut_and_reset_as_well() {
    let (lab, _turn) = lab();
    let machine = lab.machine("m2").unwrap();
    machine.stop().unwrap();
    machine.start().unwrap();
    assert!(machine.start().unwrap_err().to_string().contains("already"));
    machine.wait_reachable().unwrap();
    // Who ends for a reboot doesn't listen: it is told again when it has booted, in order.
    let _cut = machine.run("systemctl reboot --force");
    machine.stop().unwrap();
    assert_eq!(machine.state().unwrap().reason, "powered off");

    machine.start().unwrap();
    machine.wait_reachable().unwrap();
    let boots = machine.state().unwrap().boots;
    let _cut = machine.run("systemctl reboot --force");
    machine.cut_network().unwrap();
    machine.cut_network().unwrap();
    until("the next boot", PATIENCE, || match machine.state() {
        Ok(state) if state.boots > boots && state.power == Power::On => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    assert!(lab.connect((machine.address(), 22).into(), Duration::from_secs(2)).is_err());
    machine.heal_network().unwrap();
    machine.heal_network().unwrap();
    machine.wait_reachable().unwrap();

    let _cut = machine.run("systemctl reboot --force");
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    assert_eq!(machine.state().unwrap().boots, 1);
}

/// Kills the supervisor of a machine, and waits until that is noticed.
fn orphan(machine: &Machine) {
    let words = format!("\0supervise\0{}\0", machine.name());
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    let is_supervisor = |process: &Path| {
        std::fs::read(process.join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).ends_with(&words))
    };
    for process in all.filter(|process| is_supervisor(process)) {
        let pid = process.file_name().unwrap();
        assert!(Command::new("kill").arg("-KILL").arg(pid).status().unwrap().success());
    }
    until("the supervisor's end", PATIENCE, || match machine.state().unwrap().power {
        Power::Orphaned => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
}

#[test]
fn a_machine_whose_supervisor_was_killed_is_told_and_can_be_started_anew() {
    let (lab, _turn) = lab();
    let machine = lab.machine("m3").unwrap();
    machine.run("echo kept > /root/note").unwrap();
    orphan(&machine);
    for refused in [machine.stop(), machine.start()] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("machine stop --hard m3"), "{said}");
    }
    machine.cut_network().unwrap();
    machine.heal_network().unwrap();
    machine.pull_the_plug().unwrap();
    assert_eq!(machine.state().unwrap().power, Power::Off);
    machine.start().unwrap();
    machine.wait_reachable().unwrap();
    assert_eq!(machine.run("cat /root/note").unwrap(), "kept\n");
    orphan(&machine);
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    assert_eq!(machine.state().unwrap().boots, 1);
}

#[test]
fn a_machine_whose_network_is_cut_is_silent_until_it_is_healed() {
    let (lab, _turn) = lab();
    let machine = lab.machine("m3").unwrap();
    machine.cut_network().unwrap();
    let answer = lab.connect((machine.address(), 22).into(), Duration::from_secs(2));
    assert!(answer.is_err());
    machine.heal_network().unwrap();
    machine.wait_reachable().unwrap();
}

#[test]
fn a_look_on_a_machine_that_does_not_end_is_given_up() {
    let (lab, _turn) = lab();
    let begun = Instant::now();
    let said = lab.machine("m1").unwrap().run_within("tail -f /dev/null", Duration::from_secs(1));
    assert!(said.is_err() && begun.elapsed() < PATIENCE, "{said:?} after {:?}", begun.elapsed());
}

#[test]
fn a_machine_changes_nothing_of_the_whole_computer() {
    let (lab, _turn) = lab();
    let machine = lab.machine("m1").unwrap();
    for parameter in ["vm/max_map_count", "fs/file-max", "kernel/pid_max"] {
        let file = format!("/proc/sys/{parameter}");
        let before = std::fs::read_to_string(&file).unwrap();
        // What it is already, so that nothing changes should it be let.
        let written = machine.run(&format!("echo {} > {file}", before.trim()));
        assert!(written.is_err(), "{file} can be written");
    }
    // Not every kernel has it; where it is, something that takes everything and does nothing is in its place.
    machine.run("test ! -e /proc/sysrq-trigger || test -c /proc/sysrq-trigger").unwrap();
    // Its own: those of the network, and what a kubelet sets.
    machine.run("sysctl -q -w net.ipv4.ip_forward=1 && sysctl -q -w vm.overcommit_memory=1").unwrap();
}

#[test]
fn containers_run_inside_a_machine() {
    let (lab, _turn) = lab();
    let machine = lab.machine("m1").unwrap();
    machine.put(&lab.probe(), "/usr/local/bin/probe").unwrap();
    machine
        .run(
            "set -e; systemctl start containerd; mkdir -p /tmp/image/bin; cp /usr/local/bin/probe /tmp/image/bin/; \
             ctr --namespace test run --rm --rootfs /tmp/image one /bin/probe answer 127.0.0.1:8080 >/tmp/one.log 2>&1 </dev/null &",
        )
        .unwrap();
    until("the container to run", PATIENCE, || {
        let look = machine.run_within("ctr --namespace test task list; cat /tmp/one.log", Duration::from_secs(10));
        let look = look.map_err(|error| error.to_string())?;
        if look.lines().any(|line| line.starts_with("one ") && line.ends_with("RUNNING")) { Ok(()) } else { Err(look) }
    })
    .unwrap();
    machine.run("ctr --namespace test task kill --signal SIGKILL one").unwrap();
    until("the container's end", PATIENCE, || {
        let look = machine.run_within("ctr --namespace test task list --quiet", Duration::from_secs(10));
        let left = look.map_err(|error| error.to_string())?;
        if left.is_empty() { Ok(()) } else { Err(left) }
    })
    .unwrap();
}
