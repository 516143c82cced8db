//! What is allowed but worth a second look. Pure.

use crd::{ClusterSpec, Engine};
use inventory::{Inventory, Vars};

use super::{arguments::Selection, plan::Draft};
use crate::Playbooks;

/// Playbooks that ask a question, and the argument that answers it: nobody is there to type.
const QUESTIONS: [(&str, &str); 3] = [
    ("reset.yml", "reset_confirmation=yes"),
    ("remove-node.yml", "skip_confirmation=true"),
    ("remove-node.yml", "node=NAME"),
];
/// With these ansible only prints something.
const PRINT_ONLY: [&str; 4] = ["--syntax-check", "--list-hosts", "--list-tasks", "--list-tags"];

/// Sentences, worst first.
pub(crate) fn warnings(
    draft: &Draft,
    cluster: &ClusterSpec,
    inventory: &Inventory,
    vars: &Vars,
    selected: &Selection,
    playbooks: Playbooks,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let arguments = &draft.arguments;
    let file = draft.playbook().unwrap_or_default();
    let unanswered = |(asks, answer): &&(&str, &str)| {
        file == *asks && !arguments.iter().any(|a| a.contains(answer.trim_end_matches("NAME")))
    };
    for (_, answer) in QUESTIONS.iter().filter(unanswered) {
        warnings.push(format!("{file} asks for {answer}, and nobody can answer during a run. Add it as two arguments, one a line: -e and {answer}"));
    }
    if let Some(option) = arguments.iter().find(|a| PRINT_ONLY.contains(&a.as_str())) {
        warnings.push(format!("With {option} no task runs, so the operation will count as failed."));
    }
    if arguments.iter().any(|a| a == "-i" || a.starts_with("--inventory")) {
        warnings.push("An argument names another inventory: what is shown here about machines no longer holds.".into());
    }
    if *selected == Selection::Pattern {
        warnings.push("Which machines this limit selects, only ansible can tell.".into());
    }
    if draft.changes == Some(true) && draft.limit.is_empty() {
        let machines = inventory.hosts.len();
        warnings.push(if machines == 1 {
            "It changes the only machine of the inventory.".into()
        } else {
            format!("It changes all {machines} machines of the inventory.")
        });
    }
    let is_kubespray = operation::engine(cluster.engine, &draft.spec.image) == Engine::Kubespray;
    if playbooks == Playbooks::Image && draft.changes == Some(true) && !is_kubespray {
        warnings.push(format!("{file} comes with kubespray, and the image {} doesn't look like it.", draft.spec.image));
    }
    if cluster.ssh_auth_ref.is_none() && inventory.hosts.iter().any(|host| !host.reached(vars).is_local()) {
        warnings.push(
            "The cluster has no SSH key: machines are only reached with passwords from its variables, or locally."
                .into(),
        );
    }
    warnings.extend(draft.warnings.iter().cloned());
    warnings.extend(inventory::advice(inventory));
    warnings
}

#[cfg(test)]
mod tests {
    use api::operation::NewOperation;

    use super::{super::plan::draft, *};

    fn told(action: &str, arguments: &str, image: &str) -> String {
        let new = NewOperation {
            cluster: "prod".into(),
            action: action.into(),
            extra_args: arguments.into(),
            ..Default::default()
        };
        let draft = draft(&new, Playbooks::Image, image).unwrap();
        let inventory =
            inventory::parse("all: {hosts: {a: {}, b: {}}, children: {kube_control_plane: {hosts: {a: {}}}}}").unwrap();
        let cluster = ClusterSpec { ssh_auth_ref: Some(crd::DataRef::new("ns", "key")), ..ClusterSpec::default() };
        warnings(&draft, &cluster, &inventory, &Vars::new(), &Selection::Hosts(Vec::new()), Playbooks::Image).join("\n")
    }

    #[test]
    fn a_question_nobody_can_answer_is_told_before_the_run() {
        let image = "quay.io/kubespray/kubespray:v2.30.0";
        assert!(told("reset.yml", "", image).contains("reset_confirmation=yes"));
        assert!(!told("reset.yml", "-e\nreset_confirmation=yes", image).contains("nobody"));
        assert_eq!(told("remove-node.yml", "", image).matches("nobody").count(), 2);
        assert!(told("cluster.yml", "", image).contains("all 2 machines"));
    }

    #[test]
    fn arguments_that_make_the_run_pointless_are_told() {
        assert!(told("ping.yml", "--list-hosts", "i").contains("no task runs"));
        assert!(told("ping.yml", "-i\n/tmp/x", "i").contains("another inventory"));
        assert!(told("cluster.yml", "", "example.com/runner:1").contains("kubespray"));
        assert_eq!(told("ping.yml", "", "i"), "");
    }
}
