//! Finds machines that other registered clusters have, too: a machine can be a node of one cluster only.
//!
//! Inventories and host keys of the others are read as the user, and machine-ids of the others are compared only if that worked: the
//! answers tell users nothing about clusters that they may not read.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use api::configuration::{Document, MachineKey};
use api::{Problem, Time, User};
use crd::Cluster;
use futures::{StreamExt, stream};
use inventory::{Host, Inventory, Role, SshPlace, Vars};
use kube::{Client, ResourceExt};
use tokio::time::{Instant, timeout_at};

use crate::Console;
use crate::configuration::Input;
use crate::host_keys::{self, KnownKey};
use crate::listed::listed;
use crate::moment;

/// Clusters that are read concurrently.
const AT_ONCE: usize = 16;
/// Timeout for all of them, because a person waits for it.
const WITHIN: Duration = Duration::from_secs(10);
/// The age of a reading that a warning names, in milliseconds. Readings of clusters that answer are at most 5 minutes old.
const OLD: i64 = 15 * 60 * 1000;
/// At most this many names in a sentence.
const NAMED: usize = 5;

/// A machine that a host of another cluster is, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MachineClaim {
    /// The machine's name in this cluster.
    pub(crate) machine: String,
    pub(crate) cluster: String,
    /// Its name in that cluster.
    pub(crate) host: String,
}

/// What the other clusters have in common with some machines.
#[derive(Debug, Default)]
pub(crate) struct OtherClusters {
    /// Machines that another cluster reaches at the same address.
    pub(crate) claims: Vec<MachineClaim>,
    /// The confirmed host keys of the other clusters, by fingerprint, with the name of the cluster.
    keys: HashMap<String, (String, KnownKey)>,
    /// The clusters that could not be read, sorted.
    unread: Vec<String>,
}

/// What one cluster has.
struct OtherCluster {
    claims: Vec<MachineClaim>,
    keys: Vec<KnownKey>,
}

/// The machine-id of a node, as a cluster reported it.
struct MachineId<'a> {
    cluster: &'a str,
    node: &'a str,
    id: &'a str,
    read: Option<Time>,
}

/// Machines by the place where SSH finds them.
type Places = HashMap<SshPlace, String>;

impl Console {
    /// Compares these machines of an inventory with the machines of all clusters but `cluster`.
    pub(crate) async fn compare_machines(
        &self,
        user: &User,
        cluster: &str,
        (inventory, vars): (&Inventory, &Vars),
        names: &[String],
    ) -> Result<OtherClusters, Problem> {
        let names: HashSet<&String> = names.iter().collect();
        let hosts = inventory.hosts.iter().filter(|host| is_node(host) && names.contains(&host.name));
        let places: Places =
            hosts.filter_map(|host| Some((inventory.ssh_place(host, vars)?, host.name.clone()))).collect();
        if places.is_empty() {
            return Ok(OtherClusters::default());
        }
        let client = self.shared.access.client(user)?;
        let mut others: Vec<Arc<Cluster>> = self.shared.clusters.state();
        others.retain(|other| other.name_any() != cluster && other.metadata.deletion_timestamp.is_none());
        let mut unread: BTreeSet<String> = others.iter().map(|other| other.name_any()).collect();
        let (places, client) = (&places, &client);
        let mut reading = stream::iter(others)
            .map(|other| async move { (other.name_any(), read(client, &other, places).await) })
            .buffer_unordered(AT_ONCE);
        let until = Instant::now() + WITHIN;
        let mut found = OtherClusters::default();
        while let Ok(Some((name, other))) = timeout_at(until, reading.next()).await {
            let Ok(other) = other else { continue };
            unread.remove(&name);
            found.claims.extend(other.claims);
            found.keys.extend(other.keys.into_iter().map(|key| (key.fingerprint.clone(), (name.clone(), key))));
        }
        found.claims.sort_by(|a, b| (&a.machine, &a.cluster).cmp(&(&b.machine, &b.cluster)));
        found.unread = unread.into_iter().collect();
        Ok(found)
    }

    /// Warnings about machines with a machine-id that a node has, of this or another cluster. `found`: names and machine-ids.
    pub(crate) fn same_machine_ids(
        &self,
        cluster: &str,
        others: &OtherClusters,
        found: &[(String, String)],
    ) -> Vec<String> {
        let mut names: Vec<String> = self.shared.clusters.state().iter().map(|cluster| cluster.name_any()).collect();
        names.retain(|name| !others.unread.contains(name));
        names.sort();
        let readings: Vec<_> =
            names.into_iter().filter_map(|name| Some((self.shared.managed.newest(&name)?, name))).collect();
        let ids = readings.iter().flat_map(|(reading, of)| {
            let read = reading.cluster.read;
            reading.machine_ids.iter().map(move |(node, id)| MachineId { cluster: of, node, id, read })
        });
        same_ids(&ids.collect::<Vec<_>>(), moment::now(), cluster, found)
    }
}

