//! A task that takes longer than usual, and what holds it up. Pure.

use api::cluster::{LiveNode, LiveState};
use api::duration;
use api::progress::TaskProgress;
use api::watch::Stall;
use managed::{Budget, Evictions, Reading};

use crate::listed::listed;

/// A task of a known duration is late if it takes twice as long, and at least this long, in milliseconds.
const LATE: i64 = 30_000;
/// A task of unknown duration is late after this time.
const LATE_IF_UNKNOWN: i64 = 180_000;
/// A drain that a PodDisruptionBudget blocks is told after this time: it doesn't go on by itself.
const BLOCKED: i64 = 15_000;
/// At most this many names in a sentence.
const NAMED: usize = 5;
/// The variable of the playbook that removes nodes.
pub(super) const NODE: &str = "node";

/// What is known about a running task.
pub(super) struct Known<'a> {
    pub(super) task: &'a TaskProgress,
    pub(super) hosts: &'a [&'a str],
    /// How long it has been running, in milliseconds.
    pub(super) lasts: i64,
    /// The longest time that it took earlier.
    pub(super) earlier: Option<i64>,
    /// For a drain: the nodes, and what evicting their pods meets.
    pub(super) drain: &'a [(String, Result<Evictions, String>)],
    pub(super) reading: &'a Reading,
    /// For how many seconds the API server has not answered.
    pub(super) silent: Option<u32>,
}

/// Whether the task evicts pods: that of the built-in engine, or one of that name.
pub(super) fn is_drain(task: &TaskProgress) -> bool {
    task.action.ends_with("drain_node") || task.own_name().to_lowercase().starts_with("drain ")
}

/// The notice about a task that is late; `None` if it isn't.
pub(super) fn stall(known: &Known<'_>) -> Option<Stall> {
    let Known { task, hosts, lasts, earlier, .. } = known;
    let blocked = known.drain.iter().any(|(_, found)| found.as_ref().is_ok_and(|found| !found.blocking.is_empty()));
    let late_after = match earlier {
        _ if blocked => BLOCKED,
        Some(earlier) => LATE.max(2 * earlier),
        None => LATE_IF_UNKNOWN,
    };
    if *lasts < late_after {
        return None;
    }
    let on = if hosts.is_empty() { String::new() } else { format!(" on {}", names(hosts)) };
    let usual = match earlier {
        Some(earlier) => format!("Earlier it took at most {}.", duration(*earlier)),
        None => "It has not run before, so it isn't known how long it usually takes.".to_owned(),
    };
    let title = format!("“{}”{on} takes {} by now. {usual}", task.own_name(), duration(*lasts));
    Some(Stall { title, reasons: reasons(known) })
}

fn reasons(known: &Known<'_>) -> Vec<String> {
    let mut reasons: Vec<String> = known.drain.iter().flat_map(|(node, found)| of_drain(node, found)).collect();
    if let Some(seconds) = known.silent {
        let silence = duration(i64::from(seconds) * 1000);
        reasons.push(format!("The Kubernetes API has not answered for {silence}."));
    }
    // The nodes of an unreachable cluster are those of an earlier reading.
    if matches!(known.reading.cluster.state, LiveState::Healthy | LiveState::Unhealthy) {
        let here = known.reading.nodes.iter().filter(|node| known.hosts.contains(&node.name.as_str()));
        reasons.extend(here.filter(|node| !node.ready).map(not_ready));
    }
    if known.task.retries > 0 {
        reasons.push(format!(
            "It tries again until its condition holds: {} so far.",
            api::count(known.task.retries.into(), "try", "tries")
        ));
    }
    reasons
}

fn not_ready(node: &LiveNode) -> String {
    let note = node.note.trim_end_matches('.');
    format!("The cluster says that {} is not ready: {note}.", node.name)
}

fn of_drain(node: &str, found: &Result<Evictions, String>) -> Vec<String> {
    let found = match found {
        Ok(found) => found,
        Err(why) => return vec![format!("The pods of {node} can't be read. {why}")],
    };
    let mut sentences: Vec<String> = found.blocking.iter().map(held).collect();
    if !found.ending.is_empty() {
        sentences.push(format!(
            "These pods are ending, within their grace period: {}.",
            listed(&found.ending, NAMED, "more")
        ));
    }
    if sentences.is_empty() && !found.pods.is_empty() {
        sentences.push(format!("Pods that are still on {node}: {}.", listed(&found.pods, NAMED, "more")));
    }
    sentences
}

