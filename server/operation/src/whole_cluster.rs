//! Operations that concern a cluster as a whole.

use std::path::Path;

use crd::{ActionSource, ActionType, ClusterOperationSpec, Engine};

use crate::{BACK_UP, CREATE, Options, RESET, RESTORE};

/// Whether the operation, if it succeeds, leaves nothing of the cluster on the machines of the inventory: an engine's playbook resets all of
/// them, and nothing runs afterwards. False if that isn't sure, for example because of a limit, tags or another inventory.
pub fn resets_cluster(operation: &ClusterOperationSpec) -> bool {
    let options = Options::of(operation);
    let is_whole = options.limit.is_none() && options.inventories.is_empty() && !options.chooses_tasks;
    let is_last = operation.post_hook.is_empty() && options.playbooks.is_empty();
    is_builtin(operation, RESET) && is_whole && is_last && !options.is_dry()
}

/// Whether a failed operation can only be repeated on all its machines: the playbook of our engine that creates a cluster goes through all
/// of them together, and with a limit it adds machines to a cluster that exists.
pub fn repeats_as_a_whole(operation: &ClusterOperationSpec, engine: Engine) -> bool {
    engine == Engine::Kubeonkube && is_builtin(operation, CREATE) && Options::of(operation).limit.is_none()
}

/// The playbook that restores the snapshot of etcd which this operation saves; `None` if it isn't a backup. Upgrades and removals of control
/// planes save one, too, but a restore doesn't undo them.
pub fn restored_by(operation: &ClusterOperationSpec) -> Option<&'static str> {
    is_builtin(operation, BACK_UP).then_some(RESTORE)
}

/// Whether the action is this playbook of an engine.
fn is_builtin(operation: &ClusterOperationSpec, playbook: &str) -> bool {
    (operation.action_type, operation.action_source) == (ActionType::Playbook, ActionSource::Builtin)
        && Path::new(&operation.action).file_name().is_some_and(|file| file == playbook)
}

#[cfg(test)]
mod tests {
    use crd::HookAction;

    use super::*;

    fn playbook(action: &str, arguments: &str) -> ClusterOperationSpec {
        ClusterOperationSpec { action: action.into(), extra_args: Some(arguments.into()), ..Default::default() }
    }

    #[test]
    fn only_a_reset_of_all_machines_ends_the_cluster() {
        let confirmed = "-e reset_confirmation=yes";
        assert!(resets_cluster(&playbook("reset.yml", confirmed)));
        assert!(resets_cluster(&playbook("playbooks/reset.yml", confirmed)));
        for more in ["--limit=w1", "--check", "--list-hosts", "--tags=x", "-i other", "cluster.yml"] {
            assert!(!resets_cluster(&playbook("reset.yml", &format!("{more} {confirmed}"))), "{more}");
        }
        assert!(!resets_cluster(&playbook("cluster.yml", "")));
        let own = ClusterOperationSpec { action_source: ActionSource::Configmap, ..playbook("reset.yml", "") };
        assert!(!resets_cluster(&own), "it may reset something else");
        let script = ClusterOperationSpec { action_type: ActionType::Shell, ..playbook("reset.yml", "") };
        assert!(!resets_cluster(&script));
        let hook = HookAction { action: "cluster.yml".into(), ..HookAction::default() };
        assert!(!resets_cluster(&ClusterOperationSpec { post_hook: vec![hook], ..playbook("reset.yml", confirmed) }));
    }

    #[test]
    fn only_the_snapshot_of_a_backup_is_offered_to_be_restored() {
        assert_eq!(restored_by(&playbook("etcd-backup.yml", "")), Some("etcd-restore.yml"));
        assert_eq!(restored_by(&playbook("upgrade-cluster.yml", "")), None);
        let own = ClusterOperationSpec { action_source: ActionSource::Configmap, ..playbook("etcd-backup.yml", "") };
        assert_eq!(restored_by(&own), None, "its snapshot may be one of something else");
    }

    #[test]
    fn our_engine_creates_all_machines_together() {
        let ours = |action, arguments| repeats_as_a_whole(&playbook(action, arguments), Engine::Kubeonkube);
        assert!(ours("cluster.yml", ""));
        assert!(!ours("cluster.yml", "--limit=cp2,cp3"), "these join a cluster");
        assert!(!ours("scale.yml", "--limit=w1"));
        assert!(!repeats_as_a_whole(&playbook("cluster.yml", ""), Engine::Kubespray));
    }
}
