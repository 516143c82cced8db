//! What an upgrade does to the nodes, in sentences.

use api::cluster::Version;
use crd::Engine;
use inventory::Vars;

use super::members::{Member, names};
use super::running::release;
use crate::listed;

/// At most this many nodes are named in a sentence.
const NAMED: usize = 8;

/// What a user has to know first.
pub(super) fn consequences(engine: Engine, members: &[Member], vars: &Vars, to: Version) -> Vec<String> {
    let (planes, workers) = (names(members, true), names(members, false));
    let ours = engine == Engine::Kubeonkube;
    let mut sentences = Vec::new();
    if let (true, Some(first)) = (ours, planes.first()) {
        let folder = text(vars, "etcd_backup_prefix", "/var/backups/kubeonkube");
        sentences.push(format!("First, a snapshot of etcd is saved on {first}, in {folder}."));
    }
    let then = match workers.as_slice() {
        [] => String::new(),
        [one] => format!(" Then the worker: {one}."),
        several if ours => format!(" Then the workers, one after the other: {}.", listed(several)),
        several => format!(" Then the workers, some at a time (serial, 20 %): {}.", listed(several)),
    };
    sentences.push(match planes.as_slice() {
        [one] => format!("The control plane comes first: {one}.{then}"),
        several => format!("The control planes come first, one after the other: {}.{then}", listed(several)),
    });
    let has_it = |member: &&Member| member.live.as_ref().is_some_and(|node| release(&node.version) == Some(to));
    let there: Vec<&str> = members.iter().filter(has_it).map(|member| member.name.as_str()).collect();
    if !there.is_empty() {
        let verb = if there.len() == 1 { "has" } else { "have" };
        sentences.push(format!("{} {verb} {to} already.", listed(&there)));
    }
    sentences.push(format!(
        "Each node is drained: its pods are evicted and start on other nodes, if these have room. Data in emptyDir volumes is lost. A PodDisruptionBudget that blocks this for {} ends the run, and the failure names it.",
        text(vars, "drain_timeout", "360s")
    ));
    if let [one] = workers.as_slice() {
        sentences.push(format!("{one} is the only worker. Pods that the control planes don't accept have to wait until it takes pods again."));
    }
    sentences.push(match planes.as_slice() {
        [one] => format!("{one} is the only control plane: the Kubernetes API is away while its etcd and API server are replaced. Running pods and Services go on."),
        _ => "One API server is away at a time. The others answer, if the load balancer notices.".into(),
    });
    sentences
        .push("Kubernetes can't be downgraded. If the run stops, upgrade again: it continues where it was.".into());
    sentences
}

fn text(vars: &Vars, name: &str, default: &str) -> String {
    vars.get(name).and_then(|value| value.as_str()).unwrap_or(default).to_owned()
}

fn listed(names: &[&str]) -> String {
    listed::listed(names, NAMED, "others")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(planes: &[&str], workers: &[&str]) -> Vec<Member> {
        let member =
            |(name, control_plane): (&str, bool)| Member { name: name.into(), control_plane, ..Member::default() };
        let planes = planes.iter().map(|name| (*name, true));
        planes.chain(workers.iter().map(|name| (*name, false))).map(member).collect()
    }

    fn sentences(engine: Engine, members: &[Member]) -> String {
        consequences(engine, members, &Vars::new(), "1.34.4".parse().unwrap()).join("\n")
    }

    #[test]
    fn the_order_and_the_absent_api_are_told() {
        let one = sentences(Engine::Kubeonkube, &members(&["m1"], &["w1"]));
        for part in [
            "a snapshot of etcd is saved on m1, in /var/backups/kubeonkube.",
            "The control plane comes first: m1. Then the worker: w1.",
            "m1 is the only control plane: the Kubernetes API is away",
            "w1 is the only worker",
        ] {
            assert!(one.contains(part), "{one}");
        }
        let three = sentences(Engine::Kubespray, &members(&["m1", "m2", "m3"], &["w1", "w2"]));
        assert!(three.contains("one after the other: m1, m2 and m3. Then the workers, some at a time"), "{three}");
        assert!(three.contains("One API server is away at a time") && !three.contains("snapshot"), "{three}");
    }

    #[test]
    fn many_nodes_are_counted_not_listed() {
        let names: Vec<String> = (1..=20).map(|number| format!("w{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(sentences(Engine::Kubeonkube, &members(&["m1"], &names)).contains("w7, w8 and 12 others."));
    }
}
