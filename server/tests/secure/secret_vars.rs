//! A run uses variables of a Secret. Afterwards their values are only in Secrets.

use std::fs;

use crd::{Cluster, DataRef};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};

use crate::canaries::{assert_clean, files};
use crate::exposure::read_everything;
use crate::playbook::{assert_clean_api, clean_log_of_pod, submit, with_prod};

/// The name of the variable doesn't say that it is secret.
const PLAYBOOK: &str = r#"
- name: Show it
  hosts: localhost
  connection: local
  gather_facts: false
  become: false
  vars: {ansible_remote_tmp: "{{ lookup('env', 'TMPDIR') }}"}
  tasks:
    - name: Print the variable
      ansible.builtin.debug:
        msg: "the phrase has {{ phrase | length }} characters: {{ phrase }}"
    - name: Print it in base64
      ansible.builtin.debug:
        msg: "{{ phrase | b64encode }}"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn variables_of_a_secret_reach_only_the_run() {
    let Some((server, cookie, client, namespace)) = with_prod("variables_of_a_secret_reach_only_the_run").await else {
        return;
    };
    let secret = serde_json::json!({"metadata": {"name": "phrases"}, "type": crd::SECRET_VARS_TYPE,
        "stringData": {"phrase": "canary-of-a-secret-variable\n"}});
    let secret: Secret = serde_json::from_value(secret).expect("a Secret");
    Api::namespaced(client.clone(), &namespace).create(&PostParams::default(), &secret).await.expect("created");
    let refer = serde_json::json!({"spec": {"secretVarsRef": DataRef::new(&namespace, "phrases")}});
    let clusters = Api::<Cluster>::all(client.clone());
    clusters.patch("prod", &PatchParams::default(), &Patch::Merge(refer)).await.expect("patched");
    submit(&client, &namespace, "show.yml", PLAYBOOK).await;
    let mut log = String::new();
    let shown = async || {
        log = server.get("/operations/grow/log.txt", &cookie).await.body;
        log.contains("1 of 1 steps done")
    };
    server.eventually("the end of its log", shown).await;
    assert!(log.contains("the phrase has 27 characters: ••••••"), "the run didn't get the variable: {log}");

    let canaries = ["canary-of-a-secret-variable", "Y2FuYXJ5LW9mLWEtc2VjcmV0LXZhcmlhYmxl"].map(str::to_owned);
    assert_clean("the log", &log, &canaries);
    clean_log_of_pod(&client, &namespace, &canaries).await;
    for (address, answer) in read_everything(&server, &cookie).await {
        assert_clean(&address, &answer, &canaries);
    }
    assert_clean_api(&client, &namespace, &canaries).await;
    let conf = std::ffi::OsStr::new("conf");
    let is_input = |path: &std::path::Path| path.components().any(|part| part.as_os_str() == conf);
    let unmounted = async || !files(server.data.path()).iter().any(|path| is_input(path));
    server.eventually("the removal of what the run had mounted", unmounted).await;
    for path in files(server.data.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The database contains the Secrets.
        if !name.starts_with("state.db") {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
            assert_clean(&path.display().to_string(), &text, &canaries);
        }
    }
}
