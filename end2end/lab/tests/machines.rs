//! Tests of machines and of faults. They share one lab.

mod shared;

use std::time::Duration;

use lab::machine::Power;
use lab::wait::{PATIENCE, until};
use lab::{Lab, Machine};
use parking_lot::{Mutex, MutexGuard};

/// The lab, and a lock: one test at a time, because they break machines. `cargo test` runs them as threads, and needs it.
/// cargo-nextest runs them as processes, and its profile `lab` runs one test at a time.
fn lab() -> (Lab, MutexGuard<'static, ()>) {
    static LOCK: Mutex<()> = Mutex::new(());
    let lock = LOCK.lock();
    (shared::lab(), lock)
}

#[test]
fn a_rebooted_machine_keeps_its_disk_and_its_mac_address() {
    let (lab, _lock) = lab();
    let machine = lab.machine("m1").unwrap();
    let boots = machine.state().unwrap().boots;
    let card = "cat /sys/class/net/eth0/address";
    let before = machine.run(card).unwrap();
    machine.run("echo kept > /root/note").unwrap();
    // The connection may break before the command's exit status arrives.
    let _cut = machine.run("systemctl reboot");
    machine.wait_booted(boots + 1).unwrap();
    assert_eq!(machine.run("cat /root/note").unwrap(), "kept\n");
    // With another MAC address it couldn't be reached for half a minute: its neighbours remember the old one.
    assert_eq!(machine.run(card).unwrap(), before);
}

#[test]
fn a_stopped_machine_keeps_its_disk_until_a_reset() {
    let (lab, _lock) = lab();
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
fn a_machine_can_be_controlled_while_it_boots_or_reboots() {
    let (lab, _lock) = lab();
    let machine = lab.machine("m2").unwrap();
    machine.stop().unwrap();
    machine.start().unwrap();
    assert!(machine.start().unwrap_err().to_string().contains("already"));
    machine.wait_reachable().unwrap();
    // A rebooting machine ignores the first signal: `stop` sends another one after the boot, and doesn't cut the power.
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

/// Kills the supervisor of a machine, and waits until the machine's state shows it.
fn orphan(lab: &Lab, machine: &Machine) {
    // The supervisor is the parent of the machine's first process. Their numbers are those of the lab's process namespace.
    let first = machine.state().unwrap().pid.expect("the machine is on");
    let script = "supervisor=$(sed -n 's/^PPid:[[:space:]]*//p' \"/proc/$1/status\")\n\
                  tr '\\0' ' ' < \"/proc/$supervisor/cmdline\" | grep -q \" supervise $2 $\"\n\
                  kill -KILL \"$supervisor\"";
    let killed = lab.command("sh").args(["-ec", script, "sh", &first.to_string(), machine.name()]).output().unwrap();
    assert!(killed.status.success(), "{killed:?}");
    until("the supervisor's end", PATIENCE, || match machine.state().unwrap().power {
        Power::Orphaned => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
}

#[test]
fn an_orphaned_machine_is_reported_and_can_be_started_again() {
    let (lab, _lock) = lab();
    let machine = lab.machine("m3").unwrap();
    machine.run("echo kept > /root/note").unwrap();
    orphan(&lab, &machine);
    for refused in [machine.stop(), machine.start()] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("machine stop --hard m3"), "{said}");
    }
    machine.cut_network().unwrap();
    machine.heal_network().unwrap();
    machine.cut_power().unwrap();
    assert_eq!(machine.state().unwrap().power, Power::Off);
    machine.start().unwrap();
    machine.wait_reachable().unwrap();
    assert_eq!(machine.run("cat /root/note").unwrap(), "kept\n");
    orphan(&lab, &machine);
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    assert_eq!(machine.state().unwrap().boots, 1);
}

#[test]
fn a_machine_whose_network_is_cut_can_not_be_reached() {
    let (lab, _lock) = lab();
    let machine = lab.machine("m3").unwrap();
    machine.cut_network().unwrap();
    let answer = lab.connect((machine.address(), 22).into(), Duration::from_secs(2));
    assert!(answer.is_err());
    machine.heal_network().unwrap();
    machine.wait_reachable().unwrap();
}

#[test]
fn run_within_ends_a_command_that_hangs() {
    let (lab, _lock) = lab();
    // This command ends only if it is killed.
    lab.machine("m1").unwrap().run_within("tail -f /dev/null", Duration::from_secs(1)).unwrap_err();
}

#[test]
fn a_machine_can_not_change_the_whole_computer() {
    let (lab, _lock) = lab();
    let machine = lab.machine("m1").unwrap();
    for parameter in ["vm/max_map_count", "fs/file-max", "kernel/pid_max"] {
        let file = format!("/proc/sys/{parameter}");
        let before = std::fs::read_to_string(&file).unwrap();
        // Writes the current value, so that nothing changes if the write is allowed.
        let written = machine.run(&format!("echo {} > {file}", before.trim()));
        assert!(written.is_err(), "{file} can be written");
    }
    // If the kernel has sysrq-trigger, runc mounts a device over it that ignores all writes.
    machine.run("test ! -e /proc/sysrq-trigger || test -c /proc/sysrq-trigger").unwrap();
    // A machine may set parameters of its network, and those that a kubelet sets.
    machine.run("sysctl -q -w net.ipv4.ip_forward=1 && sysctl -q -w vm.overcommit_memory=1").unwrap();
}

#[test]
fn containers_run_inside_a_machine() {
    let (lab, _lock) = lab();
    let machine = lab.machine("m1").unwrap();
    machine.put(&lab.probe(), "/usr/local/bin/probe").unwrap();
    machine
        .run(
            "set -e; systemctl start containerd; mkdir -p /tmp/image/bin; cp /usr/local/bin/probe /tmp/image/bin/; \
             ctr --namespace test run --rm --rootfs /tmp/image one /bin/probe answer 127.0.0.1:8080 >/tmp/one.log 2>&1 </dev/null &",
        )
        .unwrap();
    until("the container to run", PATIENCE, || {
        let found = machine.run_within("ctr --namespace test task list; cat /tmp/one.log", Duration::from_secs(10));
        let found = found.map_err(|error| error.to_string())?;
        if found.lines().any(|line| line.starts_with("one ") && line.ends_with("RUNNING")) {
            Ok(())
        } else {
            Err(found)
        }
    })
    .unwrap();
    machine.run("ctr --namespace test task kill --signal SIGKILL one").unwrap();
    until("the container's end", PATIENCE, || {
        let found = machine.run_within("ctr --namespace test task list --quiet", Duration::from_secs(10));
        let left = found.map_err(|error| error.to_string())?;
        if left.is_empty() { Ok(()) } else { Err(left) }
    })
    .unwrap();
}
