//! A playbook delivers a kubeconfig. Afterwards the kubeconfig is only in Secrets.

use std::fs;

use k8s_openapi::api::core::v1::Secret;
use kube::Api;

use crate::canaries::{assert_clean, files, frames};
use crate::exposure::read_everything;
use crate::patience::PATIENCE;
use crate::playbook::{assert_clean_api, clean_log_of_pod, submit, with_prod};
use crate::start;

/// Writes a kubeconfig with `canary-kubeconfig` in it, which is not in the text of the playbook.
const PLAYBOOK: &str = r#"
- name: Deliver
  hosts: localhost
  connection: local
  gather_facts: false
  become: false
  vars: {ansible_remote_tmp: "{{ lookup('env', 'TMPDIR') }}"}
  tasks:
    - name: Write the kubeconfig
      ansible.builtin.copy:
        dest: "{{ lookup('env', 'KUBEONKUBE_SECRET_RESULT') }}/kubeconfig"
        content: "token: {{ 'gifnocebuk-yranac' | reverse }}\n"
        mode: "0600"
      no_log: true
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_is_only_in_secrets() {
    let Some((server, cookie, client, namespace)) = with_prod("a_kubeconfig_is_only_in_secrets").await else { return };
    submit(&client, &namespace, "cluster.yml", PLAYBOOK).await;
    let ended = async || {
        server.get("/api/load_operation?name=grow", &cookie).await.json()["row"]["phase"].as_str().is_some_and(
            |phase| {
                assert_ne!(phase, "failed");
                phase == "succeeded"
            },
        )
    };
    server.eventually("the end of the run", ended).await;
    let tab = server.tab(&cookie).await;
    let frames = tokio::spawn(frames(tab));
    let mut log = String::new();
    let shown = async || {
        log = server.get("/operations/grow/log.txt", &cookie).await.body;
        log.contains("1 of 1 steps done")
    };
    server.eventually("its log", shown).await;
    assert!(log.contains("The secret result was passed to the controller, encrypted."), "{log}");

    let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    for name in ["grow-result", "prod-kubeconfig"] {
        let data = secrets.get(name).await.expect(name).data.expect("data");
        assert_eq!(data["kubeconfig"].0, b"token: canary-kubeconfig\n", "{name}");
    }
    // In plain, and in base64 at each of the three offsets.
    let mut canaries: Vec<String> =
        ["canary-kubeconfig", "Y2FuYXJ5LWt1YmVjb25ma", "NhbmFyeS1rdWJlY29uZm", "jYW5hcnkta3ViZWNvbmZp"]
            .map(str::to_owned)
            .into();
    let raw = clean_log_of_pod(&client, &namespace, &canaries).await;
    let sent = raw.split("\"data\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the ciphertext");
    assert!(sent.len() > 40, "{sent}");
    canaries.push(sent.to_owned());
    assert_clean("the log", &log, &canaries);
    let frames = tokio::time::timeout(PATIENCE, frames).await.expect("in time").expect("no panic");
    assert!(frames.contains("1 of 1 steps done"), "{frames}");
    assert_clean("the live socket", &frames, &canaries);
    for (address, answer) in read_everything(&server, &cookie).await {
        assert_clean(&address, &answer, &canaries);
    }
    assert_clean_api(&client, &namespace, &canaries).await;

    let backup = server.data.path().join("backup");
    let made = start::program(&server.file("")).arg("backup").arg(&backup).output().expect("it runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    // The run's folder has the pod's log, which contains the ciphertext. The key for it is only in the database.
    let runs = server.file("runs");
    let in_plain = &canaries[..canaries.len() - 1];
    for path in files(server.data.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Databases and their backups contain the Secrets.
        if !name.starts_with("state.db") && !path.starts_with(&backup) {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
            let canaries = if path.starts_with(&runs) { in_plain } else { &canaries };
            assert_clean(&path.display().to_string(), &text, canaries);
        }
    }
}
