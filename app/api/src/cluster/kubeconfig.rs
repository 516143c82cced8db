//! The kubeconfig of a cluster, and who downloaded it.

use serde::{Deserialize, Serialize};

use crate::Time;

/// What the overview shows about the kubeconfig of a cluster that has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KubeconfigAccess {
    /// Whether the user may read it, and so download it.
    pub may_download: bool,
    /// Newest first, at most 20.
    pub downloads: Vec<Download>,
}

/// One download in the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Download {
    pub by: String,
    pub at: Time,
}
