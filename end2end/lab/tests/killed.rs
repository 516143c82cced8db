//! The built-in engine's playbooks are killed at seeded moments. Where the product says "safe to stop", the cluster then works; and the
//! playbook, run again, ends as if nothing had happened.
//!
//! Needs both releases and many minutes, so it runs with `cargo xtask test --full` and by hand:
//! `cargo test --package kubeonkube-lab --test killed -- --ignored --nocapture --test-threads=1`. `KUBEONKUBE_TEST_SEED` chooses other
//! moments.

#[path = "shared/jobs.rs"]
mod jobs;
#[expect(dead_code, reason = "the suite `engine` uses the rest")]
#[path = "engine/playbooks.rs"]
mod playbooks;
#[path = "shared/traces.rs"]
mod traces;

use std::env;
use std::time::Duration;

use api::progress::RunProgress;
use api::run::{EventBody, RunEvent};
use api::watch::StopWhen;
use lab::wait::{PATIENCE, until};
use lab::{Lab, Machine};
use mutation::Mutator;
use operation::{ACTIONS, action, stop_advice};

use crate::playbooks::Playbooks;
use crate::traces::{changes, traces};

/// How long one playbook may take on a busy computer.
const PLAYBOOK_WITHIN: Duration = Duration::from_secs(900);
const KUBECTL: &str = "kubectl --kubeconfig /etc/kubernetes/admin.conf --cache-dir /run/kubeonkube/kubectl";
const NAMES: [&str; 3] = ["m1", "m2", "m3"];

/// The last line of the output of a playbook that was killed.
const KILLED: &str = "killed";

/// A cluster whose playbooks are killed.
struct Victim {
    machines: [Machine; 3],
    playbooks: Playbooks,
    random: Mutator,
    /// The names of its nodes, once it exists.
    nodes: Vec<&'static str>,
}

impl Victim {
    /// Three fresh machines of a lab that serves both releases; m1 is the control plane, m2 a worker. Also returns the releases.
    async fn on_fresh_machines(test: &'static str) -> (Self, [String; 2]) {
        let lab = Lab::shared(&["--machines", "3", "--releases=1.36,1.37"]).unwrap_or_else(|error| panic!("{error}"));
        let mut releases = lab.releases().to_vec();
        releases.sort();
        let releases: [String; 2] = releases.try_into().expect("the lab serves two releases");
        let machines = NAMES.map(|name| lab.machine(name).unwrap());
        for machine in &machines {
            machine.reset().unwrap();
            machine.wait_reachable().unwrap();
        }
        let seed = env::var("KUBEONKUBE_TEST_SEED").map_or(1, |seed| seed.parse().expect("a number"));
        let playbooks = Playbooks::at(&lab, &releases[0]).await;
        playbooks.workers(&["m2"]).await;
        (Self { machines, playbooks, random: Mutator::new(seed, test), nodes: Vec::new() }, releases)
    }

    fn kubectl(&self, words: &str) -> String {
        self.machines[0].run(&format!("{KUBECTL} {words}")).unwrap_or_else(|error| panic!("kubectl {words}: {error}"))
    }

    /// Kills a playbook of this many tasks `times` times, each time after more tasks, and then runs it to its end. It may end earlier, because
    /// each run finds less to do. Returns the lines of its recap.
    async fn survives(&mut self, playbook: &str, arguments: &[&str], tasks: usize, times: usize) -> Vec<String> {
        let mut moments: Vec<_> = (0..times).map(|_| (self.random.below(tasks) + 1, self.random.below(4))).collect();
        moments.sort_unstable();
        let mut is_intact = true;
        for (n, &(task, seconds)) in moments.iter().enumerate() {
            let log = self.killed(playbook, arguments, task, seconds).await;
            let started = log.iter().filter(|line| line.starts_with("TASK [")).count();
            if log.last().is_none_or(|line| line != KILLED) {
                assert!(n > 0, "{playbook} ended after {started} tasks: {log:#?}");
                break;
            }
            let last = |prefix: &str| {
                let name = log.iter().rev().find_map(|line| line.strip_prefix(prefix)?.split_once(']'));
                name.expect("plays and tasks have started").0
            };
            let (play, task) = (last("PLAY ["), last("TASK ["));
            let advice = advice(playbook, play, task);
            assert!(advice.is_some(), "the product says nothing about stopping the play “{play}” of {playbook}");
            eprintln!(
                "         killed {seconds} s after the start of task {started}, “{task}” of “{play}”: {advice:?}"
            );
            // The advice is about this run: what an earlier one has left stays.
            is_intact &= advice == Some(StopWhen::Now);
            if is_intact && !self.nodes.is_empty() {
                self.works();
            }
            // The precheck says so to a user.
            for machine in &self.machines {
                let ended = || match machine.run("cat /proc/[0-9]*/comm 2> /dev/null | grep -x kubeadm || true") {
                    Ok(none) if none.is_empty() => Ok(()),
                    other => Err(format!("{other:?}")),
                };
                until("kubeadm to end on the machine", 3 * PATIENCE, ended).unwrap();
            }
        }
        self.playbooks.succeeds(playbook, arguments).await
    }

