use api::backend::{Changes, Clusters, Configurations, Operations};
use api::configuration::Document;
use api::live::Topic;
use api::operation::{Action, NewOperation, OperationFilter, Phase};
use api::{OperationName, Problem};
use console::Playbooks;
use futures::StreamExt;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use super::world::{NAMESPACE, World, at, form, named, new_cluster, new_operation};

use crate::patience::PATIENCE;

#[tokio::test]
async fn a_submitted_operation_is_what_its_review_showed() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let typed = [("limit", "w1"), ("extra_args", "-e\r\nmotd=it's; $(here)\r\n--check"), ("pre_hooks", "facts.yml")];
    let mut new = form(&typed).request().unwrap();
    let review = Operations::review(&world.console, &world.user, &new).await.unwrap();
    assert!(world.operations().list(&Default::default()).await.unwrap().items.is_empty());
    assert_eq!(review.hosts, ["m1", "w1"], "the hook has no limit");
    assert_eq!(review.commands.len(), 2);
    assert!(review.commands[0].ends_with(&["/kubespray/facts.yml".to_owned()]));
    let tail = ["/kubespray/ping.yml", "--limit=w1", "-e", "motd=it's; $(here)", "--check"].map(str::to_owned);
    assert!(review.commands[1].ends_with(&tail), "{:?}", review.commands[1]);
    assert!(review.commands[1].starts_with(&["ansible-playbook".to_owned()]));
    assert!(
        review.manifest.contains("kind: ClusterOperation") && review.manifest.contains("prod"),
        "{}",
        review.manifest
    );
    assert_eq!(review.waits_for, None);
    new.expected_inputs = Some(review.expected_inputs.clone());
    new.made_name = Some(review.name.clone());
    let name = world.submit(&new).await.unwrap();
    assert_eq!(name, review.name);
    assert!(name.as_str().starts_with("ping-") && name.as_str().len() == 10, "{name}");
    let made = world.operations().get(name.as_str()).await.unwrap();
    assert_eq!(made.annotations()[crd::ANNOTATION_SUBMITTED_BY], "ada");
    assert_eq!(made.labels()[crd::LABEL_CLUSTER_NAME], "prod");
    let arguments = shlex::split(made.spec.extra_args.as_deref().unwrap()).unwrap();
    assert_eq!(arguments, tail[1..]);
    let (hosts, vars) =
        (world.text("prod-hosts-conf", crd::KEY_HOSTS).await, world.text("prod-vars-conf", crd::KEY_VARS).await);
    assert_eq!(made.spec.expected_inputs, Some(crd::inputs_sha256(&hosts, &vars)));
    let detail = Operations::get(&world.console, &world.user, &name).await.unwrap();
    assert_eq!((detail.row.phase, detail.row.by.as_str()), (Phase::Queued, "ada"));
    assert_eq!((detail.deadline, detail.ran_locally), (21_600, true));
}

#[tokio::test]
async fn a_review_shows_no_secret_of_arguments_and_scripts() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let manifest = async |typed: &[(&str, &str)]| {
        let new = form(typed).request().unwrap();
        Operations::review(&world.console, &world.user, &new).await.unwrap().manifest
    };
    let hidden = "# Secrets are hidden here.";
    let arguments = manifest(&[("extra_args", "-e\ndb_password=hunter22\n--check")]).await;
    assert!(arguments.starts_with(hidden) && arguments.contains("--check"), "{arguments}");
    let script = manifest(&[("kind", "script"), ("script", "export API_TOKEN=hunter22\nuptime\n")]).await;
    assert!(script.starts_with(hidden) && script.contains("uptime"), "{script}");
    assert!(!arguments.contains("hunter22") && !script.contains("hunter22"), "{arguments}{script}");
    let plain = manifest(&[("extra_args", "--check")]).await;
    assert!(plain.starts_with("apiVersion:"), "{plain}");
}

