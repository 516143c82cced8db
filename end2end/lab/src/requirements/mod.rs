//! What the lab asks of a computer. Each lack is a sentence: what is missing, what it is needed for, what brings it.

mod facts;
mod space;
mod trial;

use crate::{
    build::{parts::Part, workshop},
    error::Error,
    layout::Layout,
    requirements::{
        facts::Facts,
        trial::{TRIALS, Trial},
    },
};

/// A program, what it is for, the command that brings it on Debian.
type Program = (&'static str, &'static str, &'static str);

const TO_RUN_PROGRAMS: &[Program] = &[
    ("ip", "plugs machines in", "apt-get install iproute2"),
    ("nsenter", "reaches into the lab", "apt-get install util-linux"),
    ("unshare", "makes the lab's namespaces", "apt-get install util-linux"),
    ("setsid", "starts what stays", "apt-get install util-linux"),
    ("mount", "makes machines' disks", "apt-get install mount"),
    ("mountpoint", "looks for machines' disks", "apt-get install util-linux"),
    ("ssh", "runs commands on machines", "apt-get install openssh-client"),
];
const TO_BUILD_PROGRAMS: &[Program] = &[
    ("go", "compiles Kubernetes", GO_BY),
    ("cc", "compiles the C of runc", "apt-get install gcc libc6-dev"),
    ("mmdebstrap", "makes machines' root file system", "apt-get install mmdebstrap"),
    ("tar", "packs images", "apt-get install tar"),
    ("sha256sum", "names images", "apt-get install coreutils"),
    ("python3", "installs ansible-core, by pip", "apt-get install python3-pip"),
];
/// Debian 12 has only an older one: xtask knows where to get one from there.
const GO_BY: &str = "cargo xtask doctor --install";
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
        if facts.programs.contains("python3") && !facts.pip {
            lacks.push(
                "Python's `pip`, which installs ansible-core, is not installed: apt-get install python3-pip".to_owned(),
            );
        }
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
    lacks.extend(space::lacks(&facts.places, missing));
    if facts.on_overlay {
        lacks.push(format!(
            "{} lies on an overlay file system, on which machines can't put theirs: name a folder on a real disk in \
             KUBEONKUBE_LAB_DIR.",
            facts.folder.display()
        ));
    }
    lacks
}

fn programs(facts: &Facts, needed: &[Program], lacks: &mut Vec<String>) {
    for (name, purpose, brought_by) in needed.iter().filter(|(name, ..)| !facts.programs.contains(name)) {
        lacks.push(format!("`{name}`, which {purpose}, is not installed: {brought_by}"));
    }
}

fn go(facts: &Facts, lacks: &mut Vec<String>) {
    if let Some((major, minor)) = facts.go.filter(|found| *found < OLDEST_GO) {
        lacks.push(format!(
            "Go {major}.{minor} is too old to fetch the pinned toolchain, which {}.{} or newer does: {GO_BY}",
            OLDEST_GO.0, OLDEST_GO.1
        ));
    }
}

fn refused(trial: &Trial, why: &str) -> String {
    format!("its kernel refuses {} ({why}), but {}: {}.", trial.what, trial.purpose, trial.remedy)
}

#[cfg(test)]
mod tests;
