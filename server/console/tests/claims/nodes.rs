//! Adding nodes: one review, then inventory, host keys and operation in this order.

use api::backend::{Clusters, Configurations, Nodes, Operations};
use api::cluster::{
    MachineRow, NewCluster, NewNodes, NodesReview, Removal, Replacement, ReplacementStep, ReviewedRemoval,
};
use api::configuration::{Document, Standing};
use api::{ClusterName, OperationName, Problem};
use console::Playbooks;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::world::{NAMESPACE, World, at, eventually, machine, new_cluster};

const HOST_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIlyJFrlZp0hpDzq/aZ3ORT4IsZzZSjs7HSdFMRY2WNv";

fn prod() -> ClusterName {
    "prod".parse().unwrap()
}

/// The form for one machine, in its second row.
fn form(name: &str, address: &str) -> NewNodes {
    let typed = MachineRow { user: "".into(), ..machine(name, address) };
    NewNodes { machines: vec![MachineRow::default(), typed], ..NewNodes::default() }
}

/// The form as the browser submits it after a review.
fn confirmed(form: &NewNodes, review: &NodesReview) -> NewNodes {
    NewNodes {
        version: review.change.version.clone(),
        host_keys: review.host_keys.clone(),
        host_keys_version: review.host_keys_version.clone(),
        made_name: review.operation.name.to_string(),
        expected_inputs: review.operation.expected_inputs.clone(),
        ..form.clone()
    }
}

/// A cluster whose machines have a local connection, so that no machine is asked for a host key.
async fn world() -> World {
    let world = World::standalone().await;
    let variables = "ansible_connection: local\n".into();
    world.register(&NewCluster { variables, ..new_cluster("prod") }).await.unwrap();
    world
}

async fn review(world: &World, new: &NewNodes) -> Result<NodesReview, Problem> {
    Nodes::review(&world.console, &world.user, &prod(), new).await
}

async fn add(world: &World, new: &NewNodes) -> Result<OperationName, Problem> {
    Nodes::add(&world.console, &world.user, &prod(), new).await
}

#[tokio::test]
async fn one_button_saves_the_inventory_and_submits() {
    let world = world().await;
    let form = form("w2", "192.0.2.3");
    let before = world.everything().await;
    let review = review(&world, &form).await.unwrap();
    assert_eq!(review.names, ["w2"]);
    assert_eq!(review.change.summary, ["w2 added to kube_node"]);
    assert_eq!((review.keys, review.host_keys.as_str()), (vec![], ""));
    assert!(review.operation.commands[0].iter().any(|word| word == "--limit=w2"), "{:?}", review.operation.commands);
    assert_eq!(world.everything().await, before, "a review writes nothing");

    let review = self::review(&world, &form).await.unwrap();
    let name = add(&world, &confirmed(&form, &review)).await.unwrap();
    assert_eq!(name, review.operation.name);
    let operation = world.operations().get(name.as_str()).await.unwrap();
    assert_eq!(
        (operation.spec.action.as_str(), operation.spec.extra_args.as_deref()),
        ("scale.yml", Some("--limit=w2"))
    );
    assert_eq!(operation.spec.expected_inputs, Some(review.operation.expected_inputs.clone()));
    let nodes = world.console.nodes(&world.user, &prod()).await.unwrap().nodes;
    let added = nodes.iter().find(|node| node.name == "w2").unwrap();
    assert_eq!((added.address.as_str(), added.roles.as_slice()), ("192.0.2.3", ["node".to_owned()].as_slice()));
    let text = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().inventory.text;
    assert_eq!(text.matches("ansible_user: ubuntu").count(), 3, "the login is that of the machine above: {text}");
}

