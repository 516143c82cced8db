//! Operations that end while the server runs.

use std::collections::HashSet;
use std::sync::Arc;

use controller::{ChangeKind, Running};
use crd::{ActionType, ClusterOperation, Phase};
use kube::ResourceExt;
use kube::runtime::reflector::ObjectRef;
use operation::ACTIONS;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::Metrics;

/// Seconds: a ping takes some, the upgrade of a large cluster hours.
const DURATIONS: [f64; 9] = [5.0, 15.0, 60.0, 180.0, 600.0, 1_800.0, 3_600.0, 10_800.0, 21_600.0];

const SUCCEEDED: &str = "succeeded";
const FAILED: &str = "failed";
const CANCELLED: &str = "cancelled";
/// The action of a playbook that isn't built in.
const OTHER: &str = "playbook";
/// The action of a script.
const SCRIPT: &str = "script";

/// Counters of operations that have ended.
pub(super) struct Finished {
    operations: Family<Ended, Counter>,
    durations: Family<OfAction, Histogram>,
    failed_tasks: Counter,
    unreachable: Counter,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Ended {
    action: &'static str,
    result: &'static str,
}

/// `action`: the file name of a built-in playbook, [`OTHER`] or [`SCRIPT`]. Users choose the names of theirs, and each name would be one more
/// series.
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfAction {
    action: &'static str,
}

impl Finished {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let finished = Self {
            operations: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(DURATIONS)),
            failed_tasks: Counter::default(),
            unreachable: Counter::default(),
        };
        // All series exist from the start: Prometheus sees no increase in a series that begins at 1.
        for action in ACTIONS.iter().map(|action| action.playbook).chain([OTHER, SCRIPT]) {
            for result in [SUCCEEDED, FAILED, CANCELLED] {
                drop(finished.operations.get_or_create(&Ended { action, result }));
            }
        }
        registry.register("operations_finished", "Operations that have ended", finished.operations.clone());
        registry.register_with_unit(
            "operation_duration",
            "From the start of an operation to its end",
            Unit::Seconds,
            finished.durations.clone(),
        );
        registry.register("tasks_failed", "Tasks that failed, once for each host", finished.failed_tasks.clone());
        registry.register("hosts_unreachable", "Hosts that a run could not reach", finished.unreachable.clone());
        finished
    }

    fn count(&self, operation: &ClusterOperation) {
        let Some(status) = &operation.status else { return };
        let action = action(operation);
        let result = match (status.status, status.reason.as_deref()) {
            (Phase::Succeeded, _) => SUCCEEDED,
            (_, Some("Cancelled")) => CANCELLED,
            _ => FAILED,
        };
        self.operations.get_or_create(&Ended { action, result }).inc();
        if let (Some(start), Some(end)) = (&status.start_time, &status.end_time) {
            let seconds = (end.0 - start.0).total(jiff::Unit::Second).unwrap_or_default();
            self.durations.get_or_create(&OfAction { action }).observe(seconds);
        }
        if let Some(recap) = status.recap {
            self.failed_tasks.inc_by(recap.failed.into());
            self.unreachable.inc_by(recap.unreachable.into());
        }
    }
}

fn action(operation: &ClusterOperation) -> &'static str {
    match operation.spec.action_type {
        ActionType::Shell => SCRIPT,
        ActionType::Playbook => {
            operation::action(ACTIONS, &operation.spec.action).map_or(OTHER, |action| action.playbook)
        }
    }
}

/// Counts each operation once, when it ends. Those that had ended before are not counted: Prometheus expects counters that begin at
/// zero with the process.
pub(crate) async fn count(metrics: Arc<Metrics>, stop: CancellationToken) {
    let running = &metrics.running;
    let mut changes = running.changes.subscribe();
    if stop.run_until_cancelled(running.ready()).await != Some(true) {
        return;
    }
    let mut seen = Seen::of(running);
    while let Some(change) = stop.run_until_cancelled(changes.recv()).await {
        match change {
            Ok(change) if change.kind == ChangeKind::Operation => {
                if let Some(operation) = running.operations.get(&ObjectRef::new(&change.name)) {
                    seen.count_new(&operation, &metrics.finished);
                }
            }
            Ok(change) if change.kind != ChangeKind::Everything => {}
            // Changes were missed.
            Ok(_) | Err(RecvError::Lagged(_)) => {
                for operation in running.operations.state() {
                    seen.count_new(&operation, &metrics.finished);
                }
            }
            Err(RecvError::Closed) => return,
        }
        seen.forget_deleted(running);
    }
}

/// The uids of operations that have ended and are not to be counted again.
struct Seen(HashSet<String>);

impl Seen {
    fn of(running: &Running) -> Self {
        let ended = running.operations.state().into_iter().filter(|operation| has_ended(operation));
        Self(ended.filter_map(|operation| operation.uid()).collect())
    }

    fn count_new(&mut self, operation: &ClusterOperation, finished: &Finished) {
        if has_ended(operation) && operation.uid().is_some_and(|uid| self.0.insert(uid)) {
            finished.count(operation);
        }
    }

    /// Keeps the set at most twice as large as the store.
    fn forget_deleted(&mut self, running: &Running) {
        if self.0.len() > 2 * running.operations.len() + 1_000 {
            let exist: HashSet<String> =
                running.operations.state().into_iter().filter_map(|operation| operation.uid()).collect();
            self.0.retain(|uid| exist.contains(uid));
        }
    }
}

/// Whether the operation has ended here: a restored record of one isn't counted.
fn has_ended(operation: &ClusterOperation) -> bool {
    operation::phase(operation).is_final() && !operation::is_record(operation)
}
