//! All built-in actions. The console derives form, validation, review, arguments and warnings from them.
//!
//! To add one:
//! 1. add an entry to [`ACTIONS`];
//! 2. add a line to `CHANGELOG.md`;
//! 3. if `engines` contains `Kubeonkube`, add the playbook to `deploy/runner/playbooks` and a test to
//!    `deploy/runner/tests/test_playbooks.py`, and update the lists in the tests of `server/console/src/operations/catalogue.rs`,
//!    in `deploy/runner/tests/test_run.py` and in `README.md`.

use api::operation::Effect;
use crd::Engine::{self, Kubeonkube, Kubespray};

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
    /// The variables that have their own fields in the form.
    pub parameters: &'static [Parameter],
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
    /// Above the field, or beside the checkbox.
    pub label: &'static str,
    /// In the empty field; not shown for a confirmation.
    pub placeholder: &'static str,
    /// Below the field; not shown for a confirmation.
    pub hint: &'static str,
}

/// The kind of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Hosts of the inventory, separated by commas; no groups and no patterns.
    Hosts,
    /// A version with three numbers, such as `1.34.4` or `v1.34.4`.
    Version,
    /// A checkbox. If it is ticked, the variable gets this value. Only the form requires it: the playbook must also check the
    /// variable, because kubectl can submit without the form.
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

/// All actions, in the order of the form.
pub const ACTIONS: &[Action] = &[
    Action {
        playbook: "ping.yml",
        title: "Reach every machine",
        summary: "Logs in to each machine and runs Python there. Changes nothing.",
        effect: Effect::Reads,
        engines: &[Kubeonkube, Kubespray],
        parameters: &[],
    },
    Action {
        playbook: "facts.yml",
        title: "Gather facts",
        summary: "Collects operating system, processor, memory, disks and addresses of each machine. Changes nothing.",
        effect: Effect::Reads,
        engines: &[Kubeonkube, Kubespray],
        parameters: &[],
    },
    Action {
        playbook: "cluster.yml",
        title: "Build or converge the cluster",
        summary: "Installs Kubernetes on all machines of the inventory, or changes an existing cluster to match the variables.",
        effect: Effect::Changes,
        engines: &[Kubespray],
        parameters: &[KUBE_VERSION],
    },
    Action {
        playbook: "scale.yml",
        title: "Add worker nodes",
        summary: "Installs the machines that are new in the inventory as workers. Limit it to them.",
        effect: Effect::Changes,
        engines: &[Kubespray],
        parameters: &[],
    },
    Action {
        playbook: "upgrade-cluster.yml",
        title: "Upgrade Kubernetes",
        summary: "Upgrades node by node, draining each. One minor version at a time.",
        effect: Effect::Changes,
        engines: &[Kubespray],
        parameters: &[KUBE_VERSION],
    },
    Action {
        playbook: "remove-node.yml",
        title: "Remove nodes",
        summary: "Drains nodes and removes them from the cluster.",
        effect: Effect::Destroys,
        engines: &[Kubespray],
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
    },
    Action {
        playbook: "recover-control-plane.yml",
        title: "Recover the control plane",
        summary: "Rebuilds broken control plane and etcd members from the healthy ones.",
        effect: Effect::Changes,
        engines: &[Kubespray],
        parameters: &[],
    },
    Action {
        playbook: "reset.yml",
        title: "Reset the cluster",
        summary: "Removes Kubernetes and all its data from the machines.",
        effect: Effect::Destroys,
        engines: &[Kubespray],
        parameters: &[Parameter {
            field: "confirmed",
            variable: "reset_confirmation",
            value: Value::Confirmation("yes"),
            missing: Some("Tick this box to continue. Deleted data cannot be restored."),
            answers: &[],
            label: "I understand that Kubernetes and all its data on these machines are deleted and cannot be restored",
            placeholder: "",
            hint: "",
        }],
    },
];

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
