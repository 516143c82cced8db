//! In a cluster, the program does everything that a person asks for with that person's token.

use std::sync::Arc;

use crd::ClusterOperation;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::ListParams;
use kube::{Api, ResourceExt};

use crate::cluster::Cluster;
use crate::server::{Got, Server};

const MACHINES: &str = "m1 192.0.2.1\n";

pub(crate) async fn in_a_cluster() -> (Arc<Cluster>, Server) {
    let cluster = Cluster::start().await;
    cluster.add_user("token-of-ann", "ann");
    cluster.add_reader("token-of-eve", "eve");
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let server = Server::start(&["--kubeconfig", &kubeconfig]).await;
    (cluster, server)
}

pub(crate) async fn register(server: &Server, cookie: &str, name: &str) -> Got {
    let fields = [
        ("form", "register_cluster"),
        ("name", name),
        ("pasted", MACHINES),
        ("ssh", "generate"),
        ("variables", "a: 1\n"),
    ];
    server.post("/clusters/_new", cookie, &fields).await
}

/// The version of the variables, which a change has to name.
async fn version(server: &Server, cookie: &str) -> String {
    let configuration = server.get("/api/load_configuration?cluster=prod", cookie).await.json();
    let version = configuration.pointer("/variables/version").and_then(|version| version.as_str());
    version.unwrap_or_else(|| panic!("no version: {configuration}")).to_owned()
}

