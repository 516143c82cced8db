//! Spools go with their operations.

use std::{collections::HashSet, path::Path, sync::Arc, time::Duration};

use kube::runtime::reflector::ObjectRef;
use tokio::time::{MissedTickBehavior, interval};

use crate::{RunLog, run};

/// How often spools are compared with the operations in memory.
const EVERY: Duration = Duration::from_secs(30);

/// Forgets spools without an operation, until dropped.
pub(crate) async fn sweep(runs: Arc<RunLog>) {
    if runs.operations.wait_until_ready().await.is_err() {
        return;
    }
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut suspects = HashSet::new();
    loop {
        ticks.tick().await;
        let here = Arc::clone(&runs);
        let Ok(orphans) = tokio::task::spawn_blocking(move || orphans(&here)).await else { return };
        // Twice in a row: the pod's watch may be ahead of the operations'.
        for job in orphans.intersection(&suspects) {
            match runs.forget(job).await {
                Ok(()) => tracing::info!(job, "the log of a deleted operation was removed"),
                Err(error) => tracing::warn!(job, %error, "the log of a deleted operation can't be removed"),
            }
        }
        suspects = orphans;
    }
}

/// The Jobs with a spool whose operation is gone, or has another Job by now.
fn orphans(runs: &RunLog) -> HashSet<String> {
    let entries = std::fs::read_dir(&runs.spool).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .filter(|(job, path)| is_orphan(runs, job, path))
        .map(|(job, _)| job)
        .collect()
}

fn is_orphan(runs: &RunLog, job: &str, folder: &Path) -> bool {
    let Some(about) = run::about(folder) else { return false };
    let Some(operation) = runs.operations.get(&ObjectRef::new(&about.operation)) else { return true };
    let current = operation.status.as_ref().and_then(|s| s.job_ref.as_ref()?.uid.as_deref());
    current.is_some_and(|current| current != job)
}

#[cfg(test)]
mod tests {
    use crd::ClusterOperation;
    use kube::runtime::{reflector, watcher};

    use super::*;
    use crate::{
        Everybody,
        run::{About, Run},
    };

    #[tokio::test(start_paused = true)]
    async fn a_spool_goes_when_its_operation_has_gone() {
        let dir = tempfile::tempdir().unwrap();
        for (job, operation) in [("job-1", "kept"), ("job-2", "deleted")] {
            let about = About { operation: operation.into(), namespace: "n".into(), pod: "p".into() };
            Run::create(&dir.path().join(job), &about).unwrap();
        }
        std::fs::create_dir(dir.path().join("not-ours")).unwrap();
        let (store, mut writer) = reflector::store::<ClusterOperation>();
        writer.apply_watcher_event(&watcher::Event::Init);
        writer.apply_watcher_event(&watcher::Event::InitApply(ClusterOperation::new("kept", Default::default())));
        writer.apply_watcher_event(&watcher::Event::InitDone);
        let runs = Arc::new(RunLog::new(dir.path().to_owned(), store, Arc::new(Everybody)));
        let sweeping = tokio::spawn(sweep(runs));
        let gone = async {
            while dir.path().join("job-2").exists() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(300), gone).await.expect("it goes");
        assert!(dir.path().join("job-1").exists() && dir.path().join("not-ours").exists());
        sweeping.abort();
    }
}
