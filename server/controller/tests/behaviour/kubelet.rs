//! A fake Job controller and kubelet: creates a pod for every Job and ends both as the name of the image says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::secret_log;

/// One pod that was started.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) operation: String,
    pub(crate) hosts_yml: String,
    /// Other Jobs of the same cluster that had not ended when this one was created.
    pub(crate) beside: Vec<String>,
}

/// The fake kubelet and what it ran.
#[derive(Default)]
pub(crate) struct Kubelet {
    pub(crate) runs: Mutex<Vec<Run>>,
    held: Mutex<HashMap<String, Arc<Notify>>>,
    /// The logs of runs with a secret result, by operation.
    pub(crate) logs: Mutex<HashMap<String, Vec<u8>>>,
}

impl Kubelet {
    /// Ends the run of an operation with the image `hold…`.
    pub(crate) fn release(&self, operation: &str) {
        self.hold(operation).notify_one();
    }

    pub(crate) fn runs_of(&self, operation: &str) -> usize {
        self.runs.lock().unwrap().iter().filter(|run| run.operation == operation).count()
    }

    fn hold(&self, operation: &str) -> Arc<Notify> {
        self.held.lock().unwrap().entry(operation.into()).or_default().clone()
    }

    /// Works until it is aborted.
    pub(crate) async fn work(self: Arc<Self>, client: Client) {
        let config = watcher::Config::default().labels("app.kubernetes.io/managed-by=kubeonkube");
        let mut events = std::pin::pin!(watcher(Api::<Job>::all(client.clone()), config));
        let mut seen: HashMap<String, bool> = HashMap::new();
        // Jobs that can run, by uid. A watch reports writes in their order, so this is what the API held at that moment.
        let mut alive: HashMap<String, Job> = HashMap::new();
        while let Some(event) = events.next().await {
            let job = match event {
                Ok(Event::Apply(job) | Event::InitApply(job)) => job,
                Ok(Event::Delete(job)) => {
                    alive.remove(&job.uid().expect("a Job has a uid"));
                    continue;
                }
                _ => continue,
            };
            let spec = job.spec.as_ref().expect("a Job has a spec");
            let uid = job.uid().expect("a Job has a uid");
            let suspended = spec.suspend == Some(true);
            if suspended || is_finished(&job) {
                alive.remove(&uid);
            } else {
                alive.insert(uid.clone(), job.clone());
            }
            match seen.get(&uid) {
                None if alive.contains_key(&uid) => {
                    seen.insert(uid.clone(), false);
                    let others = alive.values().filter(|other| cluster_of(other) == cluster_of(&job));
                    let beside = others.filter(|other| other.uid() != job.uid()).map(ResourceExt::name_any).collect();
                    tokio::spawn(self.clone().run(client.clone(), job, beside));
                }
                Some(false) if suspended => {
                    seen.insert(uid, true);
                    tokio::spawn(stop(client.clone(), job));
                }
                _ => {}
            }
        }
    }

    async fn run(self: Arc<Self>, client: Client, job: Job, beside: Vec<String>) {
        let namespace = job.namespace().expect("a Job has a namespace");
        let operation = job.labels().get("kubeonkube.clay.io/operation").cloned().unwrap_or_default();
        let jobs: Api<Job> = Api::namespaced(client.clone(), &namespace);
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
        let inputs = secrets.get_opt(&format!("{operation}-inputs")).await.expect("the API answers");
        // A missing Secret or key can't be mounted, so the container never starts.
        let Some(data) = inputs.and_then(|inputs| inputs.data) else { return };
        let text = |key: &str| String::from_utf8(data[key].0.clone()).unwrap();
        self.runs.lock().unwrap().push(Run { operation: operation.clone(), hosts_yml: text("hosts.yml"), beside });
        let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
        let pod = start_pod(&pods, &job, data.get(crd::KEY_SECRET_RESULT).map(|_| "node")).await;
        let image = job.spec.as_ref().unwrap().template.spec.as_ref().unwrap().containers[0].image.clone().unwrap();
        if image.starts_with("hold") {
            self.hold(&operation).notified().await;
        }
        if let Some(key) = data.get(crd::KEY_SECRET_RESULT) {
            let log = secret_log::log(&image, &text("token"), &key.0);
            self.logs.lock().unwrap().insert(operation.clone(), log);
        }
        let steps: Value = serde_json::from_str(&text("steps.json")).unwrap();
        let (code, reason, message) = ending(&image, &steps);
        let Some(pod) = pod else { return };
        end_pod(&pods, &pod, code, reason, &message).await;
        end_job(&jobs, &job, code == 0).await;
    }
}