#[tokio::test]
async fn pressing_submit_twice_makes_one_operation() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let review = async || Operations::review(&world.console, &world.user, &new_operation("prod")).await.unwrap();
    let of = |name: &OperationName| NewOperation { made_name: Some(name.clone()), ..new_operation("prod") };
    let first = of(&review().await.name);
    let (a, b) = futures::join!(world.submit(&first), world.submit(&first));
    assert_eq!(a.as_ref().unwrap(), b.as_ref().unwrap());
    assert_eq!(world.submit(&first).await, a, "also if the operation exists already");
    let typed = NewOperation { name: Some("grow".parse().unwrap()), ..new_operation("prod") };
    assert_eq!(world.submit(&typed).await, world.submit(&typed).await);
    assert_eq!(world.operations().list(&Default::default()).await.unwrap().items.len(), 2);

    let second = of(&review().await.name);
    assert_ne!(world.submit(&second).await.unwrap(), a.unwrap(), "a new review means a new operation");
    let other = NewOperation { limit: "w1".into(), ..first.clone() };
    assert!(at(&world.submit(&other).await, "name").contains("already"), "another operation with that name");
    let bob = api::User { name: "bob".into(), token: None };
    at(&Operations::submit(&world.console, &bob, &first).await, "name");
}

/// Objects created with kubectl may have longer names than the console accepts.
#[tokio::test]
async fn objects_with_long_names_are_listed_and_shown() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let (long, longer) = ("o".repeat(60), "c".repeat(70));
    let mut operation = crd::ClusterOperation::new(&long, Default::default());
    operation.spec = serde_json::from_value(
        json!({"cluster": "prod", "actionType": "playbook", "action": "ping.yml", "image": "i"}),
    )
    .unwrap();
    let by_hand = PostParams { field_manager: Some("kubectl-create".into()), ..PostParams::default() };
    world.operations().create(&by_hand, &operation).await.unwrap();
    let prod = world.clusters().get("prod").await.unwrap();
    world.clusters().create(&by_hand, &crd::Cluster::new(&longer, prod.spec)).await.unwrap();
    let all = OperationFilter::default();
    super::world::eventually(async || {
        let clusters = Clusters::list(&world.console, &world.user, &Default::default()).await.unwrap();
        let operations = Operations::list(&world.console, &world.user, &all).await.unwrap();
        clusters.rows.len() == 2 && operations.rows.len() == 1
    })
    .await;
    let detail = Operations::get(&world.console, &world.user, &long.parse().unwrap()).await.unwrap();
    assert_eq!((detail.row.name.as_str(), detail.row.by.as_str()), (long.as_str(), "kubectl"));
    let cluster = Clusters::get(&world.console, &world.user, &longer.parse().unwrap()).await.unwrap();
    assert_eq!(cluster.row.name.as_str(), longer);
}

