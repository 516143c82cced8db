//! Defects K1 to K11, K14, K15 and K17 of the reference controller don't exist here. `docs/defects-of-the-reference.md` explains each.
//! K12 is tested in `retention`, K13 in `cancelling`, K22 in `references`, and K16 in the crate `operation`.

use crd::{ActionSource, ActionType, DataRef, HookAction, Phase};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::world::{NAMESPACE, World, eventually, message, phase, reason};

#[tokio::test]
async fn k1_a_broken_inventory_or_wrong_key_never_succeeds() {
    let world = World::new().await;
    for (name, key, text, why, says) in [
        ("broken", "hosts.yml", "all: [oops", "InventoryInvalid", "line 1"),
        ("empty", "hosts.yml", "", "InventoryEmpty", "empty"),
        ("hostless", "hosts.yml", "all:\n  children:\n    kube_node:\n", "InventoryEmpty", "names no host"),
        ("wrong-key", "hosts.yaml", "all: {hosts: {m1: }}", "KeyNotFound", "hosts.yaml"),
    ] {
        world.cluster(name).await;
        world.config_map(&format!("{name}-hosts"), &[(key, text)]).await;
        world.submit(&format!("run-{name}"), name, "ok").await;
        let message = world.refused(&format!("run-{name}"), why).await;
        assert!(message.contains(says), "{message}");
    }
    assert!(world.all_jobs().await.is_empty());
}

#[tokio::test]
async fn k1_a_run_without_hosts_or_summary_never_succeeds() {
    let world = World::new().await;
    world.cluster("prod").await;
    for (image, why) in [
        ("empty", "NoHostsMatched"),
        ("nohost", "NoHostsMatched"),
        ("silent", "NoResult"),
        ("liar", "HostsUnreachable"),
        ("fail", "TaskFailed"),
        ("oom", "OOMKilled"),
        ("gone", "RunFailed"),
    ] {
        world.submit(image, "prod", image).await;
        let operation = world.ended(image).await;
        assert_eq!((phase(&operation), reason(&operation)), (Phase::Failed, why), "{}", message(&operation));
        if image == "fail" {
            assert!(message(&operation).contains("m1: task “Install”: no such package"), "{}", message(&operation));
        }
        if image == "gone" {
            assert!(message(&operation).contains("the process is gone"), "{}", message(&operation));
        }
    }
}

#[tokio::test]
async fn k2_a_second_operation_waits_for_the_first_and_says_so() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    world.operation_that("a", "run", |a| phase(a) == Phase::Running).await;
    world.submit("b", "prod", "ok").await;
    let b = world.operation_that("b", "wait", |b| reason(b) == "ClusterBusy").await;
    assert_eq!((phase(&b), message(&b)), (Phase::Pending, "Waiting for operation a on cluster prod."));
    assert!(crd::is_true(&b.status.unwrap().conditions, "Queued"));
    world.kubelet.release("a");
    assert_eq!(phase(&world.ended("a").await), Phase::Succeeded);
    let b = world.ended("b").await;
    assert_eq!(phase(&b), Phase::Succeeded);
    assert!(!crd::is_true(&b.status.unwrap().conditions, "Queued"));
    assert!(world.kubelet.runs.lock().unwrap().iter().all(|run| run.beside.is_empty()));
}

#[tokio::test]
async fn k3_only_playbooks_inside_the_image_can_be_named() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit_with("deep", "prod", |spec| spec.action = "playbooks/facts.yml".into()).await;
    assert_eq!(phase(&world.ended("deep").await), Phase::Succeeded);
    assert_eq!(steps(&world, "deep").await[0]["path"], "kubespray/playbooks/facts.yml");
    for (name, action) in [("up", "../etc/passwd"), ("root", "/etc/passwd"), ("shell", "a.yml;rm -rf x"), ("none", " ")]
    {
        world.submit_with(name, "prod", |spec| spec.action = action.into()).await;
        world.refused(name, "ActionInvalid").await;
    }
}

