//! What a run can reach of the server and of other runs.

use std::path::Path;

use kube::ResourceExt;
use kubeonkube_runner::Isolation;
use serde_json::json;

use crate::ansible::{run_playbook, with_real_ansible};
use crate::skipped;
use crate::stage::{Settings, Stage, ended};

/// Prints each command that succeeds.
const TRY: &str = r#"try() { if ("$@") >/dev/null 2>&1; then echo "possible: $*"; fi; }; "#;

/// Whether this machine can isolate runs. Otherwise the test is skipped.
fn isolates(test: &str) -> bool {
    let isolation = Isolation::detect();
    if !isolation.is_on() {
        skipped::skip(test, &isolation.to_string());
    }
    isolation.is_on()
}

/// A stage with isolated runs, or `None` on a machine that can't isolate them.
fn isolated(test: &str) -> Option<Stage> {
    isolates(test).then(Stage::new)
}

/// Files like those of a server, and the folder of another run that has left a file.
async fn secrets_of(stage: &Stage) -> String {
    for file in ["session.key", "kubeconfig"] {
        std::fs::write(stage.dir.path().join(file), "secret").unwrap();
    }
    std::fs::create_dir(stage.dir.path().join("ansible")).unwrap();
    stage.job("other", "true", json!({})).await;
    stage.job_that_is("other", "Complete").await;
    let other = stage.run_dir(&stage.pods_of("other").await[0]);
    stage.wait("its files to go", async || (!other.join("root").exists()).then_some(())).await;
    std::fs::create_dir_all(other.join("root/scratch")).unwrap();
    std::fs::write(other.join("root/scratch/termination-log"), "secret\n").unwrap();
    other.display().to_string()
}

/// Everything that no run may do. `$PPID` is the shim.
fn forbidden(data: &Path, other: &str, signals: bool) -> String {
    let (data, server) = (data.display(), std::process::id());
    let mut all = vec![
        format!("cat {data}/session.key"),
        format!("cat {data}/state.db"),
        format!("cat {data}/kubeconfig"),
        format!("ls {data}"),
        format!("ls {data}/runs"),
        format!("ls {other}/root/scratch"),
        format!("cat {other}/root/scratch/termination-log"),
        format!("cat {other}/exit.json"),
        format!("mkdir {data}/new"),
        format!("mkdir {data}/ansible/new"),
        format!("cp /etc/hostname {data}/shim.sh"),
        format!("rm {data}/kubeconfig"),
        format!("ln {data}/session.key key"),
        format!("cp /dev/null {data}/session.key"),
        format!("cat /proc/{server}/environ"),
        format!("cat /proc/{server}/maps"),
        format!("readlink /proc/{server}/fd/0"),
        format!("ls /proc/{server}/root/"),
        format!("sh -c ': < /proc/{server}/mem'"),
        "cat /proc/$PPID/environ".into(),
        "sh -c \": < /proc/$PPID/mem\"".into(),
        "cat ../run.json".into(),
        "cp /etc/hostname ../exit.json".into(),
        "cp /etc/hostname ../process.json".into(),
        "cp /etc/hostname ../log".into(),
        "rm ../log".into(),
        "mv ../log log".into(),
        "mknod disk b 8 0".into(),
        "mount -t tmpfs none scratch".into(),
        format!("cp /dev/null {}/.kubeonkube-test", std::env::home_dir().unwrap().display()),
    ];
    if !signals {
        all.extend([format!("kill -0 {server}"), "kill -0 $PPID".into()]);
    }
    all.iter().map(|command| format!("try {command}\n")).collect()
}

#[tokio::test]
async fn a_run_cannot_reach_the_server_or_other_runs() {
    let Some(stage) = isolated("a_run_cannot_reach_the_server_or_other_runs") else { return };
    let other = secrets_of(&stage).await;
    let signals = matches!(Isolation::detect(), Isolation::On { signals: true, .. });
    let script = format!("{TRY}{}echo end", forbidden(stage.dir.path(), &other, signals));
    stage.job("grow", &script, json!({})).await;
    stage.job_that_is("grow", "Complete").await;
    assert_eq!(stage.log(&stage.pods_of("grow").await[0]).await, "end\n");
    assert_eq!(std::fs::read_to_string(stage.dir.path().join("session.key")).unwrap(), "secret");
}

