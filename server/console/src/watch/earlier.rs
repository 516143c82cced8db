//! How long the tasks of earlier runs took.

use std::collections::HashMap;
use std::sync::Arc;

use api::progress::RunProgress;
use api::{OperationName, User};
use crd::ClusterOperation;
use kube::ResourceExt;
use parking_lot::Mutex;

use crate::Console;
use crate::operations::newest_alike;

/// How many runs are remembered. Only the run before each open run is needed.
const REMEMBERED: usize = 64;

/// The longest duration of each task of a run, in milliseconds, by its name.
type Durations = Arc<HashMap<String, i64>>;

/// The tasks of runs that have ended, by the run's uid.
#[derive(Default)]
pub(crate) struct Earlier(Mutex<HashMap<String, Durations>>);

impl Console {
    /// The longest time that a task took, in milliseconds: in this run, or in the newest successful run like it.
    pub(super) async fn longest_earlier(
        &self,
        user: &User,
        operation: &ClusterOperation,
        progress: &RunProgress,
        task: &str,
    ) -> Option<i64> {
        let here = durations(progress).get(task).copied();
        let before = match newest_alike(operation, &self.shared.operations.state()) {
            Some(before) => self.durations_of(user, &before).await.and_then(|known| known.get(task).copied()),
            None => None,
        };
        here.max(before)
    }

    async fn durations_of(&self, user: &User, run: &ClusterOperation) -> Option<Durations> {
        let uid = run.uid()?;
        if let Some(known) = self.shared.earlier.0.lock().get(&uid) {
            return Some(known.clone());
        }
        let name: OperationName = run.name_any().parse().ok()?;
        let mut progress = self.progress_of(user, &name, true).await?;
        progress.end();
        let found = Arc::new(durations(&progress));
        let mut known = self.shared.earlier.0.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(uid, found.clone());
        Some(found)
    }
}

/// The longest duration of each task that has ended.
fn durations(progress: &RunProgress) -> HashMap<String, i64> {
    let mut longest = HashMap::new();
    for task in progress.tasks.iter().filter(|task| task.ended.is_some()) {
        let known = longest.entry(task.name.clone()).or_default();
        *known = task.ms().max(*known);
    }
    longest
}
