//! Jobs of the lab's own Kubernetes, and what they print.

use std::time::Duration;

use futures::{AsyncBufReadExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, LogParams, PostParams};
use kube::{Api, Client};
use lab::wait::{PATIENCE, until_async};
use serde_json::Value;

/// Creates an object. Replaces one of the same name that an earlier run has left.
pub(crate) async fn create<K>(client: &Client, object: Value) -> String
where
    K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + serde::Serialize,
{
    let objects: Api<K> = Api::default_namespaced(client.clone());
    let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
    let object: K = serde_json::from_value(object).expect("a valid object");
    let _none = objects.delete(&name, &DeleteParams::foreground()).await;
    until_async(&format!("{name} to be created"), PATIENCE, || async {
        objects.create(&PostParams::default(), &object).await.map(drop).map_err(|error| error.to_string())
    })
    .await
    .unwrap();
    name
}

/// Waits until a Job's container has started. Returns the name of its pod.
async fn started_pod(client: &Client, job: &str) -> String {
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    until_async(&format!("the pod of {job}"), PATIENCE, || async {
        let found = pods.list(&ListParams::default().labels(&format!("job-name={job}"))).await;
        let pod = found.map_err(|error| error.to_string())?.items.into_iter().next().ok_or("there is none")?;
        let status = pod.status.unwrap_or_default();
        match status.phase.as_deref() {
            Some("Running" | "Succeeded" | "Failed") => pod.metadata.name.ok_or("it has no name".to_owned()),
            _ => Err(format!("{:?}", status.container_statuses)),
        }
    })
    .await
    .unwrap()
}

/// The log of a Job, followed to its end, which must come `within` that time. With `timestamps`, each line begins with its time in
/// RFC 3339, and a space.
pub(crate) async fn followed_log(client: &Client, job: &str, within: Duration, timestamps: bool) -> Vec<String> {
    let pod = started_pod(client, job).await;
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let log = pods.log_stream(&pod, &LogParams { follow: true, timestamps, ..LogParams::default() }).await.unwrap();
    let lines = log.lines().try_collect();
    tokio::time::timeout(within, lines).await.expect("the log ends").unwrap()
}
