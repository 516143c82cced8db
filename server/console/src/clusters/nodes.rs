//! The machines of a cluster.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use api::{
    OperationName, Problem, User,
    cluster::{NodeList, NodeRow},
    run::HostStats,
};
use crd::Cluster;
use inventory::{Inventory, Vars};
use kube::ResourceExt;

use super::row::work_of;
use crate::{Console, configuration::Inputs, moment};

/// How long the page waits for what a run said: without it, it only lacks the last results.
const PATIENCE: Duration = Duration::from_secs(2);

impl Console {
    pub(crate) async fn node_list(&self, user: &User, cluster: &Cluster) -> Result<NodeList, Problem> {
        let inputs = Inputs::read(self.shared.access.client(user)?, cluster).await?;
        let parsed = inputs.hosts.usable().and_then(|text| inventory::parse(text).map_err(|why| why.to_string()));
        let (nodes, problem) = match parsed {
            Ok(parsed) => {
                let vars =
                    inputs.vars.usable().ok().and_then(|text| inventory::parse_vars(text).ok()).unwrap_or_default();
                let results = self.last_results(user, &cluster.name_any()).await;
                (rows(&parsed, &vars, &results), None)
            }
            Err(why) => (Vec::new(), Some(why)),
        };
        Ok(NodeList { nodes, problem, now: moment::now() })
    }

    /// What the newest finished run said of each host.
    async fn last_results(&self, user: &User, cluster: &str) -> HashMap<String, &'static str> {
        let name: Option<OperationName> = work_of(&self.shared.operations.state(), cluster)
            .ended
            .and_then(|operation| operation.name_any().parse().ok());
        let (Some(runs), Some(name)) = (self.shared.runs.get(), name) else { return HashMap::new() };
        match tokio::time::timeout(PATIENCE, runs.recaps(user, &name)).await {
            Ok(Ok(recaps)) => results(&recaps),
            _ => HashMap::new(),
        }
    }
}

/// The machines of an inventory. A variables file is given to ansible as extra variables, so it wins over the inventory.
pub(crate) fn rows(inventory: &Inventory, vars: &Vars, results: &HashMap<String, &'static str>) -> Vec<NodeRow> {
    let local = vars
        .get("ansible_connection")
        .and_then(|value| value.as_str())
        .is_some_and(|c| matches!(c, "local" | "ansible.builtin.local"));
    let row = |host: &inventory::Host| NodeRow {
        name: host.name.clone(),
        address: host.address.clone().unwrap_or_else(|| host.name.clone()),
        reached_by: if local { "local".into() } else { host.reached_by() },
        roles: if host.roles.is_empty() {
            host.groups.clone()
        } else {
            host.roles.iter().map(ToString::to_string).collect()
        },
        last_result: results.get(&host.name).map(|result| (*result).to_owned()),
    };
    inventory.hosts.iter().map(row).collect()
}

/// The worst that any recap says of a host.
fn results(recaps: &[BTreeMap<String, HostStats>]) -> HashMap<String, &'static str> {
    const WORST_LAST: [&str; 3] = ["ok", "failed", "unreachable"];
    let mut worst: HashMap<String, usize> = HashMap::new();
    for (host, stats) in recaps.iter().flatten() {
        let result = if stats.unreachable > 0 { 2 } else { usize::from(stats.failed > 0) };
        let known = worst.entry(host.clone()).or_default();
        *known = result.max(*known);
    }
    worst.into_iter().map(|(host, result)| (host, WORST_LAST[result])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_variables_win_over_the_inventory() {
        let inventory = inventory::parse("all: {hosts: {a: {ansible_host: 192.0.2.1, ansible_user: me}}}").unwrap();
        let reached =
            |vars: &str| rows(&inventory, &inventory::parse_vars(vars).unwrap(), &HashMap::new())[0].reached_by.clone();
        assert_eq!(reached(""), "me@192.0.2.1");
        assert_eq!(reached("ansible_connection: local"), "local");
    }

    #[test]
    fn the_worst_result_of_a_host_is_shown() {
        let stats = |host: &str, failed, unreachable| {
            BTreeMap::from([(host.to_owned(), HostStats { failed, unreachable, ..HostStats::default() })])
        };
        let told = results(&[stats("a", 1, 0), stats("a", 0, 0), stats("b", 0, 0), stats("c", 1, 1)]);
        assert_eq!((told["a"], told["b"], told["c"]), ("failed", "ok", "unreachable"));
    }
}
