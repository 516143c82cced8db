//! A Cluster that declares another engine than its operations would get playbooks of.

use api::backend::{Clusters, Creations, Nodes, Operations, Upgrades};
use api::cluster::{NewNodes, ReviewedPlan, ReviewedUpgrade, UpgradeWish};
use api::operation::{Action, NewOperation};
use api::{ClusterName, Problem};
use console::Playbooks;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::world::{World, eventually, form, machine, new_cluster, new_operation};

fn prod() -> ClusterName {
    "prod".parse().unwrap()
}

/// `prod` declares `engine`. By default, operations run an image of kubespray, or the playbooks of the program.
async fn world(playbooks: Playbooks, engine: &str) -> World {
    let world = World::with(playbooks, |_| None).await;
    world.register(&new_cluster("prod")).await.unwrap();
    let patch = json!({"spec": {"engine": engine}});
    world.clusters().patch("prod", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    eventually(async || {
        let facts = Clusters::get(&world.console, &world.user, &prod()).await.unwrap().facts;
        facts.iter().any(|fact| fact.value == engine)
    })
    .await;
    world
}

async fn told(world: &World) -> Option<String> {
    Clusters::get(&world.console, &world.user, &prod()).await.unwrap().wrong_engine
}

#[tokio::test]
async fn playbooks_of_another_engine_change_nothing() {
    for (playbooks, engine, where_from) in
        [(Playbooks::Local, "kubespray", "this program"), (Playbooks::Image, "kubeonkube", "example.com/kubespray:v1")]
    {
        let world = world(playbooks, engine).await;
        let why = told(&world).await.unwrap();
        assert!(why.contains(&format!("spec.engine: {engine}")) && why.contains(where_from), "{why}");
        let (console, user, name) = (&world.console, &world.user, &prod());
        let before = world.everything().await;
        let nodes = NewNodes { machines: vec![machine("w2", "192.0.2.3")], ..NewNodes::default() };
        let upgrade = ReviewedUpgrade { to: "1.36.4".into(), ..ReviewedUpgrade::default() };
        let mut refused = vec![
            ("create", Creations::create(console, user, name, &ReviewedPlan::default()).await.err()),
            ("add", Nodes::add(console, user, name, &nodes).await.err()),
            ("review of add", Nodes::review(console, user, name, &nodes).await.err()),
            ("removal", Nodes::removal(console, user, name, "w1", false).await.err()),
            ("upgrade", Upgrades::start(console, user, name, &upgrade).await.err()),
        ];
        let typed = form(&[("action", "reset.yml"), ("confirmed", "prod")]);
        refused.push(("reset", world.submit_form(&typed).await.err()));
        refused.push(("hook", world.submit_form(&form(&[("post_hooks", "cluster.yml")])).await.err()));
        for (what, problem) in refused {
            let message = problem.unwrap_or_else(|| panic!("{what} was accepted")).to_string();
            assert!(message.contains(&why), "{what}: {message}");
        }
        let upgrade = Upgrades::plan(console, user, name, &UpgradeWish::default()).await.unwrap();
        assert_eq!((upgrade.plan, upgrade.refused), (None, Some(why.clone())));
        let plan = Creations::read(console, user, name).await.unwrap().plan;
        assert_eq!((plan.problems[0].message.as_str(), plan.problems[0].fix), (why.as_str(), None));
        assert_eq!(world.everything().await, before);

        world.submit(&new_operation("prod")).await.unwrap();
        let script = NewOperation::new(prod(), Action::Script("true".into()));
        world.submit(&script).await.unwrap();
    }
}

#[tokio::test]
async fn the_image_of_the_operation_decides() {
    let world = world(Playbooks::Image, "kubespray").await;
    assert_eq!(told(&world).await, None);
    let with = |image| form(&[("action", "cluster.yml"), ("image", image)]);
    let ours = world.review_form(&with("example.com/kubeonkube-runner:1")).await;
    let Err(Problem::Invalid { message, .. }) = ours else { panic!("{ours:?}") };
    assert!(message.contains("the image example.com/kubeonkube-runner:1 has the playbooks of kubeonkube"), "{message}");
    Operations::review(&world.console, &world.user, &with("example.com/spray:1").request().unwrap()).await.unwrap();
}
