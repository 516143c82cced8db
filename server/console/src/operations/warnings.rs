//! Warnings about requests that are valid but probably a mistake. Pure.

use api::operation::{Effect, NewOperation};
use crd::{ClusterOperationSpec, ClusterSpec, Engine};
use inventory::{AdviceFor, Inventory, Vars};
use operation::{Action, FACTS, Options, PING, PlayHosts, Value, action};

use super::arguments::{self, QUOTES};
use super::catalogue::Catalogue;
use super::kubespray;
use super::limit::Selection;
use super::plan::Wanted;

/// The warnings as sentences, most serious first.
pub(crate) fn warnings(
    new: &NewOperation,
    wanted: &Wanted,
    cluster: &ClusterSpec,
    inventory: &Inventory,
    vars: &Vars,
    selected: &Selection,
    catalogue: &Catalogue,
) -> Vec<String> {
    let mut warnings = unanswered(wanted, catalogue);
    match &wanted.options {
        Ok(options) => {
            warnings.extend(of_options(options, selected, &wanted.spec));
            warnings.extend(arguments::warnings(options));
        }
        Err(why) => warnings.push(format!("{why} The run will probably end before its first task.")),
    }
    let changes_machines = wanted.options.as_ref().is_ok_and(|options| !options.is_dry());
    let changes = wanted.action.is_some_and(|action| action.effect != Effect::Reads);
    if changes_machines {
        let parameters = wanted.action.map(|action| action.parameters).unwrap_or_default();
        let confirmed = parameters.iter().filter(|parameter| matches!(parameter.value, Value::Confirmation(_)));
        warnings.extend(confirmed.map(|parameter| parameter.hint.to_owned()));
    }
    let is_for_few = wanted.action.is_some_and(|action| !matches!(action.hosts, PlayHosts::All | PlayHosts::Nodes));
    if changes && changes_machines && !is_for_few && wanted.limit().is_none() {
        let all = inventory.hosts.len();
        let some = if let Selection::Hosts(hosts) = selected { hosts.len() } else { all };
        warnings.push(match all {
            1 => "It changes the only machine of the inventory.".into(),
            _ if some < all => format!("It changes {some} of the {all} machines of the inventory."),
            _ => format!("It changes all {all} machines of the inventory."),
        });
    }
    if cluster.ssh_auth_ref.is_none() && inventory.hosts.iter().any(|host| !host.reached(vars).is_local()) {
        warnings.push(
            "The cluster has no SSH key: machines are only reached with passwords from its variables, or locally."
                .into(),
        );
    }
    warnings.extend(split_options(&new.arguments));
    warnings.extend(quoted_values(&new.arguments));
    warnings
}

/// What the options make of the run.
fn of_options(options: &Options, selected: &Selection, spec: &ClusterOperationSpec) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(option) = options.print_only {
        warnings.push(format!("With {option} no task runs, so the operation will count as failed."));
    }
    if let Some(option) = options.prompt {
        warnings.push(format!("{option} asks a question, and a run can't answer questions. Leave it out."));
    }
    if Options::is_check(spec) {
        warnings.push(
            "It is only a check: tasks say what they would change. A task with “check_mode: false” still changes machines."
                .into(),
        );
    } else if options.check {
        warnings.push(
            "The playbook is only a check, but the steps before and after it are not: they change machines.".into(),
        );
    }
    if !options.inventories.is_empty() {
        warnings.push(
            "The extra arguments name another inventory, so only ansible can tell which machines it runs on.".into(),
        );
    } else if *selected == Selection::Unknown {
        warnings.push("Only ansible can tell which machines this limit selects.".into());
    }
    warnings
}

/// What in the inventory will make the playbook fail.
pub(super) fn of_inventory(engine: Engine, wanted: &Wanted, inventory: &Inventory) -> Vec<String> {
    let is_of_kubernetes = |action: &&Action| ![PING, FACTS].contains(&action.playbook);
    let playbooks = match (wanted.action.filter(is_of_kubernetes), engine) {
        (None, _) => AdviceFor::Others,
        (Some(_), Engine::Kubeonkube) => AdviceFor::BuiltIn,
        (Some(_), Engine::Kubespray) => AdviceFor::Kubespray,
    };
    let mut warnings = kubespray::of_broken(wanted, inventory);
    warnings.extend(inventory::advice_for(playbooks, inventory));
    warnings
}

