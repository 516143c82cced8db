//! The record: everything that other processes need to know about the lab. It is a file in the lab's [lock](crate::lock).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::namespaces::Namespaces;
use crate::process::Process;

/// The lab of this computer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// `target/lab` of the checkout that booted it.
    pub(crate) folder: PathBuf,
    pub(crate) since: String,
    /// The process that boots it, or has booted it. Older checkouts write neither this field nor `boot`.
    #[serde(default)]
    pub(crate) booter: Process,
    pub(crate) namespaces: Option<Namespaces>,
    /// The process with which the lab ends, usually a test run.
    #[serde(default)]
    pub(crate) ends_with: Option<Process>,
    /// Machines that tests may change in any way, in order.
    pub(crate) machines: Vec<String>,
    /// Nodes of the lab's own Kubernetes, in order.
    pub(crate) nodes: Vec<String>,
    /// The kubeconfig files of the meta-cluster: the lab's own, or those that the user gave. Empty with machines only.
    #[serde(default)]
    pub(crate) kubeconfigs: Vec<PathBuf>,
    /// The API server is the lab's own: it can only be reached inside the lab.
    pub(crate) own_cluster: bool,
    /// The folders of all parts that the lab uses. They must not be removed while it is running.
    #[serde(default)]
    pub(crate) parts: Vec<PathBuf>,
    /// The part `tools`.
    pub(crate) tools: PathBuf,
    /// The part `runc`.
    pub(crate) runc: PathBuf,
    pub(crate) kubectl: Option<PathBuf>,
    /// Versions that machines can download, `v1.36.4`.
    pub(crate) releases: Vec<String>,
    #[serde(default)]
    pub(crate) boot: Boot,
}

/// The progress of the boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Boot {
    Underway,
    #[default]
    Ready,
    /// A step failed for this reason. What earlier steps started is still there.
    Failed(String),
}

impl Record {
    /// An empty lab that `booter` is booting.
    #[cfg(test)]
    pub(crate) fn of_tests(booter: Process) -> Self {
        Self {
            folder: "/checkout/target/lab".into(),
            since: "2026-01-01 00:00:00 UTC".into(),
            booter,
            namespaces: None,
            ends_with: None,
            machines: Vec::new(),
            nodes: Vec::new(),
            kubeconfigs: Vec::new(),
            own_cluster: false,
            parts: Vec::new(),
            tools: PathBuf::new(),
            runc: PathBuf::new(),
            kubectl: None,
            releases: Vec::new(),
            boot: Boot::Underway,
        }
    }

    /// Why the boot will never finish, or `None` if it has finished or is still running.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.boot {
            Boot::Failed(reason) => Some(reason.clone()),
            Boot::Underway if !self.booter.is_alive() => {
                Some(format!("process {}, which booted it, ended before the boot was finished", self.booter.pid))
            }
            Boot::Underway | Boot::Ready => None,
        }
    }
}
