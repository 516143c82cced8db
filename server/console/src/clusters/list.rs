//! The clusters table: totals, filter, sort order and pages. Pure.

use std::cmp::Ordering;
use std::sync::Arc;

use api::Time;
use api::cluster::{ClusterFilter, ClusterList, ClusterTotals, Health};
use crd::{Cluster, ClusterOperation, DataRef};
use kube::ResourceExt;

use super::health::{Work, judge};
use super::row::{labels, last, row, work_by_cluster};
use crate::moment;
use crate::page::{self, count, direction};

/// A cluster with the values for filter and sort order.
struct Entry<'a> {
    cluster: &'a Arc<Cluster>,
    name: &'a str,
    work: Work<'a>,
    health: Health,
    nodes: Option<u32>,
}

/// The page of the table for `filter`, and the clusters on it.
pub(crate) fn list(
    clusters: &[Arc<Cluster>],
    operations: &[Arc<ClusterOperation>],
    nodes: impl Fn(&DataRef) -> Option<u32>,
    filter: &ClusterFilter,
    now: Time,
) -> (ClusterList, Vec<Arc<Cluster>>) {
    let work = work_by_cluster(operations);
    let entries: Vec<Entry<'_>> = clusters
        .iter()
        .map(|cluster| {
            let name = cluster.metadata.name.as_deref().unwrap_or_default();
            let work = work.get(name).copied().unwrap_or_default();
            Entry {
                cluster,
                name,
                work,
                health: judge(cluster, &work).health,
                nodes: nodes(&cluster.spec.hosts_conf_ref),
            }
        })
        .collect();
    let totals = totals(&entries, operations);
    let mut matching: Vec<Entry<'_>> = entries.into_iter().filter(|entry| matches(entry, filter)).collect();
    let (column, turned) = direction(&filter.sort);
    matching.sort_by(|a, b| {
        let order = order(a, b, column).then_with(|| a.name.cmp(b.name));
        if turned { order.reverse() } else { order }
    });
    let (window, page, pages) = page::window(matching.len(), filter.page);
    let shown = &matching[window];
    let rows = shown.iter().filter_map(|entry| row(entry.cluster, &entry.work, entry.nodes)).collect();
    let list = ClusterList { rows, totals, matching: count(matching.len()), page, pages, now };
    let shown = shown.iter().map(|entry| Arc::clone(entry.cluster)).collect();
    (list, shown)
}

fn totals(entries: &[Entry<'_>], operations: &[Arc<ClusterOperation>]) -> ClusterTotals {
    let with = |health: Health| count(entries.iter().filter(|entry| entry.health == health).count());
    let open = |phase: crd::Phase| count(operations.iter().filter(|o| operation::phase(o) == phase).count());
    ClusterTotals {
        all: count(entries.len()),
        good: with(Health::Good),
        attention: with(Health::Attention),
        broken: with(Health::Broken),
        unknown: with(Health::Unknown),
        running: open(crd::Phase::Running),
        queued: open(crd::Phase::Pending),
        nodes: entries.iter().filter_map(|entry| entry.nodes).fold(0, u32::saturating_add),
    }
}

fn matches(entry: &Entry<'_>, filter: &ClusterFilter) -> bool {
    let shown = match filter.show.as_str() {
        "attention" => matches!(entry.health, Health::Broken | Health::Attention),
        "running" => entry.health == Health::Working || entry.work.running.is_some(),
        _ => true,
    };
    let wanted = filter.q.trim().to_lowercase();
    shown
        && (wanted.is_empty()
            || entry.name.contains(&wanted)
            || labels(entry.cluster).iter().any(|label| label.to_lowercase().contains(&wanted)))
}

/// Compares two clusters by `column`: largest numbers and newest times first.
fn order(a: &Entry<'_>, b: &Entry<'_>, column: &str) -> Ordering {
    let created = |entry: &Entry<'_>| entry.cluster.creation_timestamp().as_ref().map(moment::of);
    let newest =
        |entry: &Entry<'_>| last(&entry.work).and_then(ResourceExt::creation_timestamp).as_ref().map(moment::of);
    match column {
        "name" => Ordering::Equal,
        "nodes" => b.nodes.cmp(&a.nodes),
        "last" => newest(b).cmp(&newest(a)),
        "created" => created(b).cmp(&created(a)),
        _ => a.health.cmp(&b.health),
    }
}

#[cfg(test)]
mod tests {
    use crd::ClusterSpec;

    use super::*;
    use crate::operations::tests::{operation, time};

    fn clusters() -> Vec<Arc<Cluster>> {
        let cluster = |(n, name): (usize, &&str)| {
            let spec = ClusterSpec { hosts_conf_ref: DataRef::new("ns", *name), ..ClusterSpec::default() };
            let mut cluster = Cluster::new(name, spec);
            cluster.metadata.creation_timestamp = Some(time(i64::try_from(n).unwrap()));
            cluster.metadata.labels = Some([("site".to_owned(), format!("FRA-{n}"))].into());
            Arc::new(cluster)
        };
        ["idle", "good", "busy", "bad"].iter().enumerate().map(cluster).collect()
    }

    fn names(filter: &ClusterFilter) -> Vec<String> {
        let operations: Vec<_> = [
            operation("a", "good", 10, crd::Phase::Failed),
            operation("b", "good", 20, crd::Phase::Succeeded),
            operation("c", "busy", 30, crd::Phase::Running),
            operation("d", "busy", 31, crd::Phase::Pending),
            operation("e", "bad", 40, crd::Phase::Failed),
            operation("f", "gone", 50, crd::Phase::Failed),
        ]
        .into_iter()
        .map(Arc::new)
        .collect();
        let nodes = |at: &DataRef| Some(at.name.len()).filter(|n| *n > 3).map(count);
        let (list, shown) = list(&clusters(), &operations, nodes, filter, Time(0));
        assert_eq!((list.totals.all, list.totals.running, list.totals.queued, list.totals.nodes), (4, 1, 1, 12));
        assert_eq!(shown.len(), list.rows.len());
        list.rows.into_iter().map(|row| row.name.to_string()).collect()
    }

    #[test]
    fn by_default_clusters_with_the_worst_health_come_first() {
        let sorted = |sort: &str| names(&ClusterFilter { sort: sort.into(), ..Default::default() });
        assert_eq!(sorted(""), ["bad", "busy", "good", "idle"]);
        assert_eq!(sorted("-health"), ["idle", "good", "busy", "bad"]);
        assert_eq!(sorted("name"), ["bad", "busy", "good", "idle"]);
        assert_eq!(sorted("created"), ["bad", "busy", "good", "idle"]);
        assert_eq!(sorted("-last"), ["idle", "good", "busy", "bad"]);
        assert_eq!(sorted("-nodes")[0], "bad");
    }

    #[test]
    fn filters_match_names_labels_and_health() {
        let filter = |q: &str, show: &str| ClusterFilter { q: q.into(), show: show.into(), ..Default::default() };
        assert_eq!(names(&filter("OO", "")), ["good"]);
        assert_eq!(names(&filter("fra-2", "")), ["busy"]);
        assert_eq!(names(&filter("", "attention")), ["bad"]);
        assert_eq!(names(&filter("", "running")), ["busy"]);
    }
}
