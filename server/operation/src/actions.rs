//! All built-in actions. The console derives form, validation, review, arguments and warnings from them.
//!
//! To add one:
//! 1. add an entry to [`ACTIONS`];
//! 2. add a line to `CHANGELOG.md`;
//! 3. if `engines` contains `Kubeonkube`, add the playbook to `deploy/runner/playbooks` and a test to
//!    `deploy/runner/tests`, and update the lists in the tests of `server/console/src/operations/catalogue.rs`,
//!    in `deploy/runner/tests/test_run.py` and in `README.md`.

use api::operation::Effect;
use crd::Engine::{self, Kubeonkube, Kubespray};
use crd::{ActionSource, ActionType, ClusterOperationSpec};

use crate::steps::{Asked, asked};
use crate::stopping::{self, PlayStop};

/// A playbook of one or more engines, with what the console shows and asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// The playbook's file name, without a folder.
    pub playbook: &'static str,
    /// A short imperative: verb and object.
    pub title: &'static str,
    /// What it does to the machines, in a sentence or two.
    pub summary: &'static str,
    /// Whether it reads, changes or deletes.
    pub effect: Effect,
    /// The engines whose images contain this playbook. Standalone mode offers only actions with `Kubeonkube`.
    pub engines: &'static [Engine],
    /// The hosts of the built-in engine's playbook. Those of kubespray run on all machines.
    pub hosts: PlayHosts,
    /// The variables that have their own fields in the form.
    pub parameters: &'static [Parameter],
    /// Whether it leaves files that no log may contain, such as the cluster's kubeconfig (docs/adr/0015).
    pub secret_result: bool,
    /// What stopping it means, play by play. Empty if it changes nothing, or if that isn't known.
    pub stops: &'static [PlayStop],
}

/// The hosts of a playbook's plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayHosts {
    /// All of the inventory.
    All,
    /// Control planes and workers.
    Nodes,
    /// Those of `kube_node` that are no control planes.
    Workers,
    /// Those of `kube_control_plane`.
    ControlPlanes,
    /// The first of `kube_control_plane`.
    FirstControlPlane,
    /// The first control plane, and the hosts that the parameter of kind [`Value::Hosts`] names.
    Named,
}

/// A variable of a playbook that has its own field in the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the form field. Two actions may use the same field only with the same `Parameter`. It must not be a field of
    /// `api::operation::Draft`.
    pub field: &'static str,
    /// Name of the playbook's variable.
    pub variable: &'static str,
    /// Which values are valid.
    pub value: Value,
    /// Error text if the field is empty and the extra arguments don't set the variable. `None`: the field is optional.
    pub missing: Option<&'static str>,
    /// Further variables to set with it, so that the playbook doesn't prompt.
    pub answers: &'static [(&'static str, &'static str)],
    /// Above the field.
    pub label: &'static str,
    /// In the empty field.
    pub placeholder: &'static str,
    /// Below the field.
    pub hint: &'static str,
}

/// The kind of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Hosts of the inventory, separated by commas; no groups and no patterns.
    Hosts,
    /// A version with three numbers, such as `1.34.4` or `v1.34.4`.
    Version,
    /// An absolute path on a machine.
    Path,
    /// The user types the cluster's name, and the variable gets this value. Only the form requires it: the playbook must also
    /// check the variable, because kubectl can submit without the form.
    Confirmation(&'static str),
}

const KUBE_VERSION: Parameter = Parameter {
    field: "version",
    variable: "kube_version",
    value: Value::Version,
    missing: None,
    answers: &[],
    label: "Kubernetes version",
    placeholder: "from the variables",
    hint: "For this run only. Set kube_version in the variables, too, so that later runs use the same version.",
};

/// The playbook that logs in to all machines and changes nothing.
pub const PING: &str = "ping.yml";
/// The playbook that gathers the facts of all machines.
pub const FACTS: &str = "facts.yml";
/// The playbook that removes nodes from the cluster.
pub const REMOVE_NODES: &str = "remove-node.yml";
/// Arguments of [`REMOVE_NODES`] for a machine that can't be reached any more: its pods can't end, so waiting for them is short, and
/// the machine isn't cleaned. The same for all engines.
pub const WITHOUT_MACHINE: [&str; 6] =
    ["-e", "reset_nodes=false", "-e", "allow_ungraceful_removal=true", "-e", "drain_timeout=30s"];
