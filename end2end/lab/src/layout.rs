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
        let folder =
            std::env::var_os("KUBEONKUBE_LAB_DIR").map_or_else(|| workspace().join("target/lab"), PathBuf::from);
        Self { folder }
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

/// The root of the repository.
pub(crate) fn workspace() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("the crate lies in end2end/lab").to_owned()
}

/// The build files of the parts.
pub(crate) fn parts() -> PathBuf {
    workspace().join("end2end/lab/parts")
}
