//! The machines of a cluster, each with its last result.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use api::cluster::{NodeList, NodeResults, NodeRow};
use api::run::HostStats;
use api::{OperationName, Problem, User};
use crd::Cluster;
use inventory::{Inventory, Vars};
use kube::ResourceExt;

use super::live::join;
use super::row::newest_recapped;
use crate::configuration::Inputs;
use crate::documents::read_inventory;
use crate::{Console, moment};

/// How long a request waits for the recaps of a run. After that, the page is shown without the last results.
const RECAPS_WITHIN: Duration = Duration::from_secs(2);

impl Console {
    pub(crate) async fn node_list(&self, user: &User, cluster: &Cluster) -> Result<NodeList, Problem> {
        let live = self.shared.managed.look(&cluster.name_any());
        let inputs = Inputs::read(self.shared.access.client(user)?, cluster).await?;
        let parsed = inputs.hosts.usable().and_then(read_inventory);
        let (nodes, results, problem) = match parsed {
            Ok(parsed) => {
                let (last, results) = self.last_results(user, &cluster.name_any()).await;
                let mut rows = rows(&parsed, &inputs.vars_or_none(), &last);
                let (name, operations) = (cluster.name_any(), self.shared.operations.state());
                for row in &mut rows {
                    row.removed_by = self.removed_by(&operations, &name, &row.name);
                }
                (join(rows, &live.nodes), results, None)
            }
            Err(why) => (Vec::new(), NodeResults::Unknown, Some(why)),
        };
        Ok(NodeList { nodes, results, live: live.cluster.clone(), problem, now: moment::now() })
    }

    /// The result of each host in the newest run with a recap. Scripts and refused operations have no recap.
    async fn last_results(&self, user: &User, cluster: &str) -> (HashMap<String, &'static str>, NodeResults) {
        let newest = newest_recapped(&self.shared.operations.state(), cluster).map(ResourceExt::name_any);
        let Some(newest) = newest else { return (HashMap::new(), NodeResults::NoRun) };
        let unknown = (HashMap::new(), NodeResults::Unknown);
        let (Some(runs), Ok(name)) = (self.shared.runs.get(), newest.parse::<OperationName>()) else { return unknown };
        match tokio::time::timeout(RECAPS_WITHIN, runs.recaps(user, &name)).await {
            Ok(Ok(recaps)) if !recaps.is_empty() => (results(&recaps), NodeResults::NewestRun),
            _ => unknown,
        }
    }
}

/// A row for each host of the inventory.
pub(crate) fn rows(inventory: &Inventory, vars: &Vars, results: &HashMap<String, &'static str>) -> Vec<NodeRow> {
    let row = |host: &inventory::Host| {
        let reached = host.reached(vars);
        NodeRow {
            name: host.name.clone(),
            reached_by: reached.to_string(),
            address: reached.address,
            roles: if host.roles.is_empty() {
                host.groups.clone()
            } else {
                host.roles.iter().map(ToString::to_string).collect()
            },
            last_result: results.get(&host.name).map(|result| (*result).to_owned()),
            removed_by: None,
            in_inventory: true,
            live: None,
        }
    };
    inventory.hosts.iter().map(row).collect()
}

/// The worst result of each host in all recaps.
fn results(recaps: &[BTreeMap<String, HostStats>]) -> HashMap<String, &'static str> {
    const WORST_LAST: [&str; 5] = ["none", "skipped", "ok", "failed", "unreachable"];
    let mut worst: HashMap<String, usize> = HashMap::new();
    for (host, stats) in recaps.iter().flatten() {
        let result = match stats {
            _ if stats.unreachable > 0 => 4,
            _ if stats.failed > 0 => 3,
            // An ignored failure counts as ok, too.
            _ if stats.reached.unwrap_or(stats.succeeded() > 0) => 2,
            _ if stats.ok == 0 && stats.skipped > 0 => 1,
            _ => 0,
        };
        let known = worst.entry(host.clone()).or_default();
        *known = result.max(*known);
    }
    worst.into_iter().map(|(host, result)| (host, WORST_LAST[result])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_result_of_a_host_is_shown() {
        let stats = |host: &str, failed, unreachable| {
            BTreeMap::from([(host.to_owned(), HostStats { ok: 1, failed, unreachable, ..HostStats::default() })])
        };
        let worst = results(&[stats("a", 1, 0), stats("a", 0, 0), stats("b", 0, 0), stats("c", 1, 1)]);
        assert_eq!((worst["a"], worst["b"], worst["c"]), ("failed", "ok", "unreachable"));
    }

    #[test]
    fn only_a_result_from_the_machine_counts_as_reached() {
        let of = |stats| results(&[BTreeMap::from([("a".to_owned(), stats)])])["a"];
        let none = HostStats::default();
        assert_eq!(of(HostStats { ok: 1, ignored: 1, ..none }), "none", "an ignored failure to connect");
        assert_eq!(of(HostStats { skipped: 3, ..none }), "skipped");
        assert_eq!(of(HostStats { ok: 2, reached: Some(false), ..none }), "none", "debug runs on the controller");
        assert_eq!(of(HostStats { ok: 2, ignored: 2, reached: Some(true), ..none }), "ok");
    }
}
