//! When this process last checked the inputs of each Cluster.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The last check by the Cluster's name. A new process has checked none: inputs may have changed while no controller ran.
#[derive(Debug, Default)]
pub(crate) struct Checks(Mutex<HashMap<String, Instant>>);

impl Checks {
    /// How long ago this Cluster was checked.
    pub(crate) fn age(&self, cluster: &str) -> Option<Duration> {
        self.0.lock().get(cluster).map(Instant::elapsed)
    }

    /// Notes that this Cluster was checked now, and forgets the Clusters that no longer exist.
    pub(crate) fn note(&self, cluster: &str, exists: impl Fn(&str) -> bool) {
        let mut checks = self.0.lock();
        checks.retain(|name, _| exists(name));
        checks.insert(cluster.to_owned(), Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_are_gone_are_forgotten() {
        let checks = Checks::default();
        assert_eq!(checks.age("a"), None);
        checks.note("a", |_| true);
        checks.note("b", |_| true);
        checks.note("b", |name| name != "a");
        assert!(checks.age("a").is_none() && checks.age("b").is_some());
    }
}
