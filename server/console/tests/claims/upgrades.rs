//! Upgrading a cluster without a kubeconfig: the variables tell what runs, or the user.

use api::backend::{Configurations, Upgrades};
use api::cluster::{NewCluster, NodeState, ReviewedUpgrade, Upgrade, UpgradeWish, VersionSource};
use api::configuration::Document;
use api::operation::Phase;
use api::{ClusterName, OperationName, Problem};

use super::world::{World, new_cluster};

fn prod() -> ClusterName {
    "prod".parse().unwrap()
}

/// A cluster with 1.35.4 in its variables.
async fn world() -> World {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    world
}

async fn plan_from(world: &World, to: &str, from: &str) -> Upgrade {
    let wish = UpgradeWish { to: to.into(), from: from.into() };
    world.console.plan(&world.user, &prod(), &wish).await.unwrap()
}

async fn plan(world: &World, to: &str) -> Upgrade {
    plan_from(world, to, "").await
}

/// The form as the browser submits it.
fn confirmed(upgrade: &Upgrade) -> ReviewedUpgrade {
    let plan = upgrade.plan.as_ref().unwrap();
    ReviewedUpgrade {
        to: plan.to.to_string(),
        from: String::new(),
        version: plan.change.as_ref().map(|change| change.version.clone()).unwrap_or_default(),
        made_name: plan.operation.name.to_string(),
        expected_inputs: plan.operation.expected_inputs.clone(),
    }
}

async fn start(world: &World, reviewed: &ReviewedUpgrade) -> Result<OperationName, Problem> {
    world.console.start(&world.user, &prod(), reviewed).await
}

async fn variables(world: &World) -> String {
    Configurations::read(&world.console, &world.user, &prod()).await.unwrap().variables.text
}

#[tokio::test]
async fn one_button_saves_the_version_and_submits() {
    let world = world().await;
    let before = world.everything().await;
    let upgrade = plan(&world, "").await;
    assert_eq!((upgrade.running.as_str(), upgrade.source), ("1.35.4", VersionSource::Variables));
    let of_plan = upgrade.plan.as_ref().unwrap();
    assert_eq!(of_plan.to.to_string(), "1.36.4", "the tested one");
    assert_eq!(of_plan.change.as_ref().unwrap().summary, ["variable kube_version changed from v1.35.4 to v1.36.4"]);
    let command = of_plan.operation.commands[0].join(" ");
    assert!(command.contains("upgrade-cluster.yml") && command.contains("-e kube_version=v1.36.4"), "{command}");
    assert_eq!(world.everything().await, before, "a plan writes nothing");

    let reviewed = confirmed(&upgrade);
    let name = start(&world, &reviewed).await.unwrap();
    assert_eq!(variables(&world).await, "# how it is built\nkube_version: v1.36.4\n");
    let operation = world.operations().get(name.as_str()).await.unwrap();
    assert_eq!(operation.spec.extra_args.as_deref(), Some("-e kube_version=v1.36.4"));
    assert_eq!(operation.spec.expected_inputs, Some(reviewed.expected_inputs.clone()));
    let saved = world.everything().await;
    assert_eq!(start(&world, &reviewed).await.unwrap(), name, "a second click");
    assert_eq!(world.everything().await, saved);
}

#[tokio::test]
async fn a_version_out_of_reach_is_refused_with_the_reason() {
    let world = world().await;
    for (to, why) in [
        ("1.38.4", "Needs 1.36 first"),
        ("1.35.3", "can't be downgraded"),
        ("1.35.4", "runs it already"),
        ("1.36", "Write all three numbers"),
        ("<script>", "is no version"),
    ] {
        let upgrade = plan(&world, to).await;
        assert!(upgrade.plan.is_none(), "{to}");
        assert!(upgrade.refused.as_ref().unwrap().contains(why), "{to}: {:?}", upgrade.refused);
        let before = world.everything().await;
        let reviewed = ReviewedUpgrade { to: to.into(), ..confirmed(&plan(&world, "").await) };
        assert!(matches!(start(&world, &reviewed).await, Err(Problem::Invalid { .. })), "{to}");
        assert_eq!(world.everything().await, before, "{to} changes nothing");
    }
    assert!(plan(&world, "1.36.7").await.plan.is_some(), "a patch that is not in the catalogue");
}

#[tokio::test]
async fn variables_changed_after_the_review_are_kept() {
    let world = world().await;
    let reviewed = confirmed(&plan(&world, "").await);
    let version = Configurations::read(&world.console, &world.user, &prod()).await.unwrap().variables.version;
    let other = "kube_version: v1.35.4\nby: another user\n";
    world.console.save(&world.user, &prod(), Document::Variables, &version, other).await.unwrap();
    let refused = start(&world, &reviewed).await.unwrap_err();
    assert!(refused.to_string().contains("Review it again"), "{refused}");
    assert_eq!(variables(&world).await, other);
}

#[tokio::test]
async fn without_a_known_version_the_user_types_it() {
    let world = World::standalone().await;
    world.register(&NewCluster { variables: "a: 1\n".into(), ..new_cluster("prod") }).await.unwrap();
    let upgrade = plan(&world, "").await;
    assert_eq!((upgrade.source, upgrade.versions.len()), (VersionSource::Unknown, 0));
    assert!(plan_from(&world, "", "abc").await.refused.unwrap().contains("is no version"));
    let upgrade = plan_from(&world, "", "1.35.4").await;
    assert_eq!(
        (upgrade.source, upgrade.plan.as_ref().unwrap().to.to_string().as_str()),
        (VersionSource::Typed, "1.36.4")
    );
    let reviewed = ReviewedUpgrade { from: "1.35.4".into(), ..confirmed(&upgrade) };
    start(&world, &reviewed).await.unwrap();
    assert_eq!(variables(&world).await, "a: 1\nkube_version: 1.36.4\n");
}

#[tokio::test]
async fn an_upgrade_under_way_offers_no_other_one() {
    let world = world().await;
    let name = start(&world, &confirmed(&plan(&world, "").await)).await.unwrap();
    world.set_phase(name.as_str(), crd::Phase::Running, "Started").await;
    let upgrade = plan(&world, "").await;
    let last = upgrade.last.as_ref().unwrap();
    assert_eq!((last.row.name.clone(), last.row.phase), (name.clone(), Phase::Running));
    assert_eq!(last.to.unwrap().to_string(), "1.36.4");
    assert!(upgrade.is_under_way() && upgrade.plan.is_none() && upgrade.versions.is_empty());
    assert!(!last.note.is_empty(), "this world has no logs");

    world.set_phase(name.as_str(), crd::Phase::Failed, "JobFailed").await;
    let upgrade = plan(&world, "").await;
    assert_eq!(upgrade.source, VersionSource::Unknown, "the variables name the version that was not reached");
    let upgrade = plan_from(&world, "", "1.35.4").await;
    let of_plan = upgrade.plan.as_ref().unwrap();
    assert!(of_plan.continues && of_plan.change.is_none() && of_plan.to.to_string() == "1.36.4");
    assert!(upgrade.nodes.iter().all(|node| node.state == NodeState::Waiting), "{:?}", upgrade.nodes);
}

#[tokio::test]
async fn an_upgrade_behind_another_operation_is_queued() {
    let world = world().await;
    let name = world.submit(&super::world::new_operation("prod")).await.unwrap();
    let waits = plan(&world, "").await.plan.unwrap().operation.waits_for.unwrap();
    assert!(waits.contains(name.as_str()), "{waits}");
}
