//! Every built-in action, as data. Form, validation, preview, arguments and warnings follow from this file: a new action is an
//! entry here and its playbook.

use api::operation::Effect;
use crd::Engine::{self, Kubeonkube, Kubespray};

/// A playbook that comes with an engine, and what the console knows about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// Its file below the image's playbooks.
    pub playbook: &'static str,
    /// A verb and its object.
    pub title: &'static str,
    /// What it does to the machines, in a sentence or two.
    pub summary: &'static str,
    /// What it does to the machines, in a word.
    pub effect: Effect,
    /// The engines that have it. Standalone runs Kubeonkube's with its own ansible.
    pub engines: &'static [Engine],
    /// What it asks for.
    pub parameters: &'static [Parameter],
}

/// A variable of a playbook that has its own field in the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The name of the field. Actions may share a parameter, and with it the field.
    pub field: &'static str,
    /// The variable of the playbook.
    pub variable: &'static str,
    /// What it may hold.
    pub value: Value,
    /// Why the playbook can't run without it; `None` if it is optional.
    pub missing: Option<&'static str>,
    /// Variables that are set together with it: answers to questions that the playbook would ask on a terminal.
    pub answers: &'static [(&'static str, &'static str)],
    /// Above the field.
    pub label: &'static str,
    /// In the field while it is empty.
    pub placeholder: &'static str,
    /// Below the field.
    pub hint: &'static str,
}

/// What a parameter may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Hosts of the inventory, separated by commas; no groups and no patterns.
    Hosts,
    /// A version with three numbers.
    Version,
    /// A box to tick. Ticked, the variable gets this value.
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

/// The action of this playbook.
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
            assert!(is_playbook_file(action.playbook) && !action.engines.is_empty(), "{}", action.playbook);
            assert!(action.summary.ends_with('.') && !action.title.is_empty(), "{}", action.playbook);
            assert_eq!(ACTIONS.iter().filter(|other| other.playbook == action.playbook).count(), 1);
            for parameter in action.parameters {
                let known = fields.entry(parameter.field).or_insert(parameter);
                assert_eq!(*known, parameter, "two parameters share the field {}", parameter.field);
            }
        }
        // style/50-run.css has rules for so many fields.
        assert!(fields.len() <= 8, "add rules for more fields to style/50-run.css");
    }

    /// The folders whose code must not know single actions.
    const FOLDERS: [&str; 6] =
        ["app/src", "app/api/src", "server/console/src", "server/controller/src", "server/operation/src", "style"];

    /// Lines of code that name what only the data may name; comments and tests may.
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
    fn only_this_file_knows_the_actions() {
        // `ping.yml` is offered as a first run, and `facts.yml` has a table of results.
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
