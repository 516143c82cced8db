//! Finds built parts and builds missing ones. A part is in `cache/<name>-<key>`, and the key is a hash of everything it is
//! made from. So a second boot builds nothing, and a changed pin rebuilds only the parts that depend on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, thread};

use sha2::{Digest, Sha256};

use crate::build::locks::{Building, InUse};
use crate::build::part::{Built, Lane, Part};
use crate::build::parts::{PARTS, part};
use crate::error::{Doing, Error};
use crate::files;
use crate::layout::{Layout, workspace};

/// Builds the parts `wanted` and the parts they need, unless they exist. Reports how long each takes. If something is missing,
/// waits for a build by another process first.
pub(crate) fn build(
    in_use: &InUse,
    layout: &Layout,
    wanted: &[&str],
    report: &(dyn Fn(String) + Sync),
) -> Result<Built, Error> {
    let places = places(layout)?;
    let needed = with_needs(wanted);
    let _building = match missing(layout, wanted)? {
        nothing if nothing.is_empty() => None,
        _ => Some(Building::take(in_use, layout, report)?),
    };
    // Checked again: the build by another process may have made them.
    let missing = missing(layout, wanted)?;
    thread::scope(|scope| {
        let lanes: Vec<_> = [Lane::Compile, Lane::Install]
            .map(|lane| {
                let (missing, places) = (&missing, &places);
                scope.spawn(move || {
                    // Parts that need others are built below, after both lanes.
                    for part in missing.iter().filter(|part| part.lane == lane && part.needs.is_empty()) {
                        make(part, places, report)?;
                    }
                    Ok::<(), Error>(())
                })
            })
            .into_iter()
            .collect();
        lanes.into_iter().try_for_each(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    for part in missing.iter().filter(|part| !part.needs.is_empty()) {
        make(part, &places, report)?;
    }
    Ok(places.into_iter().filter(|(name, _)| needed.contains(name)).collect())
}

/// The parts that have to be built for `wanted`. Each comes after the parts it needs.
pub(crate) fn missing(layout: &Layout, wanted: &[&str]) -> Result<Vec<&'static Part>, Error> {
    let (places, needed) = (places(layout)?, with_needs(wanted));
    Ok(PARTS.iter().filter(|part| needed.contains(part.name) && !places[part.name].is_dir()).collect())
}

/// Builds one part in a temporary folder, then renames the folder: a build that is killed leaves no incomplete part.
fn make(part: &Part, places: &Built, report: &(dyn Fn(String) + Sync)) -> Result<(), Error> {
    let started = Instant::now();
    report(format!("{}: building", part.name));
    let place = &places[part.name];
    let temporary = place.with_added_extension(format!("half-{}", std::process::id()));
    files::remove(&temporary)?;
    files::make_folder(&temporary)?;
    let made = (part.make)(part, places, &temporary);
    if made.is_err() {
        files::remove(&temporary)?;
    }
    made?;
    fs::rename(&temporary, place).doing(|| format!("move the built part to {}", place.display()))?;
    report(format!("{}: built in {:.1} s", part.name, started.elapsed().as_secs_f64()));
    Ok(())
}

/// The folder of each part, whether it is built or not.
pub(crate) fn places(layout: &Layout) -> Result<Built, Error> {
    let cache = layout.cache();
    Ok(keys(&workspace())?.into_iter().map(|(name, key)| (name, cache.join(format!("{name}-{key}")))).collect())
}

/// The key of each part: a hash of its files under `root` and of the keys of the parts it needs.
fn keys(root: &Path) -> Result<BTreeMap<&'static str, String>, Error> {
    let mut keys: BTreeMap<&str, String> = BTreeMap::new();
    for part in PARTS {
        let needs: Vec<_> = part.needs.iter().map(|need| keys[need].as_str()).collect();
        keys.insert(part.name, key(part, &needs, root)?);
    }
    Ok(keys)
}

/// The key of one part.
fn key(part: &Part, needs: &[&str], root: &Path) -> Result<String, Error> {
    let mut hash = Sha256::new();
    hash.update(format!("{} {} {}\n", part.name, part.revision, std::env::consts::ARCH));
    for need in needs {
        hash.update(format!("needs {need}\n"));
    }
    for file in part.files {
        let path = root.join(file);
        let all = if path.is_dir() { files::all_files(&path) } else { vec![path] };
        for file in all {
            let content = fs::read(&file).doing(|| format!("read {}", file.display()))?;
            hash.update(format!("{} {}\n", file.strip_prefix(root).unwrap_or(&file).display(), content.len()));
            hash.update(content);
        }
    }
    Ok(hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect())
}

/// These parts and all parts they need, directly or indirectly.
fn with_needs(wanted: &[&str]) -> BTreeSet<&'static str> {
    let mut all = BTreeSet::new();
    for part in wanted.iter().filter_map(|name| part(name)) {
        all.insert(part.name);
        all.extend(with_needs(part.needs));
    }
    all
}

