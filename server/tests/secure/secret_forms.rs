//! A playbook prints secrets as ansible has them: after YAML's escapes and folding, and parsed from other texts. Afterwards they are
//! only in the inputs.

use std::fs;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::ListParams;

use crate::ansible;
use crate::canaries::{assert_clean, files};
use crate::exposure::read_everything;
use crate::playbook::{clean_log_of_pod, submit};
use crate::server::{Server, kube};
use crate::skipped::skip;

/// Each word that begins with `canary` is a secret.
const VARIABLES: &str = r#"
login_password: node
smtp_password: "canary-first\ncanary-second\x6e"
folded_token: >-
  canary-one
  canary-two
pin_password: 0123456
registry_credentials: |
  {
    "username": "alice",
    "password": "canary-block"
  }
backup_command: "mysqldump --password=canary-dump"
extra_env: [{name: DB_PASSWORD, value: canary-env}]
secrets: {db: canary-map, owner: {username: bob, value: canary-nested}}
hook: "https://example.test/hook?token=canary%2Furl&x=y"
pair: "DB_PASSWORD=canary-pair"
env_file: |
  USER=carol
  export DB_PASSWORD="canary of env"
database: postgres://dave:canary%40db@db.example.test/x
command: [login, --token, canary-argv]
docker_auth: '{"auths": {"r": {"auth": "bWU6Y2FuYXJ5LWRvY2tlcg=="}}}'
referring_password: "{{ base.db }}"
base: {db: canary-referred}
"#;

const PLAYBOOK: &str = r#"
- name: Print
  hosts: all
  connection: local
  gather_facts: false
  become: false
  vars: {ansible_remote_tmp: "{{ lookup('env', 'TMPDIR') }}"}
  tasks:
    - name: Print the kubelet of node2 with its login
      ansible.builtin.debug: {msg: "{{ login_password }} {{ pin_password }} {{ base }} {{ referring_password }}"}
    - name: Print lines
      ansible.builtin.debug: {msg: "{{ item }}"}
      loop: "{{ smtp_password.split('\n') + [folded_token] + env_file.split('\n') + registry_credentials.split('\n') }}"
    - name: Print what is parsed
      ansible.builtin.debug: {msg: "{{ item }}"}
      loop:
        - "{{ (registry_credentials | from_json).password }}"
        - "{{ backup_command.split('=')[1] }}"
        - "{{ extra_env[0].value }} {{ secrets.db }} {{ secrets.owner.value }} {{ command[2] }}"
        - "{{ hook | regex_search('token=([^&]*)', '\\1') | first }}"
        - "{{ (hook | urlsplit('query')).split('&')[0].split('=')[1] }} {{ pair.split('=')[1] }}"
        - "{{ (database | urlsplit).password }}"
        - "{{ (docker_auth | from_json).auths.r.auth | b64decode }}"
    - name: Fail with everything
      ansible.builtin.fail:
        msg: "{{ [smtp_password, folded_token, registry_credentials, backup_command, extra_env, secrets, hook, pair, env_file, database, command, docker_auth] | to_json }}"
"#;

/// Names and words that stay readable.
const READABLE: [&str; 9] = [
    "node1",
    "node2",
    "Print the kubelet of node2",
    "alice",
    "bob",
    "carol",
    "mysqldump --password=",
    "db.example.test",
    "&x=y",
];

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_hidden_in_the_form_that_ansible_has() {
    let Some(folder) = ansible::folder() else {
        return skip(
            "secrets_are_hidden_in_the_form_that_ansible_has",
            "KUBEONKUBE_TEST_ANSIBLE names no folder with ansible-playbook",
        );
    };
    let server = Server::start_with_ansible(&folder).await;
    if server.has_no_pages("secrets_are_hidden_in_the_form_that_ansible_has").await {
        return;
    }
    let cookie = server.sign_in_by_link().await;
    let hosts = "node1 ansible_connection=local\nnode2 ansible_connection=local\n";
    let fields = [
        ("form", "register_cluster"),
        ("name", "prod"),
        ("pasted", hosts),
        ("ssh", "generate"),
        ("variables", VARIABLES),
    ];
    let got = server.post("/clusters/_new", &cookie, &fields).await;
    assert_eq!(got.status, 303, "{}", got.body);
    let client = kube(&server.file("kubeconfig")).await;
    let cluster = Api::<crd::Cluster>::all(client.clone()).get("prod").await.expect("the cluster");
    let namespace = cluster.spec.hosts_conf_ref.namespace;
    submit(&client, &namespace, "print.yml", PLAYBOOK).await;
    let ended = async || server.get("/api/load_operation?name=grow", &cookie).await.json()["row"]["phase"] == "failed";
    server.eventually("the end of the run", ended).await;
    let mut log = String::new();
    let logged = async || {
        log = server.get("/operations/grow/log.txt", &cookie).await.body;
        log.contains("PLAY RECAP")
    };
    server.eventually("the end of its log", logged).await;
    READABLE.iter().for_each(|word| assert!(log.contains(word), "{word} is missing in {log}"));

    let canaries =
        ["canary-", "canary of", "canary@", "canary/", "canary%", "0123456", "42798", "Y2FuYXJ5"].map(str::to_owned);
    assert_clean("the log", &log, &canaries);
    clean_log_of_pod(&client, &namespace, &canaries).await;
    let everything = read_everything(&server, &cookie).await;
    assert!(everything.values().any(|answer| answer.contains("smtp_password: (hidden)")), "{:?}", everything.keys());
    for (address, answer) in everything {
        // Users edit the inputs on this page.
        if !address.contains("configuration") {
            assert_clean(&address, &answer, &canaries);
        }
    }
    let shown = server.get("/clusters/prod/configuration?show=variables", &cookie).await.body;
    assert!(shown.contains("The value of login_password is a word"), "{shown}");
    let all = ListParams::default();
    let operations = Api::<crd::ClusterOperation>::all(client.clone()).list(&all).await.expect("operations");
    for text in [
        format!("{:?}", Api::<Pod>::all(client.clone()).list(&all).await.expect("pods")),
        format!("{:?}", Api::<Job>::all(client.clone()).list(&all).await.expect("Jobs")),
        format!("{:?}", Api::<Event>::all(client.clone()).list(&all).await.expect("Events")),
        format!("{operations:?}"),
        format!("{:?}", Api::<crd::Cluster>::all(client.clone()).list(&all).await.expect("clusters")),
    ] {
        assert_clean("the API", &text, &canaries);
    }
    let conf = std::ffi::OsStr::new("conf");
    let left =
        || files(server.data.path()).into_iter().filter(|path| !path.components().any(|part| part.as_os_str() == conf));
    for path in left() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The database contains the inputs.
        if !name.starts_with("state.db") {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
            assert_clean(&path.display().to_string(), &text, &canaries);
        }
    }
}
