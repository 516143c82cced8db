//! Finds built parts and builds missing ones. A part is in `parts/<name>-<key>`, and the key is a hash of everything it is
//! made from. So a second boot builds nothing, and a changed pin rebuilds only the parts that depend on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, thread};

use sha2::{Digest, Sha256};

use crate::build::debian;
use crate::build::locks::{Building, InUse};
use crate::build::part::{Built, Lane, Part};
use crate::build::parts::{PARTS, part};
use crate::error::{Doing, Error};
use crate::files;
use crate::layout::{Layout, workspace};

/// Whether root file systems must have exactly the packages of their locks. A Debian mirror keeps only the newest packages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pins {
    /// A root with other packages is an error.
    Required,
    /// A root with other packages is used, with a warning. It never takes the place of a root with the pinned packages.
    Preferred,
}

impl Pins {
    /// Only a full test run proves the pins. Otherwise, every test run would fail from the day of a Debian point release on.
    pub(crate) fn of_this_run() -> Self {
        if std::env::var_os("KUBEONKUBE_FULL").is_some() { Self::Required } else { Self::Preferred }
    }
}

/// Builds the parts `wanted` and the parts they need, unless they exist. Reports how long each takes. If something is missing,
/// waits for a build by another process first.
pub(crate) fn build(
    in_use: &InUse,
    layout: &Layout,
    wanted: &[&str],
    pins: Pins,
    report: &(dyn Fn(String) + Sync),
) -> Result<Built, Error> {
    let needed = with_needs(wanted);
    let _building = match missing(layout, wanted, pins)? {
        nothing if nothing.is_empty() => None,
        _ => Some(Building::take(in_use, layout, report)?),
    };
    // Checked again: the build by another process may have made them.
    let (first, places_before) = (missing(layout, wanted, pins)?, places(layout, pins)?);
    for (part, place) in places_before.iter().filter(|(part, _)| needed.contains(*part)) {
        let count = debian::differences_in(place)?.len();
        if count > 0 {
            let (lock, place) = (debian::lock(part), place.display());
            report(format!("warning: {count} packages of `{part}` are not those of {lock}: {place}/differences"));
        }
    }
    thread::scope(|scope| {
        let lanes: Vec<_> = [Lane::Compile, Lane::Install]
            .map(|lane| {
                let (missing, places) = (&first, &places_before);
                scope.spawn(move || {
                    // Parts that need others are built below, after both lanes.
                    for part in missing.iter().filter(|part| part.lane == lane && part.needs.is_empty()) {
                        make(part, places, pins, report)?;
                    }
                    Ok::<(), Error>(())
                })
            })
            .into_iter()
            .collect();
        lanes.into_iter().try_for_each(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    // Looked up again: what is made from a root with other packages has another key.
    let places = places(layout, pins)?;
    for part in missing(layout, wanted, pins)? {
        make(part, &places, pins, report)?;
    }
    Ok(places.into_iter().filter(|(name, _)| needed.contains(name)).collect())
}

/// The parts that have to be built for `wanted`. Each comes after the parts it needs.
pub(crate) fn missing(layout: &Layout, wanted: &[&str], pins: Pins) -> Result<Vec<&'static Part>, Error> {
    let (places, needed) = (places(layout, pins)?, with_needs(wanted));
    Ok(PARTS.iter().filter(|part| needed.contains(part.name) && !places[part.name].is_dir()).collect())
}

/// Builds one part in a temporary folder, then renames the folder: a build that is killed leaves no incomplete part.
fn make(part: &Part, places: &Built, pins: Pins, report: &(dyn Fn(String) + Sync)) -> Result<(), Error> {
    let started = Instant::now();
    report(format!("{}: building", part.name));
    let place = &places[part.name];
    let temporary = place.with_added_extension(format!("half-{}", std::process::id()));
    files::remove(&temporary)?;
    files::make_folder(&temporary)?;
    let made = make_in(part, places, &temporary, pins, report);
    if made.is_err() {
        files::remove(&temporary)?;
    }
    let place = if made? { place.clone() } else { unpinned(place) };
    fs::rename(&temporary, &place).doing(|| format!("move the built part to {}", place.display()))?;
    report(format!("{}: built in {:.1} s", part.name, started.elapsed().as_secs_f64()));
    Ok(())
}

/// Makes a part in this folder. Returns whether its packages are the pinned ones; reports them if they aren't.
///
/// # Errors
/// If other packages are an error.
pub(crate) fn make_in(
    part: &Part,
    built: &Built,
    folder: &Path,
    pins: Pins,
    report: &(dyn Fn(String) + Sync),
) -> Result<bool, Error> {
    (part.make)(part, built, folder)?;
    let differences = debian::differences_in(folder)?;
    if differences.is_empty() {
        return Ok(true);
    }
    let moved = Error::Pins { part: part.name.to_owned(), lock: debian::lock(part.name), differences };
    if pins == Pins::Required {
        return Err(moved);
    }
    report(format!("warning: {moved}\nThe part is built with what the mirror has."));
    Ok(false)
}

/// The folder of each part, whether it is built or not. Each part has one folder for its pinned packages and one for others.
pub(crate) fn places(layout: &Layout, pins: Pins) -> Result<Built, Error> {
    let parts = layout.parts();
    let place = |name: &str, key: &str| parts.join(format!("{name}-{key}"));
    let is_unpinned = |name: &str, key: &str| {
        let place = place(name, key);
        pins == Pins::Preferred && !place.is_dir() && unpinned(&place).is_dir()
    };
    Ok(keys(&workspace(), is_unpinned)?.into_iter().map(|(name, key)| (name, place(name, &key))).collect())
}

/// The end of the key of a root with other packages than its lock says.
const UNPINNED: &str = ".unpinned";

/// The folder of the same part with such a key.
fn unpinned(place: &Path) -> PathBuf {
    place.with_added_extension(&UNPINNED[1..])
}

/// The key of each part: a hash of its files under `root` and of the keys of the parts it needs.
fn keys(root: &Path, is_unpinned: impl Fn(&str, &str) -> bool) -> Result<BTreeMap<&'static str, String>, Error> {
    let mut keys: BTreeMap<&str, String> = BTreeMap::new();
    for part in PARTS {
        let needs: Vec<_> = part.needs.iter().map(|need| keys[need].as_str()).collect();
        let mut key = key(part, &needs, root)?;
        if is_unpinned(part.name, &key) {
            key += UNPINNED;
        }
        keys.insert(part.name, key);
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
    let current: BTreeSet<_> = places(layout, Pins::Preferred)?.into_values().collect();
    for path in files::children(&layout.parts()).iter().filter(|path| !current.contains(*path)) {
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
            ("etcd-3.7/go.mod", &["etcd-3.7", "release-1.37"]),
            ("kubernetes-1.36/go.sum", &["kubernetes-1.36", "release-1.36"]),
            ("kubernetes/main.go", &["kubernetes-1.36", "kubernetes-1.37", "release-1.36", "release-1.37"]),
            ("coredns-1.14.2/go.mod", &["coredns-1.14.2", "images", "release-1.36"]),
            ("../../../deploy/runner/requirements.txt", &["images", "runner-root"]),
            ("../../../deploy/packages.lock", &["server-root"]),
            ("machine-root/packages.lock", &["machine-root", "release-1.36", "release-1.37"]),
            ("runc/go.mod", &["runc", "runtime"]),
            ("containerd/go.sum", &["containerd", "runtime"]),
        ] {
            let folder = copied();
            let before = keys(folder.path(), |_, _| false).unwrap();
            assert_eq!(before, keys(&workspace(), |_, _| false).unwrap());
            files::write(&folder.path().join("end2end/lab/parts").join(pin), 0o644, "another").unwrap();
            let after = keys(folder.path(), |_, _| false).unwrap();
            let changed: Vec<_> = before.keys().copied().filter(|name| before[name] != after[name]).collect();
            assert_eq!(changed, rebuilt, "{pin}");
        }
    }

    /// A part whose packages are not those of its lock.
    fn moved() -> Part {
        let make = |_: &Part, _: &Built, to: &Path| {
            files::write(&to.join("differences"), 0o644, "bash_5.2 is now bash_5.3\nzip_3 is missing")
        };
        Part { name: "machine-root", files: &[], needs: &[], revision: 1, lane: Lane::Install, make }
    }

    #[test]
    fn other_packages_than_pinned_are_a_warning_or_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::within(folder.path().to_owned());
        let reports = std::sync::Mutex::new(Vec::new());
        let report = |line| reports.lock().unwrap().push(line);
        let pinned = places(&layout, Pins::Required).unwrap();

        let why = make(&moved(), &pinned, Pins::Required, &report).unwrap_err().to_string();
        for part in ["- bash_5.2 is now bash_5.3\n- zip_3 is missing", "lab pin machine-root"] {
            assert!(why.contains(part), "{why}");
        }
        assert!(files::children(&layout.parts()).is_empty());

        make(&moved(), &pinned, Pins::Preferred, &report).unwrap();
        assert!(reports.lock().unwrap().iter().any(|line| line.contains("warning") && line.contains("bash_5.3")));
        assert!(!pinned["machine-root"].exists());
    }

    #[test]
    fn what_is_made_from_other_packages_has_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::within(folder.path().to_owned());
        let pinned = places(&layout, Pins::Required).unwrap();
        assert_eq!(places(&layout, Pins::Preferred).unwrap(), pinned);

        make(&moved(), &pinned, Pins::Preferred, &|_| {}).unwrap();
        assert_eq!(places(&layout, Pins::Required).unwrap(), pinned);
        let places_now = places(&layout, Pins::Preferred).unwrap();
        let changed: Vec<_> = pinned.keys().copied().filter(|name| pinned[name] != places_now[name]).collect();
        assert_eq!(changed, ["machine-root", "release-1.36", "release-1.37"]);
        assert_eq!(debian::differences_in(&places_now["machine-root"]).unwrap().len(), 2);
        let is_missing = |pins| missing(&layout, &["machine-root"], pins).unwrap().len() == 1;
        assert!(is_missing(Pins::Required) && !is_missing(Pins::Preferred));

        // With the pinned packages built, the others are removed by the next cleaning.
        files::make_folder(&pinned["machine-root"]).unwrap();
        assert_eq!(places(&layout, Pins::Preferred).unwrap(), pinned);
        prune(&layout, &[], &|_| {}).unwrap();
        assert_eq!(files::children(&layout.parts()), [pinned["machine-root"].clone()]);
    }

    #[test]
    fn indirectly_needed_parts_are_included() {
        let needed = with_needs(&["release-1.36"]);
        assert!(needed.contains("kubernetes-1.36") && needed.contains("machine-root"));
        assert!(!needed.contains("kubernetes-1.37"));
    }

    #[test]
    fn parts_of_a_running_lab_are_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::within(folder.path().to_owned());
        let current = places(&layout, Pins::Required).unwrap()["tools"].clone();
        let [used, unused] = ["tools-0123", "runc-4567"].map(|name| layout.parts().join(name));
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
