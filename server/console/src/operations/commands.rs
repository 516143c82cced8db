//! The commands of a run, as its entrypoint will call them (deploy/runner/entrypoint.py). Pure.

use crd::{ActionSource, ActionType, ClusterOperationSpec, ClusterSpec, DataRef, HookAction};

/// The command of each step as an argument vector, the cluster's pre-check first. `arguments` are those of the action.
pub(crate) fn commands(
    operation: &ClusterOperationSpec,
    cluster: &ClusterSpec,
    with_variables: bool,
    arguments: &[String],
) -> Vec<Vec<String>> {
    let mut run = Run { with_key: cluster.ssh_auth_ref.is_some(), with_variables, sources: Vec::new(), scripts: 0 };
    let mut commands = Vec::new();
    if let Some(check) = &cluster.pre_check_ref {
        commands.push(run.command(ActionType::Playbook, ActionSource::Configmap, Some(check), crd::KEY_PRECHECK, &[]));
    }
    let hook = |run: &mut Run, hook: &HookAction| {
        run.command(hook.action_type, hook.action_source, hook.action_source_ref.as_ref(), &hook.action, &[])
    };
    commands.extend(operation.pre_hook.iter().map(|h| hook(&mut run, h)));
    let source = operation.action_source_ref.as_ref();
    commands.push(run.command(operation.action_type, operation.action_source, source, &operation.action, arguments));
    commands.extend(operation.post_hook.iter().map(|h| hook(&mut run, h)));
    commands
}

/// Sources and scripts are numbered as they come.
struct Run {
    with_key: bool,
    with_variables: bool,
    sources: Vec<DataRef>,
    scripts: usize,
}

impl Run {
    fn command(
        &mut self,
        kind: ActionType,
        from: ActionSource,
        source: Option<&DataRef>,
        action: &str,
        arguments: &[String],
    ) -> Vec<String> {
        let path = match (from, source, kind) {
            (ActionSource::Configmap, Some(source), _) => format!("/conf/sources/{}/{action}", self.number(source)),
            (_, _, ActionType::Playbook) => format!("/kubespray/{action}"),
            (_, _, ActionType::Shell) => {
                self.scripts += 1;
                format!("/conf/scripts/{}.sh", self.scripts)
            }
        };
        let mut command: Vec<&str> = match kind {
            ActionType::Shell => vec!["bash"],
            ActionType::Playbook => vec!["ansible-playbook", "-i", "/conf/hosts.yml", "-b", "--become-user", "root"],
        };
        if kind == ActionType::Playbook {
            // ansible refuses a file of variables that holds none.
            command.extend(["-e", "@/conf/group_vars.yml"].iter().filter(|_| self.with_variables));
            command.extend(["--private-key", "/auth/ssh-privatekey"].iter().filter(|_| self.with_key));
        }
        command.push(&path);
        command.into_iter().map(str::to_owned).chain(arguments.iter().cloned()).collect()
    }

    fn number(&mut self, source: &DataRef) -> usize {
        let known = self.sources.iter().position(|known| known == source);
        known.unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        }) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_those_of_the_run() {
        let at = |name: &str| Some(DataRef::new("ns", name));
        let hook = HookAction { action: "facts.yml".into(), ..HookAction::default() };
        let own = HookAction {
            action: "own.yml".into(),
            action_source: ActionSource::Configmap,
            action_source_ref: at("own"),
            ..HookAction::default()
        };
        let operation = ClusterOperationSpec {
            action: "ping.yml".into(),
            pre_hook: vec![hook],
            post_hook: vec![own.clone(), own],
            ..Default::default()
        };
        let cluster = ClusterSpec { pre_check_ref: at("check"), ssh_auth_ref: at("key"), ..ClusterSpec::default() };
        let lines: Vec<_> =
            commands(&operation, &cluster, true, &["--limit=a".into()]).iter().map(|c| c.join(" ")).collect();
        let start = "ansible-playbook -i /conf/hosts.yml -b --become-user root -e @/conf/group_vars.yml --private-key /auth/ssh-privatekey";
        let wanted = [
            "/conf/sources/1/precheck.yml",
            "/kubespray/facts.yml",
            "/kubespray/ping.yml --limit=a",
            "/conf/sources/2/own.yml",
            "/conf/sources/2/own.yml",
        ];
        assert_eq!(lines, wanted.map(|end| format!("{start} {end}")));
    }

    #[test]
    fn a_script_gets_its_arguments_and_nothing_of_ansible() {
        let operation =
            ClusterOperationSpec { action_type: ActionType::Shell, action: "uptime".into(), ..Default::default() };
        assert_eq!(
            commands(&operation, &ClusterSpec::default(), false, &["a b".into()]),
            [["bash", "/conf/scripts/1.sh", "a b"]]
        );
    }
}
