//! Which ended operations are deleted. As in the reference controller, 30 per cluster are kept unless configured, and never more than 200.

use std::sync::Arc;

use crd::{Cluster, ClusterOperation, ClusterOperationStatus, Phase};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::status::outcome;
use crate::turn::{history, queue};

const DEFAULT: usize = 30;
const CAP: usize = 200;

/// How many ended operations of a cluster are kept, from the ConfigMap `kubeonkube-config`.
pub(crate) fn limit(settings: Option<&ConfigMap>) -> usize {
    let text = settings.and_then(|map| map.data.as_ref()?.get(crd::CONFIG_BACKEND_LIMIT));
    match text.and_then(|text| text.trim().parse::<i64>().ok()) {
        Some(limit) if limit > 0 => usize::try_from(limit).unwrap_or(CAP).min(CAP),
        _ => DEFAULT,
    }
}

/// The operations of `cluster` beyond `limit`: those with the highest eliminate-score, then the oldest. Only operations that have ended and are
/// fully recorded count. Those that wait or run are neither removed nor counted.
pub(crate) fn excess(
    cluster: &Cluster,
    operations: &[Arc<ClusterOperation>],
    limit: usize,
) -> Vec<Arc<ClusterOperation>> {
    let kept = |operation: &&Arc<ClusterOperation>| {
        Some(&operation.spec.cluster) == cluster.metadata.name.as_ref()
            && outcome::has_ended_label(operation)
            && operation.status.as_ref().is_some_and(is_recorded)
            && operation.metadata.deletion_timestamp.is_none()
            // Another client may have written label and status.
            && history::entry(cluster, operation).is_none_or(|entry| entry.status != Phase::Running)
    };
    let mut ended: Vec<_> = operations.iter().filter(kept).cloned().collect();
    ended.sort_by(|a, b| score(b).cmp(&score(a)).then_with(|| queue::order(a, b)));
    ended.truncate(ended.len().saturating_sub(limit));
    ended
}

/// The label alone is no proof: it is written before the status, and a user can set it on an operation that runs.
fn is_recorded(status: &ClusterOperationStatus) -> bool {
    status.status.is_final() || status.reason.as_deref() == Some(crd::RESTORED)
}

fn score(operation: &ClusterOperation) -> i64 {
    let text = operation.metadata.annotations.as_ref().and_then(|all| all.get(crd::ANNOTATION_ELIMINATE_SCORE));
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crd::Time;

    use super::*;

    fn operation(name: &str, second: i64, done: bool, score: Option<&str>) -> Arc<ClusterOperation> {
        let mut operation = ClusterOperation::default();
        operation.metadata.name = Some(name.into());
        operation.metadata.creation_timestamp = Some(Time(jiff::Timestamp::from_second(second).unwrap()));
        operation.spec.cluster = "x".into();
        if done {
            operation.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.into(), crd::DONE.into())].into());
            operation.status =
                Some(ClusterOperationStatus { status: Phase::Succeeded, ..ClusterOperationStatus::default() });
        }
        operation.metadata.annotations =
            score.map(|score| [(crd::ANNOTATION_ELIMINATE_SCORE.into(), score.into())].into());
        Arc::new(operation)
    }

    fn names(operations: &[Arc<ClusterOperation>]) -> Vec<&str> {
        operations.iter().filter_map(|operation| operation.metadata.name.as_deref()).collect()
    }

    fn cluster(name: &str) -> Cluster {
        Cluster::new(name, crd::ClusterSpec::default())
    }

    #[test]
    fn an_operation_with_the_turn_is_never_removed() {
        let mut marked = ClusterOperation::clone(&operation("a", 1, true, None));
        marked.metadata.uid = Some("u".into());
        let mut busy = cluster("x");
        let turn = history::turn_entry(&marked, "lab", &Time(jiff::Timestamp::UNIX_EPOCH));
        busy.status = Some(crd::ClusterStatus { conditions: vec![turn], ..Default::default() });
        let all = [Arc::new(marked)];
        assert_eq!(names(&excess(&busy, &all, 0)), [] as [&str; 0], "whatever its label and status say");
        assert_eq!(names(&excess(&cluster("x"), &all, 0)), ["a"]);
    }

    #[test]
    fn the_limit_is_30_unless_configured_and_never_above_200() {
        let map = |value: &str| ConfigMap {
            data: Some([(crd::CONFIG_BACKEND_LIMIT.into(), value.into())].into()),
            ..ConfigMap::default()
        };
        assert_eq!(limit(None), 30);
        for (text, wanted) in
            [("5", 5), ("0", 30), ("-1", 30), ("many", 30), ("201", 200), ("99999999999999999999", 30)]
        {
            assert_eq!(limit(Some(&map(text))), wanted, "{text}");
        }
    }

    #[test]
    fn k12_pending_and_running_operations_do_not_count() {
        let all =
            [operation("open", 1, false, Some("9")), operation("old", 2, true, None), operation("new", 3, true, None)];
        assert_eq!(names(&excess(&cluster("x"), &all, 2)), [] as [&str; 0]);
        assert_eq!(names(&excess(&cluster("x"), &all, 1)), ["old"]);
        assert_eq!(names(&excess(&cluster("y"), &all, 0)), [] as [&str; 0]);
    }

    #[test]
    fn the_highest_score_goes_first_then_the_oldest() {
        let all = [
            operation("precious", 1, true, Some("-1")),
            operation("old", 2, true, None),
            operation("noise", 9, true, Some("5")),
            operation("odd", 3, true, Some("high")),
        ];
        assert_eq!(names(&excess(&cluster("x"), &all, 1)), ["noise", "old", "odd"]);
    }
}
