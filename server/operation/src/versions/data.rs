//! The catalogue as its file has it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use api::cluster::Version;
use serde::Deserialize;

/// Its tests read it, so it can't be malformed.
pub(super) static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../deploy/runner/playbooks/versions.json"))
        .expect("deploy/runner/playbooks/versions.json is a catalogue")
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Catalogue {
    #[serde(rename = "about")]
    _about: String,
    pub as_of: String,
    pub kubeonkube: BuiltIn,
    pub kubespray: Vec<KubesprayRelease>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BuiltIn {
    pub default: Version,
    pub minors: Vec<Minor>,
    /// The SHA-256 of programs: by version, processor (`amd64`) and name (`kubeadm`).
    pub programs: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>,
    pub containerd: Program,
    pub runc: Program,
    pub plugins: BTreeMap<String, Plugin>,
    pub helm: Program,
}

/// A network plugin that is installed from a published file.
#[derive(Debug, Deserialize)]
pub struct Plugin {
    /// `v3.31.7`
    pub version: String,
    #[serde(flatten)]
    pub file: PluginFile,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// The images of its pods with upstream's registry.
    pub images: Vec<String>,
}

/// The name of the file that installs a network plugin.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginFile {
    Manifest(String),
    Chart(String),
}

/// A published program, as a file or an archive.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// `2.3.4`
    pub version: String,
    /// The SHA-256 of the file, by processor (`amd64`).
    pub sha256: BTreeMap<String, String>,
}

/// A minor version of Kubernetes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minor {
    /// `1.34`
    pub minor: String,
    /// The version that the lab runs; `None` if it runs none of this minor version.
    pub run: Option<Version>,
    /// The newest known patch.
    pub newest: Version,
    /// Days of the first release and of the end of support by the Kubernetes project, `2025-08-27`.
    pub released: String,
    pub end_of_support: String,
    pub components: Components,
}

/// The images that kubeadm of one version installs beside Kubernetes, by their tags. Other patches may use newer ones.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Components {
    /// The version of kubeadm.
    pub of: Version,
    pub etcd: String,
    pub coredns: String,
    pub pause: String,
}

/// A release of kubespray and the range of Kubernetes versions whose checksums it contains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KubesprayRelease {
    /// `v2.28`
    pub release: String,
    pub from: Version,
    pub to: Version,
    /// Whether `kube_version` must start with `v`.
    pub takes_v: bool,
}

impl KubesprayRelease {
    /// Why it can't install `version`, as a sentence; `None` if it can.
    pub fn refuses(&self, version: Version) -> Option<String> {
        let Self { release, from, to, .. } = self;
        let has = (*from..=*to).contains(&version);
        (!has).then(|| format!("The image has kubespray {release}, which installs {from} to {to}."))
    }

    /// The value of `kube_version` for `version`. The other spelling fails in kubespray with an error about types.
    pub fn written(&self, version: Version) -> String {
        if self.takes_v { format!("v{version}") } else { version.to_string() }
    }
}
