//! The folders in which the lab keeps built parts and the files of a running lab.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folders of one checkout's lab.
#[derive(Debug, Clone)]
pub struct Layout {
    /// `target/lab`, or the folder in `KUBEONKUBE_LAB_DIR`.
    pub folder: PathBuf,
    /// The folder of built parts and of the locks on them: `kubeonkube/lab` in the user's cache folder, because Kubernetes takes
    /// minutes to build. All checkouts share it. With `KUBEONKUBE_LAB_DIR`, everything is in that folder.
    pub(crate) shared: PathBuf,
}

impl Layout {
    /// The lab of this checkout.
    pub fn of_this_checkout() -> Self {
        // A relative path is relative to the checkout, not to the current folder.
        if let Some(folder) = env::var_os("KUBEONKUBE_LAB_DIR") {
            return Self::within(without_links(&workspace().join(folder)));
        }
        let folder = without_links(&workspace().join("target/lab"));
        let shared = user_cache(|name| env::var_os(name)).map(|cache| without_links(&cache.join("kubeonkube/lab")));
        Self { shared: shared.unwrap_or_else(|| folder.clone()), folder }
    }

    /// A lab that has everything in one folder.
    pub(crate) fn within(folder: PathBuf) -> Self {
        Self { shared: folder.clone(), folder }
    }

    /// Built parts, `<name>-<key>`. `lab down` keeps them.
    pub fn parts(&self) -> PathBuf {
        self.shared.join("parts")
    }

    /// The files of a running lab: disks of machines, keys, logs. `lab down` removes them.
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

/// The user's cache folder, by the XDG Base Directory Specification. `None` if the environment names none.
fn user_cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))
}

/// Resolves symbolic links: runc refuses a root file system behind a link, and `target/lab` may be a link to a larger disk.
/// Trailing folders that don't exist yet are kept.
fn without_links(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let real = folder.ancestors().find_map(|part| {
        let rest = folder.strip_prefix(part).ok()?;
        Some(part.canonicalize().ok()?.join(rest))
    });
    // Joining an empty rest has added a slash at the end. Collecting the components removes it.
    real.map_or(folder, |real| real.components().collect())
}

/// The root of the repository.
pub(crate) fn workspace() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("the crate lies in end2end/lab").to_owned()
}

/// The folder with the sources and pins of the parts.
pub(crate) fn parts() -> PathBuf {
    workspace().join("end2end/lab/parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_in_the_users_cache_folder() {
        let with = |set: &[(&str, &str)]| {
            user_cache(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert_eq!(with(&[("HOME", "/root")]), Some("/root/.cache".into()));
        assert_eq!(with(&[("HOME", "/root"), ("XDG_CACHE_HOME", "/large")]), Some("/large".into()));
        // The specification says that relative paths are ignored.
        assert_eq!(with(&[("HOME", "/root"), ("XDG_CACHE_HOME", "large")]), Some("/root/.cache".into()));
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn links_to_the_labs_folder_are_resolved() {
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