/// The playbook that removes the whole cluster.
pub const RESET: &str = "reset.yml";
/// The playbook that checks whether the machines can become nodes.
pub const CHECK_MACHINES: &str = "precheck.yml";
/// The playbook that creates the cluster, or adds what is missing.
pub const CREATE: &str = "cluster.yml";
/// The playbook that adds the workers which are new in the inventory.
pub const ADD_NODES: &str = "scale.yml";

/// The playbook that joins machines to a hosted cluster.
pub const JOIN: &str = "join.yml";
/// The playbook that saves a snapshot of etcd.
pub const BACK_UP: &str = "etcd-backup.yml";
/// The playbook that replaces everything in the cluster by such a snapshot.
pub const RESTORE: &str = "etcd-restore.yml";
/// The playbook that upgrades Kubernetes.
pub const UPGRADE: &str = "upgrade-cluster.yml";

/// Kubespray's playbook that rebuilds broken control planes and members of etcd.
pub const RECOVER: &str = "recover-control-plane.yml";

/// All actions, in the order of the form.
pub const ACTIONS: &[Action] = &[
    Action {
        playbook: PING,
        title: "Reach every machine",
        summary: "Logs in to each machine and runs Python there. Changes nothing.",
        effect: Effect::Reads,
        engines: &[Kubeonkube, Kubespray],
        hosts: PlayHosts::All,
        parameters: &[],
        secret_result: false,
        stops: &[],
    },
    Action {
        playbook: FACTS,
        title: "Gather facts",
        summary: "Collects operating system, processor, memory, disks and addresses of each machine. Changes nothing.",
        effect: Effect::Reads,
        engines: &[Kubeonkube, Kubespray],
        hosts: PlayHosts::All,
        parameters: &[],
        secret_result: false,
        stops: &[],
    },
    Action {
        playbook: CHECK_MACHINES,
        title: "Check the machines",
        summary: "Checks whether the machines can become nodes: system, memory, disk, clock, ports, addresses. Changes nothing.",
        effect: Effect::Reads,
        engines: &[Kubeonkube],
        hosts: PlayHosts::Nodes,
        parameters: &[],
        secret_result: false,
        stops: &[],
    },
    Action {
        playbook: "cluster-info.yml",
        title: "Read the cluster's state",
        summary: "Reads versions, nodes, the health of the Kubernetes API and etcd, and when certificates expire. Changes nothing.",
        effect: Effect::Reads,
        engines: &[Kubeonkube],
        hosts: PlayHosts::ControlPlanes,
        parameters: &[],
        secret_result: false,
        stops: &[],
    },
    Action {
        playbook: "kubeconfig.yml",
        title: "Make a kubeconfig",
        summary: "Makes a kubeconfig with its own certificate and stores it in a Secret. Its readers are administrators of the cluster.",
        effect: Effect::Reads,
        engines: &[Kubeonkube],
        hosts: PlayHosts::FirstControlPlane,
        parameters: &[],
        secret_result: true,
        stops: &[],
    },
    Action {
        playbook: CREATE,
        title: "Build or converge the cluster",
        summary: "Installs Kubernetes on all machines of the inventory, or changes an existing cluster to match the variables.",
        effect: Effect::Changes,
        engines: &[Kubeonkube, Kubespray],
        hosts: PlayHosts::Nodes,
        parameters: &[KUBE_VERSION],
        secret_result: true,
        stops: stopping::CREATE,
    },
    Action {
        playbook: ADD_NODES,
        title: "Add worker nodes",
        summary: "Installs the machines that are new in the inventory as workers. Limit it to them.",
        effect: Effect::Changes,
        engines: &[Kubeonkube, Kubespray],
        hosts: PlayHosts::Workers,
        parameters: &[],
        secret_result: false,
        stops: stopping::ADD_NODES,
    },
    Action {
        playbook: JOIN,
        title: "Join machines to a hosted cluster",
        summary: "Installs the machines of the inventory as nodes of a cluster whose control plane is hosted. Nodes that have joined stay as they are.",
        effect: Effect::Changes,
        engines: &[Kubeonkube],
        hosts: PlayHosts::Nodes,
        parameters: &[],
        secret_result: false,
        stops: stopping::JOIN,
    },
    Action {
        playbook: UPGRADE,
        title: "Upgrade Kubernetes",
        summary: "Upgrades node by node, draining each. One minor version at a time.",
        effect: Effect::Changes,
        engines: &[Kubeonkube, Kubespray],
        hosts: PlayHosts::Nodes,
        parameters: &[KUBE_VERSION],
        secret_result: false,
        stops: stopping::UPGRADE,
    },
    Action {
        playbook: REMOVE_NODES,
        title: "Remove nodes",
        summary: "Drains nodes and removes them from the cluster.",
        effect: Effect::Destroys,
        engines: &[Kubeonkube, Kubespray],
        hosts: PlayHosts::Named,
        parameters: &[Parameter {
            field: "nodes",
            variable: "node",
            value: Value::Hosts,
            missing: Some("Name the nodes to remove, as the inventory names them."),
            answers: &[("skip_confirmation", "true")],
            label: "Nodes to remove",
            placeholder: "worker3, worker4",
            hint: "As the inventory names them. They are drained first. Remove them from the inventory afterwards.",
        }],
        secret_result: false,
        stops: stopping::REMOVE_NODES,
    },
    Action {
        playbook: BACK_UP,
        title: "Back up etcd",
        summary: "Saves a snapshot of etcd on the first control plane and checks it. The oldest snapshots are removed.",
        effect: Effect::Changes,
        engines: &[Kubeonkube],
        hosts: PlayHosts::FirstControlPlane,
        parameters: &[],
        secret_result: false,
        stops: stopping::BACK_UP,
    },
    Action {
        playbook: RESTORE,
        title: "Restore etcd",
        summary: "Replaces everything in the cluster by a snapshot of etcd. The Kubernetes API pauses; running pods go on.",
        effect: Effect::Destroys,
        engines: &[Kubeonkube],
        hosts: PlayHosts::ControlPlanes,
        parameters: &[
            Parameter {
                field: "snapshot",
                variable: "etcd_restore_file",
                value: Value::Path,
                missing: Some("Name the snapshot's file on the first control plane."),
                answers: &[],
                label: "Snapshot",
                placeholder: "/var/backups/kubeonkube/etcd-20260131T120000Z.db",
                hint: "A file on the first control plane. The page of a backup names it under Results, with a link to this form.",
            },
            Parameter {
                field: "restored",
                variable: "etcd_restore_confirmation",
                value: Value::Confirmation("yes"),
                missing: Some("Type the cluster's name to confirm. Newer data cannot be restored."),
                answers: &[],
                label: "Type the cluster's name to restore it",
                placeholder: "",
                hint: "Everything created or changed in the cluster since this snapshot is lost.",
            },
        ],
        secret_result: false,
        stops: stopping::RESTORE,
    },
    Action {
        playbook: "renew-certs.yml",
        title: "Renew the certificates",
        summary: "Renews the certificates of each control plane and restarts its programs. With one control plane, the Kubernetes API pauses.",
        effect: Effect::Changes,
        engines: &[Kubeonkube],
        hosts: PlayHosts::ControlPlanes,
        parameters: &[],
        secret_result: false,
        stops: stopping::RENEW_CERTIFICATES,
    },
    Action {
        playbook: RECOVER,
        title: "Recover the control plane",
        summary: "Replaces broken control planes and members of etcd; at least one must work. First move the broken machines to the inventory's groups broken_kube_control_plane and broken_etcd (with etcd_member_name), out of all other groups. In kube_control_plane and etcd, name the working ones first, then the new ones.",
        effect: Effect::Changes,
        engines: &[Kubespray],
        hosts: PlayHosts::All,
        parameters: &[],
        secret_result: false,
        stops: &[],
    },
    Action {
        playbook: RESET,
        title: "Reset the cluster",
        summary: "Removes Kubernetes and all its data from the machines.",
        effect: Effect::Destroys,
        engines: &[Kubeonkube, Kubespray],
        hosts: PlayHosts::Nodes,
        parameters: &[Parameter {
            field: "confirmed",
            variable: "reset_confirmation",
            value: Value::Confirmation("yes"),
            missing: Some("Type the cluster's name to confirm. Deleted data cannot be restored."),
            answers: &[],
            label: "Type the cluster's name to reset it",
            placeholder: "",
            hint: "Kubernetes and all its data on these machines are deleted and cannot be restored. Without a limit, the stored kubeconfig is deleted, too.",
        }],
        secret_result: false,
        stops: stopping::RESET,
    },
];

