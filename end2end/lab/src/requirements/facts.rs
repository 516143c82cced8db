//! What this computer has and can do. Collecting these facts changes nothing on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::layout::Layout;
use crate::requirements::needs::{NAMESPACES, TO_BUILD_PROGRAMS, TO_RUN_PROGRAMS};
use crate::requirements::space::{self, Place};
use crate::requirements::trial;
use crate::{files, program};

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) os: &'static str,
    pub(crate) architecture: &'static str,
    pub(crate) root: bool,
    /// Needed programs that are on the PATH.
    pub(crate) programs: BTreeSet<&'static str>,
    /// Major and minor version. `None` without Go, or if the output of `go version` has another format.
    pub(crate) go: Option<(u32, u32)>,
    pub(crate) namespaces: BTreeSet<&'static str>,
    /// Cgroup controllers, of version 1 and 2.
    pub(crate) controllers: BTreeSet<String>,
    /// The failed trials ([`trial::Trial::what`]) with the error. Empty without root or the programs that trials need.
    pub(crate) refused: BTreeMap<&'static str, String>,
    /// Whether Python has pip.
    pub(crate) pip: bool,
    /// Whether programs can be linked with libseccomp.
    pub(crate) libseccomp: bool,
    /// The lab's folder, or the lowest existing folder above it.
    pub(crate) folder: PathBuf,
    /// Folders that will be written to, with their free space. Without those whose free space can't be read.
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
            libseccomp: program::run(Command::new("pkg-config").args(["--exists", "libseccomp"]).current_dir("/"))
                .is_ok(),
            places: space::places(layout, programs.contains("go")),
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

/// The version of the installed Go.
fn installed_go() -> Option<(u32, u32)> {
    let said = program::output(Command::new("go").arg("version").current_dir("/").env("GOTOOLCHAIN", "local")).ok()?;
    version_of_go(&said)
}

/// Parses `go version go1.26.8 linux/amd64`.
pub(crate) fn version_of_go(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_whitespace().nth(2)?.strip_prefix("go")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The controllers of all mounted cgroups. Version 1 has them as mount options, version 2 in a file of the mounted file
/// system. Both can be mounted at once.
pub(crate) fn controllers(mounts: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (before, after) in mounts.lines().filter_map(|line| line.split_once(" - ")) {
        let place = before.split(' ').nth(4).unwrap_or_default();
        let mut after = after.split(' ');
        let names = match after.next() {
            Some("cgroup") => after.nth(1).unwrap_or_default().replace(',', " "),
            Some("cgroup2") => files::read(&Path::new(place).join("cgroup.controllers")).unwrap_or_default(),
            _ => continue,
        };
        all.extend(names.split_whitespace().map(str::to_owned));
    }
    all
}
