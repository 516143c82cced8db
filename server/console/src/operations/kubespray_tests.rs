use std::collections::{BTreeMap, BTreeSet};

use api::operation::{Effect, NewOperation};
use api::run::StepRole;
use crd::{ClusterSpec, DataRef};
use operation::{ACTIONS, Given, command, steps};
use serde::Deserialize;

use super::super::catalogue::tests::IMAGE;
use super::super::plan::wanted;
use super::*;

/// `tests/data/kubespray_releases.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    #[serde(rename = "about")]
    _about: String,
    releases: Vec<Release>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    release: String,
    playbooks: BTreeSet<String>,
    limit_needs_facts: bool,
    /// Playbook, and the argument that answers its question.
    answers: BTreeMap<String, String>,
    /// The hosts that are removed if `node` isn't set.
    without_node: String,
}

fn releases() -> Vec<Release> {
    serde_json::from_str::<Recorded>(include_str!("../../tests/data/kubespray_releases.json")).unwrap().releases
}

/// An operation as the forms of the console ask for it.
fn asked(playbook: &str, limit: &str, fields: &[(&str, &str)]) -> NewOperation {
    let parameters = fields.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
    let action = Asked::Builtin { playbook: playbook.into(), parameters: Some(parameters) };
    NewOperation { limit: limit.into(), ..NewOperation::new("prod".parse().unwrap(), action) }
}

/// All actions that kubespray has, each as a form submits it, with the newest version of `release`.
fn all(release: &KubesprayRelease) -> Vec<NewOperation> {
    let version = release.to.to_string();
    let fields = [("nodes", "w3"), ("version", version.as_str()), ("confirmed", "prod")];
    let mut operations = Vec::new();
    for action in ACTIONS.iter().filter(|action| is_kubespray(action)) {
        let has = |field: &str| action.parameters.iter().any(|parameter| parameter.field == field);
        let fields: Vec<_> = fields.iter().filter(|(field, _)| has(field)).copied().collect();
        operations.push(asked(action.playbook, "", &fields));
        operations.push(asked(action.playbook, "w3", &fields));
    }
    operations
}

fn image(release: &str) -> String {
    format!("quay.io/kubespray/kubespray:{release}.1")
}

/// An inventory with the groups of a cluster, and with `more`.
fn inventory(more: &str) -> Inventory {
    let text = format!(
        "etcd: {{hosts: {{m1: }}}}\nkube_control_plane: {{hosts: {{m1: }}}}\nkube_node: {{hosts: {{w3: }}}}\n{more}"
    );
    inventory::parse(&text).unwrap()
}

/// The commands of the run, and the arguments of its action.
fn commands(new: &NewOperation, image: &str) -> Result<Vec<String>, Problem> {
    let mut wanted = wanted(new, &IMAGE, image).unwrap();
    with_defaults(&mut wanted, Engine::Kubespray, &inventory(""), &Vars::new());
    let wanted = prepared(new, wanted, Engine::Kubespray)?;
    let cluster = ClusterSpec { ssh_auth_ref: Some(DataRef::new("ns", "key")), ..ClusterSpec::default() };
    let given = Given { variables: true, secret_variables: false, key: true };
    let run = steps(&wanted.spec, &cluster).unwrap();
    let main = run.steps.iter().find(|step| step.role == StepRole::Main).unwrap();
    assert_eq!(main.args, wanted.arguments, "the manifest has the reviewed arguments");
    Ok(run.steps.iter().map(|step| command(step, given).join(" ")).collect())
}

const COMMON: &str = "ansible-playbook -i /conf/hosts.yml -b --become-user root -e @/conf/group_vars.yml --private-key /auth/ssh-privatekey /kubespray/";

