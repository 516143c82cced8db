//! The page that upgrades a cluster.

mod fake;

use api::cluster::{LastUpgrade, LiveState, NodeState, Upgrade, VersionSource};
use api::operation::Phase;
use fake::{Fake, NOW, operation, page, submit, upgrade, watch};

const PATH: &str = "/clusters/prod-fra/upgrade";

#[tokio::test]
async fn only_versions_in_reach_can_be_chosen() {
    let page = page(&Fake::default(), PATH).await;
    page.shows("Upgrade prod-fra")
        .shows("Running: ")
        .shows(">1.33.13<")
        .shows("read from the cluster")
        .shows("href=\"/clusters/prod-fra/upgrade?to=1.34.9\"")
        .hides("upgrade?to=1.35.9")
        .shows("Needs 1.34 first.")
        .shows("To the newest version in 2 operations: 1.33.13 → 1.34.4 → 1.35.9");
}

#[tokio::test]
async fn the_plan_is_shown_with_one_button() {
    page(&Fake::default(), PATH)
        .await
        .shows("fra-cp1 is the only control plane.")
        .shows("fra-w1 is not ready.")
        .shows("Queued behind grow-1")
        .shows("The button saves this before the run starts.")
        .shows("name=\"form\" value=\"start_upgrade\"")
        .shows("name=\"to\" value=\"1.34.4\"")
        .shows("name=\"made_name\" value=\"ping-x7k2f\"")
        .shows("Upgrade to 1.34.4<");
}

#[tokio::test]
async fn what_the_url_asks_for_reaches_the_server() {
    let fake = Fake::default();
    page(&fake, "/clusters/prod-fra/upgrade?to=1.34.9&from=1.33.4").await;
    let calls = fake.calls.lock().unwrap().join("\n");
    assert!(calls.contains("upgrade of prod-fra UpgradeWish { to: \"1.34.9\", from: \"1.33.4\" }"), "{calls}");
}

#[tokio::test]
async fn without_a_reading_the_page_says_where_the_version_is_from() {
    let without =
        |source, live| Fake { upgrade: Ok(Upgrade { source, live, read: None, ..upgrade() }), ..Fake::default() };
    page(&without(VersionSource::Variables, LiveState::NoKubeconfig), PATH)
        .await
        .shows("from kube_version in the variables: the cluster has no kubeconfig.")
        .hides("name=\"from\" value=\"\" placeholder");
    let unknown = Upgrade {
        running: String::new(),
        source: VersionSource::Unknown,
        live: LiveState::Unreachable,
        versions: vec![],
        path: vec![],
        plan: None,
        refused: Some("“abc” is no version.".into()),
        ..upgrade()
    };
    page(&Fake { upgrade: Ok(unknown), ..Fake::default() }, PATH)
        .await
        .shows("The running version is unknown: the cluster itself can't be read")
        .shows("Running version")
        .shows("“abc” is no version.")
        .hides("Another version")
        .hides("start_upgrade");
}

#[tokio::test]
async fn the_page_says_why_nothing_newer_is_offered() {
    let none_newer = "The image has kubespray v2.28, which installs no version newer than 1.32.5.".to_owned();
    let newest = Upgrade { versions: vec![], path: vec![], plan: None, none_newer: none_newer.clone(), ..upgrade() };
    page(&Fake { upgrade: Ok(newest), ..Fake::default() }, PATH).await.shows(&format!("<p>{none_newer}"));
}

#[tokio::test]
async fn a_running_upgrade_shows_each_node_instead_of_a_form() {
    let mut running = upgrade();
    let row = operation("upgrade-1", "prod-fra", Phase::Running);
    running.last = Some(LastUpgrade {
        row,
        to: Some("1.34.4".parse().unwrap()),
        watch: watch(),
        note: String::new(),
        settling: false,
    });
    (running.versions, running.plan) = (vec![], None);
    running.nodes[0].state = NodeState::Done;
    running.nodes[0].word = "Done".into();
    running.nodes[1].state = NodeState::Upgrading;
    running.nodes[1].word = "Upgrading".into();
    running.nodes[1].detail = "Drain the node".into();
    page(&Fake { upgrade: Ok(running), ..Fake::default() }, PATH)
        .await
        .shows("The upgrade to 1.34.4 is running")
        .shows("href=\"/operations/upgrade-1\"")
        .shows("Drain the node")
        .shows("Safe to stop after w3")
        .shows("Pod shop/db-0 is held by PodDisruptionBudget shop/db.")
        .shows("385 of 400 requests answered")
        .hides("start_upgrade")
        .hides("set_probe")
        .hides("Another version");
}