/// The form that changes the variables of `version`.
fn change(version: &str) -> [(&'static str, &str); 5] {
    [("form", "save_change"), ("cluster", "prod"), ("document", "variables"), ("version", version), ("text", "a: 2\n")]
}

/// Whether one of these requests has this method and a path that contains `path`.
fn has(asked: &[String], method: &str, path: &str) -> bool {
    asked.iter().any(|asked| asked.split_once(' ').is_some_and(|(m, p)| m == method && p.contains(path)))
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_and_reads_of_inputs_use_the_persons_token() {
    let (cluster, server) = in_a_cluster().await;
    if server.has_no_pages("writes_and_reads_of_inputs_use_the_persons_token").await {
        return;
    }
    let ann = server.sign_in("token-of-ann").await;
    assert!(!ann.contains("token-of-ann"), "the token must be sealed");
    let theirs = |what: &str, wanted: &[(&str, &str)]| {
        let asked = cluster.requests_of("ann");
        for (method, path) in wanted {
            assert!(has(&asked, method, path), "{what} lacks {method} {path}: {asked:#?}");
        }
    };
    let got = register(&server, &ann, "prod").await;
    assert_eq!(got.status, 303, "{}", got.body);
    theirs("registering", &[("POST", "/configmaps"), ("POST", "/secrets"), ("POST", "/clusters")]);
    let version = version(&server, &ann).await;
    theirs("the configuration", &[("GET", "/configmaps/")]);
    assert_eq!(server.get("/api/load_nodes?cluster=prod", &ann).await.status, 200);
    theirs("the machines", &[("GET", "/configmaps/")]);
    let change = change(&version);
    let got = server.post("/clusters/prod/configuration", &ann, &change).await;
    assert_eq!(got.status, 303, "{}", got.body);
    let saved = cluster.requests_of("ann");
    assert!(has(&saved, "PUT", "/configmaps/") || has(&saved, "PATCH", "/configmaps/"), "{saved:#?}");
    let got = server.submit(&ann, "prod", "grow", "sleep 600").await;
    assert_eq!(got.status, 303, "{}", got.body);
    theirs("submitting", &[("GET", "/configmaps/"), ("POST", "/clusteroperations")]);
    let got = server.post("/operations/grow", &ann, &[("form", "cancel_operation"), ("name", "grow")]).await;
    assert_eq!(got.status, 303, "{}", got.body);
    theirs("cancelling", &[("PATCH", "/clusteroperations/grow")]);
    let operations: Api<ClusterOperation> = Api::all(cluster.admin());
    server
        .eventually("the end of the cancelled operation", async || {
            operations.get("grow").await.expect("kept").status.is_some_and(|status| status.status.is_final())
        })
        .await;
    let clusters: Api<crd::Cluster> = Api::all(cluster.admin());
    server
        .eventually("the lock on the cluster to be released", async || {
            let history = clusters.get("prod").await.expect("kept").status.unwrap_or_default().conditions;
            history.iter().all(|entry| entry.status.is_final())
        })
        .await;
    // The log is collected once for everybody. Whether a person may read it is checked with that person's token.
    cluster.requests_of("ann");
    assert_eq!(server.get("/operations/grow/log.txt", &ann).await.status, 200);
    let gone = [("form", "unregister_cluster"), ("cluster", "prod"), ("confirm", "prod"), ("records", "delete")];
    let got = server.post("/clusters/prod/unregister", &ann, &gone).await;
    assert_eq!(got.status, 303, "{}", got.body);
    theirs("unregistering", &[("DELETE", "/clusters/prod")]);
    cluster.end(&[]).await;
}

/// The console's own service account may do all of this. A person must not get its rights.
#[tokio::test(flavor = "multi_thread")]
async fn the_console_gives_a_reader_no_rights_beyond_listing() {
    let (cluster, server) = in_a_cluster().await;
    if server.has_no_pages("the_console_gives_a_reader_no_rights_beyond_listing").await {
        return;
    }
    let (ann, eve) = (server.sign_in("token-of-ann").await, server.sign_in("token-of-eve").await);
    assert_eq!(register(&server, &ann, "prod").await.status, 303);
    assert_eq!(server.submit(&ann, "prod", "grow", "sleep 600").await.status, 303);
    let operations: Api<ClusterOperation> = Api::all(cluster.admin());
    server
        .eventually("the operation to run", async || {
            operations.get("grow").await.expect("there").status.is_some_and(|status| status.job_ref.is_some())
        })
        .await;
    let version = version(&server, &ann).await;
    let reading = async || server.get("/api/load_run?name=grow", &ann).await.status == 200;
    server.eventually("its record", reading).await;
    let before = everything(&cluster).await;

    assert_eq!(server.get("/api/load_clusters?filter[q]=", &eve).await.status, 200, "eve may list");
    assert_eq!(server.get("/api/load_cluster?cluster=prod", &eve).await.json()["row"]["name"], "prod");
    for path in [
        "/api/load_configuration?cluster=prod",
        "/api/load_nodes?cluster=prod",
        "/operations/grow/log.txt",
        "/api/load_run?name=grow",
        "/api/load_lines?name=grow&from=1&count=10",
        "/api/find_lines?name=grow&q=line",
    ] {
        let got = server.get(path, &eve).await;
        assert_eq!(got.status, 403, "{path}: {got:?}");
        assert!(got.body.contains("You may not"), "{path}: {got:?}");
    }
    let change = change(&version);
    let gone = [("form", "unregister_cluster"), ("cluster", "prod"), ("confirm", "prod"), ("records", "delete")];
    let cancel = [("form", "cancel_operation"), ("name", "grow")];
    let theft = [("form", "review_operation"), ("cluster", "prod"), ("kind", "script"), ("script", "true")];
    for (path, fields) in [
        ("/clusters/prod/configuration", &change[..]),
        ("/clusters/prod/unregister", &gone),
        ("/operations/grow", &cancel),
        ("/operations/_new", &theft),
    ] {
        let got = server.post(path, &eve, fields).await;
        assert_eq!(got.status, 403, "{path}: {got:?}");
    }
    assert_eq!(register(&server, &eve, "hers").await.status, 403);
    assert_eq!(everything(&cluster).await, before, "something was changed");
    assert!(operations.get("grow").await.expect("there").spec.cancel != Some(true));
    cluster.end(&["grow"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_ends_the_session() {
    let (cluster, server) = in_a_cluster().await;
    let ann = server.sign_in("token-of-ann").await;
    assert_eq!(server.get("/api/load_frame?", &ann).await.status, 200);
    cluster.revoke("token-of-ann");
    let got = register(&server, &ann, "late").await;
    assert!([401, 303].contains(&got.status) && !got.header("location").contains("late"), "{got:?}");
    // The cluster has just refused the token, so it is checked again at once and not after 30 seconds.
    let got = server.get("/clusters", &ann).await;
    assert_eq!((got.status, got.header("location")), (303, "/login?ended&next=%2Fclusters"));
    cluster.add_user("token-of-ann", "ann");
    assert_eq!(server.get("/clusters", &ann).await.status, 303, "an ended session was accepted again");
}

/// All objects that the console writes for people, as text.
async fn everything(cluster: &Cluster) -> Vec<String> {
    let (all, admin) = (ListParams::default(), cluster.admin());
    let maps = Api::<ConfigMap>::all(admin.clone()).list(&all).await.expect("maps");
    let secrets = Api::<Secret>::all(admin.clone()).list(&all).await.expect("secrets");
    let clusters = Api::<crd::Cluster>::all(admin.clone()).list(&all).await.expect("clusters");
    let operations = Api::<ClusterOperation>::all(admin).list(&all).await.expect("operations");
    let mut names: Vec<String> = maps.iter().map(|map| format!("{} {:?}", map.name_any(), map.data)).collect();
    names.extend(secrets.iter().map(ResourceExt::name_any));
    names.extend(clusters.iter().map(ResourceExt::name_any));
    names.extend(operations.iter().map(ResourceExt::name_any));
    names
}