#[tokio::test]
async fn k4_playbooks_scripts_and_hooks_come_from_config_maps() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.config_map("books", &[("main.yml", "- hosts: all"), ("tasks.yml", "[]")]).await;
    world.config_map("check", &[("precheck.yml", "- hosts: all")]).await;
    world.config_map("careful-hosts", &[("hosts.yml", crate::world::HOSTS)]).await;
    world.config_map("careful-vars", &[("group_vars.yml", "")]).await;
    world
        .create_cluster("careful", |spec| {
            (spec.ssh_auth_ref, spec.pre_check_ref) = (None, Some(DataRef::new(NAMESPACE, "check")));
        })
        .await;
    let books = Some(DataRef::new(NAMESPACE, "books"));
    world
        .submit_with("all", "careful", |spec| {
            spec.action = "main.yml".into();
            (spec.action_source, spec.action_source_ref) = (ActionSource::Configmap, books.clone());
            spec.extra_args = Some(r#"--limit 'a b' -e x="$(id)""#.into());
            spec.pre_hook = vec![HookAction {
                action_type: ActionType::Shell,
                action: "#!/bin/bash\necho hi\n".into(),
                ..HookAction::default()
            }];
            spec.post_hook = vec![HookAction {
                action: "main.yml".into(),
                action_source: ActionSource::Configmap,
                action_source_ref: books,
                ..HookAction::default()
            }];
        })
        .await;
    let operation = world.ended("all").await;
    assert_eq!(phase(&operation), Phase::Succeeded, "{}", message(&operation));
    let steps = steps(&world, "all").await;
    let seen: Vec<_> = steps
        .iter()
        .map(|step| (step["role"].as_str().unwrap(), step["kind"].as_str().unwrap(), step["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        seen,
        [
            ("pre", "playbook", "conf/sources/1/precheck.yml"),
            ("pre", "shell", "conf/scripts/1.sh"),
            ("main", "playbook", "conf/sources/2/main.yml"),
            ("post", "playbook", "conf/sources/2/main.yml"),
        ]
    );
    assert_eq!(steps[2]["args"], json!(["--limit", "a b", "-e", "x=$(id)"]));
    let job = world.jobs().get("kubeonkube-all-job").await.unwrap().spec.unwrap().template.spec.unwrap();
    let items = job.volumes.unwrap()[0].secret.clone().unwrap().items.unwrap();
    let path = |key: &str| items.iter().find(|item| item.key == key).map(|item| item.path.clone());
    assert_eq!(path("source.2.tasks.yml").as_deref(), Some("sources/2/tasks.yml"));
    assert_eq!(path("script.1").as_deref(), Some("scripts/1.sh"));
    assert_eq!(path("kubeonkube_events.py").as_deref(), Some("callback/kubeonkube_events.py"));

    world
        .submit_with("typo", "careful", |spec| {
            spec.action = "mian.yml".into();
            (spec.action_source, spec.action_source_ref) =
                (ActionSource::Configmap, Some(DataRef::new(NAMESPACE, "books")));
        })
        .await;
    assert!(world.refused("typo", "ActionNotFound").await.contains("main.yml, tasks.yml"));
}

#[tokio::test]
async fn k5_the_job_lives_in_the_namespace_of_the_references() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    let operation = world.ended("a").await;
    let job = operation.status.as_ref().unwrap().job_ref.clone().unwrap();
    assert_eq!((job.namespace.as_str(), job.name.as_str()), (NAMESPACE, "kubeonkube-a-job"));
    assert_ne!(NAMESPACE, world.config.controller_namespace, "not the controller's own");
    assert_eq!(job.uid, world.jobs().get("kubeonkube-a-job").await.unwrap().uid());
    world.create_cluster("torn", |spec| spec.vars_conf_ref.namespace = "elsewhere".into()).await;
    world.submit("b", "torn", "ok").await;
    let message = world.refused("b", "TwoNamespaces").await;
    assert!(
        message.contains("hostsConfRef is in “lab”") && message.contains("varsConfRef in “elsewhere”"),
        "{message}"
    );
}

#[tokio::test]
async fn k6_a_recreated_operation_does_not_adopt_the_old_result() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "fail").await;
    let first = world.ended("a").await;
    world.delete("a").await;
    world.submit("a", "prod", "ok").await;
    let second = world.ended("a").await;
    assert_ne!(first.uid(), second.uid());
    assert_eq!(phase(&second), Phase::Succeeded, "{}", message(&second));
    assert_eq!(world.kubelet.runs_of("a"), 2);
}

