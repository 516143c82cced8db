//! What the lab asks of a computer, each lack in one sentence with its remedy.

use std::path::Path;

use crate::{
    build::parts::{Lane, Part},
    error::Error,
    files,
    layout::Layout,
    program,
};

/// Free space that the first build takes: 1.4 GiB for the parts, 6.6 for Go's own caches.
const TO_COMPILE: u64 = 9 << 30;
/// Free space that a root or images take while they are made.
const TO_INSTALL: u64 = 3 << 30;
/// Free space that a running lab takes before tests put something into it.
const TO_RUN: u64 = 2 << 30;

const TO_RUN_PROGRAMS: &[(&str, &str)] = &[
    ("ip", "iproute2"),
    ("nsenter", "util-linux"),
    ("unshare", "util-linux"),
    ("setsid", "util-linux"),
    ("ssh", "openssh-client"),
];
const TO_BUILD_PROGRAMS: &[(&str, &str)] = &[
    ("go", "golang-go (1.21 or newer, or from go.dev)"),
    ("cc", "gcc libc6-dev"),
    ("mmdebstrap", "mmdebstrap"),
    ("tar", "tar"),
    ("sha256sum", "coreutils"),
    ("python3", "python3-pip"),
];

/// Refuses with every lack at once. `missing` are the parts that will be built first.
pub(crate) fn check(layout: &Layout, missing: &[&Part]) -> Result<(), Error> {
    let mut lacks = Vec::new();
    if !cfg!(target_os = "linux") {
        lacks.push("it needs Linux: namespaces, cgroups and overlay file systems.".to_owned());
    }
    if !rustix::process::geteuid().is_root() {
        lacks
            .push("it needs root, to make namespaces, mounts and cgroups: use `sudo -E cargo xtask lab …`.".to_owned());
    }
    programs(TO_RUN_PROGRAMS, &mut lacks);
    if !missing.is_empty() {
        programs(TO_BUILD_PROGRAMS, &mut lacks);
    }
    kernel(&mut lacks);
    disk(layout, space(missing), &mut lacks);
    if lacks.is_empty() { Ok(()) } else { Err(Error::Requirements(lacks)) }
}

fn space(missing: &[&Part]) -> u64 {
    let needed = missing.iter().map(|part| if part.lane == Lane::Compile { TO_COMPILE } else { TO_INSTALL });
    needed.max().unwrap_or(TO_RUN)
}

fn programs(needed: &[(&str, &str)], lacks: &mut Vec<String>) {
    for (name, package) in needed.iter().filter(|(name, _)| !program::is_installed(name)) {
        lacks.push(format!("`{name}` is not installed: apt-get install {package}"));
    }
}

fn kernel(lacks: &mut Vec<String>) {
    for (namespace, option) in [
        ("net", "NET_NS"),
        ("pid", "PID_NS"),
        ("mnt", "NAMESPACES"),
        ("uts", "UTS_NS"),
        ("ipc", "IPC_NS"),
        ("cgroup", "CGROUPS"),
    ] {
        if !Path::new("/proc/self/ns").join(namespace).exists() {
            lacks.push(format!("its kernel has no {namespace} namespaces (CONFIG_{option})."));
        }
    }
    let known = files::read(Path::new("/proc/filesystems")).unwrap_or_default();
    if !known.split_whitespace().any(|name| name == "overlay") {
        lacks.push("its kernel has no overlay file system (CONFIG_OVERLAY_FS; perhaps `modprobe overlay`).".to_owned());
    }
    let cgroups = files::read(Path::new("/proc/cgroups")).unwrap_or_default();
    for wanted in ["cpu", "cpuset", "memory", "pids"] {
        let enabled = cgroups
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .any(|words| words.first() == Some(&wanted) && words.last() == Some(&"1"));
        // Newer kernels can leave the file out where only version 2 is in use.
        if !cgroups.is_empty() && !enabled {
            lacks.push(format!("its kernel has no {wanted} cgroup, without which kubelet does not start."));
        }
    }
}

fn disk(layout: &Layout, needed: u64, lacks: &mut Vec<String>) {
    let Some(existing) = layout.folder.ancestors().find(|folder| folder.exists()) else { return };
    if let Ok(found) = rustix::fs::statvfs(existing) {
        let free = found.f_bavail * found.f_frsize;
        if free < needed {
            lacks.push(format!(
                "{} has {} GiB free, the lab takes up to {}: make room, or name another folder in KUBEONKUBE_LAB_DIR.",
                existing.display(),
                free >> 30,
                needed >> 30
            ));
        }
    }
    /// OVERLAYFS_SUPER_MAGIC of linux/magic.h.
    const OVERLAY: i64 = 0x794c_7630;
    if rustix::fs::statfs(existing).is_ok_and(|found| found.f_type == OVERLAY) {
        lacks.push(format!(
            "{} lies on an overlay file system, on which machines can't put theirs: name a folder on a real disk in \
             KUBEONKUBE_LAB_DIR.",
            existing.display()
        ));
    }
}
