//! How runs get their ansible.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::skipped;
use crate::stage::{Settings, Stage, ended, fake_python};

#[tokio::test]
async fn a_pod_reports_which_ansible_it_waits_for() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("slow"), "").unwrap();
    let settings = Settings { python: Some(fake_python(dir.path())), ..Settings::default() };
    let stage = Stage::at(dir, &settings);
    stage.job("grow", "true", json!({})).await;
    let message = "Installing ansible-core 2.18.19 for first use. This takes about a minute.";
    stage
        .wait("the pod to report it", async || {
            let pod = stage.pods_of("grow").await.pop()?;
            let waiting = pod.status?.container_statuses?.pop()?.state?.waiting?;
            assert_eq!(waiting.reason.as_deref(), Some("InstallingAnsible"));
            (waiting.message.as_deref() == Some(message)).then_some(())
        })
        .await;
    std::fs::remove_file(stage.dir.path().join("slow")).unwrap();
    stage.job_that_is("grow", "Complete").await;
}

#[tokio::test]
async fn an_ansible_in_use_stays_when_a_newer_one_is_installed() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    let settings = Settings { python: Some(fake_python(dir.path())), ..Settings::default() };
    let stage = Stage::at(dir, &settings);
    stage
        .job("grow", "until [ -e $KUBEONKUBE_ROOT/scratch/go ]; do sleep 0.02; done; command -v python3", json!({}))
        .await;
    let pod = stage.pod_that_is("grow", "Running").await;
    let dir = stage.shut_down().await;
    let ansibles = dir.path().join("ansible");
    let current: Value = serde_json::from_slice(&std::fs::read(ansibles.join("current.json")).unwrap()).unwrap();
    let old = ansibles.join(current["folder"].as_str().unwrap());
    let older = json!({"folder": current["folder"], "version": "2.16.0"});
    std::fs::write(ansibles.join("current.json"), older.to_string()).unwrap();

    let stage = Stage::at(dir, &settings);
    stage.job("next", "command -v python3", json!({})).await;
    stage.job_that_is("next", "Complete").await;
    let next = stage.pods_of("next").await.remove(0);
    assert!(!stage.log(&next).await.starts_with(old.to_str().unwrap()), "the newer one was not installed");
    assert!(old.exists(), "a run still uses it");
    std::fs::write(stage.run_dir(&pod).join("root/scratch/go"), "").unwrap();
    stage.job_that_is("grow", "Complete").await;
    assert_eq!(stage.log(&pod).await, format!("{}/bin/python3\n", old.display()));
    stage.wait("the old one to go", async || (!old.exists()).then_some(())).await;
}

/// A stage with the real ansible, or `None` where there is none.
pub(crate) fn with_real_ansible(test: &str) -> Option<Stage> {
    let Some(bin) = std::env::var_os("KUBEONKUBE_TEST_ANSIBLE") else {
        skipped::skip(test, "KUBEONKUBE_TEST_ANSIBLE is not set");
        return None;
    };
    Some(Stage::with(&Settings { ansible: Some(bin.into()), ..Settings::default() }))
}

/// Runs a Job like the controller's on this machine. `files` are the inputs beside the usual ones. Returns its summary and its log.
pub(crate) async fn run_playbook(stage: &Stage, path: &str, files: &[(&str, &str)]) -> (Value, String) {
    let step = json!({"role": "main", "kind": "playbook", "path": path, "title": path, "args": []});
    let steps = json!({"operation": "look", "cluster": "c", "steps": [step]}).to_string();
    let usual = [
        ("hosts.yml", "all:\n  hosts:\n    m1: {ansible_connection: local}\n"),
        ("group_vars.yml", ""),
        ("token", "5f0c8e1d2b3a49687766554433221100"),
        ("steps.json", &steps),
        ("secrets.json", "[]"),
        ("names.json", "[]"),
        ("entrypoint.py", include_str!("../../../../deploy/runner/entrypoint.py")),
        ("kubeonkube_masking.py", include_str!("../../../../deploy/runner/kubeonkube_masking.py")),
        ("masking.json", include_str!("../../../../deploy/runner/masking.json")),
        ("callback/kubeonkube_events.py", include_str!("../../../../deploy/runner/callback/kubeonkube_events.py")),
    ];
    let (mut data, mut items) = (json!({}), Vec::new());
    for (path, text) in usual.iter().chain(files) {
        let key = path.replace('/', ".");
        items.push(json!({"key": key, "path": path}));
        data[key] = json!(text);
    }
    stage.secret("look-inputs", data).await;
    let volumes = json!([{"name": "inputs", "secret": {"secretName": "look-inputs", "items": items}}, {"name": "work", "emptyDir": {}}]);
    let mounts = json!([{"name": "inputs", "mountPath": "/conf"}, {"name": "work", "mountPath": "/work-kubeonkube"}]);
    let container = json!([{"name": "kubeonkube", "image": "local", "command": ["python3", "$(KUBEONKUBE_ROOT)/conf/entrypoint.py"],
        "env": [{"name": "KUBEONKUBE_ROOT", "value": ""}], "volumeMounts": mounts}]);
    stage.job("look", "", json!({"template": {"spec": {"containers": container, "volumes": volumes}}})).await;
    let pod = stage
        .wait("the run to end", async || {
            let pod = stage.pods_of("look").await.pop()?;
            matches!(pod.status.as_ref()?.phase.as_deref()?, "Succeeded" | "Failed").then_some(pod)
        })
        .await;
    (serde_json::from_str(&ended(&pod).2).unwrap(), stage.log(&pod).await)
}

#[tokio::test]
async fn a_playbook_runs_with_the_real_ansible() {
    let Some(stage) = with_real_ansible("a_playbook_runs_with_the_real_ansible") else { return };
    let (summary, log) = run_playbook(&stage, "kubespray/ping.yml", &[]).await;
    assert_eq!((&summary["rc"], &summary["steps"][0]["recap"]["ok"]), (&json!(0), &json!(1)), "{log}");
    assert!(log.contains("PLAY RECAP") && log.contains("\u{1e}5f0c8e1d2b3a49687766554433221100 {\"n\":1,"), "{log}");
}