#[tokio::test]
async fn adding_the_same_nodes_again_repeats_nothing() {
    let world = world().await;
    let form = form("w2", "192.0.2.3");
    let review = review(&world, &form).await.unwrap();
    let confirmed = confirmed(&form, &review);
    let first = add(&world, &confirmed).await.unwrap();
    let saved = world.everything().await;
    assert_eq!(add(&world, &confirmed).await.unwrap(), first, "a second click");
    assert_eq!(world.everything().await, saved);
    world.operations().delete(first.as_str(), &kube::api::DeleteParams::default()).await.unwrap();
    eventually(async || Operations::get(&world.console, &world.user, &first).await.is_err()).await;
    // As if the server had been stopped between the two writes.
    assert_eq!(add(&world, &confirmed).await.unwrap(), first);
}

#[tokio::test]
async fn a_machine_that_is_there_already_is_refused_at_its_row() {
    let world = world().await;
    let refused = review(&world, &form("w1", "192.0.2.9")).await;
    assert!(at(&refused, "machines[1][name]").contains("w1 is in the inventory already"));
    let refused = review(&world, &form("w2", "192.0.2.1")).await;
    assert!(at(&refused, "machines[1][address]").contains("address of m1"));
    let pasted = NewNodes { pasted: "w1 192.0.2.9".into(), ..NewNodes::default() };
    assert!(at(&review(&world, &pasted).await, "pasted").contains("w1"));
    let nothing = review(&world, &NewNodes::default()).await;
    assert!(at(&nothing, "machines[0][name]").contains("at least one machine"));
}