/// A submission without a review records the current inputs.
#[tokio::test]
async fn inputs_that_changed_since_the_review_are_refused() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let review = Operations::review(&world.console, &world.user, &new_operation("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    let version = world.console.read(&world.user, &prod).await.unwrap().variables.version;
    world.console.save(&world.user, &prod, Document::Variables, &version, "kube_version: v1.99.0\n").await.unwrap();
    let confirmed = NewOperation { expected_inputs: Some(review.expected_inputs), ..new_operation("prod") };
    let refused = world.submit(&confirmed).await.unwrap_err();
    assert!(refused.to_string().contains("changed"), "{refused}");
    let name = world.submit(&new_operation("prod")).await.unwrap();
    let hosts = world.text("prod-hosts-conf", crd::KEY_HOSTS).await;
    let made = world.operations().get(name.as_str()).await.unwrap();
    assert_eq!(made.spec.expected_inputs, Some(crd::inputs_sha256(&hosts, "kube_version: v1.99.0\n")));
}

#[tokio::test]
async fn a_bad_submission_is_refused_at_its_field_and_creates_nothing() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    world.submit_form(&form(&[("name", "taken"), ("limit", "w1")])).await.unwrap();
    let before = world.everything().await;
    let (long_name, long_script) = ("a".repeat(49), "x".repeat(70_000));
    let (not_there, no_such_key) = (format!("{NAMESPACE}/not-there"), format!("{NAMESPACE}/prod-vars-conf"));
    let file_of = |source: &str| form(&[("kind", "configmap"), ("source", source), ("key", "ping.yml")]);
    let cases = [
        (form(&[("cluster", "nobody")]), "cluster"),
        (form(&[("cluster", "a;rm -rf /")]), "cluster"),
        (form(&[("name", "taken")]), "name"),
        (form(&[("name", &long_name)]), "name"),
        (form(&[("action", "")]), "action"),
        (form(&[("action", "../../etc/passwd")]), "action"),
        (form(&[("action", "recover-control-plane.yml")]), "action"),
        (form(&[("kind", "script"), ("script", &long_script)]), "script"),
        (file_of(&not_there), "source"),
        (file_of("kube-system/prod-hosts-conf"), "source"),
        (file_of(&no_such_key), "key"),
        (form(&[("limit", "typo")]), "limit"),
        (form(&[("limit", "--flush-cache")]), "limit"),
        (form(&[("limit", "m1:!m1")]), "limit"),
        (form(&[("extra_args", "a\0b")]), "extra_args"),
        (form(&[("pre_hooks", "rm -rf /")]), "pre_hooks"),
        (form(&[("post_hooks", "nope.yml")]), "post_hooks"),
        (form(&[("image", "img;rm")]), "image"),
        (form(&[("deadline", "-5")]), "deadline"),
        (form(&[("deadline", "soon")]), "deadline"),
    ];
    for (typed, field) in cases {
        let refused = world.submit_form(&typed).await;
        assert!(at(&refused, field).ends_with('.'), "{field}: {refused:?}");
        at(&world.review_form(&typed).await, field);
    }
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn a_config_map_of_the_clusters_namespace_is_accepted() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let data = [("uptime.yml".to_owned(), "- hosts: all\n".to_owned())].into();
    let own = k8s_openapi::api::core::v1::ConfigMap { metadata: named("own"), data: Some(data), ..Default::default() };
    world.config_maps().create(&PostParams::default(), &own).await.unwrap();
    let source = format!("{NAMESPACE}/own").parse().unwrap();
    let new = NewOperation { action: Action::File { source, key: "uptime.yml".into() }, ..new_operation("prod") };
    let review = Operations::review(&world.console, &world.user, &new).await.unwrap();
    assert_eq!(review.commands[0].last().unwrap(), "/conf/sources/1/uptime.yml");
    let name = world.submit(&new).await.unwrap();
    let made = world.operations().get(name.as_str()).await.unwrap();
    assert_eq!(made.spec.action_source_ref, Some(crd::DataRef::new(NAMESPACE, "own")));
}

#[tokio::test]
async fn a_script_is_sent_as_it_was_typed_with_unix_line_ends() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let new = form(&[("kind", "script"), ("script", "#!/bin/bash\r\nuptime\r\n")]).request().unwrap();
    let review = Operations::review(&world.console, &world.user, &new).await.unwrap();
    assert_eq!(review.commands, [["bash", "/conf/scripts/1.sh"]]);
    let name = world.submit(&new).await.unwrap();
    assert_eq!(world.operations().get(name.as_str()).await.unwrap().spec.action, "#!/bin/bash\nuptime\n");
    let detail = Operations::get(&world.console, &world.user, &name).await.unwrap();
    assert_eq!((detail.row.action.as_str(), detail.action.as_str()), ("uptime", "#!/bin/bash\nuptime\n"));
}