#[tokio::test]
async fn an_ended_upgrade_proposes_nothing_before_a_reading() {
    let mut ended = upgrade();
    let row = operation("upgrade-1", "prod-fra", Phase::Succeeded);
    ended.last = Some(LastUpgrade {
        row,
        to: Some("1.34.4".parse().unwrap()),
        watch: watch(),
        note: String::new(),
        settling: true,
    });
    assert!(ended.is_changing());
    (ended.versions, ended.plan) = (vec![], None);
    page(&Fake { upgrade: Ok(ended), ..Fake::default() }, PATH)
        .await
        .shows("The upgrade to 1.34.4: succeeded")
        .shows("The versions of the nodes are being read.")
        .hides("<p>The catalogue has no newer version.")
        .hides("Another version");
}

#[tokio::test]
async fn a_failed_upgrade_offers_to_continue() {
    let mut failed = upgrade();
    let mut row = operation("upgrade-1", "prod-fra", Phase::Failed);
    row.message = "fra-w1: task “Drain the node”: web blocks it.".into();
    failed.last = Some(LastUpgrade {
        row,
        to: Some("1.34.4".parse().unwrap()),
        watch: watch(),
        note: String::new(),
        settling: false,
    });
    failed.plan.as_mut().unwrap().continues = true;
    page(&Fake { upgrade: Ok(failed), ..Fake::default() }, PATH)
        .await
        .shows("The upgrade to 1.34.4: failed")
        .shows("web blocks it.")
        .shows("Continue the upgrade to 1.34.4<");
}

#[tokio::test]
async fn starting_an_upgrade_leads_to_its_progress() {
    let fake = Fake::default();
    let form = "cluster=prod-fra&to=1.34.4&from=&version=42&made_name=up-1&expected_inputs=abc";
    let answer = submit(&fake, "start_upgrade", form).await;
    assert_eq!(answer.location.as_deref(), Some("/clusters/prod-fra/upgrade?run=upgrade-cluster-x7k2f"));
    let calls = fake.calls.lock().unwrap().join("\n");
    assert!(calls.contains("to: \"1.34.4\", from: \"\", version: \"42\", made_name: \"up-1\""), "{calls}");
}

#[tokio::test]
async fn the_cluster_offers_its_upgrade() {
    page(&Fake::default(), "/clusters/prod-fra")
        .await
        .shows("href=\"/clusters/prod-fra/upgrade\"")
        .hides("Upgrade to ");
    let mut detail = fake::detail("prod-fra");
    detail.live.newer = Some("1.34.4".parse().unwrap());
    detail.now = NOW;
    let fake = Fake { detail: Ok(detail), ..Fake::default() };
    page(&fake, "/clusters/prod-fra").await.shows("Upgrade to 1.34.4<");
}

#[tokio::test]
async fn the_address_of_a_service_can_be_saved() {
    let mut fake = Fake::default();
    fake.upgrade.as_mut().unwrap().probe_url = "https://shop.example.com/healthz".into();
    page(&fake, PATH).await.shows("value=\"https://shop.example.com/healthz\"").hides(">Saved<");
    page(&fake, "/clusters/prod-fra/upgrade?saved=probe").await.shows("Saved");
    submit(&fake, "set_probe", "form=set_probe&cluster=prod-fra&url=http%3A%2F%2F10.0.0.7%3A30080").await;
    let calls = fake.calls.lock().unwrap().join("\n");
    assert!(calls.contains("probe of prod-fra http://10.0.0.7:30080"), "{calls}");
}
