//! The server's rights in a cluster are those that it uses: every request of these tests is checked against them (`cluster.rs`), and
//! this test uses them all.

use crd::{Cluster as Registered, ClusterOperation};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::cluster::Cluster;
use crate::own_token::{in_a_cluster, register};
use crate::rights::{CLUSTERS, Rights, SYSTEM};

/// Rights that an ordinary day doesn't need.
const RARE: [&str; 4] = [
    // To count repetitions of an Event about an unchanged object: <https://docs.rs/kube/latest/kube/runtime/events/struct.Recorder.html>
    "events.k8s.io/events patch",
    // After a restart or a refused creation (server/controller/tests/behaviour/crashes.rs).
    "batch/jobs get",
    "kubeonkube.clay.io/clusteroperations get",
    // If the placeholder of a Job is refused (server/controller/tests/behaviour/refusals.rs).
    "/secrets delete",
];

#[test]
fn k19_secrets_of_other_namespaces_stay_unreadable() {
    let rights = Rights::shipped();
    let about_secrets = |right: &&String| right.starts_with("/secrets");
    assert_eq!(rights.everywhere().iter().find(about_secrets), None);
    for verb in ["list", "watch", "update", "deletecollection", "*"] {
        assert!(!rights.all().contains(&format!("/secrets {verb}")), "{verb}");
    }
    assert!(rights.all().contains("/secrets get"), "the file wasn't read");
    let about_any = |namespace: &&str| {
        ["get", "create", "patch", "delete"]
            .iter()
            .any(|verb| !rights.names(namespace, &format!("/secrets {verb}")).is_empty())
    };
    assert_eq!(rights.namespaces().into_iter().filter(about_any).collect::<Vec<_>>(), [CLUSTERS, SYSTEM]);
    assert_eq!(rights.names(SYSTEM, "/secrets get"), [["kubeonkube-signing-key"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_needs_every_right_that_it_has() {
    let (cluster, server) = in_a_cluster().await;
    if server.has_no_pages("the_server_needs_every_right_that_it_has").await {
        return;
    }
    // Keeps one operation per cluster.
    let settings = json!({"metadata": {"name": crd::CONFIG_NAME}, "data": {crd::CONFIG_BACKEND_LIMIT: "1"}});
    create::<ConfigMap>(&cluster, settings).await;
    let ann = server.sign_in("token-of-ann").await;
    assert_eq!(register(&server, &ann, "prod").await.status, 303);

    let kubeconfig = json!({"metadata": {"name": crd::kubeconfig_name("prod")}, "stringData": {"kubeconfig": "{}"}});
    create::<Secret>(&cluster, kubeconfig).await;
    let got = server.post("/clusters/prod/kubeconfig", &ann, &[]).await;
    assert_eq!((got.status, got.body.as_str()), (200, "{}"), "{got:?}");
    let clusters: Api<Registered> = Api::all(cluster.admin());
    let downloads = clusters.get("prod").await.expect("there").annotations().get(crd::ANNOTATION_DOWNLOADS).cloned();
    assert!(downloads.is_some_and(|record| record.contains("ann")));

    let operations: Api<ClusterOperation> = Api::all(cluster.admin());
    let has_ended = async |name: &str| {
        let found = operations.get_opt(name).await.expect("an answer");
        found.is_some_and(|found| found.labels().contains_key(crd::LABEL_HAS_COMPLETED))
    };
    assert_eq!(server.submit(&ann, "prod", "quick", "true").await.status, 303);
    server.eventually("the end of the first operation", async || has_ended("quick").await).await;
    assert_eq!(server.submit(&ann, "prod", "slow", "sleep 600").await.status, 303);
    server
        .eventually("the second operation to run", async || {
            operations.get("slow").await.expect("there").status.is_some_and(|status| status.job_ref.is_some())
        })
        .await;
    let cancel = Patch::Merge(json!({"spec": {"cancel": true}}));
    operations.patch("slow", &PatchParams::default(), &cancel).await.expect("cancelled");
    server.eventually("the end of the second operation", async || has_ended("slow").await).await;
    server
        .eventually("the oldest operation to be deleted", async || {
            operations.get_opt("quick").await.expect("an answer").is_none()
        })
        .await;

    let has_log = async || server.get("/operations/slow/log.txt", &ann).await.status == 200;
    server.eventually("the log", has_log).await;

    cluster.end(&[]).await;
    let mut unneeded = cluster.unused_rights();
    unneeded.retain(|right| !RARE.contains(&right.as_str()));
    assert!(unneeded.is_empty(), "deploy/kubernetes/rbac.yaml has rights that the server doesn't need: {unneeded:#?}");
}

async fn create<K>(cluster: &Cluster, object: serde_json::Value)
where
    K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + serde::Serialize,
{
    let object: K = serde_json::from_value(object).expect("valid");
    Api::default_namespaced(cluster.admin()).create(&PostParams::default(), &object).await.expect("created");
}
