//! Finds what a lab has left on the computer, by comparing its state before and after. Other programs change the computer, too: only
//! what a lab can have touched counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The state of the computer at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    mounts: BTreeSet<String>,
    interfaces: BTreeSet<String>,
    cgroups: BTreeSet<PathBuf>,
    parameters: BTreeMap<PathBuf, String>,
    run: BTreeSet<String>,
    processes: BTreeMap<i32, Process>,
    /// The moment, in clock ticks since the computer booted, like the start times of processes.
    at: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Process {
    started: u64,
    parent: i32,
    program: PathBuf,
    line: String,
    namespaces: BTreeSet<PathBuf>,
}

/// The processes and namespaces that belong to the lab. Other programs run on this computer, too.
#[derive(Debug, Default)]
pub(crate) struct OfTheLab {
    /// The lab's folder. A process belongs to the lab if it runs a program of this folder, or names files of the lab in its
    /// command line.
    folder: PathBuf,
    /// Number and start time.
    processes: BTreeSet<(i32, u64)>,
    namespaces: BTreeSet<PathBuf>,
}

impl OfTheLab {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..Self::default() }
    }

    /// Adds `outside` and all processes below it, and those of their namespaces that didn't exist before.
    pub(crate) fn add(&mut self, before: &Traces, now: &Traces, outside: i32) {
        let had: BTreeSet<_> = before.processes.values().flat_map(|process| &process.namespaces).collect();
        for (pid, process) in &now.processes {
            let mut ancestor = Some(*pid);
            while ancestor.is_some_and(|pid| pid != outside) {
                ancestor = ancestor.and_then(|pid| now.processes.get(&pid)).map(|process| process.parent);
            }
            if ancestor == Some(outside) {
                self.processes.insert((*pid, process.started));
                self.namespaces.extend(process.namespaces.iter().filter(|namespace| !had.contains(namespace)).cloned());
            }
        }
    }

    /// The numbers of added processes and namespaces.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.processes.len(), self.namespaces.len())
    }

    /// The lab's mounts are below its folder, and its overlays name it.
    fn mounts(&self, mount: &str) -> bool {
        mount.contains(&*self.folder.to_string_lossy())
    }

    fn is(&self, pid: i32, process: &Process) -> bool {
        self.processes.contains(&(pid, process.started))
            || process.program.starts_with(&self.folder)
            || process.program == Path::new(env!("CARGO_BIN_EXE_kubeonkube-lab"))
            || process.line.contains(&*self.folder.join("run").to_string_lossy())
    }
}

/// What a lab's interfaces are named, its cgroups, and the names in /run.
const BRIDGE: &str = "lab0";
const PORT: &str = "lab-";
const NAME: &str = "kubeonkube-lab";

/// The kernel parameters that the lab, kubelet or kube-proxy set. A machine has its own ones, or an ordinary file instead.
const SET_IN_A_LAB: &[&str] = &[
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "net/bridge/bridge-nf-call-ip6tables",
    "net/bridge/bridge-nf-call-iptables",
    "net/ipv4/conf/all/route_localnet",
    "net/ipv4/ip_forward",
    "net/netfilter/nf_conntrack_max",
    "net/netfilter/nf_conntrack_tcp_timeout_close_wait",
    "net/netfilter/nf_conntrack_tcp_timeout_established",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
];

/// Kernel parameters, or folders of them, that change by themselves: counters, random or measured values. They aren't printed.
const CHANGE_BY_THEMSELVES: &[&str] = &[
    "fs/aio-nr",
    "fs/dentry-state",
    "fs/file-nr",
    "fs/inode-nr",
    "fs/inode-state",
    "fs/quota",
    "kernel/hung_task_detect_count",
    "kernel/ns_last_pid",
    "kernel/perf_event_max_sample_rate",
    "kernel/pty/nr",
    "kernel/random/entropy_avail",
    "kernel/random/uuid",
    "net/netfilter/nf_conntrack_count",
    // Lists the modules that can write a log. The kernel loads one when a rule uses it.
    "net/netfilter/nf_log",
];

/// Differences from the state before a lab.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) of_the_lab: Vec<String>,
    pub(crate) of_others: Vec<String>,
}

impl Left {
    fn add(&mut self, is_of_the_lab: bool, difference: String) {
        if is_of_the_lab { &mut self.of_the_lab } else { &mut self.of_others }.push(difference);
    }

