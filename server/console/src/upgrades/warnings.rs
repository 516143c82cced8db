//! What may stop an upgrade, or surprise after it, in sentences.

use api::cluster::{LiveNode, LiveState, OfferedVersion, Version};
use inventory::Vars;
use managed::Reading;

use super::members::Member;
use super::running::{Running, variable};

/// About the cluster as it is now. `to` is the chosen version.
pub(super) fn of_cluster(
    reading: &Reading,
    members: &[Member],
    others: &[LiveNode],
    vars: &Vars,
    running: &Running,
    to: Version,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if matches!(reading.cluster.state, LiveState::Unreachable | LiveState::Refused) {
        let then =
            if reading.cluster.read.is_some() { " Versions and nodes are those of the last reading." } else { "" };
        warnings.push(format!("The cluster can't be read now. {}{then}", reading.cluster.problem));
    }
    for member in members {
        match &member.live {
            Some(node) if !node.ready => {
                let why = if node.note.is_empty() { String::new() } else { format!(" ({})", node.note.trim_end_matches('.')) };
                warnings.push(format!("{} is not ready{why}. Repair it first: an upgrade is refused while a node isn't ready, except for the node that an interrupted upgrade was working on.", member.name));
            }
            None if reading.cluster.read.is_some() => warnings.push(format!(
                "{} is in the inventory, but the cluster has no such node. Add it, or remove it from the inventory: the upgrade checks this and refuses.",
                member.name
            )),
            _ => {}
        }
    }
    warnings.extend(
        others.iter().map(|node| {
            format!("{} is a node of the cluster, but not in the inventory. It is not upgraded.", node.name)
        }),
    );
    if let (Some(span), Some(version)) = (running.span, variable(vars))
        && !(span.lowest..=span.highest).contains(&version)
        && version != to
    {
        warnings.push(format!("kube_version in the variables is {version}, but the cluster runs {}.", running.words()));
    }
    warnings
}

/// About a version, on the day `today`, `2026-11-23`.
pub(super) fn of_version(offered: &OfferedVersion, built_in: bool, today: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let version = offered.version;
    if built_in && !offered.proven {
        warnings.push(format!(
            "{version} has not been run by the tests of this project. docs/engine.md names the versions that have."
        ));
    }
    let end = offered.end_of_support.as_str();
    if !end.is_empty() && end < today {
        warnings.push(format!("The Kubernetes project stopped supporting {} on {end}.", version.series()));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untested_or_unsupported_version_is_a_warning() {
        let offered = |proven| OfferedVersion {
            version: "1.36.4".parse().unwrap(),
            proven,
            newest_patch: false,
            default: false,
            end_of_support: "2026-10-27".into(),
        };
        assert!(of_version(&offered(true), true, "2026-10-27").is_empty());
        let late = of_version(&offered(true), true, "2026-10-28");
        assert_eq!(late, ["The Kubernetes project stopped supporting 1.36 on 2026-10-27."]);
        assert!(of_version(&offered(false), true, "2026-01-01")[0].contains("has not been run"));
        assert!(of_version(&offered(false), false, "2026-01-01").is_empty());
    }
}