#[tokio::test]
async fn a_review_lists_the_machines_on_which_the_playbook_runs() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let review = async |fields: &[(&str, &str)]| {
        let new = form(fields).request().unwrap();
        Operations::review(&world.console, &world.user, &new).await.unwrap()
    };
    for (playbook, hosts, is_all) in [
        ("cluster.yml", vec!["m1", "w1"], true),
        ("etcd-backup.yml", vec!["m1"], false),
        ("renew-certs.yml", vec!["m1"], false),
        ("scale.yml", vec!["w1"], false),
    ] {
        let review = review(&[("action", playbook)]).await;
        assert_eq!(review.hosts, hosts, "{playbook}");
        let says_all = review.warnings.iter().any(|warning| warning.contains("all 2 machines"));
        assert_eq!(says_all, is_all, "{playbook}: {:?}", review.warnings);
    }
    let removal = review(&[("action", "remove-node.yml"), ("nodes", "w1")]).await;
    assert_eq!(removal.hosts, ["m1", "w1"], "it works through the first control plane");
    let restored = review(&[
        ("action", "etcd-restore.yml"),
        ("snapshot", "/var/backups/kubeonkube/etcd.db"),
        ("restored", "prod"),
    ])
    .await;
    let lost = "Everything created or changed in the cluster since this snapshot is lost.";
    assert!(restored.warnings.iter().any(|warning| warning == lost), "{restored:?}");
    let outside = review(&[("action", "etcd-backup.yml"), ("limit", "w1")]).await;
    assert!(outside.warnings[0].starts_with("etcd-backup.yml has no tasks for these machines."), "{outside:?}");
}

#[tokio::test]
async fn a_limit_selects_the_hosts_that_ansible_would_select() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    for (limit, hosts) in [
        ("", vec!["m1", "w1"]),
        ("all", vec!["m1", "w1"]),
        ("kube_control_plane", vec!["m1"]),
        ("kube_node:!kube_control_plane", vec!["w1"]),
        ("kube_node,&etcd", vec!["m1"]),
        ("w*", vec!["w1"]),
        ("!m1", vec!["w1"]),
    ] {
        let review = Operations::review(
            &world.console,
            &world.user,
            &NewOperation { limit: limit.into(), ..new_operation("prod") },
        )
        .await
        .unwrap();
        assert_eq!(review.hosts, hosts, "{limit:?}");
    }
}

#[tokio::test]
async fn each_spelling_of_a_limit_selects_the_same_hosts() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let review = async |limit: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let new = NewOperation { limit: limit.into(), arguments, ..new_operation("prod") };
        Operations::review(&world.console, &world.user, &new).await
    };
    for arguments in [
        &["-l", "w1"][..],
        &["-lw1"],
        &["-l=w1"],
        &["--lim", "w1"],
        &["--limi=w1"],
        &["-CDl", "w1"],
        &["-l", "m1", "-vlw1"],
    ] {
        assert_eq!(review("", arguments).await.unwrap().hosts, ["w1"], "{arguments:?}");
    }
    let warnings = async |arguments: &[&str]| {
        let review = review("", arguments).await.unwrap();
        assert!(review.hosts.is_empty(), "{arguments:?}: {:?}", review.hosts);
        review.warnings.join("\n")
    };
    assert!(warnings(&["-iother"]).await.contains("another inventory"));
    assert!(warnings(&["-l", "all[0]"]).await.contains("Only ansible"));
    assert!(warnings(&["--no-such-option"]).await.contains("doesn't know the option --no-such-option"));
    assert!(warnings(&["--li=w1"]).await.contains("--li is ambiguous"));
    let fields = |problem: Problem| match problem {
        Problem::Invalid { fields, .. } => fields.into_iter().map(|problem| problem.field).collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    assert_eq!(fields(review("w1", &["-lm1"]).await.unwrap_err()), ["limit"], "only one of them counts");
    assert_eq!(fields(review("", &["-ltypo"]).await.unwrap_err()), ["extra_args"]);
    let check = review("", &["-CD"]).await.unwrap().warnings;
    assert!(check[0].contains("only a check"), "{check:?}");
}

