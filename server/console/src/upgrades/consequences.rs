//! What an upgrade does to the nodes, in sentences.

use api::cluster::Version;
use crd::Engine;
use inventory::Vars;

use super::members::{Member, names};
use super::running::release;
use crate::listed;

/// At most this many nodes are named in a sentence.
const NAMED: usize = 8;

/// What a user has to know first. The built-in engine skips nodes that have the version; kubespray runs its tasks on all of them.
pub(super) fn consequences(engine: Engine, members: &[Member], vars: &Vars, to: Version) -> Vec<String> {
    let ours = engine == Engine::Kubeonkube;
    let has_it = |member: &Member| member.live.as_ref().is_some_and(|node| release(&node.version) == Some(to));
    let there: Vec<&str> = members.iter().filter(|member| has_it(member)).map(|member| member.name.as_str()).collect();
    let is_left = |name: &&str| !ours || !there.contains(name);
    let (all_planes, all_workers) = (names(members, true), names(members, false));
    let planes: Vec<&str> = all_planes.iter().copied().filter(is_left).collect();
    let workers: Vec<&str> = all_workers.iter().copied().filter(is_left).collect();
    let mut sentences = Vec::new();
    sentences.extend(match there.as_slice() {
        [] => None,
        [one] if ours => {
            Some(format!("{one} has {to} already. The run skips it, unless its own upgrade was interrupted."))
        }
        several if ours => Some(format!(
            "{} have {to} already. The run skips them, unless their own upgrade was interrupted.",
            listed(several)
        )),
        [one] => Some(format!("{one} has {to} already, and the run goes over it again.")),
        several => Some(format!("{} have {to} already, and the run goes over them again.", listed(several))),
    });
    if let (true, Some(first)) = (ours, all_planes.first()) {
        let folder = text(vars, "etcd_backup_prefix", "/var/backups/kubeonkube");
        sentences.push(format!("First, a snapshot of etcd is saved on {first}, in {folder}."));
    }
    sentences.extend(order(ours, &planes, &workers));
    let each = if ours && !there.is_empty() { "Each node that is upgraded" } else { "Each node" };
    sentences.push(format!(
        "{each} is drained: its pods are evicted and start on other nodes, if these have room. Data in emptyDir volumes is lost. A PodDisruptionBudget that blocks this for {} ends the run, and the failure names it.",
        in_minutes(&text(vars, "drain_timeout", "360s"))
    ));
    if let ([one], [_]) = (all_workers.as_slice(), workers.as_slice()) {
        sentences.push(format!("{one} is the only worker. Pods that the control planes don't accept have to wait until it takes pods again."));
    }
    match (all_planes.as_slice(), planes.as_slice()) {
        (_, []) => {}
        ([one], _) => sentences.push(format!("{one} is the only control plane: the Kubernetes API is away while its etcd and API server are replaced. Running pods and Services go on.")),
        _ => sentences.push("One API server is away at a time. The others answer, if the load balancer notices.".into()),
    }
    sentences
        .push("Kubernetes can't be downgraded. If the run stops, upgrade again: it continues where it was.".into());
    sentences
}

/// Which nodes are upgraded, and in which order; `None` if none is left.
fn order(ours: bool, planes: &[&str], workers: &[&str]) -> Option<String> {
    let how = if ours { "one after the other" } else { "some at a time (serial, 20 %)" };
    let those = match workers {
        [] => None,
        [one] => Some(format!("the worker: {one}.")),
        several => Some(format!("the workers, {how}: {}.", listed(several))),
    };
    let then = those.as_ref().map(|those| format!(" Then {those}")).unwrap_or_default();
    match planes {
        [] => those.map(|those| format!("It upgrades {those}")),
        [one] => Some(format!("The control plane comes first: {one}.{then}")),
        several => Some(format!("The control planes come first, one after the other: {}.{then}", listed(several))),
    }
}

/// A time such as `360s` in minutes, if it is whole ones.
fn in_minutes(time: &str) -> String {
    let seconds = time.strip_suffix('s').and_then(|number| number.parse::<u64>().ok());
    match seconds.filter(|seconds| *seconds > 0 && seconds.is_multiple_of(60)) {
        Some(seconds) => format!("{} min", seconds / 60),
        None => time.to_owned(),
    }
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

    /// The same members, of which these have the version already.
    fn upgraded(members: Vec<Member>, names: &[&str]) -> Vec<Member> {
        let live = |name: &str| api::cluster::LiveNode {
            name: name.into(),
            roles: vec![],
            version: "v1.34.4".into(),
            ready: true,
            note: String::new(),
            address: String::new(),
            created: api::Time(0),
        };
        let of = |member: Member| {
            let live = names.contains(&member.name.as_str()).then(|| live(&member.name));
            Member { live, ..member }
        };
        members.into_iter().map(of).collect()
    }

    #[test]
    fn what_an_interrupted_upgrade_has_done_is_not_announced_again() {
        let half = || upgraded(members(&["m1"], &["w1", "w2"]), &["m1", "w1"]);
        let ours = sentences(Engine::Kubeonkube, &half());
        for part in [
            "m1 and w1 have 1.34.4 already. The run skips them,",
            "It upgrades the worker: w2.",
            "Each node that is upgraded is drained",
        ] {
            assert!(ours.contains(part), "{ours}");
        }
        for part in ["comes first", "the only control plane", "the only worker", "API server"] {
            assert!(!ours.contains(part), "{ours}");
        }
        let theirs = sentences(Engine::Kubespray, &half());
        assert!(theirs.contains("m1 and w1 have 1.34.4 already, and the run goes over them again."), "{theirs}");
        assert!(theirs.contains("The control plane comes first: m1. Then the workers, some at a time"), "{theirs}");
    }

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
