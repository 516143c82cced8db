use std::process::{Command, Stdio};

use super::*;

/// One thing that a lab could leave.
type Change = fn(&mut Traces);

fn process(started: u64, parent: i32, namespace: &str) -> Process {
    Process { started, parent, namespaces: [namespace.into()].into(), ..Process::default() }
}

#[test]
fn every_kind_of_trace_is_reported() {
    // Process 10 is the first of the lab, 11 its child. Both have ended.
    let before = Traces {
        processes: [(1, process(0, 0, "net:[1]"))].into(),
        parameters: [(parameter("kernel/panic"), "0".into())].into(),
        ..Traces::default()
    };
    let mut during = before.clone();
    during.processes.extend([(10, process(50, 1, "net:[1]")), (11, process(60, 10, "net:[2]"))]);
    let mut lab = OfTheLab::in_folder(Path::new("/lab"));
    lab.add(&before, &during, 10);
    assert_eq!(lab.sizes(), (2, 1));
    let ended = Traces { at: 100, ..before.clone() };
    assert_eq!(ended.left(&before, &lab, &ended).of_the_lab, Vec::<String>::new());

    let changes: &[(Change, &str)] = &[
        (|now| _ = now.mounts.insert("/lab/run".into()), "mount: /lab/run"),
        (|now| _ = now.interfaces.insert("lab0".into()), "interface: lab0"),
        (|now| _ = now.interfaces.insert("lab-m1".into()), "interface: lab-m1"),
        (|now| _ = now.run.insert("kubeonkube-lab".into()), "in /run: kubeonkube-lab"),
        (|now| _ = now.cgroups.insert("/sys/fs/cgroup/pids/kubeonkube-lab/m1".into()), "cgroup /sys/fs/cgroup/pids/"),
        (
            |now| _ = now.parameters.insert(parameter("kernel/panic"), "9".into()),
            "parameter /proc/sys/kernel/panic: Some(\"0\") is Some(\"9\")",
        ),
        (|now| _ = now.processes.insert(11, process(60, 1, "net:[1]")), "process 11"),
        (
            |now| _ = now.processes.insert(12, Process { program: "/lab/cache/pause".into(), ..process(70, 1, "") }),
            "process 12",
        ),
        (
            |now| _ = now.processes.insert(12, Process { line: "ssh -i /lab/run/key".into(), ..process(70, 1, "") }),
            "process 12",
        ),
        (|now| _ = now.processes.insert(13, process(99, 1, "net:[2]")), "namespace net:[2] of process 13"),
    ];
    for (change, reported) in changes {
        let mut now = ended.clone();
        change(&mut now);
        let left = now.left(&before, &lab, &ended).of_the_lab;
        assert!(left.len() == 1 && left[0].starts_with(reported), "{reported}: {left:?}");
    }
}

#[test]
fn traces_of_other_programs_are_only_printed() {
    let mut before = Traces::default();
    before.run.insert("other.pid".into());
    let mut lab = OfTheLab::in_folder(Path::new("/lab"));
    lab.namespaces.insert("net:[2]".into());
    let ended = Traces { at: 100, ..Traces::default() };
    let mut now = ended.clone();
    // Process 21 started after the lab's end, in a namespace with a reused number.
    now.processes.extend([(20, process(70, 1, "net:[1]")), (21, process(101, 1, "net:[2]"))]);
    now.mounts.insert("/media/disk rw - ext4 /dev/sdb rw".into());
    now.interfaces.insert("docker0".into());
    now.cgroups.insert("/sys/fs/cgroup/pids/docker".into());
    now.parameters.insert(parameter("kernel/hung_task_warnings"), "9".into());
    let left = now.left(&before, &lab, &ended);
    assert_eq!(left.of_the_lab, Vec::<String>::new());
    assert_eq!(
        left.of_others,
        [
            "mount: /media/disk rw - ext4 /dev/sdb rw",
            "interface: docker0",
            "gone: in /run: other.pid",
            "cgroup /sys/fs/cgroup/pids/docker",
            "parameter /proc/sys/kernel/hung_task_warnings: None is Some(\"9\")"
        ]
    );
}

#[test]
fn the_state_of_this_computer_is_read() {
    let before = Traces::now();
    assert!(before.mounts.iter().any(|mount| mount.starts_with("/proc ")), "{:?}", before.mounts);
    assert!(before.interfaces.contains("lo"));
    assert!(!before.cgroups.is_empty() && !before.run.is_empty());
    for parameter in ["fs/file-max", "kernel/pid_max", "vm/max_map_count", "net/ipv4/ip_forward"] {
        assert!(before.parameters.contains_key(&super::parameter(parameter)), "{parameter}");
    }
    // A process and its child in a new namespace. Both end when their input is closed.
    let mut outside = Command::new("sh")
        .args(["-c", "unshare --net cat; true"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let number = outside.id().cast_signed();
    let mut lab = OfTheLab::in_folder(Path::new("/nothing/here"));
    let seen = lab::wait::until("the namespace", lab::wait::PATIENCE, || {
        lab.add(&before, &Traces::now(), number);
        if lab.sizes().1 == 1 { Ok(Traces::now()) } else { Err(format!("{lab:?}")) }
    })
    .unwrap();
    let left = seen.left(&before, &lab, &seen).of_the_lab;
    assert!(left.iter().any(|one| one.starts_with("namespace net:[")), "{left:?}");
    assert!(left.iter().any(|one| one.starts_with(&format!("process {number}:"))), "{left:?}");
    drop(outside.stdin.take());
    outside.wait().unwrap();
    let now = Traces::now();
    assert!(!now.left(&before, &lab, &now).of_the_lab.iter().any(|one| one.contains("cat")));
}
