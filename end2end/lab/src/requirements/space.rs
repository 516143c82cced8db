//! Free disk space for the lab's folder, for its parts and for Go's caches. Compiling needs most of the space, in Go's caches.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::part::{Lane, Part};
use crate::layout::Layout;
use crate::program;

const GIB: u64 = 1 << 30;

/// What a folder is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// The files of the running lab.
    Lab,
    /// Built parts.
    Parts,
    /// `GOCACHE`.
    Compiled,
    /// `GOMODCACHE`.
    Modules,
}

#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) of: Use,
    /// The folder, or the lowest existing folder above it.
    pub(crate) folder: PathBuf,
    /// The file system. Places on the same one share its space.
    pub(crate) device: u64,
    /// Free bytes.
    pub(crate) free: u64,
}

impl Place {
    fn at(of: Use, folder: &Path) -> Option<Self> {
        let folder = existing(folder);
        let found = rustix::fs::statvfs(folder).ok()?;
        let device = folder.metadata().ok()?.dev();
        Some(Self { of, folder: folder.to_owned(), device, free: found.f_bavail * found.f_frsize })
    }
}

/// The folder, or the lowest existing folder above it.
pub(crate) fn existing(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"))
}

/// The lab's folder, that of its parts, and Go's caches as `go env` reports them.
pub(crate) fn places(layout: &Layout, with_go: bool) -> Vec<Place> {
    let mut go = Command::new("go");
    go.args(["env", "GOCACHE", "GOMODCACHE"]).current_dir("/").env("GOTOOLCHAIN", "local");
    let said = if with_go { program::output(&mut go).unwrap_or_default() } else { String::new() };
    let caches = [Use::Compiled, Use::Modules].into_iter().zip(said.lines().map(Path::new));
    // The value can be `off`.
    let caches = caches.filter(|(_, folder)| folder.is_absolute());
    let own = [(Use::Lab, layout.folder.as_path()), (Use::Parts, layout.shared.as_path())];
    own.into_iter().chain(caches).filter_map(|(of, folder)| Place::at(of, folder)).collect()
}

/// The bytes that building `missing` and a boot need in a place.
fn needed(of: Use, missing: &[&Part]) -> u64 {
    let lane = |lane| missing.iter().any(|part| part.lane == lane);
    let versions = missing.iter().filter(|part| part.name.starts_with("kubernetes-")).count() as u64;
    // Each further version of Kubernetes has its own etcd and CoreDNS.
    let more = versions.saturating_sub(1);
    let of_all = match of {
        Use::Lab => 2,
        // Root file systems and images need more space during the build than afterwards.
        Use::Parts if lane(Lane::Install) => 3 + more,
        Use::Parts if lane(Lane::Compile) => 2 + more,
        Use::Parts => 0,
        _ if !lane(Lane::Compile) => 0,
        Use::Compiled => 5 + 3 * more,
        Use::Modules => 2 + more,
    };
    of_all * GIB
}

/// One sentence for each file system with too little free space.
pub(crate) fn lacks(places: &[Place], missing: &[&Part]) -> Vec<String> {
    let mut disks: BTreeMap<u64, Vec<&Place>> = BTreeMap::new();
    for place in places.iter().filter(|place| needed(place.of, missing) > 0) {
        disks.entry(place.device).or_default().push(place);
    }
    let too_small = |places: &Vec<&Place>| {
        let takes = places.iter().map(|place| needed(place.of, missing)).sum::<u64>();
        let free = places.iter().map(|place| place.free).min()?;
        (free < takes).then(|| sentence(places, free / GIB, takes / GIB))
    };
    disks.values().filter_map(too_small).collect()
}

fn sentence(places: &[&Place], free: u64, takes: u64) -> String {
    let named: Vec<_> = places
        .iter()
        .map(|place| match place.of {
            Use::Lab => format!("the lab's folder ({}; set by KUBEONKUBE_LAB_DIR)", place.folder.display()),
            Use::Parts => format!("its parts ({}; below XDG_CACHE_HOME)", place.folder.display()),
            Use::Compiled => format!("Go's build cache ({}; set by GOCACHE)", place.folder.display()),
            Use::Modules => format!("Go's module cache ({}; set by GOMODCACHE)", place.folder.display()),
        })
        .collect();
    format!(
        "the disk of {} has {free} GiB free, but up to {takes} are needed: free some space, or set a folder on another disk.",
        named.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::parts::{PARTS, part};

    fn place(of: Use, device: u64, free: u64) -> Place {
        Place { of, folder: format!("/{of:?}").into(), device, free: free * GIB }
    }

    #[test]
    fn folders_on_one_disk_share_its_free_space() {
        let all: Vec<_> = PARTS.iter().collect();
        let on = |devices: [u64; 4], free: [u64; 4]| {
            let uses = [Use::Lab, Use::Parts, Use::Compiled, Use::Modules];
            lacks(&[0, 1, 2, 3].map(|at| place(uses[at], devices[at], free[at])), &all)
        };
        assert_eq!(on([1; 4], [17; 4]), Vec::<String>::new());
        let together = on([1; 4], [16; 4]);
        assert_eq!(together.len(), 1);
        for word in ["/Lab", "/Parts", "/Compiled", "/Modules", "has 16 GiB free, but up to 17 ", "GOCACHE", "LAB_DIR"]
        {
            assert!(together[0].contains(word), "{together:?}");
        }
        // Free space on the lab's disk doesn't count for Go's caches on another disk.
        let apart = on([1, 1, 2, 2], [100, 100, 10, 10]);
        assert!(apart.len() == 1 && apart[0].contains("up to 11 ") && !apart[0].contains("/Lab"), "{apart:?}");
        assert_eq!(on([1, 2, 3, 4], [2, 4, 8, 3]), Vec::<String>::new());
        assert_eq!(on([1, 2, 3, 4], [1, 3, 7, 2]).len(), 4);
    }

    #[test]
    fn built_parts_need_no_further_space() {
        for (missing, parts, caches) in
            [(&["kubernetes-1.36", "etcd-3.6"] as &[_], 2_u64, 7_u64), (&["machine-root"], 3, 0), (&[], 0, 0)]
        {
            let missing: Vec<_> = missing.iter().filter_map(|name| part(name)).collect();
            let with = |parts, caches| {
                let caches = [Use::Compiled, Use::Modules].map(|of| place(of, 2, caches));
                lacks(&[&[place(Use::Parts, 1, parts)], &caches[..]].concat(), &missing)
            };
            assert_eq!(with(parts, caches), Vec::<String>::new());
            assert_eq!(with(parts.saturating_sub(1), caches).len(), usize::from(parts > 0));
            assert_eq!(with(parts, caches.saturating_sub(1)).len(), usize::from(caches > 0));
        }
    }

    #[test]
    fn a_missing_folder_is_measured_by_the_one_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(Use::Parts, &folder.path().join("not/yet")).unwrap();
        assert_eq!(place.folder, folder.path());
        assert!(place.free > 0);
    }
}
