//! The settings of a controller.

use std::sync::Arc;
use std::time::Duration;

use disk::Room;
use operation::Signer;
use tokio::sync::watch;

use crate::joining::Joining;

/// The default of [`Config::inputs_timeout`]. Tools for GitOps apply the next group of objects within minutes.
pub const INPUTS_TIMEOUT: Duration = Duration::from_secs(300);

/// What the controller gets at start.
#[derive(Debug, Clone)]
pub struct Config {
    /// How many operations may run at once, all clusters together; 0 counts as 1. Each controller process counts for itself.
    pub max_running: usize,
    /// The namespace of the ConfigMap `kubeonkube-config`.
    pub controller_namespace: String,
    /// How long after its submission an operation waits for a Cluster, ConfigMap or Secret that doesn't exist yet, or for a key of
    /// one. People and tools apply files in any order.
    pub inputs_timeout: Duration,
    /// How long an operation that has the turn waits for room in a full quota.
    pub quota_patience: Duration,
    /// How long the controller tries to read and store the secret result of a run that has ended. Meanwhile the operation keeps its turn.
    pub result_patience: Duration,
    /// The room on the disk of the data directory. While it is full, no operation starts.
    pub room: watch::Receiver<Room>,
    /// Signs results. `None`: with the key in a Secret of the controller's namespace, which all replicas share.
    pub signer: Option<Signer>,
    /// Lets machines join hosted clusters. `None`: nothing is hosted.
    pub joining: Option<Arc<dyn Joining>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_running: 20,
            controller_namespace: "kubeonkube-system".into(),
            inputs_timeout: INPUTS_TIMEOUT,
            quota_patience: Duration::from_secs(600),
            result_patience: Duration::from_secs(120),
            room: watch::channel(Room::Enough).1,
            signer: None,
            joining: None,
        }
    }
}