/// `found`: the names and machine-ids of machines of `cluster`.
fn same_ids(known: &[MachineId<'_>], now: Time, cluster: &str, found: &[(String, String)]) -> Vec<String> {
    let warning = |(machine, id): &(String, String)| {
        let is_other = |other: &&MachineId<'_>| other.id == id && (other.cluster, other.node) != (cluster, machine);
        let other = known.iter().find(is_other)?;
        let place = if other.cluster == cluster { String::new() } else { format!(" of the cluster {}", other.cluster) };
        let node = format!("the node {}{place}", other.node);
        let whose = match other.read.filter(|read| now.0 - read.0 > OLD) {
            Some(read) => format!("that {node} had {}", read.ago(now)),
            None => format!("of {node}"),
        };
        Some(format!(
            "{machine} has the machine-id {whose}. If it is that machine, it can't be both. If it is a copy of it, give it its own: delete /etc/machine-id and /var/lib/dbus/machine-id on it and run systemd-machine-id-setup."
        ))
    };
    found.iter().filter_map(warning).collect()
}

/// Whether the host is or becomes a machine of Kubernetes. Clusters may share others, such as a jump host.
fn is_node(host: &Host) -> bool {
    host.roles.iter().any(|role| matches!(role, Role::ControlPlane | Role::Worker | Role::Etcd))
}

/// Reads a cluster's inventory, and its host keys if that is allowed. Its variables are read only if they matter.
async fn read(client: &Client, other: &Cluster, places: &Places) -> Result<OtherCluster, Problem> {
    let input = |document| Input::read(client.clone(), other, document);
    let (hosts, keys) = futures::join!(input(Document::Inventory), input(Document::HostKeys));
    let hosts = hosts?;
    let keys = keys.map(|keys| host_keys::known(keys.text())).unwrap_or_default();
    let addresses: HashSet<&str> = places.keys().map(|place| place.address.as_str()).collect();
    if !may_contain(hosts.text(), &addresses) {
        return Ok(OtherCluster { claims: Vec::new(), keys });
    }
    // An inventory that can't be parsed can't be run either.
    let Ok(inventory) = inventory::parse(hosts.text()) else { return Ok(OtherCluster { claims: Vec::new(), keys }) };
    let at = |vars: &Vars| -> Vec<(&str, SshPlace)> {
        let place = |host| inventory.ssh_place(host, vars).map(|place| (host, place));
        let nodes = inventory.hosts.iter().filter(|host| is_node(host));
        nodes.filter_map(place).map(|(host, place)| (host.name.as_str(), place)).collect()
    };
    let is_near = |(_, at): &(&str, SshPlace)| addresses.contains(at.address.as_str());
    if !at(&Vars::new()).iter().any(is_near) {
        return Ok(OtherCluster { claims: Vec::new(), keys });
    }
    let vars = input(Document::Variables).await?;
    let vars = vars.usable().ok().and_then(|text| inventory::parse_vars(text).ok()).unwrap_or_default();
    let claim = |(host, at): (&str, SshPlace)| {
        Some(MachineClaim { machine: places.get(&at)?.clone(), cluster: other.name_any(), host: host.into() })
    };
    Ok(OtherCluster { claims: at(&vars).into_iter().filter_map(claim).collect(), keys })
}

/// Whether an inventory may have a host with one of these addresses. Parsing is most of the work with many clusters. A range such as
/// `n[1:9]` stands for names that the text doesn't contain, and IPv6 addresses and escaped characters have several spellings.
fn may_contain(hosts: &str, addresses: &HashSet<&str>) -> bool {
    let hosts = hosts.to_ascii_lowercase();
    hosts.contains(['[', '\\']) || addresses.iter().any(|address| address.contains(':') || hosts.contains(address))
}

impl MachineClaim {
    /// Why the machine can't become a node.
    pub(crate) fn refusal(&self) -> String {
        let Self { machine, cluster, host } = self;
        format!(
            "{machine} has the address of {host} in the cluster {cluster}. A machine can be a node of one cluster only: correct the address, or remove {host} there first."
        )
    }
}

impl OtherClusters {
    /// The sentences of all claims; `None` without any.
    pub(crate) fn refusal(&self) -> Option<String> {
        let sentences: Vec<String> = self.claims.iter().take(NAMED).map(MachineClaim::refusal).collect();
        let more = self.claims.len().saturating_sub(NAMED);
        let rest = if more == 0 { String::new() } else { format!(" {more} more machines are in other clusters, too.") };
        (!sentences.is_empty()).then(|| sentences.join(" ") + &rest)
    }

    /// Warnings about machines that show a host key of another cluster.
    pub(crate) fn same_keys(&self, shown: &[MachineKey]) -> Vec<String> {
        let warning = |key: &MachineKey| {
            let (cluster, known) = self.keys.get(&key.fingerprint)?;
            let place = if known.place.is_empty() { String::new() } else { format!(" at {}", known.place) };
            Some(format!(
                "{} shows the host key of a machine{place} of the cluster {cluster}. If it is that machine, remove it there first. If it is a copy of it, give it its own: delete /etc/ssh/ssh_host_* on it, run ssh-keygen -A and restart sshd.",
                key.name
            ))
        };
        shown.iter().filter_map(warning).collect()
    }

    /// A warning about clusters that could not be read.
    pub(crate) fn incomplete(&self) -> Option<String> {
        let names = listed(&self.unread, NAMED, "more");
        (!self.unread.is_empty()).then(|| {
            format!("The machines of {names} could not be compared: you may not read their inventories, or they didn't answer in time.")
        })
    }
}

#[cfg(test)]
mod tests {
    use api::configuration::{Login, Standing};

    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIlyJFrlZp0hpDzq/aZ3ORT4IsZzZSjs7HSdFMRY2WNv";

    #[test]
    fn a_host_key_of_another_cluster_is_told() {
        let text = format!("192.0.2.7,db {KEY}\n@revoked * {KEY}\n");
        let known = host_keys::known(&text);
        assert_eq!(known.len(), 1, "a revoked key is no machine's");
        let keys = known.into_iter().map(|key| (key.fingerprint.clone(), ("lab".to_owned(), key))).collect();
        let found = OtherClusters { keys, ..OtherClusters::default() };
        let shown = |fingerprint: String| MachineKey {
            name: "w2".into(),
            address: "192.0.2.9".into(),
            standing: Standing::New,
            algorithm: "ssh-ed25519".into(),
            fingerprint,
            login: Login::NotTried,
        };
        let own = crate::ssh::fingerprint(KEY).unwrap();
        let told = found.same_keys(&[shown(own), shown("SHA256:other".into()), shown(String::new())]);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("w2 shows the host key of a machine at 192.0.2.7 of the cluster lab."), "{told:?}");
    }

    #[test]
    fn a_machine_id_of_another_node_is_told() {
        let now = Time(10_000_000_000);
        let id = |cluster, node, id| MachineId { cluster, node, id, read: Some(Time(now.0 - OLD)) };
        let old = Some(Time(now.0 - 2 * 86_400_000));
        let known = [id("lab", "w1", "aa"), id("prod", "w2", "bb"), MachineId { read: old, ..id("lab", "w3", "cc") }];
        let told = |machine: &str, id: &str| same_ids(&known, now, "prod", &[(machine.into(), id.into())]).concat();
        assert!(told("w9", "aa").starts_with("w9 has the machine-id of the node w1 of the cluster lab."));
        assert!(told("w9", "bb").starts_with("w9 has the machine-id of the node w2. "));
        assert!(told("w9", "cc").starts_with("w9 has the machine-id that the node w3 of the cluster lab had 2 d ago."));
        assert_eq!(told("w2", "bb"), "", "it is this node");
        assert_eq!(told("w9", "dd"), "");
    }

    #[test]
    fn inventories_with_none_of_the_addresses_are_not_parsed() {
        let may = |hosts: &str, address: &str| may_contain(hosts, &HashSet::from([address]));
        assert!(!may("all: {hosts: {a: {ansible_host: 192.0.2.7}}}", "192.0.2.8"));
        assert!(may("all: {hosts: {a: {ansible_host: 192.0.2.8}}}", "192.0.2.8") && may("all: {hosts: {DB: }}", "db"));
        assert!(may("all: {hosts: {'n[1:9]': }}", "n8") && may(r#"all: {hosts: {"\x61": }}"#, "a"));
        assert!(may("all: {hosts: {a: {ansible_host: 'fd00:0::1'}}}", "fd00::1"));
    }

    #[test]
    fn clusters_that_were_not_read_are_named() {
        assert_eq!(OtherClusters::default().incomplete(), None);
        let found = OtherClusters { unread: vec!["a".into(), "b".into()], ..OtherClusters::default() };
        assert!(found.incomplete().unwrap().starts_with("The machines of a and b could not be compared"));
    }
}
