//! The settings of a controller.

use std::time::Duration;

/// What the controller gets at start.
#[derive(Debug, Clone)]
pub struct Config {
    /// How many operations may run at once, all clusters together; 0 counts as 1. Each controller process counts for itself.
    pub max_running: usize,
    /// The namespace of the ConfigMap `kubeonkube-config`.
    pub controller_namespace: String,
    /// How long after its submission an operation waits for a Cluster or ConfigMap that doesn't exist yet. `kubectl apply` of a
    /// folder creates objects in the order of their file names.
    pub patience: Duration,
    /// How long an operation that has the turn waits for room in a full quota.
    pub quota_patience: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_running: 20,
            controller_namespace: "kubeonkube-system".into(),
            patience: Duration::from_secs(5),
            quota_patience: Duration::from_secs(600),
        }
    }
}