#[test]
fn each_action_has_these_commands_with_kubespray() {
    let shown = |release: &str, new: NewOperation| -> Vec<String> {
        let commands = commands(&new, &image(release)).unwrap();
        commands.into_iter().map(|command| command.strip_prefix(COMMON).unwrap().to_owned()).collect()
    };
    let version = [("version", "1.31.1")];
    for (release, written) in [("v2.27", "v1.31.1"), ("v2.28", "1.31.1"), ("v2.29", "1.31.1")] {
        let shown = |new| shown(release, new);
        assert_eq!(shown(asked("ping.yml", "w3", &[])), ["ping.yml --limit=w3"]);
        assert_eq!(shown(asked("facts.yml", "", &[])), ["facts.yml"]);
        assert_eq!(shown(asked("cluster.yml", "", &version)), [format!("cluster.yml -e kube_version={written}")]);
        assert_eq!(shown(asked("cluster.yml", "", &[])), ["cluster.yml"]);
        assert_eq!(shown(asked("scale.yml", "w3,w4", &[])), ["facts.yml", "scale.yml --limit=w3,w4"]);
        assert_eq!(
            shown(asked("upgrade-cluster.yml", "kube_node", &version)),
            ["facts.yml".to_owned(), format!("upgrade-cluster.yml --limit=kube_node -e kube_version={written}")]
        );
        assert_eq!(
            shown(asked("remove-node.yml", "", &[("nodes", "w3, w4")])),
            ["remove-node.yml -e node=w3,w4 -e skip_confirmation=true"]
        );
        for limit in ["", "etcd,kube_control_plane"] {
            assert_eq!(
                shown(asked(RECOVER, limit, &[])),
                if limit.is_empty() {
                    ["facts.yml", "recover-control-plane.yml --limit=etcd,kube_control_plane -e etcd_retries=10"]
                } else {
                    ["facts.yml", "recover-control-plane.yml -e etcd_retries=10 --limit=etcd,kube_control_plane"]
                }
            );
        }
        assert_eq!(shown(asked("reset.yml", "", &[("confirmed", "prod")])), ["reset.yml -e reset_confirmation=yes"]);
    }
}

#[test]
fn a_recovery_keeps_what_is_set_and_needs_broken_machines() {
    let given = |arguments: &[&str], vars: &str| {
        let mut new = asked(RECOVER, "", &[]);
        new.arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut wanted = wanted(&new, &IMAGE, &image("v2.28")).unwrap();
        let vars = inventory::parse_vars(vars).unwrap();
        with_defaults(&mut wanted, Engine::Kubespray, &inventory(""), &vars);
        assert_eq!(wanted.spec.extra_args, join(&wanted.arguments));
        wanted
    };
    let own = given(&["-l", "all", "-e", "etcd_retries=30"], "");
    assert_eq!((own.arguments.join(" "), own.limit()), ("-l all -e etcd_retries=30".into(), Some("all")));
    let ours = given(&[], "etcd_retries: 40\n");
    assert_eq!(
        (ours.arguments.join(" "), ours.limit()),
        ("--limit=etcd,kube_control_plane".into(), Some("etcd,kube_control_plane"))
    );
    let warned = |groups: &str| of_broken(&ours, &inventory(groups)).join("\n");
    for one in ["", "broken_etcd: {hosts: {m9: }}\n"] {
        assert!(warned(one).contains("needs the groups broken_etcd and broken_kube_control_plane"), "{one}");
    }
    assert!(warned("broken_etcd: {}\nbroken_kube_control_plane: {}\n").contains("are empty"));
    assert_eq!(warned("broken_etcd: {hosts: {m9: }}\nbroken_kube_control_plane: {}\n"), "");
    assert_eq!(warned("broken_etcd: {children: {dead: }}\nbroken_kube_control_plane: {}\ndead: {hosts: {m9: }}\n"), "");
    let both = warned("broken_etcd: {hosts: {m1: }}\nbroken_kube_control_plane: {hosts: {m1: }}\n");
    assert!(both.starts_with("Take m1 out of kube_control_plane, etcd"), "{both}");
}

#[test]
fn an_upgrade_after_a_limited_run_has_the_same_limit() {
    let with_hook = |limit: &str| {
        let mut new = asked("cluster.yml", limit, &[]);
        new.post_hooks = vec![UPGRADE.into()];
        commands(&new, &image("v2.28")).unwrap().last().unwrap().strip_prefix(COMMON).unwrap().to_owned()
    };
    assert_eq!(with_hook("etcd,kube_control_plane"), "upgrade-cluster.yml --limit=etcd,kube_control_plane");
    assert_eq!(with_hook(""), "upgrade-cluster.yml");
}

