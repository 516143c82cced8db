//! What the pages show of the clusters themselves, as rendered without JavaScript.

mod fake;

use api::Time;
use api::cluster::{
    Download, Expiry, Health, KubeconfigAccess, LiveCheck, LiveCluster, LiveNode, LiveRow, LiveState, NodeRow,
};
use fake::{Fake, NOW, cluster, detail, list, node, page};

const MINUTE: i64 = 60_000;
const DAY: i64 = 1440 * MINUTE;

fn live(state: LiveState, problem: &str) -> LiveCluster {
    let check = |name: &str, ok| LiveCheck {
        name: name.into(),
        ok,
        message: if ok { "All checks pass" } else { "Failing checks: etcd" }.into(),
    };
    LiveCluster {
        state,
        problem: problem.into(),
        since: Some(Time(NOW.0 - 5 * MINUTE)),
        read: Some(Time(NOW.0 - 2 * MINUTE)),
        version: "v1.34.4".into(),
        checks: vec![check("Control plane", true), check("etcd", state != LiveState::Unhealthy)],
        certificates: vec![Expiry { name: "API certificate".into(), at: Time(NOW.0 + 364 * DAY + 1) }],
        nodes: 3,
        ready: 2,
        newer: None,
        kubeconfig_commands: String::new(),
    }
}

async fn overview(state: LiveState, problem: &str) -> fake::Page {
    let mut shown = detail("prod-fra");
    shown.live = live(state, problem);
    page(&Fake { detail: Ok(shown), ..Fake::default() }, "/clusters/prod-fra").await
}

#[tokio::test]
async fn the_overview_shows_version_health_and_certificates_with_age() {
    let page = overview(LiveState::Unhealthy, "etcd: Failing checks: etcd.").await;
    page.shows("v1.34.4")
        .shows("2 of 3 ready")
        .shows("Unhealthy")
        .shows("Control plane")
        .shows("All checks pass")
        .shows("Failing checks: etcd")
        .shows("API certificate")
        .shows("Expires in 364 d")
        .shows("2 min ago")
        .shows("5 min 0 s");
}

#[tokio::test]
async fn an_unreachable_cluster_says_since_when_and_how_old_it_is() {
    let page = overview(LiveState::Unreachable, "10.0.0.1:6443 doesn't answer within 4 s.").await;
    page.shows("Unreachable").shows("5 min 0 s").shows("v1.34.4").shows("2 min ago");
    let mut shown = detail("prod-fra");
    shown.live = LiveCluster { state: LiveState::NoKubeconfig, ..LiveCluster::default() };
    let page = fake::page(&Fake { detail: Ok(shown), ..Fake::default() }, "/clusters/prod-fra").await;
    page.shows("No kubeconfig").shows("cluster.yml delivers it").hides("2 of 3 ready");
}

#[tokio::test]
async fn the_kubeconfig_is_offered_to_those_who_may_read_it() {
    let mut shown = detail("prod-fra");
    shown.live = live(LiveState::Healthy, "");
    let downloads = vec![Download { by: "grace".into(), at: Time(NOW.0 - 3 * MINUTE) }];
    shown.kubeconfig = Some(KubeconfigAccess { may_download: true, downloads });
    let mut fake = Fake { detail: Ok(shown), ..Fake::default() };
    page(&fake, "/clusters/prod-fra")
        .await
        .shows("action=\"/clusters/prod-fra/kubeconfig\"")
        .shows("<button class=\"btn\">Download")
        .shows("Downloaded by ")
        .shows("grace")
        .shows("3 min ago");
    fake.detail.as_mut().unwrap().kubeconfig.as_mut().unwrap().may_download = false;
    page(&fake, "/clusters/prod-fra")
        .await
        .hides("<button class=\"btn\">Download")
        .shows("You may not read its Secret");
    fake.detail.as_mut().unwrap().kubeconfig = None;
    page(&fake, "/clusters/prod-fra").await.hides("Kubeconfig");
}

#[tokio::test]
async fn the_nodes_tab_joins_inventory_and_cluster() {
    let there = |name: &str, ready| LiveNode {
        name: name.into(),
        roles: vec!["node".into()],
        version: "v1.34.1".into(),
        ready,
        note: if ready { String::new() } else { "container runtime is down".into() },
        address: "10.0.0.9".into(),
        created: Time(NOW.0 - 6 * DAY),
    };
    let row = |name: &str, in_inventory, live| NodeRow { in_inventory, live, ..node(name) };
    let mut fake = Fake::default();
    let shown = fake.nodes.as_mut().unwrap();
    shown.live = live(LiveState::Healthy, "");
    shown.nodes = vec![
        row("both", true, Some(there("both", true))),
        row("only-here", true, None),
        row("only-there", false, Some(there("only-there", false))),
    ];
    let address = "/clusters/prod-fra/nodes";
    let rows = |html: &str| html.split("<tr>").skip(2).map(ToOwned::to_owned).collect::<Vec<_>>();
    let all = rows(&page(&fake, address).await.html);
    assert!(all[0].contains(">Ready<") && all[0].contains("v1.34.1") && all[0].contains("6 d ago"), "{}", all[0]);
    assert!(all[1].contains("Not in the cluster"), "{}", all[1]);
    assert!(all[2].contains("Not ready") && all[2].contains("Not in the inventory"), "{}", all[2]);
    assert!(all[2].contains("container runtime is down"), "{}", all[2]);

    fake.nodes.as_mut().unwrap().live = live(LiveState::Unreachable, "10.0.0.1:6443 doesn't answer within 4 s.");
    let page = page(&fake, address).await;
    page.shows("Was ready").shows("doesn't answer within 4 s").shows("2 min ago").hides(">Ready<");
}

#[tokio::test]
async fn without_a_kubeconfig_the_nodes_tab_shows_the_inventory_only() {
    let mut fake = Fake::default();
    fake.nodes.as_mut().unwrap().live.state = LiveState::NoKubeconfig;
    let page = page(&fake, "/clusters/prod-fra/nodes").await;
    page.shows("The cluster has no kubeconfig").hides("In the cluster").shows("Reached");
}

#[tokio::test]
async fn the_list_shows_versions_and_ready_nodes_and_their_time() {
    let mut row = cluster("prod-fra", Health::Good);
    row.live = Some(LiveRow { version: "v1.34.4".into(), nodes: 3, ready: 2, read: Time(NOW.0 - 2 * MINUTE) });
    let fake = Fake { clusters: Ok(list(vec![row, cluster("other", Health::Good)])), ..Fake::default() };
    page(&fake, "/clusters").await.shows(">v1.34.4<").shows("2/3 ready").shows("title=\"read 20").shows("sort=version");
    page(&Fake::default(), "/clusters").await.hides("sort=version");
}

#[tokio::test]
async fn the_overview_shows_how_a_kubeconfig_of_kubespray_is_stored() {
    let mut shown = detail("prod-fra");
    shown.live = LiveCluster { state: LiveState::NoKubeconfig, ..LiveCluster::default() };
    let mut fake = Fake { detail: Ok(shown), ..Fake::default() };
    page(&fake, "/clusters/prod-fra").await.shows("cluster.yml delivers it at its end").hides("these commands store");
    fake.detail.as_mut().unwrap().live.kubeconfig_commands = "kubectl create secret generic x".into();
    page(&fake, "/clusters/prod-fra")
        .await
        .shows("kubespray leaves it on the first control plane.")
        .shows("these commands store its kubeconfig for the console")
        .shows("kubectl create secret generic x")
        .hides("cluster.yml delivers it");
}
