//! Everything that a lab could leave on a computer, and what of it is left.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// What there is on a computer at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    mounts: BTreeSet<String>,
    interfaces: BTreeSet<String>,
    cgroups: BTreeSet<PathBuf>,
    parameters: BTreeMap<PathBuf, String>,
    run: BTreeSet<String>,
    processes: BTreeMap<i32, Process>,
    /// When this was looked at; in clock ticks since the computer booted, as processes' starts are.
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

/// What is known to be the lab's; others work on this computer, too.
#[derive(Debug, Default)]
pub(crate) struct OfTheLab {
    /// Its folder; processes of its programs, or with its files in their command line, are the lab's.
    folder: PathBuf,
    /// Number and start.
    processes: BTreeSet<(i32, u64)>,
    namespaces: BTreeSet<PathBuf>,
}

impl OfTheLab {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..Self::default() }
    }

    /// Notes all processes below `outside`, and the namespaces that nobody had before.
    pub(crate) fn look(&mut self, before: &Traces, now: &Traces, outside: i32) {
        let had: BTreeSet<_> = before.processes.values().flat_map(|process| &process.namespaces).collect();
        for (pid, process) in &now.processes {
            let mut above = Some(*pid);
            while above.is_some_and(|pid| pid != outside) {
                above = above.and_then(|pid| now.processes.get(&pid)).map(|process| process.parent);
            }
            if above == Some(outside) {
                self.processes.insert((*pid, process.started));
                self.namespaces.extend(process.namespaces.iter().filter(|one| !had.contains(one)).cloned());
            }
        }
    }

    /// How many processes and namespaces are known.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.processes.len(), self.namespaces.len())
    }

    fn is(&self, pid: i32, process: &Process) -> bool {
        self.processes.contains(&(pid, process.started))
            || process.program.starts_with(&self.folder)
            || process.program == Path::new(env!("CARGO_BIN_EXE_kubeonkube-lab"))
            || process.line.contains(&*self.folder.join("run").to_string_lossy())
    }
}

/// Kernel parameters, or folders of them, that are counters, random, or measured by the kernel.
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
    // Which modules there are to write a log, once a rule has asked for one.
    "net/netfilter/nf_log",
];

impl Traces {
    pub(crate) fn now() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut cgroups = BTreeSet::new();
        folders(Path::new("/sys/fs/cgroup"), &mut cgroups);
        let mut parameters = BTreeMap::new();
        for area in ["fs", "kernel", "vm", "net"] {
            add_parameters(&Path::new("/proc/sys").join(area), &mut parameters);
        }
        let uptime = fs::read_to_string("/proc/uptime").unwrap();
        Self {
            // Of each mount what is mounted where, not its number.
            mounts: mounts.lines().filter_map(|line| Some(line.splitn(5, ' ').nth(4)?.to_owned())).collect(),
            interfaces: names("/sys/class/net"),
            cgroups,
            parameters,
            run: names("/run"),
            processes: names("/proc").iter().filter_map(|pid| Some((pid.parse().ok()?, process(pid)?))).collect(),
            // In hundredths of a second, which is what a tick is (USER_HZ).
            at: uptime.split_whitespace().next().unwrap().replace('.', "").parse().unwrap(),
        }
    }

    /// What is other than before the lab, now that it has ended at the moment `ended`.
    pub(crate) fn left(&self, before: &Self, lab: &OfTheLab, ended: &Self) -> Vec<String> {
        let mut left = Vec::new();
        differences("mount", &before.mounts, &self.mounts, &mut left);
        differences("interface", &before.interfaces, &self.interfaces, &mut left);
        differences("in /run", &before.run, &self.run, &mut left);
        // A cgroup with processes is someone else's: the lab's have ended, or are told below.
        let cgroups = self.cgroups.difference(&before.cgroups).filter(|cgroup| !is_used(cgroup));
        left.extend(cgroups.map(|cgroup| format!("cgroup {}", cgroup.display())));
        for name in before.parameters.keys().chain(self.parameters.keys()).collect::<BTreeSet<_>>() {
            let (old, new) = (before.parameters.get(name), self.parameters.get(name));
            if old != new {
                left.push(format!("parameter {}: {old:?} is {new:?}", name.display()));
            }
        }
        for (pid, process) in &self.processes {
            let is_new = before.processes.get(pid).is_none_or(|old| old.started != process.started);
            if is_new && lab.is(*pid, process) {
                left.push(format!("process {pid}: {}", process.line));
            }
            // The number of a namespace that has ended may be given to the next one, of a process that starts later.
            if process.started <= ended.at {
                let held = process.namespaces.intersection(&lab.namespaces);
                left.extend(held.map(|one| format!("namespace {} of process {pid}: {}", one.display(), process.line)));
            }
        }
        left
    }
}

fn differences(kind: &str, before: &BTreeSet<String>, now: &BTreeSet<String>, left: &mut Vec<String>) {
    left.extend(now.difference(before).map(|one| format!("{kind}: {one}")));
    left.extend(before.difference(now).map(|one| format!("{kind} is gone: {one}")));
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
        } else if !CHANGE_BY_THEMSELVES.iter().any(|one| path.starts_with(Path::new("/proc/sys").join(one))) {
            // Some can only be written.
            if let Ok(value) = fs::read_to_string(&path) {
                found.insert(path, value);
            }
        }
    }
}

fn is_used(cgroup: &Path) -> bool {
    let mut all = BTreeSet::from([cgroup.to_owned()]);
    folders(cgroup, &mut all);
    all.iter().any(|one| fs::read_to_string(one.join("cgroup.procs")).is_ok_and(|processes| !processes.is_empty()))
}

/// A process, unless it has ended meanwhile. What can't be read of it (of kernel threads, of the dead) is empty.
fn process(pid: &str) -> Option<Process> {
    let folder = Path::new("/proc").join(pid);
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The name, in parentheses, may hold anything: what counts stands behind the last one.
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
