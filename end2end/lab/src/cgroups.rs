//! The cgroups of machines lie under one name in every hierarchy. They are the one thing of the lab that outlives its
//! processes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{error::Error, files, wait};

pub(crate) const NAME: &str = "kubeonkube-lab";
const MOUNT: &str = "/sys/fs/cgroup";

/// The lab's cgroup in every hierarchy: in version 2 there is one, in version 1 one for each controller.
pub(crate) fn left() -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from(MOUNT)];
    places.extend(files::children(Path::new(MOUNT)).into_iter().filter(|path| path.is_dir() && !path.is_symlink()));
    places.into_iter().map(|place| place.join(NAME)).filter(|path| path.is_dir()).collect()
}

/// Removes them; the processes in them have ended, or are just ending.
pub(crate) fn remove() -> Result<(), Error> {
    wait::until("the removal of the lab's cgroups", Duration::from_secs(10), || {
        left().iter().try_for_each(|cgroup| remove_tree(cgroup))
    })
}

/// A cgroup's files vanish with it: only folders are removed, from the leaves on.
fn remove_tree(cgroup: &Path) -> Result<(), String> {
    for child in files::children(cgroup).iter().filter(|path| path.is_dir() && !path.is_symlink()) {
        remove_tree(child)?;
    }
    fs::remove_dir(cgroup).map_err(|error| format!("{}: {error}", cgroup.display()))
}