#[tokio::test]
async fn an_isolated_run_uses_its_folder_and_the_machine() {
    let Some(stage) = isolated("an_isolated_run_uses_its_folder_and_the_machine") else { return };
    let script = "set -e; echo a > scratch/a; mkdir deep; mv scratch/a deep/b; cat deep/b; echo t > $(mktemp); ls $TMPDIR | wc -l; \
                  cat /etc/passwd > /dev/null; ls /usr > /dev/null; cat /proc/self/environ > /dev/null; echo x > /var/tmp/$$; \
                  rm /var/tmp/$$; sleep 60 & kill $!; python3 -c 'import tempfile; print(tempfile.gettempdir())'";
    stage.job("grow", script, json!({})).await;
    stage.job_that_is("grow", "Complete").await;
    let pod = stage.pods_of("grow").await.remove(0);
    let temporary = stage.run_dir(&pod).join("root/tmp");
    assert_eq!(stage.log(&pod).await, format!("a\n1\n{}\n", temporary.display()));
    assert!(!temporary.exists(), "temporary files stay");
}

/// Tasks for which ansible writes files to a folder on the host, where `m1` and `localhost` are this machine.
const LOCAL_TASKS: &str = r#"
- hosts: m1
  gather_facts: false
  become: false
  vars: {folder: "{{ lookup('env', 'TMPDIR') }}"}
  tasks:
    - ansible.builtin.copy: {content: copied, dest: "{{ folder }}/copied"}
    - ansible.builtin.template: {src: text.j2, dest: "{{ folder }}/rendered"}
    - ansible.builtin.script: text.j2
    - ansible.builtin.copy: {content: copied, dest: "{{ folder }}/delegated"}
      delegate_to: localhost
- hosts: localhost
  connection: local
  gather_facts: false
  become: false
  tasks:
    - ansible.builtin.script: text.j2
    - ansible.builtin.command: pwd
      async: 300
      poll: 1
"#;

/// By default, ansible's own files are in the home directory of the user, which is read-only.
#[tokio::test]
async fn an_isolated_playbook_runs_on_this_machine() {
    let test = "an_isolated_playbook_runs_on_this_machine";
    if !isolates(test) {
        return;
    }
    let Some(stage) = with_real_ansible(test) else { return };
    let files = [("sources/0/play.yml", LOCAL_TASKS), ("sources/0/text.j2", "#!/bin/sh\necho text\n")];
    let (summary, log) = run_playbook(&stage, "conf/sources/0/play.yml", &files).await;
    let recap = &summary["steps"][0]["recap"];
    let counts = ["ok", "unreachable", "failed"].map(|count| recap[count].as_u64());
    assert_eq!(counts, [Some(6), Some(0), Some(0)], "{log}");
}

#[tokio::test]
async fn a_run_cannot_forge_its_result() {
    let Some(stage) = isolated("a_run_cannot_forge_its_result") else { return };
    let exit = r#"{"code":0,"cause":"exited","startedAt":null,"finishedAt":"2026-01-01T00:00:00Z"}"#;
    let script = format!("echo '{exit}' > ../exit.json; echo '{exit}' > new; mv new ../exit.json; exit 3");
    stage.job("grow", &script, json!({})).await;
    stage.job_that_is("grow", "Failed").await;
    assert_eq!(ended(&stage.pods_of("grow").await[0]).0, 3);
}

/// The server reads the message, and it may read everything.
#[tokio::test]
async fn a_termination_message_is_not_read_through_a_link() {
    let stage = Stage::new();
    let other = secrets_of(&stage).await;
    let script = format!("rmdir dev; ln -s {other}/root/scratch dev");
    stage.job("folder", &script, json!({})).await;
    stage.job("file", &format!("ln -s {other}/root/scratch/termination-log dev/termination-log"), json!({})).await;
    for name in ["folder", "file"] {
        stage.job_that_is(name, "Complete").await;
        assert_eq!(ended(&stage.pods_of(name).await[0]).2, "", "{name}");
    }
}

#[tokio::test]
async fn without_isolation_a_run_reads_the_data_directory() {
    let stage = Stage::with(&Settings { isolation: Isolation::TurnedOff, ..Settings::default() });
    let other = secrets_of(&stage).await;
    stage
        .job("grow", &format!("cat {}/session.key {other}/root/scratch/*", stage.dir.path().display()), json!({}))
        .await;
    stage.job_that_is("grow", "Complete").await;
    let pod = stage.pods_of("grow").await.remove(0);
    assert_eq!(stage.log(&pod).await, "secretsecret\n", "{}", pod.name_any());
}
