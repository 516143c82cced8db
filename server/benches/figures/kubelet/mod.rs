//! Takes the place of Job controller and kubelet: every Job succeeds at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Kubelet {
    holds: AtomicBool,
}

impl Kubelet {
    /// From now on, new Jobs don't end.
    pub(crate) fn hold(&self) {
        self.holds.store(true, Ordering::Relaxed);
    }

    /// Works until the process ends.
    pub(crate) async fn work(self: Arc<Self>, client: Client) {
        let mut seen = std::collections::HashSet::new();
        let mut events = watcher(Api::<Job>::all(client.clone()), watcher::Config::default()).boxed();
        while let Some(event) = events.next().await {
            let Ok(Event::Apply(job) | Event::InitApply(job)) = event else { continue };
            if seen.insert(job.uid()) && !self.holds.load(Ordering::Relaxed) {
                tokio::spawn(run(client.clone(), job));
            }
        }
    }
}

async fn run(client: Client, job: Job) {
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let pod = json!({
        "metadata": {
            "name": format!("{}-pod", job.name_any()), "labels": job.labels(),
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job.name_any(), "uid": job.uid(), "controller": true}],
        },
        "spec": {"restartPolicy": "Never", "containers": [{"name": "kubeonkube", "image": "none"}]},
    });
    let pod: Pod = serde_json::from_value(pod).expect("a pod");
    let pod = pods.create(&PostParams::default(), &pod).await.expect("a pod");
    let step = json!({"role": "main", "title": "true", "kind": "shell", "rc": 0, "recap": null});
    let message = json!({"v": 1, "rc": 0, "cancelled": false, "steps": [step], "failures": [], "message": ""});
    let ended = json!({"terminated": {"exitCode": 0, "reason": "Completed", "message": message.to_string(), "finishedAt": now()}});
    let container = json!({"name": "kubeonkube", "image": "none", "imageID": "", "ready": false, "restartCount": 0, "state": ended});
    let status = json!({"status": {"phase": "Succeeded", "containerStatuses": [container]}});
    pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(status)).await.expect("an ended pod");
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "CompletionsReached", "lastTransitionTime": now(), "lastProbeTime": now()});
    let status: Value = json!({"status": {
        "succeeded": 1, "startTime": now(), "completionTime": now(), "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    }});
    let jobs: Api<Job> = Api::default_namespaced(client);
    jobs.patch_status(&job.name_any(), &PatchParams::default(), &Patch::Merge(status)).await.expect("an ended Job");
}

fn now() -> String {
    let second = k8s_openapi::jiff::Timestamp::now().as_second();
    k8s_openapi::jiff::Timestamp::from_second(second).expect("a second").to_string()
}