/// Exit code, reason of the container's end, termination message.
fn ending(image: &str, steps: &Value) -> (i32, &'static str, String) {
    let recap = |hosts: u32, failed: u32, unreachable: u32| json!({"hosts": hosts, "ok": 2 * hosts, "changed": 1, "unreachable": unreachable, "failed": failed, "skipped": 0, "rescued": 0, "ignored": 0});
    let told = |rc: i32, recap: Value, failures: Value| {
        let steps: Vec<Value> = steps["steps"].as_array().unwrap().iter().map(|step| {
            let recap = if step["kind"] == "shell" { Value::Null } else { recap.clone() };
            let untouched = json!({"count": u32::from(image == "untouched"), "hosts": ["n2"]});
            json!({"role": step["role"], "title": step["title"], "kind": step["kind"], "rc": rc, "recap": recap, "untouched": untouched})
        }).collect();
        json!({"v": 1, "rc": rc, "cancelled": false, "steps": steps, "failures": failures, "message": ""}).to_string()
    };
    let failure = json!([{"host": "m1", "task": "Install", "message": "no such package"}]);
    let leak = json!([{"host": "m1", "task": "Log in", "message": "login root/hunter22 failed at https://me:pa55word@mirror"}]);
    match image.split(':').next().unwrap_or_default() {
        "fail" => (2, "Error", told(2, recap(2, 1, 0), failure)),
        "leak" | "hold-leak" => (2, "Error", told(2, recap(2, 1, 0), leak)),
        "empty" => (0, "Completed", told(0, Value::Null, json!([]))),
        "nohost" => (0, "Completed", told(0, recap(0, 0, 0), json!([]))),
        "silent" => (0, "Completed", String::new()),
        "liar" => (0, "Completed", told(0, recap(3, 0, 1), json!([]))),
        "oom" => (137, "OOMKilled", String::new()),
        "gone" => (137, "Error", "the process is gone".into()),
        _ => (0, "Completed", told(0, recap(2, 0, 0), json!([]))),
    }
}

/// `node`: the API serves the log of a pod only if it has a node. Such a pod is deleted gracefully.
async fn start_pod(pods: &Api<Pod>, job: &Job, node: Option<&str>) -> Option<Pod> {
    let mut labels = job.labels().clone();
    labels.insert("batch.kubernetes.io/job-name".into(), job.name_any());
    let pod: Pod = serde_json::from_value(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "generateName": format!("{}-", job.name_any()), "labels": labels,
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job.name_any(), "uid": job.uid(), "controller": true}]
        },
        "spec": {"nodeName": node, "restartPolicy": "Never", "containers": [{"name": "kubeonkube", "image": "x"}]}
    })).unwrap();
    let pod = pods.create(&PostParams::default(), &pod).await.ok()?;
    let running = json!({"status": {"phase": "Running", "containerStatuses": [container(&json!({"running": {}}))]}});
    pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(running)).await.ok()?;
    Some(pod)
}

fn container(state: &Value) -> Value {
    json!({"name": "kubeonkube", "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": state})
}

/// Ends the process of a pod that outlived its Job.
pub(crate) async fn end_pods_of(client: &Client, namespace: &str, operation: &str) {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let of_operation = ListParams::default().labels(&format!("kubeonkube.clay.io/operation={operation}"));
    for pod in pods.list(&of_operation).await.expect("pods are listed") {
        end_pod(&pods, &pod, 0, "Completed", "").await;
    }
}

async fn end_pod(pods: &Api<Pod>, pod: &Pod, code: i32, reason: &str, message: &str) {
    let state = json!({"terminated": {"exitCode": code, "reason": reason, "message": message, "finishedAt": now()}});
    let phase = if code == 0 { "Succeeded" } else { "Failed" };
    let status = json!({"status": {"phase": phase, "containerStatuses": [container(&state)]}});
    // Deleted meanwhile: by a cancel, or with its Job.
    let _ = pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(status)).await;
}

async fn end_job(jobs: &Api<Job>, job: &Job, well: bool) {
    if jobs.get(&job.name_any()).await.is_ok_and(|job| job.spec.unwrap().suspend == Some(true)) {
        return;
    }
    let condition = |kind: &str, reason: &str| json!({"type": kind, "status": "True", "reason": reason, "message": reason, "lastTransitionTime": now(), "lastProbeTime": now()});
    let status = match well {
        true => {
            json!({"succeeded": 1, "completionTime": now(), "startTime": now(), "conditions": [condition("SuccessCriteriaMet", "CompletionsReached"), condition("Complete", "CompletionsReached")]})
        }
        false => {
            json!({"failed": 1, "startTime": now(), "conditions": [condition("FailureTarget", "BackoffLimitExceeded"), condition("Failed", "BackoffLimitExceeded")]})
        }
    };
    let _ = jobs.patch_status(&job.name_any(), &PatchParams::default(), &Patch::Merge(json!({"status": status}))).await;
}

/// Ends the pods of a running Job that was suspended, like the Job controller.
async fn stop(client: Client, job: Job) {
    let namespace = job.namespace().unwrap();
    let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let of_job = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={}", job.name_any()));
    for pod in pods.list(&of_job).await.expect("pods are listed") {
        let message = json!({"v": 1, "rc": 143, "cancelled": true, "steps": [], "failures": [], "running": {"task": "Upgrade", "hosts": ["w1"]}, "message": ""});
        end_pod(&pods, &pod, 143, "Error", &message.to_string()).await;
        let _ = pods.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await;
    }
    let jobs: Api<Job> = Api::namespaced(client, &namespace);
    let status = json!({"status": {"active": 0, "conditions": [{"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended", "lastTransitionTime": now(), "lastProbeTime": now()}]}});
    let _ = jobs.patch_status(&job.name_any(), &PatchParams::default(), &Patch::Merge(status)).await;
}

fn cluster_of(job: &Job) -> Option<&String> {
    job.labels().get("kubeonkube.clay.io/cluster")
}

fn is_finished(job: &Job) -> bool {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions
        .is_some_and(|all| all.iter().any(|c| matches!(c.type_.as_str(), "Complete" | "Failed") && c.status == "True"))
}

fn now() -> String {
    jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap().to_string()
}