/// What doesn't fit the playbooks of `engine`.
pub(super) fn of_engine(engine: Engine, wanted: &Wanted, vars: &Vars) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(action) = wanted.action.filter(|action| !action.engines.contains(&engine)) {
        let (playbook, image) = (action.playbook, &wanted.spec.image);
        warnings.push(match engine {
            Engine::Kubeonkube => {
                format!("{playbook} comes with kubespray, and {image} doesn't look like a kubespray image.")
            }
            Engine::Kubespray => format!(
                "{playbook} belongs to kubeonkube's own playbooks, and {image} looks like a kubespray image. If it has no {playbook}, the run fails."
            ),
        });
    }
    if engine == Engine::Kubespray {
        warnings.extend(kubespray::warnings(wanted, vars));
    }
    warnings
}

/// Warns of prompts that no argument answers. The form has fields for the answers, but not if the playbook is entered as a path
/// or comes from a ConfigMap.
fn unanswered(wanted: &Wanted, catalogue: &Catalogue) -> Vec<String> {
    let file = wanted.playbook().unwrap_or_default();
    let parameters = action(catalogue.actions, file).map(|action| action.parameters).unwrap_or_default();
    let required = parameters.iter().filter(|parameter| parameter.missing.is_some());
    let answers = required.flat_map(|parameter| {
        let own = match parameter.value {
            Value::Confirmation(value) => (parameter.variable, value),
            Value::Hosts => (parameter.variable, "NAME"),
            Value::Version => (parameter.variable, "VERSION"),
            Value::Path => (parameter.variable, "PATH"),
        };
        let is_fixed = matches!(parameter.value, Value::Confirmation(_));
        let others = parameter.answers.iter().map(|(name, value)| (*name, *value, true));
        [(own.0, own.1, is_fixed)].into_iter().chain(others)
    });
    answers
        .filter(|(name, value, is_fixed)| {
            let answer = if *is_fixed { format!("{name}={value}") } else { format!("{name}=") };
            !wanted.arguments.iter().any(|argument| argument.contains(&answer))
        })
        .map(|(name, value, _)| {
            format!("{file} asks for {name}, and a run can't answer questions. Add two arguments, one per line: -e and {name}={value}")
        })
        .collect()
}

/// Warns of `--opt value` and of `-f 2 -l n1` on one line, because ansible gets it as one argument.
fn split_options(arguments: &[String]) -> impl Iterator<Item = String> {
    arguments.iter().filter_map(|argument| {
        let (first, _) = argument.split_once(' ')?;
        if first.starts_with("--") && !first.contains('=') {
            return Some(format!(
                "“{first} …” is one argument with a space in it. Write {first}=…, or put the value on the next line."
            ));
        }
        let (option, inside) = operation::option_inside(argument)?;
        Some(format!(
            "“{option} …” is one argument with a space in it, so ansible doesn't read {inside} as an option. Put each option on its own line."
        ))
    })
}

/// Warns of quotes around an argument or its value. It quotes no value, because that may be secret.
fn quoted_values(arguments: &[String]) -> impl Iterator<Item = String> {
    let is_quoted = |argument: &str| {
        let long = argument.strip_prefix("--").map(|long| long.split_once('=').map_or("", |(_, value)| value));
        let short = argument.strip_prefix('-').and_then(|short| short.get(1..));
        let value = long.or(short).unwrap_or(argument).trim_start_matches('=').trim();
        QUOTES.iter().any(|quote| value.len() > 1 && value.starts_with(*quote) && value.ends_with(*quote))
    };
    let quoted = (1..).zip(arguments).filter(move |(_, argument)| is_quoted(argument));
    quoted.map(|(number, _)| {
        format!("No shell removes the quotes of extra argument {number}, so ansible reads them as part of it. Leave them out.")
    })
}

#[cfg(test)]
mod tests {
    use api::operation::Action as Asked;

    use super::{
        super::{catalogue::tests::IMAGE, plan::wanted},
        *,
    };

    fn shown(asked: Asked, arguments: &[&str], image: &str) -> String {
        let mut new = NewOperation::new("prod".parse().unwrap(), asked);
        new.arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let wanted = wanted(&new, &IMAGE, image).unwrap();
        let inventory =
            inventory::parse("all: {hosts: {a: {}, b: {}}, children: {kube_control_plane: {hosts: {a: {}}}}}").unwrap();
        let cluster = ClusterSpec { ssh_auth_ref: Some(crd::DataRef::new("ns", "key")), ..ClusterSpec::default() };
        let selected = Selection::of_all(&inventory);
        let mut all = warnings(&new, &wanted, &cluster, &inventory, &Vars::new(), &selected, &IMAGE);
        all.extend(of_engine(operation::engine(None, image), &wanted, &Vars::new()));
        all.join("\n")
    }