#[tokio::test]
async fn a_machine_of_another_cluster_is_refused_with_its_name() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    world.register(&NewCluster { machines: vec![machine("db", "192.0.2.7")], ..new_cluster("lab") }).await.unwrap();
    let form = form("w2", "192.0.2.7");
    let refused = review(&world, &form).await;
    assert!(at(&refused, "machines[1][address]").starts_with("w2 has the address of db in the cluster lab."));
    let version = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().inventory.version;
    let before = world.everything().await;
    let refused = add(&world, &NewNodes { version, ..form }).await;
    assert!(at(&refused, "machines[1][address]").contains("in the cluster lab"), "the form was sent without a review");
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn an_inventory_changed_after_the_review_is_not_overwritten() {
    let world = world().await;
    let form = form("w2", "192.0.2.3");
    let review = review(&world, &form).await.unwrap();
    let there = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().inventory;
    let other = format!("{}# by another user\n", there.text);
    world.console.save(&world.user, &prod(), Document::Inventory, &there.version, &other).await.unwrap();
    let refused = add(&world, &confirmed(&form, &review)).await.unwrap_err();
    assert!(refused.to_string().contains("Review it again"), "{refused}");
    let now = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().inventory;
    assert_eq!(now.text, other);
    assert!(world.operations().list(&Default::default()).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn a_machine_that_does_not_answer_is_a_warning() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    // Nothing listens at port 1.
    let row = MachineRow { port: "1".into(), ..machine("w2", "127.0.0.1") };
    let form = NewNodes { machines: vec![row], ..NewNodes::default() };
    let review = review(&world, &form).await.unwrap();
    assert!(
        review.warnings.iter().any(|warning| warning.starts_with("w2 doesn't answer SSH at [127.0.0.1]:1")),
        "{:?}",
        review.warnings
    );
    assert!(review.warnings.iter().any(|warning| warning.contains("No host key")), "{:?}", review.warnings);
    assert_eq!(review.keys.iter().map(|key| key.standing).collect::<Vec<_>>(), [Standing::Unseen]);

    let jump = "kube_version: v1.35.4\nansible_ssh_common_args: -o ProxyJump=ops@192.0.2.9\n";
    let there = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().variables;
    world.console.save(&world.user, &prod(), Document::Variables, &there.version, jump).await.unwrap();
    let behind = self::review(&world, &form).await.unwrap().warnings;
    assert!(behind.iter().any(|warning| warning.starts_with("w2 is reached through a jump host")), "{behind:?}");

    let known_hosts = format!("192.0.2.1 {HOST_KEY}\n");
    world.console.save(&world.user, &prod(), Document::HostKeys, "", &known_hosts).await.unwrap();
    let review = self::review(&world, &form).await.unwrap();
    assert!(!review.warnings.iter().any(|warning| warning.contains("No host key")), "{:?}", review.warnings);
    assert_eq!(review.host_keys, known_hosts);
    let name = add(&world, &confirmed(&form, &review)).await.unwrap();
    assert!(world.operations().get(name.as_str()).await.unwrap().name_any().starts_with("scale-"));
}

#[tokio::test]
async fn a_machine_that_is_gone_is_not_logged_in_to() {
    let world = world().await;
    let plan = async |gone| Nodes::removal(&world.console, &world.user, &prod(), "w1", gone).await.unwrap();
    let Removal::FromCluster { consequences, operation, .. } = plan(false).await else { panic!("it is a node") };
    assert!(!operation.commands.concat().contains(&"reset_nodes=false".to_owned()), "{operation:?}");
    assert!(consequences[1].starts_with("Kubernetes and its data are deleted from the machine."), "{consequences:?}");
    let Removal::FromCluster { consequences, operation, gone, .. } = plan(true).await else { panic!("it is a node") };
    assert!(gone && consequences[1].starts_with("The operation doesn't log in"), "{consequences:?}");
    let reviewed = ReviewedRemoval {
        made_name: operation.name.to_string(),
        expected_inputs: operation.expected_inputs.clone(),
        gone: true,
    };
    let name = Nodes::remove(&world.console, &world.user, &prod(), "w1", &reviewed).await.unwrap();
    let submitted = world.operations().get(name.as_str()).await.unwrap().spec.extra_args.unwrap();
    assert_eq!(
        submitted,
        "-e node=w1 -e skip_confirmation=true -e reset_nodes=false -e allow_ungraceful_removal=true -e drain_timeout=30s"
    );
}

#[tokio::test]
async fn kubespray_gathers_facts_before_it_adds_a_worker() {
    let world = World::with(Playbooks::Image, |_| None).await;
    let variables = "ansible_connection: local\n".into();
    world.register(&NewCluster { variables, ..new_cluster("prod") }).await.unwrap();
    let form = form("w2", "192.0.2.3");
    let review = review(&world, &form).await.unwrap();
    let last = |command: &Vec<String>| command.iter().rev().take(2).rev().cloned().collect::<Vec<_>>().join(" ");
    let commands: Vec<String> = review.operation.commands.iter().map(last).collect();
    assert!(commands[0].ends_with(" /kubespray/facts.yml"), "{commands:?}");
    assert_eq!(commands[1..], ["/kubespray/scale.yml --limit=w2"]);
    let name = add(&world, &confirmed(&form, &review)).await.unwrap();
    let spec = world.operations().get(name.as_str()).await.unwrap().spec;
    assert_eq!(spec.pre_hook.iter().map(|hook| hook.action.as_str()).collect::<Vec<_>>(), ["facts.yml"]);
}

/// `cp2` and `cp3` as control planes, `w2` as a worker.
fn planes(names: &[&str]) -> NewNodes {
    let rows = (10..).zip(names).map(|(number, name)| {
        let role = if name.starts_with("cp") { "control_plane" } else { "" };
        MachineRow { user: "".into(), role: role.into(), ..machine(name, &format!("192.0.2.{number}")) }
    });
    NewNodes { machines: rows.collect(), ..NewNodes::default() }
}

#[tokio::test]
async fn two_control_planes_join_behind_a_load_balancer() {
    let world = World::standalone().await;
    let variables = "ansible_connection: local\nloadbalancer_apiserver: {address: 192.0.2.99}\n".into();
    world.register(&NewCluster { variables, ..new_cluster("prod") }).await.unwrap();
    let even = review(&world, &planes(&["cp2"])).await;
    assert!(at(&even, "machines[0][role]").contains("etcd would have 2 members"), "{even:?}");

    let form = planes(&["cp2", "cp3", "w2"]);
    let review = review(&world, &form).await.unwrap();
    assert!(review.consequences[0].starts_with("etcd grows from 1 member to 3"), "{:?}", review.consequences);
    assert!(review.consequences[2].contains("192.0.2.99:6443"), "{:?}", review.consequences);
    let name = add(&world, &confirmed(&form, &review)).await.unwrap();
    assert_eq!(add(&world, &confirmed(&form, &review)).await.unwrap(), name, "a second click");
    let spec = world.operations().get(name.as_str()).await.unwrap().spec;
    assert_eq!((spec.action.as_str(), spec.extra_args.as_deref()), ("cluster.yml", Some("--limit=cp2,cp3,w2")));
    let text = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().inventory.text;
    let after = inventory::parse(&text).unwrap();
    let names = |hosts: Vec<&inventory::Host>| hosts.iter().map(|host| host.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(after.control_plane()), ["m1", "cp2", "cp3"]);
    assert_eq!(names(after.etcd()), ["m1", "cp2", "cp3"]);
    assert_eq!(names(after.workers()), ["m1", "w1", "w2"]);
}

#[tokio::test]
async fn control_planes_need_an_address_for_all_of_them() {
    let world = world().await;
    let before = world.everything().await;
    let refused = review(&world, &planes(&["cp2", "cp3"])).await;
    assert!(at(&refused, "machines[0][role]").contains("reach the Kubernetes API at m1 itself"), "{refused:?}");
    let form = NewNodes { version: "1".into(), ..planes(&["cp2", "cp3"]) };
    assert!(add(&world, &form).await.is_err(), "nor without the review");
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn kubespray_adds_members_of_etcd_in_the_documented_order() {
    let world = World::with(Playbooks::Image, |_| None).await;
    let variables = "ansible_connection: local\n".into();
    world.register(&NewCluster { variables, ..new_cluster("prod") }).await.unwrap();
    let form = planes(&["cp2", "cp3", "w2"]);
    let review = review(&world, &form).await.unwrap();
    let words = |command: &Vec<String>| command.join(" ");
    let commands: Vec<String> = review.operation.commands.iter().map(words).collect();
    assert!(commands[0].ends_with("/kubespray/facts.yml"), "{commands:?}");
    assert!(
        commands[1].ends_with("/kubespray/cluster.yml --limit=etcd,kube_control_plane,w2 -e etcd_retries=10"),
        "{commands:?}"
    );
    assert!(commands[2].ends_with("/kubespray/upgrade-cluster.yml --limit=etcd,kube_control_plane,w2"), "{commands:?}");
    assert!(review.consequences.iter().any(|line| line.contains("nginx-proxy")), "{:?}", review.consequences);
    let name = add(&world, &confirmed(&form, &review)).await.unwrap();
    let spec = world.operations().get(name.as_str()).await.unwrap().spec;
    assert_eq!(spec.post_hook[0].extra_args.as_deref(), Some("--limit=etcd,kube_control_plane,w2"));
}

async fn replacement(world: &World, node: &str) -> Result<Replacement, Problem> {
    Nodes::replacement(&world.console, &world.user, &prod(), node).await
}

#[tokio::test]
async fn one_operation_replaces_a_worker() {
    let world = world().await;
    assert_eq!(replacement(&world, "w1").await.unwrap(), Replacement::Worker { last: None });
    let form = NewNodes { replaces: "w1".into(), ..planes(&["w2"]) };
    let review = review(&world, &form).await.unwrap();
    assert_eq!(review.consequences[0], "w2 joins first. Only when that has succeeded, w1 is removed.");
    assert!(!review.consequences.iter().any(|line| line.contains("last worker")), "{:?}", review.consequences);
    assert_eq!(review.operation.commands.len(), 2, "{:?}", review.operation.commands);
    let confirmed = confirmed(&form, &review);
    let name = add(&world, &confirmed).await.unwrap();
    let spec = world.operations().get(name.as_str()).await.unwrap().spec;
    assert_eq!((spec.action.as_str(), spec.extra_args.as_deref()), ("scale.yml", Some("--limit=w2")));
    let [hook] = spec.post_hook.as_slice() else { panic!("{:?}", spec.post_hook) };
    let arguments = "-e node=w1 -e skip_confirmation=true";
    assert_eq!((hook.action.as_str(), hook.extra_args.as_deref()), ("remove-node.yml", Some(arguments)));
    let Replacement::Worker { last: Some(last) } = replacement(&world, "w1").await.unwrap() else { panic!("it runs") };
    assert_eq!((last.by.as_str(), last.machine.as_str(), last.next), (name.as_str(), "w2", ReplacementStep::Wait));

    world.set_phase(name.as_str(), crd::Phase::Failed, "PlaybookFailed").await;
    let Replacement::Worker { last: Some(last) } = replacement(&world, "w1").await.unwrap() else {
        panic!("it failed")
    };
    assert_eq!(last.next, ReplacementStep::Repeat);
    world.newer_than(name.as_str()).await;
    // What the page's button submits: the machine is in the inventory already.
    let again = NewNodes { replaces: "w1".into(), gone: true, ..planes(&["w2"]) };
    let again = NewNodes {
        machines: vec![MachineRow { name: again.machines[0].name.clone(), ..MachineRow::default() }],
        ..again
    };
    let repeated = add(&world, &again).await.unwrap();
    let spec = world.operations().get(repeated.as_str()).await.unwrap().spec;
    assert!(spec.post_hook[0].extra_args.as_deref().unwrap().contains("reset_nodes=false"), "{:?}", spec.post_hook);

    world.set_phase(repeated.as_str(), crd::Phase::Succeeded, "Succeeded").await;
    let Replacement::Worker { last: Some(last) } = replacement(&world, "w1").await.unwrap() else { panic!("it ended") };
    assert_eq!((last.by.as_str(), last.next), (repeated.as_str(), ReplacementStep::Forget));
    let removal = Nodes::removal(&world.console, &world.user, &prod(), "w1", false).await.unwrap();
    assert!(matches!(removal, Removal::FromInventory { .. }), "{removal:?}");
}

#[tokio::test]
async fn only_a_worker_is_replaced_by_one_operation() {
    let world = World::standalone().await;
    let variables = "ansible_connection: local\nloadbalancer_apiserver: {address: 192.0.2.99}\n".into();
    world.register(&NewCluster { variables, ..new_cluster("prod") }).await.unwrap();
    let only = replacement(&world, "m1").await.unwrap_err();
    assert!(only.to_string().contains("only control plane"), "{only}");
    assert!(matches!(replacement(&world, "w9").await, Err(Problem::NotFound { .. })));
    let refused = async |form: NewNodes| review(&world, &form).await.unwrap_err().to_string();
    let plane = refused(NewNodes { replaces: "m1".into(), ..planes(&["w2"]) }).await;
    assert!(plane.contains("Remove it from the cluster first"), "{plane}");
    let two = refused(NewNodes { replaces: "w1".into(), ..planes(&["w2", "w3"]) }).await;
    assert!(two.contains("Name one other machine"), "{two}");
    let unknown = refused(NewNodes { replaces: "w9".into(), ..planes(&["w2"]) }).await;
    assert!(unknown.contains("w9"), "{unknown}");

    let form = planes(&["cp2", "cp3"]);
    let reviewed = review(&world, &form).await.unwrap();
    add(&world, &confirmed(&form, &reviewed)).await.unwrap();
    assert_eq!(replacement(&world, "cp2").await.unwrap(), Replacement::ControlPlane { removed_by: None, works: false });
    let first = replacement(&world, "m1").await.unwrap_err();
    assert!(first.to_string().contains("first control plane"), "{first}");
}

#[tokio::test]
async fn a_control_plane_is_exchanged_after_its_removal() {
    let world = World::standalone().await;
    let variables = "ansible_connection: local\nloadbalancer_apiserver: {address: 192.0.2.99}\n".into();
    world.register(&NewCluster { variables, ..new_cluster("prod") }).await.unwrap();
    let form = planes(&["cp2", "cp3"]);
    let reviewed = review(&world, &form).await.unwrap();
    let grown = add(&world, &confirmed(&form, &reviewed)).await.unwrap();
    world.set_phase(grown.as_str(), crd::Phase::Succeeded, "Succeeded").await;
    world.newer_than(grown.as_str()).await;
    let remove = async |node: &str| {
        let reviewed = ReviewedRemoval::default();
        let removal = Nodes::remove(&world.console, &world.user, &prod(), node, &reviewed).await.unwrap();
        world.set_phase(removal.as_str(), crd::Phase::Succeeded, "Succeeded").await;
        removal
    };
    let removed_by = Some(remove("cp2").await);
    assert_eq!(replacement(&world, "cp2").await.unwrap(), Replacement::ControlPlane { removed_by, works: false });

    let other = |name: &str| {
        let mut new = NewNodes { replaces: "cp2".into(), ..planes(&[name]) };
        new.machines[0].address = "192.0.2.50".into();
        new
    };
    let mut worker = other("cp9");
    worker.machines[0].role = "worker".into();
    let refused = review(&world, &worker).await;
    assert!(at(&refused, "machines[0][role]").contains("a control plane replaces it"), "{refused:?}");

    // The new machine may have the name of the old one.
    for (name, last) in [("cp9", "cp2 leaves the inventory."), ("cp2", "cp2 is another machine from now on.")] {
        let reviewed = review(&world, &other(name)).await.unwrap();
        assert!(reviewed.consequences[0].contains("from 2 members to 3"), "{:?}", reviewed.consequences);
        assert!(reviewed.consequences.last().unwrap().starts_with(last), "{:?}", reviewed.consequences);
        assert_eq!(reviewed.replaces, "");
    }
    let form = other("cp2");
    let reviewed = review(&world, &form).await.unwrap();
    let edited = NewNodes { version: "1".into(), ..confirmed(&form, &reviewed) };
    let refused = add(&world, &edited).await.unwrap_err().to_string();
    assert!(refused.contains("was changed since this was reviewed"), "{refused}");
    let form = confirmed(&form, &reviewed);
    let name = add(&world, &form).await.unwrap();
    let spec = world.operations().get(name.as_str()).await.unwrap().spec;
    assert_eq!((spec.action.as_str(), spec.extra_args.as_deref()), ("cluster.yml", Some("--limit=cp2")));
    assert!(spec.post_hook.is_empty());
    let after = inventory::parse(&world.text("prod-hosts-conf", "hosts.yml").await).unwrap();
    let names = after.control_plane().into_iter().map(|host| host.name.as_str()).collect::<Vec<_>>();
    assert_eq!((names, after.host("cp2").unwrap().address.as_deref()), (vec!["m1", "cp3", "cp2"], Some("192.0.2.50")));

    let started = json!({"status": {"status": "Running", "startTime": jiff::Timestamp::now()}});
    world.operations().patch_status(name.as_str(), &PatchParams::default(), &Patch::Merge(started)).await.unwrap();
    assert_eq!(add(&world, &form).await.unwrap(), name, "a second click changes nothing, also while the run adds it");
}

#[tokio::test]
async fn an_exchange_that_etcd_would_not_survive_is_refused() {
    let world = World::standalone().await;
    let variables = "ansible_connection: local\nloadbalancer_apiserver: {address: 192.0.2.99}\n".into();
    world.register(&NewCluster { variables, ..new_cluster("prod") }).await.unwrap();
    let form = planes(&["cp2", "cp3"]);
    let reviewed = review(&world, &form).await.unwrap();
    let grown = add(&world, &confirmed(&form, &reviewed)).await.unwrap();
    world.set_phase(grown.as_str(), crd::Phase::Succeeded, "Succeeded").await;
    world.newer_than(grown.as_str()).await;
    for node in ["cp2", "cp3"] {
        let reviewed = ReviewedRemoval::default();
        let removal = Nodes::remove(&world.console, &world.user, &prod(), node, &reviewed).await.unwrap();
        world.set_phase(removal.as_str(), crd::Phase::Succeeded, "Succeeded").await;
    }
    let mut form = NewNodes { replaces: "cp2".into(), ..planes(&["cp9"]) };
    form.machines[0].address = "192.0.2.50".into();
    let refused = review(&world, &form).await.unwrap_err().to_string();
    assert!(refused.starts_with("cp3 was removed from the cluster and is still in the inventory."), "{refused}");

    let removal = Nodes::removal(&world.console, &world.user, &prod(), "cp3", false).await.unwrap();
    let Removal::FromInventory { change, .. } = removal else { panic!("{removal:?}") };
    Nodes::forget(&world.console, &world.user, &prod(), "cp3", &change.version).await.unwrap();
    let refused = review(&world, &form).await;
    assert!(at(&refused, "machines[0][role]").contains("etcd would have 2 members"), "{refused:?}");
}

/// A world with the hosted cluster `prod`, which has one worker.
async fn hosted() -> World {
    let world = World::standalone().await;
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), NAMESPACE);
    let inventory = "kube_node: {hosts: {w1: {ansible_host: 192.0.2.1}}}\n";
    for (name, key, text) in
        [("hosts", "hosts.yml", inventory), ("vars", "group_vars.yml", "ansible_connection: local\n")]
    {
        let map = json!({"metadata": {"name": name}, "data": {key: text}});
        maps.create(&PostParams::default(), &serde_json::from_value(map).unwrap()).await.unwrap();
    }
    let at = |name: &str| json!({"namespace": NAMESPACE, "name": name});
    let hosted = json!({"namespace": "prod", "version": "v1.36.4", "networking": {"podCidr": "10.1.0.0/16"}});
    let spec = json!({"hosted": hosted, "hostsConfRef": at("hosts"), "varsConfRef": at("vars")});
    let cluster = json!({"metadata": {"name": "prod"}, "spec": spec});
    world.clusters().create(&PostParams::default(), &serde_json::from_value(cluster).unwrap()).await.unwrap();
    eventually(async || Clusters::get(&world.console, &world.user, &prod()).await.is_ok()).await;
    world
}

