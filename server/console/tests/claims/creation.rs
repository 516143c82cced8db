//! Creating Kubernetes on registered machines: the steps follow from inputs, operations and results.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::ClusterName;
use api::backend::{Clusters, Configurations, Creations};
use api::cluster::{CheckResult, ClusterSettings, Creation, CreationStage, MachineRow, NewCluster, ReviewedPlan};
use api::configuration::Document;
use api::log::RunRecord;
use api::run::{EventBody, HostResult, HostStats, RunEvent};
use console::Playbooks;
use crd::Phase;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::world::{FakeRuns, World, at, machine};

/// The form for a control plane and a worker that are to become a cluster.
fn new_cluster() -> NewCluster {
    NewCluster { purpose: "create".into(), ..super::world::new_cluster("prod") }
}

fn prod() -> ClusterName {
    "prod".parse().unwrap()
}

async fn read(world: &World) -> Creation {
    Creations::read(&world.console, &world.user, &prod()).await.unwrap()
}

/// What a page sends back after it has shown the plan.
fn reviewed(creation: &Creation) -> ReviewedPlan {
    let operation = creation.plan.operation.as_ref().unwrap();
    ReviewedPlan { made_name: operation.name.to_string(), expected_inputs: operation.expected_inputs.clone() }
}

/// A run in which the first machine passes a check and the second one fails it.
fn half_good() -> RunRecord {
    let action = "ansible.builtin.fail".into();
    let result = |host: &str, result, message: Option<&str>| EventBody::HostResult {
        task: 1,
        host: host.into(),
        result,
        ms: 1,
        message: message.map(Into::into),
        item: None,
        ignored: false,
    };
    let why = "w1: The clock is 90 s slow. Certificates would not be valid. No machine was changed.";
    let stats = |failed| HostStats { ok: 2, failed, ..HostStats::default() };
    let bodies = [
        EventBody::PlayStart { play: 1, name: "Check the machines".into() },
        EventBody::TaskStart { task: 1, play: 1, name: "Judge the machine".into(), action, handler: false },
        result("m1", HostResult::Skipped, None),
        result("w1", HostResult::Failed, Some(why)),
        EventBody::Stats { hosts: BTreeMap::from([("m1".into(), stats(0)), ("w1".into(), stats(1))]) },
    ];
    let events = (1..).zip(bodies).map(|(n, body)| RunEvent { n, at: 0, after: 0, body }).collect();
    RunRecord { events, ..RunRecord::default() }
}

#[tokio::test]
async fn a_new_cluster_shows_its_plan_and_creates_it() {
    let world = World::standalone().await;
    world.register(&new_cluster()).await.unwrap();
    let before = world.everything().await;
    let creation = read(&world).await;
    assert_eq!(world.everything().await, before, "reading writes nothing");
    assert_eq!(
        (creation.stage, creation.check.as_ref().is_some_and(|check| check.run.is_none())),
        (CreationStage::Planned, true)
    );
    assert_eq!(creation.host_keys.as_ref().unwrap().missing, ["m1", "w1"]);
    assert!(creation.public_key.as_ref().is_some_and(|key| key.starts_with("ssh-ed25519 ")));
    assert_eq!(creation.plan.problems, []);
    let becomes: Vec<_> = creation.plan.machines.iter().map(|machine| machine.becomes.as_str()).collect();
    assert_eq!(becomes, ["Control plane, etcd and worker", "Worker"]);
    assert_eq!((creation.plan.settings[0].value.as_str(), creation.plan.settings[0].is_default), ("v1.35.4", false));
    assert!(Clusters::get(&world.console, &world.user, &prod()).await.unwrap().creatable);

    let name = Creations::create(&world.console, &world.user, &prod(), &reviewed(&creation)).await.unwrap();
    let operation = world.operations().get(name.as_str()).await.unwrap();
    assert_eq!((operation.spec.action.as_str(), operation.spec.extra_args), ("cluster.yml", None));
    let again = Creations::create(&world.console, &world.user, &prod(), &reviewed(&creation)).await.unwrap();
    assert_eq!(again, name, "a second click");
    let working = read(&world).await;
    assert_eq!((working.stage, working.run.unwrap().name), (CreationStage::Working, name.clone()));

    world.set_phase(name.as_str(), Phase::Succeeded, "").await;
    assert_eq!(read(&world).await.stage, CreationStage::Created);
    assert!(!Clusters::get(&world.console, &world.user, &prod()).await.unwrap().creatable);
}