    /// Runs a playbook and kills it this many seconds after its `task`-th task has started, with all its processes. On the machines,
    /// what it has started goes on. Returns its output.
    async fn killed(&mut self, playbook: &str, arguments: &[&str], task: usize, seconds: usize) -> Vec<String> {
        // Process 1, which prints what the others say, doesn't kill itself.
        let script = format!(
            r#"mkfifo /tmp/said
               "$@" > /tmp/said 2>&1 &
               left={task}
               while IFS= read -r line; do
                   printf '%s\n' "$line"
                   case $line in "TASK ["*) left=$((left - 1)); [ $left != 0 ] || {{ sleep {seconds}; kill -KILL -1; }} & ;; esac
               done < /tmp/said
               [ $left -gt 0 ] || echo {KILLED}"#
        );
        self.playbooks.run_by(&["sh", "-c", &script, "sh"], playbook, arguments).await
    }

    /// All nodes are ready and take pods, and the API answers.
    fn works(&self) {
        let nodes = self.nodes.iter().map(|name| format!("node/{name}")).collect::<Vec<_>>().join(" ");
        self.kubectl(&format!("wait --for=condition=Ready --timeout=60s {nodes}"));
        let unschedulable = self.kubectl("get nodes -o jsonpath='{.items[?(@.spec.unschedulable)].metadata.name}'");
        assert_eq!(unschedulable, "", "a node takes no pods");
    }

    /// The name and version of all nodes, all of them ready and taking pods.
    fn versions(&self) -> String {
        self.works();
        self.kubectl(
            "get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion}, {end}'",
        )
    }
}

/// What the product says about stopping a playbook during this task, on m1.
fn advice(playbook: &str, play: &str, task: &str) -> Option<StopWhen> {
    let (name, host) = (play.to_owned(), "m1".to_owned());
    let bodies = [
        EventBody::PlayStart { play: 1, name },
        EventBody::TaskStart { task: 1, play: 1, name: task.to_owned(), action: "command".into(), handler: false },
        EventBody::HostStart { task: 1, host },
    ];
    let events: Vec<_> = bodies.into_iter().zip(1..).map(|(body, n)| RunEvent { n, at: 0, after: 0, body }).collect();
    let stops = action(ACTIONS, playbook).expect("an action").stops;
    stop_advice(stops, &RunProgress::from_events(&events)).map(|advice| advice.when)
}

#[tokio::test]
#[ignore = "needs both releases and many minutes"]
async fn a_cluster_is_made_grown_and_removed_by_runs_that_are_killed() {
    let (mut victim, _) =
        Victim::on_fresh_machines("a_cluster_is_made_grown_and_removed_by_runs_that_are_killed").await;
    let before = [0, 1, 2].map(|n| traces(&victim.machines[n]));
    victim.survives("cluster.yml", &[], 73, 6).await;
    victim.nodes = vec!["m1", "m2"];
    victim.works();
    let recap = victim.playbooks.succeeds("cluster.yml", &[]).await;
    assert!(recap.iter().all(|line| line.contains(" changed=0 ")), "the second run has changed something: {recap:#?}");

    victim.playbooks.workers(&["m2", "m3"]).await;
    victim.survives("scale.yml", &["--limit=m3"], 56, 4).await;
    victim.nodes.push("m3");
    victim.works();
    victim.survives("renew-certs.yml", &[], 15, 3).await;
    victim.works();
    victim.nodes.pop();
    victim.survives("remove-node.yml", &["-e", "node=m3"], 20, 4).await;
    assert_eq!(victim.kubectl("get nodes -o name"), "node/m1\nnode/m2\n");
    assert_eq!(changes(&before[2], &victim.machines[2]), [""; 0], "m3 isn't clean");

    victim.playbooks.workers(&["m2"]).await;
    victim.nodes.clear();
    victim.survives("reset.yml", &["-e", "reset_confirmation=yes"], 20, 4).await;
    for n in [0, 1] {
        assert_eq!(changes(&before[n], &victim.machines[n]), [""; 0], "{} isn't clean", NAMES[n]);
    }
}

#[tokio::test]
#[ignore = "needs both releases and many minutes"]
async fn a_cluster_is_upgraded_and_restored_by_runs_that_are_killed() {
    let (mut victim, [_, new]) =
        Victim::on_fresh_machines("a_cluster_is_upgraded_and_restored_by_runs_that_are_killed").await;
    victim.playbooks.succeeds("cluster.yml", &[]).await;
    victim.nodes = vec!["m1", "m2"];
    victim.survives("upgrade-cluster.yml", &["-e", &format!("kube_version={new}")], 119, 7).await;
    assert_eq!(victim.versions(), format!("m1 {new}, m2 {new}, "));
    let recap = victim.playbooks.succeeds("upgrade-cluster.yml", &["-e", &format!("kube_version={new}")]).await;
    assert!(recap.iter().all(|line| line.contains(" changed=0 ")), "the second run has changed something: {recap:#?}");

    victim.playbooks.succeeds("etcd-backup.yml", &[]).await;
    let snapshot = victim.machines[0].run("ls -t /var/backups/kubeonkube/*.db | head -n 1").unwrap();
    victim.kubectl("create configmap after-the-snapshot");
    let restore = format!("etcd_restore_file={}", snapshot.trim());
    victim.survives("etcd-restore.yml", &["-e", &restore, "-e", "etcd_restore_confirmation=yes"], 28, 3).await;
    assert_eq!(victim.kubectl("get configmap after-the-snapshot --ignore-not-found"), "");
    assert_eq!(victim.versions(), format!("m1 {new}, m2 {new}, "));
}
