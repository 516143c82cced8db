//! How far the creation of a cluster is. Pure.

use std::path::Path;
use std::sync::Arc;

use api::cluster::{CreationStage, LiveState};
use api::operation::Phase;
use crd::{ActionType, ClusterOperation};
use operation::{ADD_NODES, CHECK_MACHINES, CREATE, REMOVE_NODES, UPGRADE};

use crate::operations::{ended, has_reset, is_dry, is_limited, phase};

/// The newest operations of a cluster that matter for its creation.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Runs<'a> {
    pub(super) check: Option<&'a ClusterOperation>,
    pub(super) create: Option<&'a ClusterOperation>,
    /// A run that succeeded and needs or makes a cluster.
    made: Option<&'a ClusterOperation>,
    /// A reset of the whole cluster that succeeded.
    reset: Option<&'a ClusterOperation>,
}

impl<'a> Runs<'a> {
    pub(super) fn of(operations: &'a [Arc<ClusterOperation>], cluster: &str) -> Self {
        let mut runs = Self::default();
        let own = operations.iter().map(Arc::as_ref).filter(|o| o.spec.cluster == cluster);
        for operation in own.filter(|o| o.spec.action_type == ActionType::Playbook && !is_dry(o)) {
            let file = Path::new(&operation.spec.action).file_name().and_then(|file| file.to_str());
            let makes = file.is_some_and(|file| [CREATE, ADD_NODES, REMOVE_NODES, UPGRADE].contains(&file));
            if makes && phase(operation) == Phase::Succeeded && runs.made.is_none_or(|made| is_newer(operation, made)) {
                runs.made = Some(operation);
            }
            let newest = match file {
                _ if phase(operation) == Phase::Restored => continue,
                Some(CHECK_MACHINES) if !is_limited(operation) => &mut runs.check,
                Some(CREATE) => &mut runs.create,
                _ if has_reset(operation) => &mut runs.reset,
                _ => continue,
            };
            if newest.is_none_or(|newest| is_newer(operation, newest)) {
                *newest = Some(operation);
            }
        }
        // A reset removes what earlier runs have made.
        if let Some(reset) = runs.reset {
            runs.create = runs.create.filter(|create| !is_newer(reset, create));
            runs.made = runs.made.filter(|made| !is_newer(reset, made));
        }
        runs
    }
}

/// Whether `a` ended after `b`. An open operation is newer than all that have ended.
fn is_newer(a: &ClusterOperation, b: &ClusterOperation) -> bool {
    let key = |operation: &ClusterOperation| (!phase(operation).is_final(), ended(operation));
    key(a) > key(b)
}

/// The stage, from the newest operations and the newest reading of the cluster itself.
pub(super) fn stage(runs: Runs<'_>, live: LiveState) -> CreationStage {
    let create = match runs.create.map(phase) {
        // A later run of the same playbook on a cluster that exists may fail, too.
        Some(Phase::Failed | Phase::Cancelled) | None if runs.made.is_some() => Some(Phase::Succeeded),
        create => create,
    };
    match (live, create) {
        (LiveState::Healthy | LiveState::Unhealthy, _) => CreationStage::Known,
        (_, Some(Phase::Queued | Phase::Running)) => CreationStage::Working,
        // A kubeconfig that no operation stored outlives a reset.
        (_, None) if runs.reset.is_some() => CreationStage::Planned,
        (_, Some(Phase::Failed | Phase::Cancelled)) if runs.reset.is_some() => CreationStage::Failed,
        (LiveState::Refused | LiveState::Unreachable, _) => CreationStage::Known,
        (LiveState::NotRead | LiveState::NoKubeconfig, None) => CreationStage::Planned,
        (LiveState::NotRead | LiveState::NoKubeconfig, Some(Phase::Succeeded)) => CreationStage::Created,
        (LiveState::NotRead | LiveState::NoKubeconfig, Some(_)) => CreationStage::Failed,
    }
}

/// Whether the cluster's pages offer to create it.
pub(super) fn creatable(runs: Runs<'_>, live: LiveState) -> bool {
    !matches!(stage(runs, live), CreationStage::Created | CreationStage::Known)
}

#[cfg(test)]
mod tests {
    use crate::operations::tests::operation;

    use super::*;

    fn run(playbook: &str, at: i64, phase: crd::Phase, arguments: &str) -> Arc<ClusterOperation> {
        let mut run = operation(&format!("run-{at}"), "prod", at, phase);
        run.spec.action = playbook.into();
        run.spec.extra_args = Some(arguments.into()).filter(|text: &String| !text.is_empty());
        Arc::new(run)
    }

    fn stage_of(runs: &[Arc<ClusterOperation>], live: LiveState) -> CreationStage {
        stage(Runs::of(runs, "prod"), live)
    }

    #[test]
    fn the_newest_run_that_creates_decides() {
        use crd::Phase::{Failed, Pending, Succeeded};
        let of = |runs: &[Arc<ClusterOperation>]| stage_of(runs, LiveState::NoKubeconfig);
        let failed = run("cluster.yml", 1, Failed, "");
        assert_eq!(of(&[]), CreationStage::Planned);
        assert_eq!(of(&[run("ping.yml", 1, Succeeded, "")]), CreationStage::Planned);
        assert_eq!(of(std::slice::from_ref(&failed)), CreationStage::Failed);
        assert_eq!(of(&[run("cluster.yml", 2, Pending, ""), failed.clone()]), CreationStage::Working);
        assert_eq!(of(&[failed.clone(), run("cluster.yml", 200, Succeeded, "")]), CreationStage::Created);
        assert_eq!(of(&[run("cluster.yml", 1, Succeeded, "--check")]), CreationStage::Planned, "a dry run");
        let made = run("cluster.yml", 1, Succeeded, "");
        assert_eq!(
            of(&[made, run("cluster.yml", 200, Failed, "")]),
            CreationStage::Created,
            "it exists since the first"
        );
        assert_eq!(of(&[failed, run("scale.yml", 200, Succeeded, "")]), CreationStage::Created, "it needs a cluster");
    }

    #[test]
    fn a_reset_of_the_whole_cluster_starts_over() {
        use crd::Phase::Succeeded;
        let made = run("cluster.yml", 1, Succeeded, "");
        let reset = |arguments: &str| [made.clone(), run("reset.yml", 200, Succeeded, arguments)];
        let all = reset("-e reset_confirmation=yes");
        assert_eq!(stage_of(&all, LiveState::Unreachable), CreationStage::Planned);
        let one = reset("--limit=w1 -e reset_confirmation=yes");
        assert_eq!(stage_of(&one, LiveState::Unreachable), CreationStage::Known);
        let failed = [&all[..], &[run("cluster.yml", 400, crd::Phase::Failed, "")]].concat();
        assert_eq!(
            stage_of(&failed, LiveState::Unreachable),
            CreationStage::Failed,
            "the kubeconfig is of before the reset"
        );
        let again = [&all[..], &[run("cluster.yml", 400, Succeeded, "")]].concat();
        assert_eq!(stage_of(&again, LiveState::NotRead), CreationStage::Created);
    }

    #[test]
    fn a_cluster_that_answers_is_not_created_again() {
        let failed = [run("cluster.yml", 1, crd::Phase::Failed, "")];
        for live in [LiveState::Healthy, LiveState::Unhealthy, LiveState::Unreachable] {
            assert_eq!(stage_of(&failed, live), CreationStage::Known);
            assert!(!creatable(Runs::of(&failed, "prod"), live));
        }
        assert!(creatable(Runs::of(&failed, "prod"), LiveState::NoKubeconfig));
    }
}
