//! Which nodes earlier runs have removed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use api::operation::{NO_HOST_REACHED, Phase};
use api::{OperationName, Time};
use crd::{ActionType, ClusterOperation};
use inventory::Role;
use kube::ResourceExt;
use operation::{ACTIONS, ADD_NODES, Action, CREATE, Options, Parameter, REMOVE_NODES, RESET, Value, action};

use super::row::{ended, phase};
use super::why;
use crate::{Console, moment};

/// The parameter of `action` that names nodes.
fn nodes_of(action: &Action) -> Option<&Parameter> {
    action.parameters.iter().find(|parameter| parameter.value == Value::Hosts)
}

/// The form's field for the nodes of this playbook, with `node` in it. `None` if it takes no nodes.
pub(crate) fn named_in(playbook: &str, node: &str) -> Option<BTreeMap<String, String>> {
    let parameter = nodes_of(action(ACTIONS, playbook)?)?;
    Some(BTreeMap::from([(parameter.field.to_owned(), node.to_owned())]))
}

/// A run that removed a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) by: OperationName,
    pub(crate) ended: Option<Time>,
}

/// The run that removed `node` from the cluster; `None` if a later run may have added it again.
pub(crate) fn removed_by(operations: &[Arc<ClusterOperation>], cluster: &str, node: &str) -> Option<Removed> {
    let of_cluster = || operations.iter().filter(|operation| operation.spec.cluster == cluster);
    let removals = of_cluster().filter(|operation| phase(operation) == Phase::Succeeded && removes(operation, node));
    let newest = removals.max_by_key(|operation| ended(operation))?;
    let end = newest.status.as_ref().and_then(|status| status.end_time.as_ref()).map(moment::of);
    let is_added_again = of_cluster().any(|operation| {
        let started = operation.status.as_ref().and_then(|status| status.start_time.as_ref()).map(moment::of);
        started.is_some_and(|started| Some(started) >= end) && adds(operation, node)
    });
    (!is_added_again).then_some(Removed { by: newest.name_any().parse().ok()?, ended: end })
}

/// Whether this run may make `node` a node, even if it failed later: a playbook that does, or one that isn't known.
fn adds(operation: &ClusterOperation, node: &str) -> bool {
    let may_add = match action(ACTIONS, &operation.spec.action) {
        Some(action) => [ADD_NODES, CREATE].contains(&action.playbook),
        None => true,
    };
    // Only a limit of plain names surely leaves a node out; anything else may be a group or a pattern.
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    let is_group = |name: &str| name == "all" || Role::ALL.iter().any(|role| role.group() == name);
    let left_out = Options::of(&operation.spec)
        .limit
        .is_some_and(|limit| limit.split(',').all(|name| is_plain(name) && !is_group(name) && name != node));
    may_add && !left_out
}

/// Whether this run changes nothing, by its arguments.
pub(crate) fn is_dry(operation: &ClusterOperation) -> bool {
    Options::of(&operation.spec).is_dry()
}

/// Whether this run is limited to some hosts.
pub(crate) fn is_limited(operation: &ClusterOperation) -> bool {
    Options::of(&operation.spec).limit.is_some()
}

/// Whether this run has reset all machines of its cluster. A user's own playbook counts by its name.
pub(crate) fn has_reset(operation: &ClusterOperation) -> bool {
    let is_reset = Path::new(&operation.spec.action).file_name().is_some_and(|file| file == RESET);
    let is_whole =
        is_reset && operation.spec.action_type == ActionType::Playbook && !is_dry(operation) && !is_limited(operation);
    is_whole && phase(operation) == Phase::Succeeded && why(operation).reason != NO_HOST_REACHED
}

/// Whether this run, or its hook after a successful action, names the node to `remove-node.yml` and is not a dry run.
fn removes(operation: &ClusterOperation, node: &str) -> bool {
    let is_removal = operation.spec.action == REMOVE_NODES && names_node(&Options::of(&operation.spec), node);
    (is_removal || replaces(operation, node)) && !is_dry(operation)
}