#[tokio::test]
async fn k6_a_foreign_job_of_the_same_name_ends_the_operation() {
    let world = World::new().await;
    world.cluster("prod").await;
    let job: Job = serde_json::from_value(json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "kubeonkube-a-job"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}}
    }))
    .unwrap();
    world.jobs().create(&PostParams::default(), &job).await.unwrap();
    world.submit("a", "prod", "ok").await;
    assert!(world.refused("a", "NameTaken").await.contains("kubeonkube-a-job"));
    world.submit("b", "prod", "ok").await;
    assert_eq!(phase(&world.ended("b").await), Phase::Succeeded, "the turn was given back");
}

#[tokio::test]
async fn k7_k8_k17_one_immutable_snapshot_and_no_copy_of_the_key() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    let operation = world.ended("a").await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    let all = secrets.list(&ListParams::default()).await.unwrap().items;
    let mut names: Vec<_> = all.iter().map(ResourceExt::name_any).collect();
    names.sort();
    assert_eq!(names, ["a-inputs", "prod-ssh"]);
    let snapshot = secrets.get("a-inputs").await.unwrap();
    assert_eq!(snapshot.immutable, Some(true));
    assert_eq!(snapshot.owner_references()[0].uid, operation.uid().unwrap());
    assert!(!snapshot.data.as_ref().unwrap().contains_key("ssh-privatekey"));
    assert_eq!(snapshot.data.as_ref().unwrap()["token"].0.len(), 32);
    let inputs = operation.status.unwrap().inputs.unwrap();
    assert_eq!((inputs.host_count, inputs.hosts), (2, vec!["m1".to_owned(), "w1".to_owned()]));
    assert_eq!(inputs.sha256, crd::inputs_sha256(crate::world::HOSTS, "kube_version: v1.33.4\n"));
    let job = world.jobs().get("kubeonkube-a-job").await.unwrap().spec.unwrap().template.spec.unwrap();
    let volumes = serde_json::to_value(job.volumes.unwrap()).unwrap();
    assert_eq!(volumes[2]["secret"]["secretName"], "prod-ssh", "referenced, not copied");
    world.delete("a").await;
    eventually(async || secrets.get_opt("a-inputs").await.unwrap().is_none().then_some(()))
        .await
        .expect("it goes with the operation");
}

#[tokio::test]
async fn k7_a_crash_after_the_snapshot_keeps_that_snapshot() {
    let mut world = World::without_controller().await;
    world.cluster("prod").await;
    let relay = std::sync::Arc::new(crate::relay::Relay::default());
    let jobs = "POST /apis/batch/v1/namespaces/lab/jobs";
    relay.hold_back(jobs);
    world.start_controller_behind(relay.clone()).await;
    world.submit("a", "prod", "ok").await;
    eventually(async || relay.asked(jobs).then_some(())).await.expect("the snapshot is there");
    world.kill_controller();
    world.config_map("prod-hosts", &[("hosts.yml", "all: {hosts: {other: }}")]).await;
    world.config_map("prod-vars", &[("group_vars.yml", "kube_version: v1.99.0\n")]).await;
    world.start_controller().await;
    let operation = world.ended("a").await;
    assert_eq!(phase(&operation), Phase::Succeeded, "{}", message(&operation));
    let inputs = operation.status.unwrap().inputs.unwrap();
    assert_eq!(
        inputs.sha256,
        crd::inputs_sha256(crate::world::HOSTS, "kube_version: v1.33.4\n"),
        "both are the old ones"
    );
    assert_eq!(inputs.hosts, ["m1", "w1"]);
    assert_eq!(world.kubelet.runs.lock().unwrap()[0].hosts_yml, crate::world::HOSTS);
}

#[tokio::test]
async fn k8_a_refused_operation_leaves_no_snapshot() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("first", "prod", "hold").await;
    world.operation_that("first", "run", |first| phase(first) == Phase::Running).await;
    world.submit("heir", "prod", "ok").await;
    world.operation_that("heir", "wait", |heir| reason(heir) == "ClusterBusy").await;
    world.config_map("prod-hosts", &[("hosts.yml", "all: [oops")]).await;
    world.kubelet.release("first");
    world.refused("heir", "InventoryInvalid").await;
    world.submit("late", "prod", "ok").await;
    world.refused("late", "InventoryInvalid").await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    let mut names: Vec<_> =
        secrets.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    names.sort();
    assert_eq!(names, ["first-inputs", "prod-ssh"]);
}