    fn add_all<T: Ord>(
        &mut self,
        (before, now): (&BTreeSet<T>, &BTreeSet<T>),
        is_of_the_lab: impl Fn(&T) -> bool,
        text: impl Fn(&T) -> String,
    ) {
        now.difference(before).for_each(|one| self.add(is_of_the_lab(one), text(one)));
        before.difference(now).for_each(|one| self.add(is_of_the_lab(one), format!("gone: {}", text(one))));
    }
}

impl Traces {
    pub(crate) fn now() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut cgroups = BTreeSet::new();
        folders(Path::new("/sys/fs/cgroup"), &mut cgroups);
        let mut parameters = BTreeMap::new();
        for area in ["fs", "kernel", "vm", "net"] {
            add_parameters(&parameter(area), &mut parameters);
        }
        let uptime = fs::read_to_string("/proc/uptime").unwrap();
        Self {
            // Skips the first four fields, which contain numbers that change.
            mounts: mounts.lines().filter_map(|line| Some(line.splitn(5, ' ').nth(4)?.to_owned())).collect(),
            interfaces: names("/sys/class/net"),
            cgroups,
            parameters,
            run: names("/run"),
            processes: names("/proc").iter().filter_map(|pid| Some((pid.parse().ok()?, process(pid)?))).collect(),
            // In hundredths of a second, the length of a clock tick (USER_HZ).
            at: uptime.split_whitespace().next().unwrap().replace('.', "").parse().unwrap(),
        }
    }

    /// The differences from the state before the lab. `ended` is the state at the lab's end.
    pub(crate) fn left(&self, before: &Self, lab: &OfTheLab, ended: &Self) -> Left {
        let mut left = Left::default();
        left.add_all((&before.mounts, &self.mounts), |mount| lab.mounts(mount), |mount| format!("mount: {mount}"));
        left.add_all(
            (&before.interfaces, &self.interfaces),
            |name| name == BRIDGE || name.starts_with(PORT),
            |name| format!("interface: {name}"),
        );
        left.add_all((&before.run, &self.run), |name| name.starts_with(NAME), |name| format!("in /run: {name}"));
        left.add_all(
            (&before.cgroups, &self.cgroups),
            |cgroup| cgroup.iter().any(|name| name == NAME),
            |cgroup| format!("cgroup {}", cgroup.display()),
        );
        for name in before.parameters.keys().chain(self.parameters.keys()).collect::<BTreeSet<_>>() {
            let (old, new) = (before.parameters.get(name), self.parameters.get(name));
            if old != new {
                // A parameter that is new belongs to a module that the kernel has loaded.
                let is_set = old.is_some() && new.is_some();
                let is_of_the_lab = is_set && SET_IN_A_LAB.iter().any(|one| *name == parameter(one));
                left.add(is_of_the_lab, format!("parameter {}: {old:?} is {new:?}", name.display()));
            }
        }
        for (pid, process) in &self.processes {
            let is_new = before.processes.get(pid).is_none_or(|old| old.started != process.started);
            if is_new && lab.is(*pid, process) {
                left.of_the_lab.push(format!("process {pid}: {}", process.line));
            }
            // The kernel reuses the numbers of ended namespaces, so processes that started later don't count.
            if process.started <= ended.at {
                let held = process.namespaces.intersection(&lab.namespaces);
                left.of_the_lab
                    .extend(held.map(|one| format!("namespace {} of process {pid}: {}", one.display(), process.line)));
            }
        }
        left
    }
}

fn parameter(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name)
}

fn names(folder: &str) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn folders(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.is_symlink() {
            folders(&path, found);
            found.insert(path);
        }
    }
}

fn add_parameters(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            add_parameters(&path, found);
        } else if !CHANGE_BY_THEMSELVES.iter().any(|one| path.starts_with(parameter(one))) {
            // Some can't be read, only written.
            if let Ok(value) = fs::read_to_string(&path) {
                found.insert(path, value);
            }
        }
    }
}

/// Reads a process. `None` if it has ended. Fields that can't be read (of kernel threads and zombies) are empty.
fn process(pid: &str) -> Option<Process> {
    let folder = Path::new("/proc").join(pid);
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The program's name is in parentheses and may itself contain some: the fields follow the last one.
    let (name, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let line = fs::read(folder.join("cmdline")).unwrap_or_default();
    let namespaces = fs::read_dir(folder.join("ns")).into_iter().flatten().flatten();
    Some(Process {
        started: fields.get(19)?.parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        program: fs::read_link(folder.join("exe")).unwrap_or_default(),
        line: format!("{} {}", name.split_once('(')?.1, String::from_utf8_lossy(&line).replace('\0', " ")),
        namespaces: namespaces.filter_map(|entry| fs::read_link(entry.path()).ok()).collect(),
    })
}

#[cfg(test)]
mod tests;