/// Whether a step of the operation leaves a secret result. A user's own playbook counts by its name, too.
pub fn has_secret_result(operation: &ClusterOperationSpec) -> bool {
    let leaves = |step: &Asked<'_>| {
        step.kind == ActionType::Playbook && action(ACTIONS, step.action).is_some_and(|action| action.secret_result)
    };
    asked(operation, None).iter().any(leaves)
}

/// Whether a step of the operation joins machines to a hosted cluster, and needs a token for that.
pub fn joins(operation: &ClusterOperationSpec) -> bool {
    asked(operation, None)
        .iter()
        .any(|step| (step.kind, step.source, step.action) == (ActionType::Playbook, ActionSource::Builtin, JOIN))
}

/// The action with this playbook; `None` if there is none.
pub fn action<'a>(actions: &'a [Action], playbook: &str) -> Option<&'a Action> {
    actions.iter().find(|action| action.playbook == playbook)
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, fs, path::Path};

    use super::*;
    use crate::is_playbook_file;

    #[test]
    fn every_action_is_complete_and_fits_the_form() {
        let mut fields: HashMap<&str, &Parameter> = HashMap::new();
        for action in ACTIONS {
            assert!(is_playbook_file(action.playbook) && !action.playbook.contains('/'), "{}", action.playbook);
            assert!(!action.engines.is_empty(), "{}", action.playbook);
            assert!(action.summary.ends_with('.') && !action.title.is_empty(), "{}", action.playbook);
            assert_eq!(ACTIONS.iter().filter(|other| other.playbook == action.playbook).count(), 1);
            for parameter in action.parameters {
                let known = fields.entry(parameter.field).or_insert(parameter);
                assert_eq!(*known, parameter, "two parameters share the field {}", parameter.field);
            }
        }
        // style/50-run.css has rules for eight fields.
        assert!(fields.len() <= 8, "add rules for more fields to style/50-run.css");
    }

    #[test]
    fn the_hosts_of_our_playbooks_are_those_of_their_plays() {
        const PLANES: [&str; 3] =
            ["kube_control_plane", "kube_control_plane[0]", "kube_control_plane:!kube_control_plane[0]"];
        const WORKERS: [&str; 2] = ["kube_node", "kube_node:!kube_control_plane"];
        let allowed = |hosts| match hosts {
            PlayHosts::All => vec!["all"],
            PlayHosts::Nodes => [&["kube_control_plane:kube_node"], &PLANES[..], &WORKERS].concat(),
            PlayHosts::Workers => vec![WORKERS[1]],
            PlayHosts::ControlPlanes => PLANES.to_vec(),
            PlayHosts::FirstControlPlane => vec![PLANES[1]],
            PlayHosts::Named => vec![PLANES[1], "\"{{ node | default('no_node_is_named') }}\""],
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/runner/playbooks");
        for action in ACTIONS.iter().filter(|action| action.engines.contains(&Kubeonkube)) {
            let text = fs::read_to_string(folder.join(action.playbook)).unwrap();
            let mut plays = text.lines().filter_map(|line| line.strip_prefix("  hosts: ")).peekable();
            assert!(plays.peek().is_some(), "{}", action.playbook);
            for hosts in plays {
                assert!(allowed(action.hosts).contains(&hosts), "{}: {hosts}", action.playbook);
            }
        }
    }

    /// The code in these folders must not name individual actions.
    const FOLDERS: [&str; 6] =
        ["app/src", "app/api/src", "server/console/src", "server/controller/src", "server/operation/src", "style"];

    /// The lines of `file` that contain one of `names`. Comments and tests are skipped.
    fn naming(file: &Path, names: &[&str]) -> Vec<String> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let naming = lines.filter(|line| names.iter().any(|name| line.contains(name)));
        naming.map(|line| format!("{}: {}", file.display(), line.trim())).collect()
    }

    fn files(folder: &Path) -> Vec<std::path::PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn no_other_code_names_a_built_in_action() {
        // Pages suggest `ping.yml` as the first run and show the results of `facts.yml` as a table.
        let special = ["ping.yml", "facts.yml"];
        let playbooks = ACTIONS.iter().map(|action| action.playbook).filter(|playbook| !special.contains(playbook));
        let names: Vec<String> = playbooks.map(|playbook| format!("\"{playbook}\"")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let here = Path::new("server/operation/src/actions.rs");
        let found: Vec<String> = FOLDERS
            .iter()
            .flat_map(|folder| files(&root.join(folder)))
            .filter(|file| !file.ends_with(here) && !file.to_string_lossy().ends_with("tests.rs"))
            .flat_map(|file| naming(&file, &names))
            .collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}
