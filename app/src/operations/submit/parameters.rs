//! What some playbooks ask for, in fields of their own. It becomes arguments, before the free ones.

use api::Problem;
use leptos::prelude::*;

use super::draft::OperationDraft;
use crate::form::{Check, Field};

impl OperationDraft {
    /// One argument each.
    pub(super) fn parameters(&self) -> Vec<String> {
        let variable = |name: &str, value: &str| ["-e".to_owned(), format!("{name}={value}")];
        let (nodes, version) = (self.node_names(), self.version.trim());
        match self.builtin() {
            "remove-node.yml" if !nodes.is_empty() => {
                [variable("node", &nodes.join(",")), variable("skip_confirmation", "true")].concat()
            }
            "cluster.yml" | "upgrade-cluster.yml" if !version.is_empty() => variable("kube_version", version).into(),
            "reset.yml" if !self.confirmed.is_empty() => variable("reset_confirmation", "yes").into(),
            _ => Vec::new(),
        }
    }

    /// What is missing or no such value, at its field. What the free arguments say is theirs.
    pub(super) fn checked_parameters(&self) -> Result<(), Problem> {
        let is_free = |name: &str| self.extra_args.lines().any(|line| line.trim().starts_with(name));
        let refuse = |field, why: &str| Err(Problem::field(field, why));
        let twice = |field, name: &str| {
            refuse(field, &format!("The extra arguments say {name} as well, and that would win. Say it once."))
        };
        match self.builtin() {
            "remove-node.yml" => match (self.node_names().as_slice(), is_free("node=")) {
                ([], false) => refuse("nodes", "Name the nodes to remove, as the inventory names them."),
                ([], true) => Ok(()),
                (_, true) => twice("nodes", "node="),
                (names, false) if names.iter().all(|name| is_name(name)) => Ok(()),
                _ => refuse("nodes", "Write names of the inventory, separated by commas: worker3, worker4."),
            },
            "cluster.yml" | "upgrade-cluster.yml" => match self.version.trim() {
                "" => Ok(()),
                _ if is_free("kube_version=") => twice("version", "kube_version="),
                version if is_version(version) => Ok(()),
                _ => refuse("version", "Write all three numbers, like 1.34.4."),
            },
            "reset.yml" if self.confirmed.is_empty() && !is_free("reset_confirmation=") => {
                refuse("confirmed", "Tick this box to continue. Deleted data cannot be restored.")
            }
            _ => Ok(()),
        }
    }

    /// Takes a variable of an earlier run back into its field. What confirms something is asked for anew.
    pub(super) fn take_back(&mut self, variable: &str) -> bool {
        let (name, value) = variable.split_once('=').unwrap_or_default();
        match (self.builtin(), name) {
            ("remove-node.yml", "node") => self.nodes = value.to_owned(),
            ("cluster.yml" | "upgrade-cluster.yml", "kube_version") => self.version = value.to_owned(),
            ("remove-node.yml", "skip_confirmation") | ("reset.yml", "reset_confirmation") => (),
            _ => return false,
        }
        true
    }

    fn node_names(&self) -> Vec<&str> {
        self.nodes.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
    }
}

/// Nothing that ansible would read as a second variable.
fn is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

fn is_version(text: &str) -> bool {
    let numbers: Vec<&str> = text.strip_prefix('v').unwrap_or(text).split('.').collect();
    numbers.len() == 3 && numbers.iter().all(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
}

/// Which of them are on screen is decided by CSS from the chosen playbook.
#[component]
pub(super) fn Parameters(draft: OperationDraft) -> impl IntoView {
    view! {
        <div class="of-remove-node">
            <Field
                name="nodes"
                label="Nodes to remove"
                value=draft.nodes
                mono=true
                placeholder="worker3, worker4"
                hint="As the inventory names them. They are drained first; take them out of the inventory afterwards."
            />
        </div>
        <div class="of-version">
            <Field
                name="version"
                label="Kubernetes version"
                value=draft.version
                mono=true
                placeholder="as the variables say"
                hint="For this run only: set kube_version in the variables, too, so that later runs agree."
            />
        </div>
        <div class="of-reset">
            <Check
                name="confirmed"
                value="yes"
                label="I understand that Kubernetes and all its data on these machines are deleted and cannot be restored"
                checked=!draft.confirmed.is_empty()
            />
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(action: &str) -> OperationDraft {
        let filled = |text: &str| text.to_owned();
        OperationDraft {
            action: filled(action),
            nodes: filled(" w3,w4 , "),
            version: filled("1.34.4"),
            confirmed: filled("yes"),
            extra_args: filled("--check"),
            ..OperationDraft::default()
        }
    }

    #[test]
    fn only_what_the_chosen_playbook_asks_for_becomes_arguments() {
        let arguments = |draft: &OperationDraft| draft.operation().extra_args;
        assert_eq!(arguments(&draft("remove-node.yml")), "-e\nnode=w3,w4\n-e\nskip_confirmation=true\n--check");
        assert_eq!(arguments(&draft("upgrade-cluster.yml")), "-e\nkube_version=1.34.4\n--check");
        assert_eq!(arguments(&draft("reset.yml")), "-e\nreset_confirmation=yes\n--check");
        assert_eq!(arguments(&draft("ping.yml")), "--check");
        assert_eq!(arguments(&OperationDraft { kind: "script".into(), ..draft("reset.yml") }), "--check");
    }

    #[test]
    fn what_is_missing_or_wrong_is_said_at_its_field() {
        let refused = |action: &str, change: fn(&mut OperationDraft)| {
            let mut draft = draft(action);
            change(&mut draft);
            let fields = ["nodes", "version", "confirmed"];
            let problem = draft.complete().err();
            fields.into_iter().find(|field| problem.as_ref().is_some_and(|problem| problem.at(field).is_some()))
        };
        assert_eq!(refused("remove-node.yml", |d| d.nodes.clear()), Some("nodes"));
        assert_eq!(refused("remove-node.yml", |d| d.nodes = "w3 force=true".into()), Some("nodes"));
        assert_eq!(refused("upgrade-cluster.yml", |d| d.version = "1.34".into()), Some("version"));
        assert_eq!(refused("reset.yml", |d| d.confirmed.clear()), Some("confirmed"));
        for action in ["remove-node.yml", "upgrade-cluster.yml", "reset.yml"] {
            assert_eq!(refused(action, |_| ()), None);
        }
        assert_eq!(refused("ping.yml", |d| (d.nodes, d.version) = ("a b".into(), "x".into())), None);
        let again = |d: &mut OperationDraft| {
            d.nodes.clear();
            d.extra_args = "-e\nnode=w3".into();
        };
        assert_eq!(refused("remove-node.yml", again), None);
        assert_eq!(refused("remove-node.yml", |d| d.nodes = " , ".into()), Some("nodes"));
        assert_eq!(refused("remove-node.yml", |d| d.extra_args = "-e\nnode=w1".into()), Some("nodes"));
        assert_eq!(refused("upgrade-cluster.yml", |d| d.extra_args = "-e\nkube_version=1".into()), Some("version"));
    }

    #[test]
    fn a_variable_of_an_earlier_run_goes_back_into_its_field() {
        let mut draft = OperationDraft { action: "remove-node.yml".into(), ..OperationDraft::default() };
        assert!(draft.take_back("node=w3") && draft.take_back("skip_confirmation=true"));
        assert!(!draft.take_back("kube_version=1.34.4"));
        assert_eq!(draft.nodes, "w3");
        draft.action = "reset.yml".into();
        assert!(draft.take_back("reset_confirmation=yes") && draft.confirmed.is_empty());
    }
}