/// `Pod shop/db-0 is held by PodDisruptionBudget shop/db, which …`
fn held(budget: &Budget) -> String {
    let Budget { name, healthy, needed, pods } = budget;
    let (pods, verb) = match pods.as_slice() {
        [one] => (format!("Pod {one}"), "is"),
        several => (format!("Pods {}", listed(several, NAMED, "more")), "are"),
    };
    let healthy = api::count(u64::try_from(*healthy).unwrap_or_default(), "pod is healthy", "pods are healthy");
    format!(
        "{pods} {verb} held by PodDisruptionBudget {name}, which allows no eviction now: {healthy}, and {needed} must stay so. Add replicas or relax the budget; then the drain goes on."
    )
}

fn names(hosts: &[&str]) -> String {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    listed(&hosts, 3, "more")
}

#[cfg(test)]
mod tests {
    use api::cluster::LiveCluster;

    use super::*;

    fn task() -> TaskProgress {
        TaskProgress { name: "Drain the node".into(), action: "drain_node".into(), ..TaskProgress::default() }
    }

    fn found(lasts: i64, earlier: Option<i64>, drain: Result<Evictions, String>, reading: &Reading) -> Option<Stall> {
        let drain = [("w3".to_owned(), drain)];
        let silent = (reading.cluster.state == LiveState::Unreachable).then_some(75);
        stall(&Known { task: &task(), hosts: &["w3"], lasts, earlier, drain: &drain, reading, silent })
    }

    #[test]
    fn a_task_is_late_after_twice_its_longest_time() {
        let late = |lasts, earlier| {
            found(lasts, earlier, Ok(Evictions::default()), &Reading::default()).map(|stall| stall.title)
        };
        assert_eq!(late(79_999, Some(40_000)), None);
        let title = late(240_000, Some(40_000)).unwrap();
        assert_eq!(title, "“Drain the node” on w3 takes 4 min 0 s by now. Earlier it took at most 40 s.");
        assert_eq!(late(29_999, Some(2_000)), None, "a quick task may take half a minute");
        assert_eq!(late(179_999, None), None);
        assert!(
            late(180_000, None)
                .unwrap()
                .ends_with("It has not run before, so it isn't known how long it usually takes.")
        );
    }

    #[test]
    fn a_budget_that_blocks_is_named_soon() {
        let pods = vec!["shop/db-0".to_owned()];
        let blocking = vec![Budget { name: "shop/db".into(), healthy: 1, needed: 1, pods: pods.clone() }];
        let blocked = Evictions { pods, blocking, ..Evictions::default() };
        assert_eq!(found(14_999, None, Ok(blocked.clone()), &Reading::default()), None);
        let told = found(15_000, None, Ok(blocked), &Reading::default()).unwrap();
        assert_eq!(
            told.reasons,
            [
                "Pod shop/db-0 is held by PodDisruptionBudget shop/db, which allows no eviction now: 1 pod is healthy, and 1 must stay so. Add replicas or relax the budget; then the drain goes on."
            ]
        );
    }

    #[test]
    fn pods_that_end_and_nodes_that_are_not_ready_are_named() {
        let ending = Evictions { pods: vec!["shop/a".into()], ending: vec!["shop/a".into()], ..Evictions::default() };
        let node = LiveNode {
            name: "w3".into(),
            roles: Vec::new(),
            version: String::new(),
            ready: false,
            note: "the runtime is down".into(),
            address: String::new(),
            created: api::Time(0),
        };
        let cluster = LiveCluster { state: LiveState::Unhealthy, ..LiveCluster::default() };
        let told =
            found(200_000, None, Ok(ending), &Reading { cluster, nodes: vec![node], ..Reading::default() }).unwrap();
        assert_eq!(told.reasons[0], "These pods are ending, within their grace period: shop/a.");
        assert_eq!(told.reasons[1], "The cluster says that w3 is not ready: the runtime is down.");
        let away = LiveCluster { state: LiveState::Unreachable, ..LiveCluster::default() };
        let told = found(200_000, None, Err("Late.".into()), &Reading { cluster: away, ..Reading::default() }).unwrap();
        assert_eq!(
            told.reasons,
            ["The pods of w3 can't be read. Late.", "The Kubernetes API has not answered for 1 min 15 s."]
        );
    }
}
