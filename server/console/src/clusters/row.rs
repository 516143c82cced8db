//! The row of a cluster.

use std::collections::HashMap;
use std::sync::Arc;

use api::Time;
use api::cluster::ClusterRow;
use crd::{Cluster, ClusterOperation};
use kube::ResourceExt;
use operation::{order, phase};

use super::health::{Work, judge};
use crate::moment;
use crate::operations::row as operation_row;
use crate::page::count;

/// The work of all clusters, by name. Needs only one pass over the operations.
pub(crate) fn work_by_cluster(operations: &[Arc<ClusterOperation>]) -> HashMap<&str, Work<'_>> {
    let mut all: HashMap<&str, Work<'_>> = HashMap::new();
    for operation in operations {
        let work = all.entry(&operation.spec.cluster).or_default();
        note(work, operation);
    }
    all
}

/// The work of one cluster.
pub(crate) fn work_of<'a>(operations: &'a [Arc<ClusterOperation>], cluster: &str) -> Work<'a> {
    let mut work = Work::default();
    operations.iter().filter(|o| o.spec.cluster == cluster).for_each(|o| note(&mut work, o));
    work
}

fn note<'a>(work: &mut Work<'a>, operation: &'a ClusterOperation) {
    work.all += 1;
    match phase(operation) {
        crd::Phase::Running => work.running = Some(operation),
        crd::Phase::Pending => {
            work.waiting += 1;
            if work.next.is_none_or(|next| order(operation) < order(next)) {
                work.next = Some(operation);
            }
        }
        crd::Phase::Succeeded | crd::Phase::Failed => {
            if work.ended.is_none_or(|ended| end(operation) > end(ended)) {
                work.ended = Some(operation);
            }
        }
    }
}

/// The operation of `cluster` with a recap that ended last.
pub(crate) fn newest_recapped<'a>(
    operations: &'a [Arc<ClusterOperation>],
    cluster: &str,
) -> Option<&'a ClusterOperation> {
    let recapped = |o: &&Arc<ClusterOperation>| o.status.as_ref().is_some_and(|status| status.recap.is_some());
    let of_cluster = operations.iter().filter(|o| o.spec.cluster == cluster);
    of_cluster.filter(recapped).map(Arc::as_ref).max_by_key(|o| end(o))
}

/// Sort key for the end of operations. Times have whole seconds, so the resourceVersion decides between operations that ended in
/// the same second.
fn end(operation: &ClusterOperation) -> (Option<Time>, Option<u64>) {
    let time = operation
        .status
        .as_ref()
        .and_then(|status| status.end_time.as_ref())
        .or(operation.metadata.creation_timestamp.as_ref());
    (time.map(moment::of), operation.resource_version().and_then(|version| version.parse().ok()))
}

/// The operation that the row shows: the running one, otherwise the first queued one, otherwise the one that ended last.
pub(crate) fn last<'a>(work: &Work<'a>) -> Option<&'a ClusterOperation> {
    work.running.or(work.next).or(work.ended)
}

/// The row of a cluster; `None` if its name is invalid.
pub(crate) fn row(cluster: &Cluster, work: &Work<'_>, nodes: Option<u32>) -> Option<ClusterRow> {
    let judged = judge(cluster, work);
    Some(ClusterRow {
        name: cluster.name_any().parse().ok()?,
        health: judged.health,
        health_word: judged.word,
        note: judged.note,
        nodes,
        last: last(work).and_then(operation_row),
        // If no operation runs, `last` is the first queued one, so don't count it again.
        queued: count(work.waiting - usize::from(work.running.is_none() && work.waiting > 0)),
        labels: labels(cluster),
        created: cluster.metadata.creation_timestamp.as_ref().map(moment::of).unwrap_or_default(),
    })
}

/// The labels that users set, as `key=value`.
pub(crate) fn labels(cluster: &Cluster) -> Vec<String> {
    let own = |key: &str| key == crd::LABEL_MANAGED_BY || key.contains(crd::GROUP);
    cluster.labels().iter().filter(|(key, _)| !own(key)).map(|(key, value)| format!("{key}={value}")).collect()
}
