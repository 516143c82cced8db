//! What the lab asks of a computer. Each lack is a sentence: what is missing, what it is needed for, what brings it.

mod facts;
mod trial;

use crate::{
    build::{
        parts::{Lane, Part},
        workshop,
    },
    error::Error,
    layout::Layout,
    requirements::{
        facts::Facts,
        trial::{TRIALS, Trial},
    },
};

/// Free space that the first build takes: 1.4 GiB for the parts, 6.6 for Go's own caches.
const TO_COMPILE: u64 = 9 << 30;
/// What a further version of Kubernetes, with its etcd and CoreDNS, adds to that.
const TO_COMPILE_ANOTHER: u64 = 5 << 30;
/// Free space that a root or images take while they are made.
const TO_INSTALL: u64 = 3 << 30;
/// Free space that a running lab takes before tests put something into it.
const TO_RUN: u64 = 2 << 30;

/// A program, what it is for, the Debian package that brings it.
type Program = (&'static str, &'static str, &'static str);

const TO_RUN_PROGRAMS: &[Program] = &[
    ("ip", "plugs machines in", "iproute2"),
    ("nsenter", "reaches into the lab", "util-linux"),
    ("unshare", "makes the lab's namespaces", "util-linux"),
    ("setsid", "starts what stays", "util-linux"),
    ("mount", "makes machines' disks", "mount"),
    ("mountpoint", "looks for machines' disks", "util-linux"),
    ("ssh", "runs commands on machines", "openssh-client"),
];
const TO_BUILD_PROGRAMS: &[Program] = &[
    ("go", "compiles Kubernetes", "golang-go (1.21 or newer, or from go.dev)"),
    ("cc", "compiles the C of runc", "gcc libc6-dev"),
    ("mmdebstrap", "makes machines' root file system", "mmdebstrap"),
    ("tar", "packs images", "tar"),
    ("sha256sum", "names images", "coreutils"),
    ("python3", "installs ansible-core", "python3-pip"),
];
/// Since then Go fetches the toolchain that a build asks for: <https://go.dev/doc/toolchain>.
const OLDEST_GO: (u32, u32) = (1, 21);

/// A kind of namespace and the kernel's option for it.
const NAMESPACES: &[(&str, &str)] = &[
    ("net", "CONFIG_NET_NS"),
    ("pid", "CONFIG_PID_NS"),
    ("mnt", "CONFIG_NAMESPACES"),
    ("uts", "CONFIG_UTS_NS"),
    ("ipc", "CONFIG_IPC_NS"),
    ("cgroup", "CONFIG_CGROUPS"),
];

/// A controller of cgroups and what brings it.
const CONTROLLERS: &[(&str, &str)] = &[
    ("cpu", "CONFIG_CGROUP_SCHED"),
    ("cpuset", "CONFIG_CPUSETS"),
    ("memory", "CONFIG_MEMCG; perhaps the kernel has to be booted with `cgroup_enable=memory`"),
    ("pids", "CONFIG_CGROUP_PIDS"),
];

/// `sudo` has a PATH of its own also with `-E`, and cargo lies in none of its folders.
const NEEDS_ROOT: &str = "it needs root, to make and enter namespaces, mounts and cgroups: use \
                          `sudo -E env \"PATH=$PATH\" cargo xtask lab …`.";

/// Refuses who isn't root, before anything is opened or looked at that only root can.
pub fn root() -> Result<(), Error> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { Err(Error::Requirements(vec![NEEDS_ROOT.to_owned()])) }
}

/// Refuses with every lack at once. `missing` are the parts that will be built first.
pub(crate) fn check(layout: &Layout, missing: &[&Part]) -> Result<(), Error> {
    let machine_root = workshop::places(layout)?["machine-root"].join("root");
    let machine_root = Some(machine_root.as_path()).filter(|root| root.is_dir());
    let lacks = lacks(&Facts::of_this_computer(layout, machine_root), missing);
    if lacks.is_empty() { Ok(()) } else { Err(Error::Requirements(lacks)) }
}

/// What this computer lacks for building the `missing` parts and booting.
fn lacks(facts: &Facts, missing: &[&Part]) -> Vec<String> {
    let mut lacks = Vec::new();
    if facts.os != "linux" {
        lacks.push(format!("it needs Linux, for namespaces, cgroups and overlay file systems; this is {}.", facts.os));
    }
    if facts.architecture != "x86_64" {
        lacks.push(format!(
            "it needs an amd64 processor, because Debian's packages are pinned for no other; this one is {}.",
            facts.architecture
        ));
    }
    if !facts.root {
        lacks.push(NEEDS_ROOT.to_owned());
    }
    programs(facts, TO_RUN_PROGRAMS, &mut lacks);
    if !missing.is_empty() {
        programs(facts, TO_BUILD_PROGRAMS, &mut lacks);
        go(facts, &mut lacks);
    }
    for (kind, option) in NAMESPACES.iter().filter(|(kind, _)| !facts.namespaces.contains(kind)) {
        lacks.push(format!("its kernel has no {kind} namespaces, of which machines are made: it needs {option}."));
    }
    for (name, brought_by) in CONTROLLERS.iter().filter(|(name, _)| !facts.controllers.contains(*name)) {
        lacks.push(format!(
            "no cgroup controller `{name}` is mounted, without which kubelet doesn't start: it needs {brought_by}. Where no \
             systemd mounts cgroups, `apt-get install cgroupfs-mount` does."
        ));
    }
    lacks.extend(TRIALS.iter().filter_map(|trial| Some(refused(trial, facts.refused.get(trial.what)?))));
    disk(facts, space(missing), &mut lacks);
    lacks
}

fn programs(facts: &Facts, needed: &[Program], lacks: &mut Vec<String>) {
    for (name, purpose, package) in needed.iter().filter(|(name, ..)| !facts.programs.contains(name)) {
        lacks.push(format!("`{name}`, which {purpose}, is not installed: apt-get install {package}"));
    }
}

fn go(facts: &Facts, lacks: &mut Vec<String>) {
    if let Some((major, minor)) = facts.go.filter(|found| *found < OLDEST_GO) {
        lacks.push(format!(
            "Go {major}.{minor} is too old to fetch the pinned toolchain: install Go {}.{} or newer (go.dev).",
            OLDEST_GO.0, OLDEST_GO.1
        ));
    }
}

fn refused(trial: &Trial, why: &str) -> String {
    format!("its kernel refuses {} ({why}), but {}: {}.", trial.what, trial.purpose, trial.remedy)
}

fn space(missing: &[&Part]) -> u64 {
    let needed = missing.iter().map(|part| if part.lane == Lane::Compile { TO_COMPILE } else { TO_INSTALL });
    let versions = missing.iter().filter(|part| part.name.starts_with("kubernetes-")).count() as u64;
    needed.max().unwrap_or(TO_RUN) + versions.saturating_sub(1) * TO_COMPILE_ANOTHER
}

fn disk(facts: &Facts, needed: u64, lacks: &mut Vec<String>) {
    let folder = facts.folder.display();
    if let Some(free) = facts.free.filter(|free| *free < needed) {
        lacks.push(format!(
            "{folder} has {} GiB free, the lab takes up to {}: make room, or name another folder in KUBEONKUBE_LAB_DIR.",
            free >> 30,
            needed >> 30
        ));
    }
    if facts.on_overlay {
        lacks.push(format!(
            "{folder} lies on an overlay file system, on which machines can't put theirs: name a folder on a real disk in \
             KUBEONKUBE_LAB_DIR."
        ));
    }
}

#[cfg(test)]
mod tests;
