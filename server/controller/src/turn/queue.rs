//! The queue of a cluster: whose turn it is, as pure functions. The answer counts only once it is written into the Cluster's status.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crd::{Cluster, ClusterOperation, Phase};
use operation::has_ended;
pub(crate) use operation::order;

use crate::inputs::validate;
use crate::status::refusal::Refusal;
use crate::turn::history;

/// Whether the operation waits or runs.
pub(crate) fn is_open(operation: &ClusterOperation) -> bool {
    !has_ended(operation) && operation.metadata.deletion_timestamp.is_none()
}

/// The operation that this one waits for: the one directly before it in the queue of its cluster. None if it is first. With the head of
/// the queue instead, every message would have to be written again whenever the head changes.
pub(crate) fn predecessor(
    operation: &ClusterOperation,
    operations: &[Arc<ClusterOperation>],
    cluster: Option<&Cluster>,
) -> Option<String> {
    let ahead = open_of(&operation.spec.cluster, operations)
        .filter(|other| order(other, operation).is_lt())
        .max_by(|a, b| order(a, b))
        .and_then(|other| other.metadata.name.clone());
    // Another replica, with other caches, gave another operation the turn out of order.
    let running = cluster.and_then(history::running).filter(|entry| !history::is_of(entry, operation));
    // Another operation is running, but the Cluster was deleted and created again, so its history doesn't show that turn.
    let forgotten = || {
        let runs = |other: &&Arc<ClusterOperation>| {
            other.metadata.uid != operation.metadata.uid
                && other.status.as_ref().is_some_and(|status| status.status == Phase::Running)
        };
        open_of(&operation.spec.cluster, operations).find(runs).and_then(|other| other.metadata.name.clone())
    };
    ahead.or_else(|| running.map(|entry| entry.cluster_ops.clone())).or_else(forgotten)
}

/// The operations that a change of `name` may concern: the first open one of the cluster, and the one directly after `name`.
pub(crate) fn concerned(cluster: &str, name: Option<&str>, operations: &[Arc<ClusterOperation>]) -> Vec<String> {
    let head = open_of(cluster, operations).min_by(|a, b| order(a, b));
    let changed =
        name.and_then(|name| operations.iter().find(|operation| operation.metadata.name.as_deref() == Some(name)));
    let next = changed.and_then(|changed| {
        open_of(cluster, operations).filter(|other| order(other, changed).is_gt()).min_by(|a, b| order(a, b))
    });
    let mut names: Vec<String> =
        head.into_iter().chain(next).filter_map(|operation| operation.metadata.name.clone()).collect();
    names.dedup();
    names
}

/// All open operations of a cluster.
pub(crate) fn open_of<'a>(
    cluster: &str,
    operations: &'a [Arc<ClusterOperation>],
) -> impl Iterator<Item = &'a Arc<ClusterOperation>> {
    operations.iter().filter(move |operation| operation.spec.cluster == cluster && is_open(operation))
}

/// The operations that may start when `free` slots are free: the first of each idle cluster's queue, oldest first.
pub(crate) fn startable(operations: &[Arc<ClusterOperation>], clusters: &[Arc<Cluster>], free: usize) -> Vec<String> {
    let name = |cluster: &Arc<Cluster>| cluster.metadata.name.clone().unwrap_or_default();
    let busy: HashSet<String> =
        clusters.iter().filter(|cluster| history::running(cluster).is_some()).map(name).collect();
    let mut heads: HashMap<&str, &Arc<ClusterOperation>> = HashMap::new();
    for operation in operations.iter().filter(|operation| is_open(operation) && !busy.contains(&operation.spec.cluster))
    {
        let head = heads.entry(&operation.spec.cluster).or_insert(operation);
        if order(operation, head).is_lt() {
            *head = operation;
        }
    }
    let mut heads: Vec<_> = heads.into_values().collect();
    heads.sort_by(|a, b| order(a, b));
    heads.into_iter().take(free).filter_map(|operation| operation.metadata.name.clone()).collect()
}

/// Whether the operation may start, before its inputs are read: it is not cancelled, and its own fields are valid.
pub(crate) fn may_start(operation: &ClusterOperation) -> Result<(), Refusal> {
    if operation.spec.cancel == Some(true) { Err(Refusal::Cancelled) } else { validate::submission(operation) }
}

/// The uids of all operations that have a turn.
pub(crate) fn running_uids(clusters: &[Arc<Cluster>]) -> HashSet<String> {
    let entries = clusters.iter().flat_map(|cluster| history::entries(cluster));
    entries.filter(|entry| entry.status == Phase::Running).filter_map(|entry| entry.uid.clone()).collect()
}

#[cfg(test)]
mod tests {
    use crd::{ClusterOperationStatus, ClusterStatus, OperationRecord, Time};

    use super::*;

    fn operation(name: &str, cluster: &str, second: i64) -> Arc<ClusterOperation> {
        let mut operation = ClusterOperation::default();
        operation.metadata.name = Some(name.into());
        operation.metadata.uid = Some(format!("uid-{name}"));
        operation.metadata.creation_timestamp = Some(Time(jiff::Timestamp::from_second(second).unwrap()));
        operation.spec.cluster = cluster.into();
        Arc::new(operation)
    }

    fn ended(operation: &Arc<ClusterOperation>) -> Arc<ClusterOperation> {
        let mut operation = ClusterOperation::clone(operation);
        operation.status = Some(ClusterOperationStatus { status: Phase::Failed, ..ClusterOperationStatus::default() });
        Arc::new(operation)
    }

    fn busy(name: &str, with: &str) -> Arc<Cluster> {
        let mut cluster = Cluster::default();
        cluster.metadata.name = Some(name.into());
        let entry = OperationRecord {
            cluster_ops: with.into(),
            uid: Some(format!("uid-{with}")),
            status: Phase::Running,
            ..OperationRecord::default()
        };
        cluster.status = Some(ClusterStatus { conditions: vec![entry], ..ClusterStatus::default() });
        Arc::new(cluster)
    }

    #[test]
    fn the_older_goes_first_then_the_name_decides() {
        let (a, b, c) = (operation("a", "x", 2), operation("b", "x", 2), operation("c", "x", 1));
        let all = [a.clone(), b.clone(), c.clone(), operation("0", "y", 0)];
        assert_eq!(predecessor(&c, &all, None), None);
        assert_eq!(predecessor(&a, &all, None), Some("c".into()));
        assert_eq!(predecessor(&b, &all, None), Some("a".into()));
        let all = [a.clone(), b.clone(), ended(&c)];
        assert_eq!(predecessor(&a, &all, None), None);
        assert_eq!(concerned("x", Some("c"), &[a.clone(), b.clone(), ended(&c)]), ["a"]);
        assert_eq!(concerned("x", Some("a"), &all), ["a", "b"]);
    }

    #[test]
    fn a_turn_holds_back_even_an_older_operation() {
        let (a, b) = (operation("a", "x", 1), operation("b", "x", 2));
        assert_eq!(predecessor(&a, &[a.clone(), b.clone()], Some(&busy("x", "b"))), Some("b".into()));
        assert_eq!(predecessor(&a, std::slice::from_ref(&a), Some(&busy("x", "a"))), None, "its own turn");
    }

    #[test]
    fn a_free_slot_goes_to_the_oldest_head_of_an_idle_cluster() {
        let all = [operation("a", "x", 5), operation("b", "y", 3), operation("c", "y", 4), operation("d", "z", 1)];
        assert_eq!(startable(&all, &[busy("z", "d")], 9), ["b", "a"]);
        assert_eq!(startable(&all, &[busy("z", "d")], 1), ["b"]);
    }
}
