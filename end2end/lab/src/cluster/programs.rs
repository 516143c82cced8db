//! Which binaries the lab's own Kubernetes runs.

use std::path::{Path, PathBuf};

use crate::{build::workshop::Built, error::Error, machine::description::Share};

/// The binaries, in folders that nodes see.
pub(crate) struct Programs {
    /// Folders by what they hold, as nodes see them.
    pub(crate) shares: Vec<Share>,
    pub(crate) etcd: String,
    pub(crate) api_server: String,
    /// Everything else of Kubernetes is in this folder; without it there are an API server and etcd, but no pods.
    pub(crate) kubernetes: Option<String>,
    /// `kubectl` outside.
    pub(crate) kubectl: PathBuf,
}

impl Programs {
    /// Those that were built.
    pub(crate) fn built(built: &Built) -> Self {
        let at = |part: &str| format!("/opt/lab/{part}");
        Self {
            shares: vec![
                Share::new(&built["etcd-3.6"], &at("etcd")),
                Share::new(&built["kubernetes-1.34"], &at("kubernetes")),
                Share::new(&built["images"], &at("images")),
            ],
            etcd: at("etcd/etcd"),
            api_server: at("kubernetes/kube-apiserver"),
            kubernetes: Some(at("kubernetes")),
            kubectl: built["kubernetes-1.34"].join("kubectl"),
        }
    }

    /// Those of a folder as `setup-envtest` makes it: etcd, kube-apiserver and kubectl.
    pub(crate) fn assets(folder: &Path) -> Result<Self, Error> {
        let missing: Vec<_> = ["etcd", "kube-apiserver", "kubectl"]
            .into_iter()
            .filter(|name| !folder.join(name).is_file())
            .map(|name| format!("KUBEBUILDER_ASSETS names {}, but there is no {name} in it.", folder.display()))
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
