//! Deletes the logs of deleted operations, but only those of the same API server.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::runtime::reflector::ObjectRef;
use tokio::time::{MissedTickBehavior, interval};

use crate::run::{self, About};
use crate::{RunLog, api_identity};

/// Whether an operation of this name exists although it isn't in the store, because it can't be read.
pub type IsUnread = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// How often the logs are compared with the operations in the store.
const EVERY: Duration = Duration::from_secs(30);

/// Deletes logs without an operation, until dropped.
pub(crate) async fn sweep(client: Client, runs: Arc<RunLog>, is_unread: IsUnread) {
    let Some(api) = api_identity::read(client).await else { return };
    sweep_those_of(runs.api.get_or_init(|| api).clone(), Arc::clone(&runs), is_unread).await;
}

async fn sweep_those_of(api: String, runs: Arc<RunLog>, is_unread: IsUnread) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut suspects = HashSet::new();
    loop {
        ticks.tick().await;
        let (here, api, is_unread) = (Arc::clone(&runs), api.clone(), is_unread.clone());
        let Ok(orphans) = tokio::task::spawn_blocking(move || orphans(&here, &api, &*is_unread)).await else { return };
        // Only after two sweeps in a row: the watch of pods may be ahead of the watch of operations.
        for job in orphans.intersection(&suspects) {
            match runs.forget(job).await {
                Ok(()) => tracing::info!(job, "the log of a deleted operation was deleted"),
                Err(error) => tracing::warn!(job, %error, "cannot delete the log of a deleted operation"),
            }
        }
        suspects = orphans;
    }
}

/// The Jobs of this API server that have a log, and whose operation is deleted or has another Job now.
fn orphans(runs: &RunLog, api: &str, is_unread: &dyn Fn(&str) -> bool) -> HashSet<String> {
    let entries = std::fs::read_dir(&runs.spool).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .filter(|(job, path)| is_orphan(runs, api, is_unread, job, path))
        .map(|(job, _)| job)
        .collect()
}

fn is_orphan(runs: &RunLog, api: &str, is_unread: &dyn Fn(&str) -> bool, job: &str, folder: &Path) -> bool {
    let Some(about) = run::about(folder) else { return false };
    let operation = runs.operations.get(&ObjectRef::new(&about.operation));
    let current = operation.as_ref().and_then(|o| o.status.as_ref()?.job_ref.as_ref()?.uid.as_deref());
    if current == Some(job) {
        record_api(about, api, folder);
        return false;
    }
    // The log of another API server has no operation here. It is kept for when the server connects to that one again.
    if about.api.as_deref() != Some(api) || is_unread(&about.operation) {
        return false;
    }
    operation.is_none() || current.is_some()
}

/// Records that a log belongs to this API server, if its folder names none or another one.
fn record_api(about: About, api: &str, folder: &Path) {
    if about.api.as_deref() == Some(api) {
        return;
    }
    let about = About { api: Some(api.to_owned()), ..about };
    if let Err(error) = about.save(folder) {
        tracing::warn!(folder = %folder.display(), %error, "cannot record the API server of a log, so the log would outlive its operation");
    }
}

#[cfg(test)]
mod tests {
    use crd::{ClusterOperation, ClusterOperationStatus, JobRef};
    use kube::runtime::reflector;
    use kube::runtime::watcher::Event;

    use super::*;
    use crate::Everybody;
    use crate::run::StoredRun;
    use crate::run_log::tests::no_operations;

    fn operation(name: &str, job: &str) -> ClusterOperation {
        let mut operation = ClusterOperation::new(name, Default::default());
        let job = JobRef { namespace: "n".into(), name: "j".into(), uid: Some(job.into()) };
        operation.status = Some(ClusterOperationStatus { job_ref: Some(job), ..Default::default() });
        operation
    }

    struct World {
        dir: tempfile::TempDir,
        operations: reflector::store::Writer<ClusterOperation>,
        _sweeping: tokio::task::JoinSet<()>,
    }

    impl World {
        /// These logs (Job, operation, API server) and operations, in API server `here`. The operation `unread` exists but
        /// can't be read.
        fn new(logs: &[(&str, &str, Option<&str>)], there: Vec<ClusterOperation>) -> Self {
            let dir = tempfile::tempdir().unwrap();
            for (job, operation, api) in logs {
                let api = api.map(Into::into);
                let about = About { operation: (*operation).into(), namespace: "n".into(), pod: "p".into(), api };
                StoredRun::create(&dir.path().join(job), &about).unwrap();
            }
            let (store, mut operations) = reflector::store::<ClusterOperation>();
            operations.apply_watcher_event(&Event::Init);
            there.into_iter().for_each(|o| operations.apply_watcher_event(&Event::InitApply(o)));
            operations.apply_watcher_event(&Event::InitDone);
            let runs = Arc::new(RunLog::new(dir.path().to_owned(), no_operations(), store, Arc::new(Everybody)));
            let mut sweeping = tokio::task::JoinSet::new();
            sweeping.spawn(sweep_those_of("here".into(), runs, Arc::new(|name| name == "unread")));
            Self { dir, operations, _sweeping: sweeping }
        }

        fn has(&self, job: &str) -> bool {
            self.dir.path().join(job).exists()
        }

        /// Waits until the log is deleted. The same sweep deletes everything that it deletes at all.
        async fn without(&self, job: &str) {
            let gone = async {
                while self.has(job) {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(300), gone).await.expect("the log is deleted");
            // Another sweep deletes nothing more.
            tokio::time::sleep(2 * EVERY).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_is_deleted_after_its_operation() {
        let logs =
            [("job-1", "kept", Some("here")), ("job-2", "deleted", Some("here")), ("job-3", "kept", Some("here"))];
        let world = World::new(&logs, vec![operation("kept", "job-1")]);
        std::fs::create_dir(world.dir.path().join("not-ours")).unwrap();
        world.without("job-2").await;
        assert!(world.has("job-1") && world.has("not-ours"));
        assert!(!world.has("job-3"), "its operation was created again and has another Job");
    }

    #[tokio::test(start_paused = true)]
    async fn logs_of_another_api_server_stay() {
        let logs = [("job-1", "gone", Some("here")), ("job-2", "other", Some("there")), ("job-3", "unmarked", None)];
        let world = World::new(&logs, vec![operation("other", "job-9")]);
        world.without("job-1").await;
        assert!(world.has("job-2"), "another API server still has its operation");
        assert!(world.has("job-3"), "its API server is unknown");
    }

    #[tokio::test(start_paused = true)]
    async fn the_log_of_an_operation_that_cannot_be_read_stays() {
        let world = World::new(&[("job-1", "gone", Some("here")), ("job-2", "unread", Some("here"))], vec![]);
        world.without("job-1").await;
        assert!(world.has("job-2"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_of_an_older_version_is_recognised_by_its_operation() {
        let mut world = World::new(&[("job-1", "old", None)], vec![operation("old", "job-1")]);
        let marked = async {
            while run::about(&world.dir.path().join("job-1")).unwrap().api.is_none() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(300), marked).await.expect("the log names its API server");
        world.operations.apply_watcher_event(&Event::Delete(operation("old", "job-1")));
        world.without("job-1").await;
    }
}
