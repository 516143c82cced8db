//! What the cluster itself says, beside what its operations say. Pure.

use api::Time;
use api::cluster::{Health, LiveCluster, LiveNode, LiveRow, LiveState, NodeRow};

use super::health::Judgement;

/// The health with what was read from the cluster itself. Unusable inputs and open operations come first: nothing can be done about the
/// cluster before. `stale` is the age above which a reading doesn't count, in milliseconds.
pub(crate) fn judged(judgement: Judgement, live: Option<&LiveCluster>, now: Time, stale: i64) -> Judgement {
    let Some(live) = live else { return judgement };
    if matches!(judgement.health, Health::Broken | Health::Working) {
        return judgement;
    }
    let say = |health, word: &str| Judgement { health, word: word.into(), note: live.problem.clone(), fix: None };
    match live.state {
        LiveState::Unreachable => say(Health::Broken, "Unreachable"),
        LiveState::Unhealthy => say(Health::Attention, "Unhealthy"),
        LiveState::Refused => say(Health::Attention, "Kubeconfig not used"),
        LiveState::Healthy if is_fresh(live, now, stale) && judgement.health != Health::Attention => {
            say(Health::Good, "Healthy")
        }
        LiveState::Healthy | LiveState::NotRead | LiveState::NoKubeconfig => judgement,
    }
}

fn is_fresh(live: &LiveCluster, now: Time, stale: i64) -> bool {
    live.read.is_some_and(|read| now.0 - read.0 <= stale)
}

/// What the table shows, if it is fresh.
pub(crate) fn row(live: &LiveCluster, now: Time, stale: i64) -> Option<LiveRow> {
    let read = live.read.filter(|_| is_fresh(live, now, stale))?;
    Some(LiveRow { version: live.version.clone(), nodes: live.nodes, ready: live.ready, read })
}

/// Joins the hosts of the inventory with the nodes of the cluster: by name, otherwise by address. Nodes without a host come last.
pub(crate) fn join(rows: Vec<NodeRow>, nodes: &[LiveNode]) -> Vec<NodeRow> {
    let named = |row: &NodeRow| nodes.iter().position(|node| node.name.eq_ignore_ascii_case(&row.name));
    let is_named: Vec<usize> = rows.iter().filter_map(named).collect();
    let at_address = |row: &NodeRow| {
        let same = |node: &LiveNode| !node.address.is_empty() && node.address == row.address;
        nodes.iter().position(same).filter(|at| !is_named.contains(at))
    };
    let mut left: Vec<bool> = vec![true; nodes.len()];
    let mut joined: Vec<NodeRow> = rows
        .into_iter()
        .map(|mut row| {
            if let Some(at) = named(&row).or_else(|| at_address(&row)) {
                left[at] = false;
                row.live = Some(nodes[at].clone());
            }
            row
        })
        .collect();
    let only_there = nodes.iter().zip(left).filter(|(_, left)| *left).map(|(node, _)| NodeRow {
        name: node.name.clone(),
        address: node.address.clone(),
        reached_by: String::new(),
        roles: node.roles.clone(),
        last_result: None,
        removed_by: None,
        in_inventory: false,
        live: Some(node.clone()),
    });
    joined.extend(only_there);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn live(state: LiveState) -> LiveCluster {
        LiveCluster { state, problem: "Because.".into(), read: Some(Time(0)), ..LiveCluster::default() }
    }

    #[test]
    fn the_cluster_itself_changes_the_health() {
        let after = |health, state, now| {
            let judgement = Judgement { health, word: "as before".into(), note: String::new(), fix: None };
            let judged = judged(judgement, Some(&live(state)), Time(now), 10 * MINUTE);
            (judged.health, judged.word)
        };
        assert_eq!(after(Health::Good, LiveState::Healthy, MINUTE), (Health::Good, "Healthy".into()));
        assert_eq!(after(Health::Unknown, LiveState::Healthy, MINUTE).1, "Healthy");
        assert_eq!(after(Health::Good, LiveState::Healthy, 11 * MINUTE).1, "as before", "stale");
        assert_eq!(after(Health::Good, LiveState::Unreachable, MINUTE), (Health::Broken, "Unreachable".into()));
        assert_eq!(after(Health::Unknown, LiveState::Unhealthy, MINUTE).1, "Unhealthy");
        assert_eq!(after(Health::Attention, LiveState::Healthy, MINUTE).1, "as before", "the last operation failed");
        for first in [Health::Broken, Health::Working] {
            assert_eq!(after(first, LiveState::Unreachable, MINUTE).1, "as before");
        }
        assert_eq!(row(&live(LiveState::Healthy), Time(11 * MINUTE), 10 * MINUTE), None, "stale");
    }

    #[test]
    fn hosts_and_nodes_are_joined_by_name_then_address() {
        let row = |name: &str, address: &str| NodeRow {
            name: name.into(),
            address: address.into(),
            reached_by: String::new(),
            roles: Vec::new(),
            last_result: None,
            removed_by: None,
            in_inventory: true,
            live: None,
        };
        let node = |name: &str, address: &str| LiveNode {
            name: name.into(),
            address: address.into(),
            roles: Vec::new(),
            version: String::new(),
            ready: true,
            note: String::new(),
            created: Time(0),
        };
        let rows = vec![row("CP1", "10.0.0.9"), row("two", "10.0.0.2"), row("three", "10.0.0.3")];
        let nodes = [node("cp1", "10.0.0.3"), node("ip-2", "10.0.0.2"), node("stray", "10.0.0.5")];
        let joined = join(rows, &nodes);
        let told: Vec<_> = joined
            .iter()
            .map(|row| (row.name.as_str(), row.in_inventory, row.live.as_ref().map(|node| node.name.as_str())))
            .collect();
        let expected = [
            ("CP1", true, Some("cp1")),
            ("two", true, Some("ip-2")),
            ("three", true, None),
            ("stray", false, Some("stray")),
        ];
        assert_eq!(told, expected, "cp1 belongs to the host of its name, not to the one with its address");
    }
}
