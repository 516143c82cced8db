//! The row of a cluster.

use std::collections::HashMap;
use std::sync::Arc;

use api::cluster::{ClusterRow, LiveRow};
use crd::{Cluster, ClusterOperation};
use kube::ResourceExt;
use operation::{Signing, is_record, order, phase};

use super::health::{Judgement, Work};
use crate::moment;
use crate::operations::{ended as ended_at, row as operation_row};
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
    if is_record(operation) {
        return;
    }
    match phase(operation) {
        crd::Phase::Running => work.running = Some(operation),
        crd::Phase::Pending => {
            work.waiting += 1;
            if work.next.is_none_or(|next| order(operation, next).is_lt()) {
                work.next = Some(operation);
            }
        }
        crd::Phase::Succeeded | crd::Phase::Failed => {
            if work.ended.is_none_or(|ended| ended_at(operation) > ended_at(ended)) {
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
    of_cluster.filter(recapped).map(Arc::as_ref).max_by_key(|o| ended_at(o))
}

/// The operation that the row shows: the running one, otherwise the first queued one, otherwise the one that ended last.
pub(crate) fn last<'a>(work: &Work<'a>) -> Option<&'a ClusterOperation> {
    work.running.or(work.next).or(work.ended)
}

/// The row of a cluster; `None` if its name is invalid.
pub(crate) fn row(
    cluster: &Cluster,
    work: &Work<'_>,
    judged: Judgement,
    nodes: Option<u32>,
    live: Option<LiveRow>,
    signing: &Signing,
) -> Option<ClusterRow> {
    Some(ClusterRow {
        name: cluster.name_any().parse().ok()?,
        health: judged.health,
        health_word: judged.word,
        note: judged.note,
        fix: judged.fix,
        nodes,
        live,
        last: last(work).and_then(|last| operation_row(last, signing)),
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