#[tokio::test]
async fn kubespray_has_no_check_of_the_machines() {
    let world = World::with(Playbooks::Image, |_| None).await;
    world.register(&new_cluster()).await.unwrap();
    let creation = read(&world).await;
    assert_eq!((creation.check, creation.plan.operation.is_some()), (None, true));
}

#[tokio::test]
async fn machines_of_another_cluster_are_not_installed() {
    let world = World::standalone().await;
    world.register(&new_cluster()).await.unwrap();
    let lab = NewCluster { name: "lab".into(), ..new_cluster() };
    world.register(&lab).await.unwrap();
    let before = world.everything().await;
    let creation = read(&world).await;
    let problem = creation.plan.problems.iter().map(|problem| problem.message.as_str()).collect::<String>();
    assert!(problem.contains("w1 has the address of w1 in the cluster lab."), "{problem}");
    let shown = reviewed(&creation);
    let refused = Creations::create(&world.console, &world.user, &prod(), &shown).await.unwrap_err();
    assert!(refused.to_string().contains("w1 has the address of w1 in the cluster lab."), "{refused}");
    assert_eq!(world.everything().await, before);
    // Both may share a jump host.
    let patch = |address: &str| {
        let hosts = format!(
            "all: {{hosts: {{n: {{ansible_host: {address}}}, jump: {{ansible_host: 192.0.2.99}}}}}}\nkube_control_plane: {{hosts: {{n: }}}}\nbastion: {{hosts: {{jump: }}}}\n"
        );
        Patch::Merge(json!({"data": {"hosts.yml": hosts}}))
    };
    for (name, address) in [("prod", "192.0.2.50"), ("lab", "192.0.2.60")] {
        let map = format!("{name}-hosts-conf");
        world.config_maps().patch(&map, &PatchParams::default(), &patch(address)).await.unwrap();
    }
    let shown = reviewed(&read(&world).await);
    Creations::create(&world.console, &world.user, &prod(), &shown).await.unwrap();
}

#[tokio::test]
async fn the_check_says_which_machine_has_which_problem() {
    let world = World::standalone().await;
    world.console.ask_runs(Arc::new(FakeRuns { record: Some(half_good()), ..FakeRuns::default() }));
    world.register(&new_cluster()).await.unwrap();
    let name = Creations::check(&world.console, &world.user, &prod()).await.unwrap();
    assert_eq!(world.operations().get(name.as_str()).await.unwrap().spec.action, "precheck.yml");
    assert!(read(&world).await.check.unwrap().hosts.is_empty(), "it has not ended");

    let sha256 = read(&world).await.plan.operation.unwrap().expected_inputs;
    let secret = json!({"namespace": "machines", "name": "snapshot"});
    let inputs = json!({"status": {"inputs": {"secret": secret, "sha256": sha256}}});
    world.operations().patch_status(name.as_str(), &PatchParams::default(), &Patch::Merge(inputs)).await.unwrap();
    world.set_phase(name.as_str(), Phase::Failed, "TaskFailed").await;
    let check = read(&world).await.check.unwrap();
    let hosts: Vec<_> =
        check.hosts.iter().map(|host| (host.name.as_str(), host.result, host.message.as_str())).collect();
    let expected = [
        ("m1", CheckResult::Passed, ""),
        ("w1", CheckResult::Failed, "The clock is 90 s slow. Certificates would not be valid."),
    ];
    assert_eq!((hosts.as_slice(), check.outdated), (expected.as_slice(), false));

    let there = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().variables;
    let text = format!("{}dns_domain: a.local\n", there.text);
    world.console.save(&world.user, &prod(), Document::Variables, &there.version, &text).await.unwrap();
    assert!(read(&world).await.check.unwrap().outdated, "the variables have changed");
}

