//! Where the lab keeps what it builds and what it runs.

use std::path::{Path, PathBuf};

/// The folders of one checkout's lab.
#[derive(Debug, Clone)]
pub struct Layout {
    /// `target/lab`, or what `KUBEONKUBE_LAB_DIR` names.
    pub folder: PathBuf,
}

impl Layout {
    /// The lab of this checkout.
    pub fn of_this_checkout() -> Self {
        // A relative one is the same for all folders of the checkout.
        let folder = std::env::var_os("KUBEONKUBE_LAB_DIR").unwrap_or_else(|| "target/lab".into());
        let folder = workspace().join(folder);
        Self { folder: without_links(&folder) }
    }

    /// Built parts, `<name>-<key>`; they outlive every lab.
    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// What one running lab needs: disks of machines, keys, logs. Gone after `down`.
    pub(crate) fn run(&self) -> PathBuf {
        self.folder.join("run")
    }

    pub(crate) fn machine(&self, name: &str) -> PathBuf {
        self.run().join("machines").join(name)
    }

    pub(crate) fn runc_state(&self) -> PathBuf {
        self.run().join("runc")
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.run().join("keys")
    }

    pub(crate) fn cluster(&self) -> PathBuf {
        self.run().join("cluster")
    }
}

/// The same folder by its own path: runc refuses a root behind a link, and `target/lab` may be one to a larger disk.
/// What doesn't exist yet is kept as it is.
fn without_links(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let real = folder.ancestors().find_map(|part| {
        let rest = folder.strip_prefix(part).ok()?;
        Some(part.canonicalize().ok()?.join(rest))
    });
    // A join with nothing would end in a slash.
    real.map_or(folder, |real| real.components().collect())
}

/// The root of the repository.
pub(crate) fn workspace() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("the crate lies in end2end/lab").to_owned()
}

/// The build files of the parts.
pub(crate) fn parts() -> PathBuf {
    workspace().join("end2end/lab/parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_behind_a_link_goes_by_its_own_path_before_and_after_it_is_made() {
        let disk = tempfile::tempdir().unwrap();
        let disk = disk.path().canonicalize().unwrap();
        let (real, link) = (disk.join("large"), disk.join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(without_links(&link), real);
        assert_eq!(without_links(&link).as_os_str(), real.as_os_str());
        assert_eq!(without_links(&link.join("lab")), real.join("lab"));
    }
}
