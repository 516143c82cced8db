//! What there is on this computer, as far as the lab needs to know. Looking changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    files,
    layout::Layout,
    program,
    requirements::{
        NAMESPACES, TO_BUILD_PROGRAMS, TO_RUN_PROGRAMS,
        space::{self, Place},
        trial,
    },
};

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) os: &'static str,
    pub(crate) architecture: &'static str,
    pub(crate) root: bool,
    /// Those of the needed ones that are on the PATH.
    pub(crate) programs: BTreeSet<&'static str>,
    /// Major and minor version; none without Go, or with one that tells another way.
    pub(crate) go: Option<(u32, u32)>,
    pub(crate) namespaces: BTreeSet<&'static str>,
    /// Controllers of cgroups, of either version.
    pub(crate) controllers: BTreeSet<String>,
    /// Trials that failed, by what was tried, with the reason. Without root and the programs for it nothing is tried.
    pub(crate) refused: BTreeMap<&'static str, String>,
    /// Python's.
    pub(crate) pip: bool,
    /// Where the lab will lie, as far as that exists.
    pub(crate) folder: PathBuf,
    /// Where something will be written; those whose free space can be told.
    pub(crate) places: Vec<Place>,
    pub(crate) on_overlay: bool,
}

/// `OVERLAYFS_SUPER_MAGIC` of linux/magic.h.
const OVERLAY: i64 = 0x794c_7630;

impl Facts {
    /// `machine_root` is the root file system of machines, if it is built.
    pub(crate) fn of_this_computer(layout: &Layout, machine_root: Option<&Path>) -> Self {
        let root = rustix::process::geteuid().is_root();
        let needed = TO_RUN_PROGRAMS.iter().chain(TO_BUILD_PROGRAMS).map(|(name, ..)| *name);
        let programs: BTreeSet<_> = needed.filter(|name| program::is_installed(name)).collect();
        let can_try = root && ["unshare", "ip", "mount"].iter().all(|name| programs.contains(name));
        let folder = space::existing(&layout.folder).to_owned();
        Self {
            os: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            root,
            go: programs.contains("go").then(installed_go).flatten(),
            pip: programs.contains("python3")
                && program::run(Command::new("python3").args(["-c", "import pip"]).current_dir("/")).is_ok(),
            places: space::places(&folder, programs.contains("go")),
            programs,
            namespaces: NAMESPACES
                .iter()
                .map(|(kind, _)| *kind)
                .filter(|kind| Path::new("/proc/self/ns").join(kind).exists())
                .collect(),
            controllers: controllers(&files::read(Path::new("/proc/self/mountinfo")).unwrap_or_default()),
            refused: if can_try { trial::refused(machine_root) } else { BTreeMap::new() },
            on_overlay: rustix::fs::statfs(&folder).is_ok_and(|found| found.f_type == OVERLAY),
            folder,
        }
    }
}

/// `go version go1.26.8 linux/amd64`, of the one that is installed.
fn installed_go() -> Option<(u32, u32)> {
    let said = program::output(Command::new("go").arg("version").current_dir("/").env("GOTOOLCHAIN", "local")).ok()?;
    version_of_go(&said)
}

pub(crate) fn version_of_go(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_whitespace().nth(2)?.strip_prefix("go")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The controllers of all mounted cgroups. In version 1 they are options of the mounted file system, in version 2 a file in
/// it tells them; both at once are possible.
pub(crate) fn controllers(mounts: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (before, after) in mounts.lines().filter_map(|line| line.split_once(" - ")) {
        let place = before.split(' ').nth(4).unwrap_or_default();
        let mut after = after.split(' ');
        let told = match after.next() {
            Some("cgroup") => after.nth(1).unwrap_or_default().replace(',', " "),
            Some("cgroup2") => files::read(&Path::new(place).join("cgroup.controllers")).unwrap_or_default(),
            _ => continue,
        };
        all.extend(told.split_whitespace().map(str::to_owned));
    }
    all
}