    fn file(key: &str) -> Asked {
        Asked::File { source: "ops/books".parse().unwrap(), key: key.into() }
    }

    #[test]
    fn a_missing_control_plane_matters_for_kubernetes_only() {
        let inventory = inventory::parse("all: {hosts: {a: {}, b: {}}}\netcd: {hosts: {a: {}, b: {}}}").unwrap();
        let said = |asked, engine| {
            let new = NewOperation::new("prod".parse().unwrap(), asked);
            of_inventory(engine, &wanted(&new, &IMAGE, "i").unwrap(), &inventory).join("\n")
        };
        let create = || Asked::builtin("cluster.yml");
        let none = "Group kube_control_plane has no host. A Kubernetes cluster needs at least one.";
        assert_eq!(said(create(), Engine::Kubeonkube), none);
        assert!(said(create(), Engine::Kubespray).starts_with(&format!("{none}\netcd has 2 members. Kubespray")));
        for other in [Asked::builtin("ping.yml"), file("site.yml"), Asked::Script("true".into())] {
            assert_eq!(said(other, Engine::Kubespray), "");
        }
    }

    #[test]
    fn an_unanswered_prompt_is_a_warning() {
        let image = "quay.io/kubespray/kubespray:v2.30.0";
        assert!(shown(file("reset.yml"), &[], image).contains("reset_confirmation=yes"));
        assert!(!shown(file("reset.yml"), &["-e", "reset_confirmation=yes"], image).contains("asks"));
        assert_eq!(shown(file("remove-node.yml"), &[], image).matches("asks for").count(), 2);
        assert!(shown(Asked::builtin("playbooks/reset.yml"), &[], image).contains("reset_confirmation=yes"));
        assert!(shown(Asked::builtin("cluster.yml"), &[], image).contains("all 2 machines"));
    }

    #[test]
    fn arguments_that_are_probably_a_mistake_are_a_warning() {
        let ping = |arguments: &[&str]| shown(Asked::builtin("ping.yml"), arguments, "i");
        assert!(ping(&["--list-hosts"]).contains("no task runs"));
        assert!(ping(&["-i", "/tmp/x"]).contains("another inventory"));
        assert!(ping(&["--tags a"]).contains("--tags=…"));
        assert!(ping(&["-f 2 -l=a"]).contains("“-f …” is one argument with a space in it, so ansible doesn't read -l"));
        assert!(ping(&["-M /x -l a -t b,c -l b"]).contains("“-M …” is one argument"));
        assert!(ping(&["-v -l a"]).contains("“-v …” is one argument"));
        assert!(ping(&["-v", "--tags='a b'"]).contains("quotes of extra argument 2"));
        assert!(ping(&["-e", "'a=1'"]).contains("quotes of extra argument 2"));
        for plain in [
            &["-t a"][..],
            &["-e", "a='x -l y'"],
            &["-e a=\"b c\""],
            &["-e{\"a\": \"-v\", \"b\": 1}"],
            &["--ssh-common-args", "-o Port=1 -v"],
        ] {
            assert_eq!(ping(plain), "", "{plain:?}");
        }
        assert!(ping(&["--private-key", "~/x"]).contains("no file “~/x”"));
        assert!(ping(&["-e", "container-manager=x"]).contains("Write container_manager."));
        assert!(shown(Asked::builtin("recover-control-plane.yml"), &[], "example.com/runner:1").contains("kubespray"));
        assert!(
            !shown(Asked::builtin("recover-control-plane.yml"), &[], "ghcr.io/kubean-io/spray-job:1")
                .contains("kubespray")
        );
        assert!(!shown(Asked::builtin("cluster.yml"), &[], "example.com/runner:1").contains("kubespray"));
        let ours = shown(Asked::builtin("precheck.yml"), &[], "quay.io/kubespray/kubespray:v2.30.0");
        assert!(ours.contains("precheck.yml belongs to kubeonkube's own playbooks"), "{ours}");
        assert_eq!(ping(&[]), "");
    }
}
