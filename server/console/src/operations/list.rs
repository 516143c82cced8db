//! The operations table: filter, sort order and pages.

use std::cmp::Ordering;
use std::sync::Arc;

use api::Time;
use api::operation::{OperationColumn, OperationFilter, OperationList};
use api::sort::Sort;
use crd::ClusterOperation;
use kube::ResourceExt;
use operation::{Signing, order as age, title};

use super::row::{phase, row, submitted};
use crate::moment;
use crate::page::{self, count};

/// The page of the table for `filter`.
pub(crate) fn list(
    operations: &[Arc<ClusterOperation>],
    filter: &OperationFilter,
    signing: &Signing,
    now: Time,
) -> OperationList {
    let mut matching: Vec<&Arc<ClusterOperation>> = operations.iter().filter(|o| matches(o, filter)).collect();
    let Sort { column, reversed } = filter.sort;
    matching.sort_by(|a, b| {
        let order = order(a, b, column, now).then_with(|| age(b, a));
        if reversed { order.reverse() } else { order }
    });
    let (window, page, pages) = page::window(matching.len(), filter.page);
    OperationList {
        rows: matching[window].iter().filter_map(|o| row(o, signing)).collect(),
        matching: count(matching.len()),
        page,
        pages,
        now,
    }
}

fn matches(operation: &ClusterOperation, filter: &OperationFilter) -> bool {
    let wanted = filter.q.trim().to_lowercase();
    let found = wanted.is_empty()
        || operation.name_any().to_lowercase().contains(&wanted)
        || operation.spec.cluster.to_lowercase().contains(&wanted)
        || title(&operation.spec).to_lowercase().contains(&wanted);
    let of_cluster = filter.cluster.is_empty() || operation.spec.cluster == filter.cluster;
    let of_phase = filter.phase.value().is_ok_and(|wanted| wanted.is_none_or(|wanted| phase(operation) == wanted));
    found && of_cluster && of_phase
}

fn order(a: &ClusterOperation, b: &ClusterOperation, column: OperationColumn, now: Time) -> Ordering {
    let newest_first = || submitted(b).cmp(&submitted(a));
    match column {
        OperationColumn::Cluster => a.spec.cluster.cmp(&b.spec.cluster).then_with(newest_first),
        OperationColumn::Action => title(&a.spec).cmp(&title(&b.spec)).then_with(newest_first),
        OperationColumn::Duration => duration(a, now).cmp(&duration(b, now)).then_with(newest_first),
        OperationColumn::Submitted => newest_first(),
    }
}

/// How long it took or has taken so far, in milliseconds; `None` if it has not started, which sorts first.
fn duration(operation: &ClusterOperation, now: Time) -> Option<i64> {
    let status = operation.status.as_ref()?;
    let start = moment::of(status.start_time.as_ref()?);
    Some(status.end_time.as_ref().map_or(now, moment::of).0 - start.0)
}

#[cfg(test)]
mod tests {
    use super::{super::row::tests::operation, *};

    fn names(filter: &OperationFilter) -> Vec<String> {
        let operations: Vec<_> = [
            operation("ping-a", "prod", 10, crd::Phase::Succeeded),
            operation("ping-b", "lab", 30, crd::Phase::Running),
            operation("grow-c", "prod", 20, crd::Phase::Failed),
        ]
        .into_iter()
        .map(Arc::new)
        .collect();
        list(&operations, filter, &Signing::default(), Time(100_000))
            .rows
            .into_iter()
            .map(|r| r.name.to_string())
            .collect()
    }

    #[test]
    fn by_default_the_newest_operations_come_first() {
        let sorted = |sort: &str| names(&OperationFilter { sort: sort.into(), ..Default::default() });
        assert_eq!(sorted(""), ["ping-b", "grow-c", "ping-a"]);
        assert_eq!(sorted("-submitted"), ["ping-a", "grow-c", "ping-b"]);
        assert_eq!(sorted("cluster"), ["ping-b", "grow-c", "ping-a"]);
        assert_eq!(sorted("no-such-column"), sorted(""));
    }

    #[test]
    fn within_a_second_the_later_in_the_queue_counts_as_newer() {
        let operations = ["a", "b"].map(|name| Arc::new(operation(name, "prod", 10, crd::Phase::Succeeded)));
        let rows = list(&operations, &OperationFilter::default(), &Signing::default(), Time(100_000)).rows;
        assert_eq!(rows.iter().map(|row| row.name.to_string()).collect::<Vec<_>>(), ["b", "a"]);
    }

    #[test]
    fn a_restored_operation_is_found_by_its_phase_only() {
        let mut restored = operation("old", "prod", 10, crd::Phase::Pending);
        restored.status.as_mut().unwrap().reason = Some(crd::RESTORED.into());
        let found = |phase: &str| {
            let filter = OperationFilter { phase: phase.into(), ..Default::default() };
            list(&[Arc::new(restored.clone())], &filter, &Signing::default(), Time(100_000)).matching
        };
        assert_eq!((found("restored"), found("queued"), found("")), (1, 0, 1));
    }

    #[test]
    fn a_row_must_match_all_filters() {
        let filter = |q: &str, cluster: &str, phase: &str| OperationFilter {
            q: q.into(),
            cluster: cluster.into(),
            phase: phase.into(),
            ..Default::default()
        };
        assert_eq!(names(&filter("PING-", "", "")), ["ping-b", "ping-a"]);
        assert_eq!(names(&filter("", "prod", "failed")), ["grow-c"]);
        assert!(names(&filter("ping-", "prod", "failed")).is_empty());
    }
}
