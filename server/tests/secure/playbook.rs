//! A run of a playbook of a ConfigMap, with a real ansible, and what the API returns afterwards.

use crd::{ActionSource, Cluster, ClusterOperation, ClusterOperationSpec, DataRef};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Pod};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, ResourceExt};

use crate::ansible;
use crate::canaries::assert_clean;
use crate::server::{Server, kube};
use crate::skipped::skip;

/// A server with the cluster `prod`, the cookie of a user, a client of the API, and the namespace of the cluster's inputs. `None` if
/// ansible or the pages are missing: then the test is recorded as skipped.
pub(crate) async fn with_prod(test: &str) -> Option<(Server, String, Client, String)> {
    let Some(folder) = ansible::folder() else {
        skip(test, "KUBEONKUBE_TEST_ANSIBLE names no folder with ansible-playbook");
        return None;
    };
    let server = Server::start_with_ansible(&folder).await;
    if server.has_no_pages(test).await {
        return None;
    }
    let cookie = server.sign_in_by_link().await;
    let fields = [("form", "register_cluster"), ("name", "prod"), ("pasted", "m1 192.0.2.1\n"), ("ssh", "generate")];
    let got = server.post("/clusters/_new", &cookie, &fields).await;
    assert_eq!(got.status, 303, "{}", got.body);
    let client = kube(&server.file("kubeconfig")).await;
    let cluster = Api::<Cluster>::all(client.clone()).get("prod").await.expect("the cluster");
    Some((server, cookie, client, cluster.spec.hosts_conf_ref.namespace))
}

/// Submits the operation `grow` on `prod`. It runs this playbook, which the ConfigMap has under the name `action`.
pub(crate) async fn submit(client: &Client, namespace: &str, action: &str, playbook: &str) {
    let at = DataRef::new(namespace, "playbooks");
    let map = serde_json::json!({"metadata": {"name": at.name}, "data": {action: playbook}});
    let map: ConfigMap = serde_json::from_value(map).expect("a ConfigMap");
    Api::namespaced(client.clone(), namespace).create(&PostParams::default(), &map).await.expect("created");
    let spec = ClusterOperationSpec {
        cluster: "prod".into(),
        action: action.into(),
        action_source: ActionSource::Configmap,
        action_source_ref: Some(at),
        image: "any".into(),
        ..ClusterOperationSpec::default()
    };
    let operations = Api::<ClusterOperation>::all(client.clone());
    operations.create(&PostParams::default(), &ClusterOperation::new("grow", spec)).await.expect("submitted");
}

/// The log of the run's pod, as the API returns it. Fails if it contains a canary.
pub(crate) async fn clean_log_of_pod(client: &Client, namespace: &str, canaries: &[String]) -> String {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pod = pods.list(&ListParams::default()).await.expect("pods").items.remove(0);
    let raw = pods.logs(&pod.name_any(), &Default::default()).await.expect("the log of the pod");
    assert_clean("the pod's log", &raw, canaries);
    raw
}

/// Fails if an object of the API that is no Secret contains a canary.
pub(crate) async fn assert_clean_api(client: &Client, namespace: &str, canaries: &[String]) {
    let all = ListParams::default();
    let texts = [
        format!("{:?}", Api::<Pod>::namespaced(client.clone(), namespace).list(&all).await.expect("pods")),
        format!("{:?}", Api::<Job>::all(client.clone()).list(&all).await.expect("Jobs")),
        format!("{:?}", Api::<Event>::all(client.clone()).list(&all).await.expect("Events")),
        format!("{:?}", Api::<ConfigMap>::all(client.clone()).list(&all).await.expect("ConfigMaps")),
        format!("{:?}", Api::<ClusterOperation>::all(client.clone()).list(&all).await.expect("operations")),
        format!("{:?}", Api::<Cluster>::all(client.clone()).list(&all).await.expect("clusters")),
    ];
    texts.iter().for_each(|text| assert_clean("the API", text, canaries));
}
