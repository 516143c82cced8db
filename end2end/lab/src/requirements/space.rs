//! Room on disks: of the lab's folder, and of Go's caches, which take most while programs are compiled.

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    build::parts::{Lane, Part},
    program,
};

const GIB: u64 = 1 << 30;

/// What lies in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Parts, and the lab that runs.
    Lab,
    /// `GOCACHE`.
    Compiled,
    /// `GOMODCACHE`.
    Modules,
}

#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) of: Use,
    /// As far as it exists.
    pub(crate) folder: PathBuf,
    /// Places on the same file system share its room.
    pub(crate) device: u64,
    /// Bytes.
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

/// A folder, or what there is above it.
pub(crate) fn existing(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"))
}

/// The lab's folder, and what `go` says where its caches are.
pub(crate) fn places(lab: &Path, with_go: bool) -> Vec<Place> {
    let mut go = Command::new("go");
    go.args(["env", "GOCACHE", "GOMODCACHE"]).current_dir("/").env("GOTOOLCHAIN", "local");
    let said = if with_go { program::output(&mut go).unwrap_or_default() } else { String::new() };
    let caches = [Use::Compiled, Use::Modules].into_iter().zip(said.lines().map(Path::new));
    // A cache may be `off`.
    let caches = caches.filter(|(_, folder)| folder.is_absolute());
    [(Use::Lab, lab)].into_iter().chain(caches).filter_map(|(of, folder)| Place::at(of, folder)).collect()
}

/// The free space that building `missing` takes in a place, or booting where nothing is missing.
fn needed(of: Use, missing: &[&Part]) -> u64 {
    let lane = |lane| missing.iter().any(|part| part.lane == lane);
    let versions = missing.iter().filter(|part| part.name.starts_with("kubernetes-")).count() as u64;
    // A further version of Kubernetes comes with its etcd and CoreDNS.
    let more = versions.saturating_sub(1);
    let of_all = match of {
        // A root and images take more while they are made than in the end.
        Use::Lab if lane(Lane::Install) => 3 + more,
        Use::Lab => 2 + more,
        _ if !lane(Lane::Compile) => 0,
        Use::Compiled => 5 + 3 * more,
        Use::Modules => 2 + more,
    };
    of_all * GIB
}

/// A sentence for every file system that is too small.
pub(crate) fn lacks(places: &[Place], missing: &[&Part]) -> Vec<String> {
    let mut disks: BTreeMap<u64, Vec<&Place>> = BTreeMap::new();
    for place in places.iter().filter(|place| needed(place.of, missing) > 0) {
        disks.entry(place.device).or_default().push(place);
    }
    let too_small = |places: &Vec<&Place>| {
        let takes = places.iter().map(|place| needed(place.of, missing)).sum::<u64>();
        let free = places.iter().map(|place| place.free).min()?;
        (free < takes).then(|| told(places, free / GIB, takes / GIB))
    };
    disks.values().filter_map(too_small).collect()
}

fn told(places: &[&Place], free: u64, takes: u64) -> String {
    let named: Vec<_> = places
        .iter()
        .map(|place| match place.of {
            Use::Lab => format!("the lab's folder (in {}; KUBEONKUBE_LAB_DIR names another)", place.folder.display()),
            Use::Compiled => format!("Go's build cache (in {}; GOCACHE)", place.folder.display()),
            Use::Modules => format!("Go's module cache (in {}; GOMODCACHE)", place.folder.display()),
        })
        .collect();
    format!(
        "the disk of {} has {free} GiB free, up to {takes} are taken there: make room, or name a folder on another disk.",
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
    fn what_shares_a_disk_shares_its_room_and_what_does_not_has_its_own() {
        let all: Vec<_> = PARTS.iter().collect();
        let on = |devices: [u64; 3], free: [u64; 3]| {
            let uses = [Use::Lab, Use::Compiled, Use::Modules];
            lacks(&[0, 1, 2].map(|at| place(uses[at], devices[at], free[at])), &all)
        };
        assert_eq!(on([1, 1, 1], [15, 15, 15]), Vec::<String>::new());
        let together = on([1, 1, 1], [14, 14, 14]);
        assert_eq!(together.len(), 1);
        for word in ["/Lab", "/Compiled", "/Modules", "has 14 GiB free, up to 15 ", "GOCACHE", "KUBEONKUBE_LAB_DIR"] {
            assert!(together[0].contains(word), "{together:?}");
        }
        // Room beside the lab is none for Go's caches.
        let apart = on([1, 2, 2], [100, 10, 10]);
        assert!(apart.len() == 1 && apart[0].contains("up to 11 ") && !apart[0].contains("/Lab"), "{apart:?}");
        assert_eq!(on([1, 2, 3], [4, 8, 3]), Vec::<String>::new());
        assert_eq!(on([1, 2, 3], [3, 7, 2]).len(), 3);
    }

    #[test]
    fn what_is_built_asks_for_no_room() {
        for (missing, lab, caches) in
            [(&["kubernetes-1.34", "etcd-3.6"] as &[_], 2, 7), (&["machine-root"], 3, 0), (&[], 2, 0)]
        {
            let missing: Vec<_> = missing.iter().filter_map(|name| part(name)).collect();
            let with = |lab, caches| {
                lacks(
                    &[place(Use::Lab, 1, lab), place(Use::Compiled, 2, caches), place(Use::Modules, 2, caches)],
                    &missing,
                )
            };
            assert_eq!(with(lab, caches), Vec::<String>::new());
            assert_eq!(with(lab - 1, caches).len(), 1);
            assert_eq!(with(lab, u64::saturating_sub(caches, 1)).len(), usize::from(caches > 0));
        }
    }

    #[test]
    fn a_place_is_measured_where_it_will_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(Use::Lab, &folder.path().join("not/yet")).unwrap();
        assert_eq!(place.folder, folder.path());
        assert!(place.free > 0);
    }
}
