//! A script gets secrets in every way, prints them in many forms, and fails. Afterwards they are only where users put them.
//! `deploy/runner/tests/test_secrets.py` does the same with playbooks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use api::live::LiveFrame;
use crd::ClusterOperation;
use futures::{SinkExt, StreamExt};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod, Secret};
use kube::Api;
use kube::api::ListParams;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::exposure::read_everything;
use crate::patience::PATIENCE;
use crate::server::{Server, Socket, kube};
use crate::start;

/// Each part `canary-…` of the inputs is a secret.
const VARIABLES: &str = r#"ansible_password: canary-01
pass: canary-02
db_pwd: canary-03
credentials: "canary-04'q"
nested: {api_token: canary-05, list: [{admin_pass: canary-06}]}
tokens: [canary-07, "canary-08"]
client_secret: |
  canary-09 is a line
  canary-10 is a line, too
registry: https://me:canary-11@registry.example/
login_password: "{{ referred }}"
referred: canary-12
vault_pw: canary-13
kubeadm_certificate_key: canary-14
oauth2: canary-15
aws_creds: canary-16
"#;
const ARGUMENTS: &str =
    "--password=canary-17\n--token\ncanary-18\n-e\ndb_password=canary-19\n{\"passphrase\": \"canary-20\"}";
/// Begins with a secret, which is in the title of the operation. Prints `by-script` before each line, so that the database, which has
/// the inputs, shows what else is in it.
const SCRIPT: &str = r#"export DB_PASSWORD=canary-21 HOOK_TOKEN='canary-22'
exec > >(sed -u "s/^/$(echo tpircs-yb | rev) /") 2>&1
cat $KUBEONKUBE_ROOT/conf/group_vars.yml $KUBEONKUBE_ROOT/conf/token $KUBEONKUBE_ROOT/auth/ssh-privatekey
tail -n +2 $KUBEONKUBE_ROOT/auth/ssh-privatekey
base64 $KUBEONKUBE_ROOT/auth/ssh-privatekey
printf '%s\n' "$@" "$DB_PASSWORD" "$HOOK_TOKEN"
set -x
for n in 01 04 07 12 17 21; do
  secret="canary-$n"; [ $n = 04 ] && secret="canary-04'q"
  printf %s "$secret" | base64
  printf 'me:%s' "$secret" | base64
  python3 -c "import sys, json; print([sys.argv[1]], json.dumps({'a': sys.argv[1], 'b': json.dumps(sys.argv[1])}))" "$secret"
  [ $n = 04 ] || printf 'canary\033[31m-%s\033[0m\n' $n
done
echo generated_password=canary-23 '"api_key": "canary-24"' "{'bot_token': 'canary-25'}"
set +x
until [ -e $KUBEONKUBE_ROOT/go ]; do sleep 0.1; done
echo the end
exit 3
"#;

/// Parts of the command lines of a run's own processes.
const PROCESSES: [&str; 3] = ["run-job", "entrypoint.py", "scripts/1.sh"];

/// All secrets, and some in base64: of the whole value, and after the name of a user.
fn canaries(key: &str) -> Vec<String> {
    let plain = (1..=25).map(|n| format!("canary-{n:02}"));
    let encoded = ["Y2FuYXJ5LTAx", "Y2FuYXJ5LTA0J3E=", "OmNhbmFyeS0wM", "Y2FuYXJ5LTE3"].map(str::to_owned);
    let body = key.lines().filter(|line| !line.contains("PRIVATE KEY")).map(str::to_owned);
    plain.chain(encoded).chain(body).collect()
}

/// All files below `folder`.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The command lines of all processes that mention this folder in their command line or environment. Other tests run at the same time
/// and start the same programs.
fn command_lines(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let read = |process: &Path, file| fs::read(process.join(file)).unwrap_or_default();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ");
    let processes = fs::read_dir("/proc").expect("processes").flatten().map(|process| process.path());
    let texts = processes.map(|process| (text(read(&process, "cmdline")), text(read(&process, "environ"))));
    texts
        .filter(|(line, environment)| [line, environment].iter().any(|text| text.contains(&*folder)))
        .map(|(line, _)| line)
        .collect()
}

/// Everything that a tab gets that shows the run `grow`, until the end of the run's log.
pub(crate) async fn frames(mut tab: Socket) -> String {
    let shown =
        r#"{"do":"topics","topics":[{"topic":"clusters"},{"topic":"operations"},{"topic":"operation","name":"grow"}]}"#;
    for wish in [shown, r#"{"do":"follow","run":"grow","from":1}"#] {
        tab.send(Message::text(wish)).await.expect("sent");
    }
    let mut frames = String::new();
    while let Some(Ok(message)) = tab.next().await {
        let Message::Text(frame) = message else { continue };
        frames += &format!("{frame}\n");
        if matches!(serde_json::from_str(&frame), Ok(LiveFrame::End { .. })) {
            return frames;
        }
    }
    panic!("the socket closed before the end of the log: {frames}");
}