#[tokio::test]
async fn a_removal_of_a_pattern_is_refused_in_every_spelling() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    for arguments in [&["-e", "node=all"][..], &["-enode=all"], &["-e", "x=1 node=w1,all"]] {
        let confirmed = ["-e", "skip_confirmation=true"];
        let arguments = arguments.iter().chain(&confirmed).map(|argument| (*argument).to_owned()).collect();
        let new = NewOperation { action: Action::builtin("remove-node.yml"), arguments, ..new_operation("prod") };
        let refused = Operations::review(&world.console, &world.user, &new).await.unwrap_err();
        assert!(format!("{refused:?}").contains("is not a host of the inventory"), "{refused:?}");
    }
    for argument in [
        "{node: all}",
        " { node=all }",
        "node\u{a0}=all",
        "node\t=all",
        " @x node=all",
        "@file",
        "x=1 # node=all",
        "\\x6eode=all",
        "node=all x='a'",
        "x=\\",
        "[]",
    ] {
        let arguments = ["-e", "node=w1", "-e", "skip_confirmation=true", "-e", argument].map(str::to_owned).into();
        let new = NewOperation { action: Action::builtin("remove-node.yml"), arguments, ..new_operation("prod") };
        let refused = Operations::review(&world.console, &world.user, &new).await.unwrap_err();
        assert!(format!("{refused:?}").contains("without quotes"), "{argument}: {refused:?}");
    }
    for arguments in [&["-vM=x", "-e", "node=all"][..], &["--no-such-option", "-e", "node=all"]] {
        let arguments = ["-e", "node=w1"].iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
        let new = NewOperation { action: Action::builtin("remove-node.yml"), arguments, ..new_operation("prod") };
        assert!(Operations::review(&world.console, &world.user, &new).await.is_err());
    }
}

#[tokio::test]
async fn a_submission_with_a_broken_inventory_is_refused() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let broken = json!({"data": {crd::KEY_HOSTS: "all: [oops\n"}});
    world.config_maps().patch("prod-hosts-conf", &PatchParams::default(), &Patch::Merge(broken)).await.unwrap();
    let refused = world.submit(&new_operation("prod")).await;
    assert!(at(&refused, "cluster").contains("line"), "{refused:?}");
}

#[tokio::test]
async fn a_review_names_the_operation_to_wait_for() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    for name in ["first", "second"] {
        world.submit(&NewOperation { name: Some(name.parse().unwrap()), ..new_operation("prod") }).await.unwrap();
    }
    world.set_phase("first", crd::Phase::Running, "Started").await;
    let review = Operations::review(&world.console, &world.user, &new_operation("prod")).await.unwrap();
    assert!(review.waits_for.unwrap().contains("first"));
}

#[tokio::test]
async fn cancelling_sets_the_field_and_is_refused_after_the_end() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let name = world.submit(&new_operation("prod")).await.unwrap();
    world.set_phase(name.as_str(), crd::Phase::Running, "Started").await;
    Operations::cancel(&world.console, &world.user, &name).await.unwrap();
    assert_eq!(world.operations().get(name.as_str()).await.unwrap().spec.cancel, Some(true));
    assert!(Operations::get(&world.console, &world.user, &name).await.unwrap().row.cancelling);
    world.set_phase(name.as_str(), crd::Phase::Failed, "Cancelled").await;
    let refused = Operations::cancel(&world.console, &world.user, &name).await;
    assert!(matches!(refused, Err(Problem::Invalid { .. })), "{refused:?}");
    let filter = OperationFilter { phase: "cancelled".into(), ..Default::default() };
    assert_eq!(Operations::list(&world.console, &world.user, &filter).await.unwrap().matching, 1);
    let nobody = Operations::cancel(&world.console, &world.user, &"nobody".parse().unwrap()).await;
    assert!(matches!(nobody, Err(Problem::NotFound { .. })), "{nobody:?}");
}

