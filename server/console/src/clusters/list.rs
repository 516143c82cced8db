//! The clusters table: totals, filter, sort order and pages. Pure.

use std::cmp::Ordering;
use std::sync::Arc;

use api::Time;
use api::cluster::{ClusterColumn, ClusterFilter, ClusterList, ClusterTotals, ClusterView, Health, LiveRow};
use api::sort::Sort;
use crd::{Cluster, ClusterOperation, DataRef};
use kube::ResourceExt;
use managed::Reading;
use operation::{Signing, is_record};

use super::health::{Judgement, Work, judge};
use super::live;
use super::row::{labels, last, row, work_by_cluster};
use crate::moment;
use crate::page::{self, count};

/// A cluster with the values for filter and sort order.
struct Entry<'a> {
    cluster: &'a Arc<Cluster>,
    name: &'a str,
    work: Work<'a>,
    judged: Judgement,
    nodes: Option<u32>,
    live: Option<LiveRow>,
}

/// The time of the request, and the age in milliseconds from which live values are left out.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) now: Time,
    pub(crate) stale: i64,
}

/// The page of the table for `filter`, and the clusters on it.
pub(crate) fn list(
    clusters: &[Arc<Cluster>],
    operations: &[Arc<ClusterOperation>],
    nodes: impl Fn(&DataRef) -> Option<u32>,
    live: impl Fn(&str) -> Option<Arc<Reading>>,
    filter: &ClusterFilter,
    signing: &Signing,
    clock: Clock,
) -> (ClusterList, Vec<Arc<Cluster>>) {
    let Clock { now, stale } = clock;
    let work = work_by_cluster(operations);
    let entries: Vec<Entry<'_>> = clusters
        .iter()
        .map(|cluster| {
            let name = cluster.metadata.name.as_deref().unwrap_or_default();
            let work = work.get(name).copied().unwrap_or_default();
            let reading = live(name);
            let live = reading.as_deref().map(|reading| &reading.cluster);
            Entry {
                cluster,
                name,
                work,
                judged: live::judged(judge(cluster, &work), live, now, stale),
                nodes: nodes(&cluster.spec.hosts_conf_ref),
                live: live.and_then(|live| live::row(live, now, stale)),
            }
        })
        .collect();
    let totals = totals(&entries, operations);
    let mut matching: Vec<Entry<'_>> = entries.into_iter().filter(|entry| matches(entry, filter)).collect();
    let Sort { column, reversed } = filter.sort;
    matching.sort_by(|a, b| {
        let order = order(a, b, column).then_with(|| a.name.cmp(b.name));
        if reversed { order.reverse() } else { order }
    });
    let (window, page, pages) = page::window(matching.len(), filter.page);
    let shown = &matching[window];
    let row_of = |entry: &Entry<'_>| {
        row(entry.cluster, &entry.work, entry.judged.clone(), entry.nodes, entry.live.clone(), signing)
    };
    let rows = shown.iter().filter_map(row_of).collect();
    let list = ClusterList { rows, totals, matching: count(matching.len()), page, pages, now };
    let shown = shown.iter().map(|entry| Arc::clone(entry.cluster)).collect();
    (list, shown)
}

fn totals(entries: &[Entry<'_>], operations: &[Arc<ClusterOperation>]) -> ClusterTotals {
    let with = |health: Health| count(entries.iter().filter(|entry| entry.judged.health == health).count());
    let open =
        |phase: crd::Phase| count(operations.iter().filter(|o| operation::phase(o) == phase && !is_record(o)).count());
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
    let shown = match filter.show.value() {
        Ok(ClusterView::Attention) => matches!(entry.judged.health, Health::Broken | Health::Attention),
        Ok(ClusterView::Running) => entry.judged.health == Health::Working || entry.work.running.is_some(),
        Ok(ClusterView::All) | Err(_) => true,
    };
    let wanted = filter.q.trim().to_lowercase();
    shown
        && (wanted.is_empty()
            || entry.name.contains(&wanted)
            || entry.live.as_ref().is_some_and(|live| live.version.contains(&wanted))
            || labels(entry.cluster).iter().any(|label| label.to_lowercase().contains(&wanted)))
}

/// Compares two clusters by `column`: largest numbers and newest times first.
fn order(a: &Entry<'_>, b: &Entry<'_>, column: ClusterColumn) -> Ordering {
    let created = |entry: &Entry<'_>| entry.cluster.creation_timestamp().as_ref().map(moment::of);
    let newest =
        |entry: &Entry<'_>| last(&entry.work).and_then(ResourceExt::creation_timestamp).as_ref().map(moment::of);
    match column {
        ClusterColumn::Name => Ordering::Equal,
        ClusterColumn::Nodes => b.nodes.cmp(&a.nodes),
        ClusterColumn::Last => newest(b).cmp(&newest(a)),
        ClusterColumn::Created => created(b).cmp(&created(a)),
        ClusterColumn::Version => version(a).cmp(&version(b)),
        ClusterColumn::Health => a.judged.health.cmp(&b.judged.health),
    }
}

/// Unknown versions come last.
fn version(entry: &Entry<'_>) -> (bool, Vec<u32>) {
    let parts = |live: &LiveRow| {
        let numbers = live.version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        numbers.map(|part| part.parse().unwrap_or(u32::MAX)).collect()
    };
    (entry.live.is_none(), entry.live.as_ref().map(parts).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use api::cluster::LiveCluster;
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
        // Of the cluster `idle`, the version is known.
        let live = |name: &str| {
            let healthy = api::cluster::LiveState::Healthy;
            let cluster =
                LiveCluster { state: healthy, read: Some(Time(0)), version: "v1.34.4".into(), ..Default::default() };
            (name == "idle").then(|| Arc::new(Reading { cluster, ..Reading::default() }))
        };
        let clock = Clock { now: Time(0), stale: 1 };
        let (list, shown) = list(&clusters(), &operations, nodes, live, filter, &Signing::default(), clock);
        assert_eq!((list.totals.all, list.totals.running, list.totals.queued, list.totals.nodes), (4, 1, 1, 12));
        assert_eq!(shown.len(), list.rows.len());
        list.rows.into_iter().map(|row| row.name.to_string()).collect()
    }

    #[test]
    fn by_default_clusters_with_the_worst_health_come_first() {
        let sorted = |sort: &str| names(&ClusterFilter { sort: sort.into(), ..Default::default() });
        assert_eq!(sorted(""), ["bad", "busy", "good", "idle"]);
        assert_eq!(sorted("-health"), ["idle", "good", "busy", "bad"]);
        assert_eq!(sorted("version")[0], "idle");
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
        assert_eq!(names(&filter("1.34", "")), ["idle"], "by version");
    }
}