/// Removes built parts that don't match the files of this checkout, except those in `used`.
pub(crate) fn prune(layout: &Layout, used: &[PathBuf], report: &(dyn Fn(String) + Sync)) -> Result<(), Error> {
    let current: BTreeSet<_> = places(layout)?.into_values().collect();
    for path in files::children(&layout.cache()).iter().filter(|path| !current.contains(*path)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if used.contains(path) {
            report(format!("{name}: kept, the running lab uses it"));
        } else {
            files::remove(path)?;
            report(format!("{name}: removed"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::program;

    /// A copy of the files of all parts.
    fn copied() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let files = ["end2end/lab/parts", "deploy/Dockerfile", "deploy/packages.lock", "deploy/runner"];
        let copy = ["--archive", "--parents"];
        program::run(Command::new("cp").current_dir(workspace()).args(copy).args(files).arg(folder.path())).unwrap();
        folder
    }

    #[test]
    fn a_changed_pin_rebuilds_its_part_and_what_is_made_from_it() {
        // All parts except the root file systems: programs, and the images and releases made from them.
        let mut from_compiled: Vec<_> =
            PARTS.iter().map(|part| part.name).filter(|name| !name.ends_with("-root")).collect();
        from_compiled.sort_unstable();
        for (pin, rebuilt) in [
            ("go-toolchain.txt", from_compiled.as_slice()),
            ("etcd-3.5/go.mod", &["etcd-3.5", "release-1.33"]),
            ("kubernetes-1.34/go.sum", &["kubernetes-1.34", "release-1.34"]),
            ("kubernetes/main.go", &["kubernetes-1.33", "kubernetes-1.34", "release-1.33", "release-1.34"]),
            ("coredns-1.12.1/go.mod", &["coredns-1.12.1", "images", "release-1.34"]),
            ("../../../deploy/runner/requirements.txt", &["images", "runner-root"]),
            ("../../../deploy/packages.lock", &["server-root"]),
            ("machine-root/packages.lock", &["machine-root", "release-1.33", "release-1.34"]),
            ("runc/go.mod", &["runc"]),
        ] {
            let folder = copied();
            let before = keys(folder.path()).unwrap();
            assert_eq!(before, keys(&workspace()).unwrap());
            files::write(&folder.path().join("end2end/lab/parts").join(pin), 0o644, "another").unwrap();
            let after = keys(folder.path()).unwrap();
            let changed: Vec<_> = before.keys().copied().filter(|name| before[name] != after[name]).collect();
            assert_eq!(changed, rebuilt, "{pin}");
        }
    }

    #[test]
    fn indirectly_needed_parts_are_included() {
        let needed = with_needs(&["release-1.34"]);
        assert!(needed.contains("kubernetes-1.34") && needed.contains("machine-root"));
        assert!(!needed.contains("kubernetes-1.33"));
    }

    #[test]
    fn parts_of_a_running_lab_are_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout { folder: folder.path().to_owned() };
        let current = places(&layout).unwrap()["tools"].clone();
        let [used, unused] = ["tools-0123", "runc-4567"].map(|name| layout.cache().join(name));
        for part in [&current, &used, &unused] {
            files::make_folder(&part.join("content")).unwrap();
        }
        let reports = std::sync::Mutex::new(Vec::new());
        prune(&layout, std::slice::from_ref(&used), &|line| reports.lock().unwrap().push(line)).unwrap();
        assert!(current.is_dir() && used.join("content").is_dir() && !unused.exists());
        let reports = reports.into_inner().unwrap();
        assert_eq!(reports, ["runc-4567: removed", "tools-0123: kept, the running lab uses it"]);
    }
}