#[tokio::test]
async fn the_inputs_of_a_run_are_shown_without_secrets() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let name = world.submit(&new_operation("prod")).await.unwrap();
    let inputs = crd::inputs_name(name.as_str());
    let hosts = "all:\n  hosts:\n    m1: {ansible_host: 192.0.2.1, ansible_password: hunter2}\n    m2:\n      ansible_become_password: |\n        hunter3\n        hunter4\n      ansible_host: 192.0.2.2\n";
    let vars = "registry_token: hunter5\nkube_version: v1.35.4\nvault_thing: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  68756e74657236\n";
    let string_data =
        [(crd::KEY_HOSTS.to_owned(), hosts.to_owned()), (crd::KEY_VARS.to_owned(), vars.to_owned())].into();
    let secret = k8s_openapi::api::core::v1::Secret {
        metadata: named(&inputs),
        string_data: Some(string_data),
        ..Default::default()
    };
    world.secrets().create(&PostParams::default(), &secret).await.unwrap();
    let status = json!({"status": {"inputs": {"secret": {"namespace": NAMESPACE, "name": inputs}, "sha256": "ab", "hostCount": 2}}});
    world.operations().patch_status(name.as_str(), &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    world.set_phase(name.as_str(), crd::Phase::Running, "Started").await;
    let shown = Operations::get(&world.console, &world.user, &name).await.unwrap().inputs.unwrap();
    let all = format!("{}\n{}", shown.inventory, shown.variables);
    assert!(!all.contains("hunter") && !all.contains("6875"), "{all}");
    assert!(all.contains("192.0.2.2") && all.contains("v1.35.4"), "{all}");
}

#[tokio::test]
async fn kubespray_actions_are_available_only_with_images() {
    let world = World::with(Playbooks::Image, |_| None).await;
    let choices = Operations::choices(&world.console, &world.user).await.unwrap();
    let offer = |action: &str| choices.actions.iter().find(|o| o.action == action).unwrap().unavailable.clone();
    assert_eq!(offer("recover-control-plane.yml"), None);
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let choices = Operations::choices(&world.console, &world.user).await.unwrap();
    let offer = |action: &str| choices.actions.iter().find(|o| o.action == action).unwrap().unavailable.clone();
    assert!(offer("recover-control-plane.yml").is_some() && offer("reset.yml").is_none());
    assert_eq!(choices.clusters.len(), 1);
}

#[tokio::test]
async fn subscribers_get_the_topics_of_all_changes() {
    let world = World::standalone().await;
    let mut news = world.console.subscribe(&world.user).await.unwrap();
    world.register(&new_cluster("prod")).await.unwrap();
    let name = world.submit(&new_operation("prod")).await.unwrap();
    let wanted =
        [Topic::Clusters, Topic::Cluster("prod".into()), Topic::Operations, Topic::Operation(name.to_string())];
    let mut seen = std::collections::BTreeSet::new();
    let all = async {
        while !wanted.iter().all(|topic| seen.contains(topic)) {
            seen.insert(news.next().await.unwrap());
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("every topic arrives");
}

/// ansible itself would accept any pattern for `node`, and `skip_confirmation` suppresses its prompt.
#[tokio::test]
async fn only_hosts_of_the_inventory_can_be_removed() {
    let world = World::with(Playbooks::Image, |_| None).await;
    world.register(&new_cluster("prod")).await.unwrap();
    for (names, refused) in [("all", true), ("kube_node", true), ("m1,gone", true), ("m1", false)] {
        let arguments = format!("-e\nnode={names}\n-e\nskip_confirmation=true");
        let answer = world.review_form(&form(&[("action", "remove-node.yml"), ("extra_args", &arguments)])).await;
        assert_eq!(answer.err().is_some_and(|problem| problem.at("nodes").is_some()), refused, "{names}");
    }
}
