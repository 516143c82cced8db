//! The command of a step, the same that `deploy/runner/entrypoint.py` runs. `server/console/tests/claims/preview.rs` compares the
//! two.

use crd::ActionType;

use crate::Step;

/// Which inputs of the run are not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// The variables file contains variables; see [`holds_variables`].
    pub variables: bool,
    /// The Cluster refers to a Secret with variables.
    pub secret_variables: bool,
    /// The Cluster refers to a Secret with a private key.
    pub key: bool,
}

/// The command of `step` as an argument vector, with paths as in a pod.
pub fn command(step: &Step, given: Given) -> Vec<String> {
    let mut command: Vec<&str> = match step.kind {
        ActionType::Shell => vec!["bash"],
        ActionType::Playbook => vec!["ansible-playbook", "-i", "/conf/hosts.yml", "-b", "--become-user", "root"],
    };
    if step.kind == ActionType::Playbook && given.variables {
        command.extend(["-e", "@/conf/group_vars.yml"]);
    }
    if step.kind == ActionType::Playbook && given.secret_variables {
        command.extend(["-e", "@/conf/secret_vars.json"]);
    }
    if step.kind == ActionType::Playbook && given.key {
        command.extend(["--private-key", "/auth/ssh-privatekey"]);
    }
    let path = format!("/{}", step.path);
    command.push(&path);
    command.into_iter().map(str::to_owned).chain(step.args.iter().cloned()).collect()
}

/// Whether a variables file contains more than blank lines, comments and document markers. ansible fails with an empty one.
pub fn holds_variables(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| !(line.is_empty() || line.starts_with('#') || matches!(line, "---" | "...")))
}

#[cfg(test)]
mod tests {
    use api::run::StepRole;

    use super::*;

    fn step(kind: ActionType, path: &str) -> Step {
        Step { role: StepRole::Main, kind, path: path.into(), title: String::new(), args: vec!["a b".into()] }
    }

    #[test]
    fn a_playbook_gets_inventory_variables_and_key() {
        let playbook = step(ActionType::Playbook, "kubespray/ping.yml");
        let all = command(&playbook, Given { variables: true, secret_variables: true, key: true }).join(" ");
        assert_eq!(
            all,
            "ansible-playbook -i /conf/hosts.yml -b --become-user root -e @/conf/group_vars.yml -e @/conf/secret_vars.json --private-key /auth/ssh-privatekey /kubespray/ping.yml a b"
        );
        let none = command(&playbook, Given { variables: false, secret_variables: false, key: false }).join(" ");
        assert_eq!(none, "ansible-playbook -i /conf/hosts.yml -b --become-user root /kubespray/ping.yml a b");
    }

    #[test]
    fn a_script_gets_only_its_own_arguments() {
        let script = step(ActionType::Shell, "conf/scripts/1.sh");
        let given = Given { variables: true, secret_variables: true, key: true };
        assert_eq!(command(&script, given), ["bash", "/conf/scripts/1.sh", "a b"]);
    }

    #[test]
    fn a_file_with_only_comments_has_no_variables() {
        assert!(!holds_variables("---\n# nothing yet\n\n...\n") && !holds_variables(""));
        assert!(holds_variables("# one\nkube_version: v1.34.4\n") && holds_variables("{}\n"));
    }
}