#[test]
fn every_release_can_run_what_the_forms_submit() {
    let recorded = releases();
    let known = operation::versions::kubespray_releases();
    let names = |release: &Release| release.release.clone();
    assert!(recorded.iter().map(names).eq(known.iter().map(|release| release.release.clone())));
    for (recorded, known) in recorded.iter().zip(known) {
        for new in all(known) {
            let commands = commands(&new, &image(&recorded.release)).unwrap();
            let (main, before) = commands.split_last().unwrap();
            let words: Vec<&str> = main.strip_prefix(COMMON).unwrap().split(' ').collect();
            let playbook = words[0];
            // The entrypoint has a stand-in for these two (deploy/runner/tests/test_run.py).
            let stands_in = playbook == "ping.yml"
                || (playbook == FACTS && recorded.playbooks.contains(&format!("playbooks/{FACTS}")));
            assert!(recorded.playbooks.contains(playbook) || stands_in, "{main}");
            if let Some(answer) = recorded.answers.get(playbook) {
                assert!(words.contains(&answer.as_str()), "{playbook} asks: {main}");
            }
            if playbook == "remove-node.yml" && recorded.without_node != "this_is_unreachable" {
                assert!(words.contains(&"node=w3"), "{main} would remove {}", recorded.without_node);
            }
            let reads = operation::action(ACTIONS, playbook).unwrap().effect == Effect::Reads;
            if recorded.limit_needs_facts && !new.limit.is_empty() && !reads {
                assert_eq!(before, [format!("{COMMON}{FACTS}")], "{main}");
            }
            let version = words.iter().find_map(|word| word.strip_prefix("kube_version="));
            assert!(version.is_none_or(|version| version.starts_with('v') == known.takes_v), "{main}");
        }
    }
}

#[test]
fn a_version_outside_of_the_release_is_refused_at_its_field() {
    let refused = commands(&asked("upgrade-cluster.yml", "", &[("version", "1.34.4")]), &image("v2.28")).unwrap_err();
    let why = "The image has kubespray v2.28, which installs 1.30.0 to 1.32.5.";
    assert_eq!(refused, Problem::field("version", why));
    let unknown = commands(&asked("upgrade-cluster.yml", "", &[("version", "v1.34.4")]), "example.com/kubespray:own");
    assert!(unknown.unwrap()[0].ends_with("kube_version=v1.34.4"), "as it was typed");
}

#[test]
fn facts_are_gathered_once_and_only_where_kubespray_needs_them() {
    let mut again = asked("scale.yml", "w3", &[]);
    again.pre_hooks = vec![FACTS.into()];
    assert_eq!(commands(&again, &image("v2.28")).unwrap().len(), 2);
    let mut typed = asked("scale.yml", "", &[]);
    typed.arguments = vec!["-l".into(), "w3".into()];
    assert_eq!(commands(&typed, &image("v2.28")).unwrap().len(), 2);
    let ours = wanted(&asked("scale.yml", "w3", &[]), &IMAGE, "kubeonkube-runner").unwrap();
    assert_eq!(prepared(&asked("scale.yml", "w3", &[]), ours.clone(), Engine::Kubeonkube), Ok(ours));
}

#[test]
fn variables_that_kubespray_can_not_use_are_a_warning() {
    let warned = |release: &str, playbook: &str, vars: &str| {
        let new = asked(playbook, "", &[]);
        let wanted = wanted(&new, &IMAGE, &image(release)).unwrap();
        warnings(&wanted, &inventory::parse_vars(vars).unwrap()).join("\n")
    };
    assert!(warned("v2.28", "cluster.yml", "kube_version: v1.31.1").contains("Write 1.31.1."));
    assert!(warned("v2.27", "upgrade-cluster.yml", "kube_version: 1.31.1").contains("Write v1.31.1."));
    assert!(warned("v2.28", "cluster.yml", "kube_version: 1.34.4").contains("installs 1.30.0 to 1.32.5"));
    assert!(warned("v2.28", "scale.yml", "kube_version: 1.34.4").contains("installs 1.30.0 to 1.32.5"));
    assert_eq!(warned("v2.28", "ping.yml", "kube_version: 1.34.4"), "", "it installs nothing");
    assert!(warned("v2.28", "upgrade-cluster.yml", "upgrade_node_confirm: true").contains("can't answer questions"));
    assert!(warned("v2.28", "ping.yml", "unsafe_show_logs: 'true'").contains("prints passwords"));
    let fine = "kube_version: 1.31.1\nupgrade_node_confirm: false\nunsafe_show_logs: false\n";
    assert_eq!(warned("v2.28", "upgrade-cluster.yml", fine), "");
}