pub(crate) fn assert_clean(place: &str, text: &str, canaries: &[String]) {
    for canary in canaries {
        let at = text.find(canary.as_str());
        let around =
            at.map(|at| text[text.floor_char_boundary(at.saturating_sub(200))..].chars().take(300).collect::<String>());
        assert_eq!(around, None, "{canary} in {place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_canary_of_a_run_is_left_anywhere() {
    let server = Server::start(&[]).await;
    if server.has_no_pages("no_canary_of_a_run_is_left_anywhere").await {
        return;
    }
    let cookie = server.sign_in_by_link().await;
    let fields = [
        ("form", "register_cluster"),
        ("name", "prod"),
        ("pasted", "m1 192.0.2.1\n"),
        ("ssh", "generate"),
        ("variables", VARIABLES),
    ];
    let got = server.post("/clusters/_new", &cookie, &fields).await;
    assert_eq!(got.status, 303, "{}", got.body);
    let typed =
        [("cluster", "prod"), ("kind", "script"), ("script", SCRIPT), ("name", "grow"), ("extra_args", ARGUMENTS)];
    let tab = server.tab(&cookie).await;
    let got = server.submit_typed(&cookie, &typed).await;
    assert_eq!(got.status, 303, "{}", got.body);
    let frames = tokio::spawn(frames(tab));
    // The arguments of the programs that the script calls are its own.
    let mut ours = BTreeSet::new();
    server
        .eventually("the processes of the run", async || {
            let is_ours = |line: &String| PROCESSES.iter().any(|process| line.contains(process));
            ours.extend(command_lines(server.data.path()).into_iter().filter(is_ours));
            PROCESSES.iter().all(|process| ours.iter().any(|line| line.contains(process)))
        })
        .await;
    let run = fs::read_dir(server.file("runs")).expect("runs").flatten().next().expect("a run");
    fs::write(run.path().join("root/go"), "").expect("written");
    server
        .eventually("the end of the run", async || {
            server.get("/api/load_operation?name=grow", &cookie).await.json()["row"]["phase"] == "failed"
        })
        .await;
    let mut log = String::new();
    server
        .eventually("its log", async || {
            log = server.get("/operations/grow/log.txt", &cookie).await.body;
            log.contains("by-script the end")
        })
        .await;

    let client = kube(&server.file("kubeconfig")).await;
    let secrets = Api::<Secret>::all(client.clone()).list(&ListParams::default()).await.expect("secrets");
    let key = secrets.iter().find_map(|secret| secret.data.as_ref()?.get(crd::KEY_SSH)).expect("a private key");
    let canaries = canaries(&String::from_utf8_lossy(&key.0));
    assert!(canaries.len() >= 30, "{canaries:?}");
    assert!(log.matches("••••••").count() > 40, "{log}");
    ours.iter().for_each(|line| assert_clean("the command lines", line, &canaries));
    assert_clean("the log", &log, &canaries);
    let frames = timeout(PATIENCE, frames).await.expect("in time").expect("no panic");
    assert!(frames.contains("by-script the end") && frames.matches("••••••").count() > 40, "{frames}");
    assert_clean("the live socket", &frames, &canaries);

    let everything = read_everything(&server, &cookie).await;
    assert!(everything.contains_key("/operations/grow"), "{:?}", everything.keys());
    // Users edit the inputs on this page.
    let shown = everything.iter().filter(|(address, _)| !address.contains("configuration"));
    shown.for_each(|(address, answer)| assert_clean(address, answer, &canaries));

    let all = ListParams::default();
    let texts = [
        format!("{:?}", Api::<Pod>::all(client.clone()).list(&all).await.expect("pods")),
        format!("{:?}", Api::<Job>::all(client.clone()).list(&all).await.expect("Jobs")),
        format!("{:?}", Api::<Event>::all(client.clone()).list(&all).await.expect("Events")),
    ];
    texts.iter().for_each(|text| assert_clean("the API", text, &canaries));
    let operations = Api::<ClusterOperation>::all(client).list(&all).await.expect("operations");
    for operation in operations {
        assert_clean("the status", &format!("{:?} {:?}", operation.metadata, operation.status), &canaries);
    }

    let backup = server.data.path().join("backup");
    let made = start::program(&server.file("")).arg("backup").arg(&backup).output().expect("it runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut databases = 0;
    for path in files(server.data.path()) {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A database contains the inputs, but nothing of what the script printed.
        if name.starts_with("state.db") || path.starts_with(&backup) {
            databases += 1;
            assert!(!text.contains("by-script "), "output in {}", path.display());
        } else {
            assert_clean(&path.display().to_string(), &text, &canaries);
        }
    }
    assert!(databases >= 2, "the database and its backup");
}