#[tokio::test]
async fn a_failed_creation_names_the_hosts_and_continues() {
    let world = World::standalone().await;
    world.console.ask_runs(Arc::new(FakeRuns { record: Some(half_good()), ..FakeRuns::default() }));
    world.register(&new_cluster()).await.unwrap();
    let first = Creations::create(&world.console, &world.user, &prod(), &reviewed(&read(&world).await)).await.unwrap();
    world.set_phase(first.as_str(), Phase::Failed, "TaskFailed").await;
    let creation = read(&world).await;
    assert_eq!(creation.stage, CreationStage::Failed);
    let failures: Vec<_> = creation.failures.iter().map(|f| (f.host.as_str(), f.task.as_str())).collect();
    assert_eq!(failures, [("w1", "Judge the machine")]);
    let next = Creations::create(&world.console, &world.user, &prod(), &reviewed(&creation)).await.unwrap();
    assert_ne!(next, first);
    assert_eq!(read(&world).await.stage, CreationStage::Working);
}

#[tokio::test]
async fn a_plan_that_the_playbooks_refuse_says_why() {
    let world = World::standalone().await;
    let second = MachineRow { role: "control_plane".into(), ..machine("m2", "192.0.2.3") };
    let new = new_cluster();
    let machines: Vec<_> = new.machines.iter().cloned().chain([second]).collect();
    let variables: String = "kube_pods_subnet: 192.0.2.0/18\n".into();
    let new = NewCluster { machines, variables, ..new };
    let refused = world.register(&new).await;
    assert!(at(&refused, "machines[2][role]").contains("There are 2 control planes (m1, m2)."));
    assert!(at(&refused, "settings[pods]").contains("bits after the prefix"), "{refused:?}");

    // The form of an existing cluster has no such rules.
    world.register(&NewCluster { purpose: "existing".into(), ..new }).await.unwrap();
    let problems = read(&world).await.plan.problems;
    let of: Vec<_> = problems.iter().map(|problem| problem.fix).collect();
    assert_eq!(of, [Document::Inventory, Document::Variables, Document::Variables].map(Some), "{problems:?}");
    assert!(!Clusters::get(&world.console, &world.user, &prod()).await.unwrap().creatable);
}

#[tokio::test]
async fn settings_of_the_form_become_variables() {
    let world = World::standalone().await;
    let settings = ClusterSettings { version: "1.36.4".into(), services: "10.9.0.0/18".into(), ..Default::default() };
    let new = NewCluster { settings, ..new_cluster() };
    let in_services = NewCluster { machines: vec![machine("m1", "10.9.0.7")], ..new.clone() };
    assert!(at(&world.register(&in_services).await, "settings[services]").contains("The address 10.9.0.7 of m1"));
    world.register(&new).await.unwrap();
    let saved = world.text("prod-vars-conf", "group_vars.yml").await;
    let expected = "# how it is built\nkube_version: 1.36.4\nkube_pods_subnet: 10.233.64.0/18\nkube_service_addresses: 10.9.0.0/18\n";
    assert_eq!(saved, expected);
}

#[tokio::test]
async fn pasted_machines_get_one_control_plane_without_a_balancer() {
    let world = World::standalone().await;
    let lines = NewCluster { machines: Vec::new(), pasted: "m[1:3] 192.0.2.[1:3]".into(), ..new_cluster() };
    let planes = async |new: &NewCluster| {
        let nodes = Clusters::review(&world.console, &world.user, new).await.unwrap().nodes;
        nodes.iter().filter(|node| node.roles.iter().any(|role| role == "control plane")).count()
    };
    assert_eq!(planes(&lines).await, 1);
    let settings = ClusterSettings { balancer: "192.0.2.99".into(), ..Default::default() };
    assert_eq!(planes(&NewCluster { settings, ..lines.clone() }).await, 3);
    let three = ["m1", "m2", "m3"].iter().zip(1..).map(|(name, n)| machine(name, &format!("192.0.2.{n}"))).collect();
    let refused = world.register(&NewCluster { machines: three, ..new_cluster() }).await;
    assert!(at(&refused, "settings[balancer]").contains("3 control planes need an address"));
}

#[tokio::test]
async fn inputs_changed_after_the_plan_was_shown_are_refused() {
    let world = World::standalone().await;
    world.register(&new_cluster()).await.unwrap();
    let shown = reviewed(&read(&world).await);
    let there = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().variables;
    world.console.save(&world.user, &prod(), Document::Variables, &there.version, "{}\n").await.unwrap();
    let refused = Creations::create(&world.console, &world.user, &prod(), &shown).await.unwrap_err();
    assert!(refused.to_string().contains("changed since"), "{refused}");
}
