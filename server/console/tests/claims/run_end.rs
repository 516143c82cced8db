//! The messages of an ended run on its page.

use api::OperationName;
use api::backend::Operations;
use api::operation::RunEnd;
use crd::Phase;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::world::{NAMESPACE, World, eventually, new_cluster, new_operation};

const VARS: &str = "ansible_password: hunter22\n";

/// A failed run of `prod`. Its pod still exists, with a password in the termination message. `secrets_name` is the Secret that
/// the operation refers to; the Secret with the inputs is `snapshot`.
async fn failed(world: &World, secrets_name: &str) -> OperationName {
    world.register(&new_cluster("prod")).await.unwrap();
    let name = world.submit(&new_operation("prod")).await.unwrap();
    let secret = json!({"metadata": {"name": "snapshot"},
        "stringData": {crd::KEY_HOSTS: "all: {}\n", crd::KEY_VARS: VARS, crd::KEY_TOKEN: "0123456789abcdef"}});
    world.secrets().create(&PostParams::default(), &serde_json::from_value::<Secret>(secret).unwrap()).await.unwrap();
    let jobs: Api<Job> = Api::namespaced(world.client.clone(), NAMESPACE);
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": crd::PRODUCT, "image": "i"}]}});
    let job = json!({"metadata": {"name": "job"}, "spec": {"suspend": true, "template": template}});
    let job = jobs.create(&PostParams::default(), &serde_json::from_value(job).unwrap()).await.unwrap().uid();
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), NAMESPACE);
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": job});
    let pod = json!({
        "metadata": {"name": "pod", "labels": {crd::LABEL_OPERATION: name.as_str()}, "ownerReferences": [owner]},
        "spec": {"containers": [{"name": crd::PRODUCT, "image": "i"}]},
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    let said = json!({
        "v": 1, "rc": 2, "message": "Signed in with hunter22.",
        "running": {"task": "Log in with hunter22", "hosts": ["m1"]},
        "failures": [{"host": "m1", "task": "Use hunter22",
            "message": "login root/hunter22 failed at https://me:pa55word@registry"}],
    });
    let ended = json!({"status": {"phase": "Failed", "containerStatuses": [{
        "name": crd::PRODUCT, "image": "i", "imageID": "", "ready": false, "restartCount": 0,
        "state": {"terminated": {"exitCode": 2, "message": said.to_string()}},
    }]}});
    pods.patch_status("pod", &PatchParams::default(), &Patch::Merge(ended)).await.unwrap();
    let status = json!({"status": {
        "jobRef": {"namespace": NAMESPACE, "name": "job", "uid": job},
        "inputs": {"secret": {"namespace": NAMESPACE, "name": secrets_name}, "sha256": "0"},
    }});
    world.operations().patch_status(name.as_str(), &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    world.set_phase(name.as_str(), Phase::Failed, "TaskFailed").await;
    name
}

#[tokio::test]
async fn the_messages_of_an_ended_run_are_shown_without_secrets() {
    let world = World::standalone().await;
    let name = failed(&world, "snapshot").await;
    let detail = Operations::get(&world.console, &world.user, &name).await.unwrap();
    let end = detail.end.clone().unwrap();
    let (failure, running) = (end.failure.unwrap(), end.running.unwrap());
    assert_eq!((failure.host.as_str(), failure.task.as_str()), ("m1", "Use ••••••"));
    assert_eq!(failure.message, "login root/•••••• failed at https://••••••@registry");
    assert_eq!((running.task.as_str(), end.message.as_str()), ("Log in with ••••••", "Signed in with ••••••."));
    let page = serde_json::to_string(&detail).unwrap();
    assert!(!page.contains("hunter22") && !page.contains("pa55word"), "{page}");
}

#[tokio::test]
async fn a_final_message_is_hidden_when_the_inputs_are_gone() {
    let world = World::standalone().await;
    let name = failed(&world, "not-there").await;
    let detail = Operations::get(&world.console, &world.user, &name).await.unwrap();
    assert_eq!(detail.end, Some(RunEnd::default()));
}

#[tokio::test]
async fn an_ignored_result_is_told_to_the_page() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let name = world.submit(&new_operation("prod")).await.unwrap();
    let is_ignored = async || Operations::get(&world.console, &world.user, &name).await.unwrap().result_ignored;
    assert!(!is_ignored().await);
    let ignored = json!({"type": crd::condition::RESULT_IGNORED, "status": "True", "reason": "NotByController",
        "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let status = Patch::Merge(json!({"status": {"conditions": [ignored]}}));
    world.operations().patch_status(name.as_str(), &PatchParams::default(), &status).await.unwrap();
    eventually(is_ignored).await;
}