#[tokio::test]
async fn machines_of_a_hosted_cluster_join_its_control_plane() {
    let world = hosted().await;
    let form = form("w2", "192.0.2.3");
    let review = self::review(&world, &form).await.unwrap();
    let name = add(&world, &confirmed(&form, &review)).await.unwrap();
    let operation = world.operations().get(name.as_str()).await.unwrap();
    assert_eq!(
        (operation.spec.action.as_str(), operation.spec.extra_args.as_deref()),
        ("join.yml", Some("--limit=w2"))
    );
    let mut plane = self::form("cp1", "192.0.2.4");
    plane.machines[1].role = "control_plane".into();
    let refused = self::review(&world, &plane).await;
    assert!(at(&refused, "machines[1][role]").contains("join as workers only"), "{refused:?}");
}

#[tokio::test]
async fn a_node_of_a_hosted_cluster_is_not_removed_by_the_page() {
    let world = hosted().await;
    let removal = Nodes::removal(&world.console, &world.user, &prod(), "w1", false).await;
    let replacement = Nodes::replacement(&world.console, &world.user, &prod(), "w1").await.map(drop);
    let replaces = NewNodes { replaces: "w1".into(), ..form("w2", "192.0.2.3") };
    let replaced = self::review(&world, &replaces).await.map(drop);
    for refused in [removal.map(drop), replacement, replaced] {
        let says = refused.unwrap_err().to_string();
        assert!(says.contains("kubectl drain") && says.contains("reset.yml"), "{says}");
    }
}
