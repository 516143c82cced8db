use api::operation::Effect;
use operation::{ACTIONS, Parameter, Value};

use super::super::catalogue::tests::LOCAL;
use super::*;
use crate::Playbooks;

fn new(action: Asked) -> NewOperation {
    NewOperation::new("prod".parse().unwrap(), action)
}

fn made(change: impl FnOnce(&mut NewOperation)) -> Result<Wanted, Vec<FieldProblem>> {
    let mut new = new(Asked::builtin("ping.yml"));
    change(&mut new);
    wanted(&new, &LOCAL, "default/image:1")
}

#[test]
fn every_field_that_the_catalogue_refuses_is_named() {
    let refused_at = |change: fn(&mut NewOperation)| -> Vec<String> {
        made(change).expect_err("it is refused").into_iter().map(|problem| problem.field).collect()
    };
    assert_eq!(refused_at(|n| n.action = Asked::builtin("../../etc/passwd")), ["action"]);
    assert_eq!(refused_at(|n| n.action = Asked::builtin("recover-control-plane.yml")), ["action"]);
    assert_eq!(refused_at(|n| n.pre_hooks = vec!["ping.yml".into(), "nope.yml".into()]), ["pre_hooks"]);
    assert_eq!(
        refused_at(|n| {
            n.action = Asked::builtin("nope.yml");
            n.post_hooks = vec!["rm -rf /".into()];
        }),
        ["action", "post_hooks"]
    );
    assert_eq!(refused_at(|n| n.post_hooks = vec!["remove-node.yml".into()]), ["post_hooks"], "it asks for nodes");
}

#[test]
fn a_node_is_removed_after_the_action() {
    let hook = |gone| {
        let mut new = new(Asked::builtin("scale.yml"));
        new.then_remove = Some(ThenRemove { node: "w1".into(), gone });
        let hook = wanted(&new, &LOCAL, "i").unwrap().spec.post_hook.remove(0);
        format!("{} {}", hook.action, hook.extra_args.unwrap())
    };
    assert_eq!(hook(false), "remove-node.yml -e node=w1 -e skip_confirmation=true");
    assert!(hook(true).ends_with("-e reset_nodes=false -e allow_ungraceful_removal=true -e drain_timeout=30s"));
}

#[test]
fn a_hidden_secret_is_typed_again() {
    let refused_at = |change: fn(&mut NewOperation)| made(change).expect_err("it is refused").remove(0).field;
    assert_eq!(refused_at(|n| n.arguments = vec!["-e".into(), "password=(hidden)".into()]), "extra_args");
    assert_eq!(refused_at(|n| n.action = Asked::Script("TOKEN=(hidden)\n".into())), "script");
}

#[test]
fn what_the_form_cannot_repeat_is_refused() {
    let refused = |change: fn(&mut NewOperation)| made(change).expect_err("it is refused").remove(0);
    let script = "(not repeatable) script: PASS=(hidden)";
    for (at, change) in [
        ("pre_hooks", (|n, line| n.pre_hooks = vec![line]) as fn(&mut NewOperation, String)),
        ("post_hooks", |n, line| n.post_hooks = vec![line]),
    ] {
        let problem = made(|n| change(n, script.into())).expect_err("it is refused").remove(0);
        assert_eq!(problem.field, at);
        assert!(problem.message.contains(&format!("Remove the line “{script}” to run without it")), "{problem:?}");
    }
    let file = refused(|n| {
        n.action = Asked::File { source: "ops/books".parse().unwrap(), key: "(not repeatable) script fix".into() };
    });
    assert!(file.field == "action" && file.message.starts_with("bash runs files ending in .sh"), "{file:?}");
}

#[test]
fn an_operation_runs_one_playbook() {
    let why = |arguments: &[&str]| made(|n| n.arguments = arguments.iter().map(|a| (*a).to_owned()).collect());
    let refused = why(&["remove-node.yml", "-e", "node=all"]).expect_err("no check of it would be made");
    assert_eq!(refused[0].field, "extra_args");
    assert!(refused[0].message.contains("“remove-node.yml”"), "{}", refused[0].message);
    assert!(why(&["-e", "node=all", "--tags", "remove-node.yml"]).is_ok());
}

