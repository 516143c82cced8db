//! The configuration of a machine for runc: <https://github.com/opencontainers/runtime-spec>.

use std::path::Path;

use serde_json::{Value, json};

use crate::error::Error;
use crate::machine::description::{Description, Folder};
use crate::machine::disk;
use crate::{cgroups, files};

/// The capabilities of root on a machine, with their numbers in linux/capability.h. SYS_MODULE (16), SYS_RAWIO (17) and
/// SYS_TIME (25) are left out because they affect the whole computer, SYS_RESOURCE (24) because not every computer can
/// grant it.
const CAPABILITIES: &[(u32, &str)] = &[
    (0, "CHOWN"),
    (1, "DAC_OVERRIDE"),
    (2, "DAC_READ_SEARCH"),
    (3, "FOWNER"),
    (4, "FSETID"),
    (5, "KILL"),
    (6, "SETGID"),
    (7, "SETUID"),
    (8, "SETPCAP"),
    (9, "LINUX_IMMUTABLE"),
    (10, "NET_BIND_SERVICE"),
    (11, "NET_BROADCAST"),
    (12, "NET_ADMIN"),
    (13, "NET_RAW"),
    (14, "IPC_LOCK"),
    (15, "IPC_OWNER"),
    (18, "SYS_CHROOT"),
    (19, "SYS_PTRACE"),
    (20, "SYS_PACCT"),
    (21, "SYS_ADMIN"),
    (22, "SYS_BOOT"),
    (23, "SYS_NICE"),
    (26, "SYS_TTY_CONFIG"),
    (27, "MKNOD"),
    (28, "LEASE"),
    (29, "AUDIT_WRITE"),
    (30, "AUDIT_CONTROL"),
    (31, "SETFCAP"),
    (34, "SYSLOG"),
    (35, "WAKE_ALARM"),
    (36, "BLOCK_SUSPEND"),
    (37, "AUDIT_READ"),
    (38, "PERFMON"),
    (39, "BPF"),
    (40, "CHECKPOINT_RESTORE"),
];

/// The configuration. `bounding` is a bit mask of the capabilities that this computer can grant.
pub(crate) fn configuration(machine: &Description, folder: &Folder, bounding: u64) -> Value {
    let capabilities: Vec<_> = CAPABILITIES
        .iter()
        .filter(|(bit, _)| bounding & (1 << bit) != 0)
        .map(|(_, name)| format!("CAP_{name}"))
        .collect();
    let mut mounts = vec![
        json!({"destination": "/proc", "type": "proc", "source": "proc"}),
        json!({"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]}),
        json!({"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]}),
        json!({"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev"]}),
        json!({"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev"]}),
        json!({"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": ["nosuid", "noexec", "nodev", "relatime", "rw"]}),
        json!({"destination": "/run", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=755", "size=1g"]}),
        json!({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]}),
    ];
    mounts.extend(disk::ON_DISK.iter().filter(|at| !machine.in_memory.iter().any(|other| other == *at)).map(
        |at| json!({"destination": at, "type": "bind", "source": disk::on_disk(&folder.disk(), at), "options": ["rbind", "rw"]}),
    ));
    mounts.extend(
        machine.in_memory.iter().map(
            |at| json!({"destination": at, "type": "tmpfs", "source": "tmpfs", "options": ["mode=711", "size=6g"]}),
        ),
    );
    mounts.push(json!({"destination": disk::KERNEL_SHARE, "type": "bind", "source": disk::kernel_files(folder), "options": ["rbind", "rw"]}));
    mounts.extend(machine.sees.iter().map(
        |share| json!({"destination": share.at, "type": "bind", "source": share.from, "options": ["rbind", "ro"]}),
    ));
    let namespaces = ["pid", "network", "ipc", "uts", "mount", "cgroup"].map(|kind| json!({"type": kind}));
    json!({
        "ociVersion": "1.0.2",
        "hostname": machine.name,
        "root": {"path": folder.root()},
        "mounts": mounts,
        "process": {
            "terminal": false, "cwd": "/", "noNewPrivileges": false,
            "user": {"uid": 0, "gid": 0},
            "args": ["/lib/systemd/systemd", "--log-target=console", "--log-level=info", "--show-status=no"],
            // systemd detects from the variable `container` that it runs in a container.
            "env": ["container=runc", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "capabilities": {"bounding": capabilities, "effective": capabilities, "permitted": capabilities, "inheritable": capabilities},
        },
        "linux": {
            "cgroupsPath": format!("/{}/{}", cgroups::NAME, machine.name),
            "resources": {"devices": [{"allow": true, "access": "rwm"}]},
            "rootfsPropagation": "rshared",
            // These belong to the whole computer. The parameters that a kubelet sets are ordinary files (see `disk`).
            "readonlyPaths": ["/proc/sys/fs", "/proc/sys/kernel", "/proc/sys/vm"],
            "maskedPaths": ["/proc/sysrq-trigger"],
            // kubelet reads the kernel's log to find processes that were killed for lack of memory.
            "devices": [{"path": "/dev/kmsg", "type": "c", "major": 1, "minor": 11, "fileMode": 0o600}],
            "namespaces": namespaces,
        },
    })
}

/// The capabilities that this computer can grant, as a bit mask.
pub(crate) fn bounding_set() -> Result<u64, Error> {
    let file = Path::new("/proc/self/status");
    files::read(file)?
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("CapBnd:")?.trim(), 16).ok())
        .ok_or_else(|| Error::Malformed { file: file.to_owned(), why: "it has no line CapBnd".into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn m1() -> Description {
        Description {
            name: "m1".into(),
            address: crate::addresses::machine(1),
            root: "/root".into(),
            runc: "/runc".into(),
            sees: Vec::new(),
            in_memory: Vec::new(),
            routes: Vec::new(),
        }
    }

    #[test]
    fn a_machine_gets_no_capability_that_the_computer_lacks() {
        let mask = !(1 << 22);
        let said = configuration(&m1(), &Folder("/lab/m1".into()), mask)["process"]["capabilities"].to_string();
        assert!(said.contains("CAP_SYS_ADMIN") && !said.contains("CAP_SYS_BOOT"), "{said}");
    }

    #[test]
    fn a_machine_can_not_load_kernel_modules_or_set_the_clock() {
        let said = configuration(&m1(), &Folder("/lab/m1".into()), u64::MAX).to_string();
        for name in ["SYS_MODULE", "SYS_TIME", "SYS_RAWIO"] {
            assert!(!said.contains(name), "{name}");
        }
    }
}