/// Whether this run removes the node after its action.
pub(crate) fn replaces(operation: &ClusterOperation, node: &str) -> bool {
    let mut removals = operation.spec.post_hook.iter().filter(|hook| hook.action == REMOVE_NODES);
    removals.any(|hook| names_node(&Options::of_text(hook.extra_args.as_deref()), node))
}

fn names_node(options: &Options, node: &str) -> bool {
    let Some(parameter) = action(ACTIONS, REMOVE_NODES).and_then(nodes_of) else { return false };
    let names = options.values_of(parameter.variable);
    names.iter().flat_map(|names| names.split(',')).any(|name| name.trim() == node)
}

/// The values that the arguments of this run give a variable.
pub(crate) fn values_of(operation: &ClusterOperation, variable: &str) -> Vec<String> {
    Options::of(&operation.spec).values_of(variable)
}

/// The hosts and groups in the limit of this run; empty if it has none.
pub(crate) fn limited_to(operation: &ClusterOperation) -> Vec<String> {
    let limit = Options::of(&operation.spec).limit.unwrap_or_default();
    limit.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl Console {
    /// The run that removed `node`; `None` if it may be part of the cluster: a later run may have added it, or the cluster listed it after
    /// that run.
    pub(crate) fn removed_by(
        &self,
        operations: &[Arc<ClusterOperation>],
        cluster: &str,
        node: &str,
    ) -> Option<OperationName> {
        let removed = removed_by(operations, cluster, node)?;
        let reading = self.shared.managed.newest(cluster);
        let is_there = reading.is_some_and(|reading| {
            reading.cluster.read >= removed.ended && reading.nodes.iter().any(|there| there.name == node)
        });
        (!is_there).then_some(removed.by)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::row::tests::operation, *};

    #[test]
    fn a_removed_node_counts_until_a_run_may_have_added_it() {
        let run = |name: &str, at: i64, playbook: &str, arguments: &str, phase| {
            let mut run = operation(name, "prod", at, phase);
            run.spec.action = playbook.into();
            run.spec.extra_args = Some(arguments.into());
            run.status.as_mut().unwrap().start_time = run.metadata.creation_timestamp.clone();
            Arc::new(run)
        };
        let removal = run("gone", 1, REMOVE_NODES, "-e node=w1,w2 -e skip_confirmation=true", crd::Phase::Succeeded);
        let backup = run("backup", 200, "etcd-backup.yml", "", crd::Phase::Succeeded);
        let other = run("grow-1", 300, ADD_NODES, "--limit=w9", crd::Phase::Succeeded);
        let grown = run("grow-2", 400, ADD_NODES, "--limit=w1", crd::Phase::Failed);
        let all = [removal, backup, other, grown];
        let by =
            |count: usize, node: &str| removed_by(&all[..count], "prod", node).map(|removed| removed.by.to_string());
        assert_eq!((by(3, "w1").as_deref(), by(3, "w9")), (Some("gone"), None));
        assert_eq!(by(4, "w1"), None, "a run that failed may have joined it");
        assert_eq!(by(4, "w2").as_deref(), Some("gone"));
        let mut swap = operation("swap", "prod", 1, crd::Phase::Succeeded);
        let remove = Some("-e node=w1 -e skip_confirmation=true".to_owned());
        swap.spec.post_hook =
            vec![crd::HookAction { action: REMOVE_NODES.into(), extra_args: remove, ..Default::default() }];
        (swap.spec.action, swap.spec.extra_args) = (ADD_NODES.into(), Some("--limit=w9".into()));
        assert!(removed_by(&[Arc::new(swap)], "prod", "w1").is_some(), "a replacement removes it in the end");
        let group = run("grow-3", 500, CREATE, "--limit=etcd,kube_control_plane", crd::Phase::Succeeded);
        assert_eq!(removed_by(&[all[0].clone(), group], "prod", "w2"), None, "a group may contain it");
        let short = run("short", 1, REMOVE_NODES, "-enode=w1 -e skip_confirmation=true", crd::Phase::Succeeded);
        assert!(removed_by(&[short], "prod", "w1").is_some());
        let dry = run("dry", 1, REMOVE_NODES, "-Denode=w1 -vC", crd::Phase::Succeeded);
        assert_eq!(removed_by(&[dry], "prod", "w1"), None);
    }
}