#[tokio::test]
async fn k11_the_spec_is_immutable_and_fully_in_the_digest() {
    let world = World::new().await;
    world.cluster("prod").await;
    let digest = async |name: &str, args: Option<&str>, deadline: Option<i64>| {
        let change = |spec: &mut crd::ClusterOperationSpec| {
            (spec.extra_args, spec.active_deadline_seconds) = (args.map(str::to_owned), deadline);
        };
        world.submit_with(name, "prod", change).await;
        world.ended(name).await.status.unwrap().digest.unwrap()
    };
    let plain = digest("a", None, None).await;
    assert_eq!(digest("b", None, None).await, plain);
    assert_ne!(digest("c", Some("--limit m1"), None).await, plain);
    assert_ne!(digest("d", None, Some(60)).await, plain);
    for patch in [
        json!({"spec": {"extraArgs": "--check"}}),
        json!({"spec": {"image": "other"}}),
        json!({"spec": {"activeDeadlineSeconds": 5}}),
        json!({"spec": {"preHook": [{"actionType": "shell", "action": "true"}]}}),
    ] {
        let answer = world.operations().patch("a", &Default::default(), &kube::api::Patch::Merge(&patch)).await;
        assert!(matches!(&answer, Err(kube::Error::Api(status)) if status.code == 422), "{patch}: {answer:?}");
    }
    world.cancel("a").await;
    let a = world.ended("a").await.status.unwrap();
    assert_eq!((a.digest, a.has_modified, a.status), (Some(plain), Some(false), Phase::Succeeded));
}

#[tokio::test]
async fn k9_k10_invalid_names_and_missing_clusters_are_refused() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("lost", "nowhere", "ok").await;
    assert!(world.refused("lost", "ClusterNotFound").await.contains("nowhere"));

    let long = "a".repeat(49);
    world.submit(&long, "prod", "ok").await;
    assert!(world.refused(&long, "NameTooLong").await.contains("49 characters"));
    let operation = world.ended(&long).await;
    assert_eq!(operation.labels()["clusterName"], "prod");
    let prod = world.clusters().get("prod").await.unwrap();
    assert_eq!(prod.status.unwrap().conditions[0].cluster_ops, long, "it is in the history, too");

    let wide = "b".repeat(64);
    world.cluster(&wide).await;
    world.submit("wide", &wide, "ok").await;
    world.refused("wide", "ClusterNameInvalid").await;
    let fits = "c".repeat(48);
    world.submit(&fits, "prod", "ok").await;
    assert_eq!(phase(&world.ended(&fits).await), Phase::Succeeded);
}

#[tokio::test]
async fn k14_a_job_is_never_restarted_automatically() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    world.ended("a").await;
    let job = world.jobs().get("kubeonkube-a-job").await.unwrap();
    let job = serde_json::to_value(job.spec.unwrap()).unwrap();
    assert_eq!(
        (&job["backoffLimit"], &job["podReplacementPolicy"], &job["activeDeadlineSeconds"]),
        (&json!(0), &json!("Failed"), &json!(21600))
    );
    let rule = &job["podFailurePolicy"]["rules"][0];
    assert_eq!((&rule["action"], &rule["onPodConditions"][0]["type"]), (&json!("FailJob"), &json!("DisruptionTarget")));
    let pod = &job["template"]["spec"];
    assert_eq!((&pod["restartPolicy"], &pod["automountServiceAccountToken"]), (&json!("Never"), &json!(false)));
    assert_eq!(pod["containers"][0]["command"], json!(["python3", "$(KUBEONKUBE_ROOT)/conf/entrypoint.py"]));
}

