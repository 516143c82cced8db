//! What there is to watch while an operation runs.

use std::sync::Arc;

use api::backend::{Operations, Upgrades};
use api::log::{LogPage, RunRecord};
use api::operation::{Action, NewOperation};
use api::run::{EventBody, RunEvent};
use api::watch::{StopWhen, Watch};
use api::{ClusterName, OperationName};

use super::world::{FakeRuns, World, new_cluster};

fn prod() -> ClusterName {
    "prod".parse().unwrap()
}

/// A run that has been draining `w1` for this time.
fn draining(seconds: i64) -> RunRecord {
    let bodies = [
        EventBody::PlayStart { play: 1, name: "Upgrade the workers".into() },
        EventBody::TaskStart {
            task: 1,
            play: 1,
            name: "Drain the node".into(),
            action: "drain_node".into(),
            handler: false,
        },
        EventBody::HostStart { task: 1, host: "w1".into() },
    ];
    let at = jiff::Timestamp::now().as_millisecond() - seconds * 1000;
    let events = bodies.into_iter().zip(1..).map(|(body, n)| RunEvent { n, at, after: 0, body }).collect();
    RunRecord { log: LogPage { first: 1, lines: vec![], total: 0, end: None }, events, note: None }
}

/// A cluster with an upgrade whose events are these.
async fn upgrading(record: RunRecord) -> (World, OperationName) {
    let world = World::standalone().await;
    world.console.ask_runs(Arc::new(FakeRuns { record: Some(record), ..FakeRuns::default() }));
    world.register(&new_cluster("prod")).await.unwrap();
    let action = Action::Builtin { playbook: "upgrade-cluster.yml".into(), parameters: None };
    let name = world.submit(&NewOperation::new(prod(), action)).await.unwrap();
    (world, name)
}

async fn watch(world: &World, name: &OperationName) -> Watch {
    Operations::watch(&world.console, &world.user, name).await.unwrap()
}

#[tokio::test]
async fn only_a_running_operation_can_be_stopped_or_late() {
    let (world, name) = upgrading(draining(400)).await;
    let queued = watch(&world, &name).await;
    assert_eq!((queued.stop, queued.stall), (None, None));

    world.set_phase(name.as_str(), crd::Phase::Running, "Started").await;
    let running = watch(&world, &name).await;
    let stop = running.stop.unwrap();
    assert_eq!(stop.when, StopWhen::AfterNode("w1".into()));
    assert!(stop.why.starts_with("w1 is being upgraded."), "{}", stop.why);
    let title = running.stall.unwrap().title;
    assert!(title.starts_with("“Drain the node” on w1 takes 6 min "), "{title}");
    assert_eq!(running.answers, [], "the cluster has no kubeconfig");
    let upgrade = world.console.plan(&world.user, &prod(), &Default::default()).await.unwrap();
    let of_page = upgrade.last.unwrap().watch;
    assert_eq!(of_page.stop.unwrap().when, StopWhen::AfterNode("w1".into()), "the page of the upgrade says the same");

    world.set_phase(name.as_str(), crd::Phase::Failed, "TaskFailed").await;
    let ended = watch(&world, &name).await;
    assert_eq!((ended.stop, ended.stall), (None, None));
}

#[tokio::test]
async fn a_task_in_its_usual_time_is_no_stall() {
    let (world, name) = upgrading(draining(20)).await;
    world.set_phase(name.as_str(), crd::Phase::Running, "Started").await;
    assert_eq!(watch(&world, &name).await.stall, None);
}

#[tokio::test]
async fn the_address_of_a_service_is_saved_and_removed() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let saved = async || world.console.plan(&world.user, &prod(), &Default::default()).await.unwrap().probe_url;
    assert_eq!(saved().await, "");
    let set = async |url: &str| world.console.set_probe(&world.user, &prod(), url).await;
    set(" https://shop.example.com/healthz ").await.unwrap();
    assert_eq!(saved().await, "https://shop.example.com/healthz");
    let refused = set("shop.example.com").await.unwrap_err().to_string();
    assert!(refused.contains("An address begins with http:// or https://"), "{refused}");
    assert_eq!(saved().await, "https://shop.example.com/healthz");
    set("").await.unwrap();
    assert_eq!(saved().await, "");
}