#[test]
fn arguments_in_the_resource_can_be_split_again() {
    let wanted = made(|n| {
        n.limit = "node1".into();
        n.arguments = vec!["-e".into(), "motd=it's; here".into()];
        n.deadline = Some("30".parse().unwrap());
    })
    .unwrap();
    assert_eq!(wanted.spec.extra_args.as_deref(), Some(r#"--limit=node1 -e "motd=it's; here""#));
    assert_eq!(operation::split(wanted.spec.extra_args.as_deref().unwrap()), Some(wanted.arguments));
    assert_eq!((wanted.spec.active_deadline_seconds, wanted.spec.image.as_str()), (Some(1800), "default/image:1"));
    assert_eq!(wanted.action.map(|action| action.effect), Some(Effect::Reads));
}

/// A catalogue with an action that is not in [`ACTIONS`].
const BACKUP: &[Action] = &[Action {
    playbook: "backup.yml",
    title: "Back up etcd",
    summary: "Copies the data of etcd to one machine.",
    effect: Effect::Changes,
    engines: &[crd::Engine::Kubeonkube],
    hosts: operation::PlayHosts::Named,
    parameters: &[Parameter {
        field: "backup_to",
        variable: "backup_host",
        value: Value::Hosts,
        missing: Some("Name the machine that keeps the backup."),
        answers: &[("backup_confirmation", "yes")],
        label: "Keep the backup on",
        placeholder: "",
        hint: "",
    }],
    secret_result: false,
    stops: &[],
}];

#[test]
fn a_new_action_needs_only_an_entry_in_the_catalogue() {
    let catalogue = Catalogue { actions: BACKUP, playbooks: Playbooks::Local };
    let offers = catalogue.offers();
    assert_eq!((offers[0].action.as_str(), offers[0].parameters[0].field.as_str()), ("backup.yml", "backup_to"));
    let with = |fields: &[(&str, &str)]| {
        let parameters = fields.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
        let action = Asked::Builtin { playbook: "backup.yml".into(), parameters: Some(parameters) };
        wanted(&new(action), &catalogue, "i")
    };
    assert_eq!(with(&[]).unwrap_err()[0].message, "Name the machine that keeps the backup.");
    let wanted = with(&[("backup_to", "m1")]).unwrap();
    assert_eq!(wanted.arguments.join(" "), "-e backup_host=m1 -e backup_confirmation=yes");
    let run = operation::steps(&wanted.spec, &crd::ClusterSpec::default()).unwrap();
    assert_eq!((run.steps[0].path.as_str(), &run.steps[0].args), ("kubespray/backup.yml", &wanted.arguments));
    let again = super::super::again::again(&wanted.spec, &catalogue);
    assert_eq!((again.get("action"), again.get("backup_to")), ("backup.yml", "m1"));
}

#[test]
fn an_action_named_under_other_is_refused_where_it_was_typed() {
    let catalogue = Catalogue { actions: ACTIONS, playbooks: Playbooks::Image };
    for (playbook, title, arguments) in [
        ("reset.yml", "Reset the cluster", ["-e", "reset_confirmation=yes"].as_slice()),
        ("remove-node.yml", "Remove nodes", &["-e", "node=w3", "-e", "skip_confirmation=true"]),
    ] {
        let mut form = api::operation::Draft::default();
        form.set("cluster", "prod");
        form.choose(playbook, false);
        let refused = wanted(&form.request().unwrap(), &catalogue, "i").unwrap_err();
        let problem = form.located(api::Problem::fields(refused).unwrap());
        let message = format!("Choose “{title}” from the list: it asks for what {playbook} needs.");
        assert_eq!(problem, api::Problem::field("other", message));
        form.set("extra_args", arguments.join("\n"));
        let accepted = wanted(&form.request().unwrap(), &catalogue, "i").map(|wanted| wanted.arguments);
        assert_eq!(accepted.unwrap(), arguments, "the arguments may set it too");
    }
}

#[test]
fn a_generated_name_contains_the_action_and_is_short() {
    let spec = |action: &str| ClusterOperationSpec { action: action.into(), ..Default::default() };
    let name = made_name(&spec("playbooks/Upgrade_Cluster.yml"));
    assert!(name.as_str().starts_with("upgrade-cluster-") && name.as_str().len() == 21, "{name}");
    assert!(made_name(&spec(&format!("{}.yml", "x".repeat(200)))).as_str().len() <= 48);
    assert!(made_name(&spec("....yml")).as_str().starts_with("run-"));
    assert_ne!(made_name(&spec("a.yml")), made_name(&spec("a.yml")));
    assert!(made_name(&ACTIONS.first().map(|action| spec(action.playbook)).unwrap()).as_str().starts_with("ping-"));
}