#[tokio::test]
async fn k14_a_deleted_job_is_not_created_again() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "hold").await;
    world.operation_that("a", "run", |a| phase(a) == Phase::Running).await;
    eventually(async || (world.kubelet.runs_of("a") == 1).then_some(())).await.unwrap();
    world.jobs().delete("kubeonkube-a-job", &DeleteParams::background()).await.unwrap();
    let operation = world.ended("a").await;
    assert_eq!((phase(&operation), reason(&operation)), (Phase::Failed, "JobGone"), "{}", message(&operation));
    assert_eq!(world.kubelet.runs_of("a"), 1);
    let left = world.all_jobs().await;
    assert!(
        left.iter().all(|job| job.spec.as_ref().unwrap().suspend == Some(true)),
        "only its placeholder Job: {left:#?}"
    );
}

#[tokio::test]
async fn k15_every_end_has_reason_message_condition_and_event() {
    let world = World::new().await;
    world.cluster("prod").await;
    for (name, image, kind, condition) in [("good", "ok", "Normal", "Complete"), ("bad", "fail", "Warning", "Failed")] {
        world.submit(name, "prod", image).await;
        let operation = world.ended(name).await;
        let status = operation.status.clone().unwrap();
        assert!(crd::is_true(&status.conditions, condition) && !crd::is_true(&status.conditions, "Running"));
        assert!(
            status.reason.is_some()
                && status.message.is_some()
                && status.start_time.is_some()
                && status.end_time.is_some()
                && status.recap.is_some()
        );
        world.story(name).await;
        let events: Api<Event> = Api::namespaced(world.client.clone(), "default");
        let all = events.list(&ListParams::default()).await.unwrap().items;
        let mine = |event: &Event| event.regarding.as_ref().is_some_and(|at| at.uid == operation.uid());
        let found = all.into_iter().find(|event| mine(event) && event.note == status.message);
        assert_eq!(found.expect("an event").type_.as_deref(), Some(kind));
    }
}

#[tokio::test]
async fn k15_events_report_every_step_of_an_operation() {
    let world = World::new().await;
    world.config_map("prod-known-hosts", &[("known_hosts", "m1 ssh-ed25519 AAAA\n")]).await;
    world.cluster("prod").await;
    world.labelled("prod-known-hosts").await;
    world.submit("a-first", "prod", "hold").await;
    world.operation_that("a-first", "run", |first| phase(first) == Phase::Running).await;
    world.submit("b-second", "prod", "fail").await;
    world.submit("c-third", "prod", "ok").await;
    world.submit("d-fourth", "prod", "hold").await;
    world.operation_that("d-fourth", "wait", |fourth| reason(fourth) == "ClusterBusy").await;
    world.cancel("c-third").await;
    world.ended("c-third").await;
    world.operation_that("d-fourth", "wait for another", |fourth| message(fourth).contains("b-second")).await;
    world.kubelet.release("a-first");
    eventually(async || (world.kubelet.runs_of("d-fourth") == 1).then_some(())).await.expect("it runs");
    world.operation_that("d-fourth", "run", |fourth| phase(fourth) == Phase::Running).await;
    world.cancel("d-fourth").await;
    world.submit("e-fifth", "nowhere", "ok").await;
    let reasons = async |name: &str| -> Vec<String> {
        world.ended(name).await;
        world.story(name).await.into_iter().map(|(reason, _)| reason).collect()
    };
    assert_eq!(reasons("a-first").await, ["Started", "Succeeded"]);
    assert_eq!(reasons("b-second").await, ["Queued", "Started", "TaskFailed"]);
    assert_eq!(reasons("c-third").await, ["Queued", "Cancelled"]);
    assert_eq!(
        reasons("d-fourth").await,
        ["Queued", "Started", "Cancelled"],
        "one Queued event, even if it waits for several operations"
    );
    assert_eq!(reasons("e-fifth").await, ["ClusterNotFound"]);
    let story = world.story("b-second").await;
    assert_eq!(story[0].1, "Waiting for operation a-first on cluster prod.");
    assert_eq!(story[1].1, "Job lab/kubeonkube-b-second-job was created. The inventory has 2 hosts.");
    assert!(story[2].1.contains("no such package"), "{story:?}");
}

async fn steps(world: &World, operation: &str) -> Vec<serde_json::Value> {
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    let snapshot = secrets.get(&format!("{operation}-inputs")).await.unwrap();
    let steps: serde_json::Value = serde_json::from_slice(&snapshot.data.unwrap()["steps.json"].0).unwrap();
    steps["steps"].as_array().unwrap().clone()
}
