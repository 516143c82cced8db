//! The cgroups of machines: below one name in every hierarchy. They don't end with the lab's namespaces.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::{files, wait};

pub(crate) const NAME: &str = "kubeonkube-lab";
const MOUNT: &str = "/sys/fs/cgroup";

/// The lab's cgroups that exist: at most one in each hierarchy. Version 2 has one hierarchy, version 1 one for each
/// controller.
pub(crate) fn left() -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from(MOUNT)];
    places.extend(files::children(Path::new(MOUNT)).into_iter().filter(|path| path.is_dir() && !path.is_symlink()));
    places.into_iter().map(|place| place.join(NAME)).filter(|path| path.is_dir()).collect()
}

/// Removes the lab's cgroups. Their processes must have ended or be ending.
pub(crate) fn remove() -> Result<(), Error> {
    wait::until("the removal of the lab's cgroups", wait::PATIENCE, || {
        left().iter().try_for_each(|cgroup| remove_tree(cgroup))
    })
}

/// Removes a cgroup and those below it, the lowest first. The kernel removes the files of a cgroup with it.
fn remove_tree(cgroup: &Path) -> Result<(), String> {
    for child in files::children(cgroup).iter().filter(|path| path.is_dir() && !path.is_symlink()) {
        remove_tree(child)?;
    }
    fs::remove_dir(cgroup).map_err(|error| format!("{}: {error}", cgroup.display()))
}
