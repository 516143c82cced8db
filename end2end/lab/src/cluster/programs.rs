//! The binaries that the lab's own Kubernetes runs.

use std::path::{Path, PathBuf};

use crate::build::part::Built;
use crate::error::Error;
use crate::machine::description::Share;

/// The binaries and their folders, which are mounted on nodes.
pub(crate) struct Programs {
    /// The folders to mount on nodes.
    pub(crate) shares: Vec<Share>,
    pub(crate) etcd: String,
    pub(crate) api_server: String,
    /// The folder with all other components. Without it there are only an API server and etcd, and no pods.
    pub(crate) kubernetes: Option<String>,
    /// The path of `kubectl` on the computer.
    pub(crate) kubectl: PathBuf,
}

impl Programs {
    /// The binaries of the built parts.
    pub(crate) fn built(built: &Built) -> Self {
        let at = |part: &str| format!("/opt/lab/{part}");
        Self {
            shares: vec![
                Share::new(&built["etcd-3.6"], &at("etcd")),
                Share::new(&built["kubernetes-1.36"], &at("kubernetes")),
                Share::new(&built["containerd"], &at("containerd")),
                Share::new(&built["runc"], &at("runc")),
                Share::new(&built["images"], &at("images")),
            ],
            etcd: at("etcd/etcd"),
            api_server: at("kubernetes/kube-apiserver"),
            kubernetes: Some(at("kubernetes")),
            kubectl: built["kubernetes-1.36"].join("kubectl"),
        }
    }

    /// The binaries in a folder made by `setup-envtest`: etcd, kube-apiserver and kubectl.
    pub(crate) fn assets(folder: &Path) -> Result<Self, Error> {
        let missing: Vec<_> = ["etcd", "kube-apiserver", "kubectl"]
            .into_iter()
            .filter(|name| !folder.join(name).is_file())
            .map(|name| format!("KUBEBUILDER_ASSETS is {}, but there is no {name} in it.", folder.display()))
            .collect();
        if !missing.is_empty() {
            return Err(Error::Requirements(missing));
        }
        Ok(Self {
            shares: vec![Share::new(folder, "/opt/lab/assets")],
            etcd: "/opt/lab/assets/etcd".into(),
            api_server: "/opt/lab/assets/kube-apiserver".into(),
            kubernetes: None,
            kubectl: folder.join("kubectl"),
        })
    }
}
