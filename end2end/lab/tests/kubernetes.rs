//! Tests of the lab's own Kubernetes. They share one lab.

#[path = "shared/jobs.rs"]
mod jobs;
mod shared;

use jobs::{create, followed_log};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, Secret, Service};
use kube::{Api, Client};
use lab::wait::{PATIENCE, until_async};
use lab::{PROBE, RUNNER};
use serde_json::{Value, json};
use shared::lab;

fn job(name: &str, image: &str, words: &[&str], more: &Value) -> Value {
    let mut container = json!({"name": "main", "image": image, "imagePullPolicy": "Never", "args": words});
    container.as_object_mut().expect("an object").extend(more["container"].as_object().cloned().unwrap_or_default());
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"backoffLimit": 0,
        "activeDeadlineSeconds": PATIENCE.as_secs(),
        "template": {"spec": {"restartPolicy": "Never", "containers": [container], "volumes": more["volumes"],
            "nodeName": more["node"]}}}})
}

/// A pod that answers every request on port 8080 with its name and the client's address. Its label `app` is its name.
fn answering(name: &str, node: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 0, "nodeName": node, "containers": [{"name": "main", "image": PROBE,
            "imagePullPolicy": "Never", "args": ["answer", ":8080"],
            "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}}]}})
}

/// Waits until a pod is ready. Returns its address.
async fn ready_address(client: &Client, pod: &str) -> String {
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    until_async(&format!("{pod} to be ready"), PATIENCE, || async {
        let status = pods.get(pod).await.map_err(|error| error.to_string())?.status.unwrap_or_default();
        let ready = status
            .conditions
            .iter()
            .flatten()
            .any(|condition| condition.type_ == "Ready" && condition.status == "True");
        if ready { status.pod_ip.ok_or("it has no address".to_owned()) } else { Err(format!("{status:?}")) }
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn a_job_runs_and_its_log_is_followed_to_the_end() {
    let client = lab().client().await.unwrap();
    let count = "for n in 1 2 3 4 5; do echo line $n; sleep 0.3; done";
    create::<Job>(&client, job("counts", RUNNER, &["sh", "-c", count], &json!({}))).await;
    let log = followed_log(&client, "counts", PATIENCE, false).await;
    assert_eq!(log, ["line 1", "line 2", "line 3", "line 4", "line 5"]);
    let jobs: Api<Job> = Api::default_namespaced(client);
    until_async("the Job to be complete", PATIENCE, || async {
        let job = jobs.get("counts").await.map_err(|error| error.to_string())?;
        let status = job.status.unwrap_or_default();
        if status.succeeded == Some(1) { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_service_answers_by_its_dns_name() {
    let client = lab().client().await.unwrap();
    create::<Pod>(&client, answering("greeter", &Value::Null)).await;
    create::<Service>(
        &client,
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "greeter"},
            "spec": {"selector": {"app": "greeter"}, "ports": [{"port": 80, "targetPort": 8080}]}}),
    )
    .await;
    let ask = "until probe get http://greeter.default.svc.cluster.local/; do sleep 0.2; done";
    create::<Job>(&client, job("asks", RUNNER, &["sh", "-c", ask], &json!({}))).await;
    let log = followed_log(&client, "asks", PATIENCE, false).await;
    assert!(log.last().is_some_and(|line| line.starts_with("greeter saw ")), "{log:?}");
}

#[tokio::test]
async fn pods_on_different_nodes_see_each_others_own_addresses() {
    let lab = lab();
    let client = lab.client().await.unwrap();
    let nodes: Vec<_> = lab.nodes().unwrap().iter().map(|node| node.name().to_owned()).collect();
    assert_eq!(nodes, ["n1", "n2"], "this test needs a lab with --meta-nodes 2");
    for (from, to) in [("n1", "n2"), ("n2", "n1")] {
        let greeter = format!("greeter-on-{to}");
        create::<Pod>(&client, answering(&greeter, &json!(to))).await;
        let address = ready_address(&client, &greeter).await;
        let ask = format!("hostname -i && probe get http://{address}:8080/");
        let asks = format!("asks-from-{from}");
        create::<Job>(&client, job(&asks, RUNNER, &["sh", "-c", &ask], &json!({"node": from}))).await;
        let log = followed_log(&client, &asks, PATIENCE, false).await;
        let own = log.first().expect("its own address");
        assert!(log.last().is_some_and(|line| line.starts_with(&format!("{greeter} saw {own}:"))), "{log:?}");
    }
}

#[tokio::test]
async fn ansible_pings_every_machine_from_a_job() {
    let lab = lab();
    let client = lab.client().await.unwrap();
    let machines = lab.machines().unwrap();
    assert!(!machines.is_empty(), "this lab has no machines");
    let hosts: serde_json::Map<_, _> = machines
        .iter()
        .map(|machine| (machine.name().to_owned(), json!({"ansible_host": machine.address()})))
        .collect();
    let known_hosts = std::fs::read_to_string(lab.known_hosts()).unwrap();
    create::<Secret>(
        &client,
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "machines"}, "stringData": {
            "id": std::fs::read_to_string(lab.key()).unwrap(),
            "known_hosts": known_hosts,
            "hosts.yml": json!({"all": {"hosts": hosts, "vars": {"ansible_user": "root"}}}).to_string()}}),
    )
    .await;
    let words = ["ansible", "all", "-i", "/conf/hosts.yml", "--private-key", "/conf/id", "-m", "ping", "--one-line"];
    let more = json!({
        "volumes": [{"name": "conf", "secret": {"secretName": "machines", "defaultMode": 0o400}}],
        "container": {"volumeMounts": [{"name": "conf", "mountPath": "/conf"}], "env": [
            {"name": "ANSIBLE_SSH_COMMON_ARGS", "value": "-oUserKnownHostsFile=/conf/known_hosts -oStrictHostKeyChecking=yes"}]}});
    create::<Job>(&client, job("pings", RUNNER, &words, &more)).await;
    let log = followed_log(&client, "pings", PATIENCE, false).await;
    for machine in machines {
        assert!(log.iter().any(|line| line.starts_with(&format!("{} | SUCCESS", machine.name()))), "{log:#?}");
    }
}
