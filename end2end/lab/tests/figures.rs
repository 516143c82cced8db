//! How long the built-in engine takes, and which tasks take longest: `cargo xtask bench engine`.
//!
//! Needs both releases, six machines and a quarter of an hour.

#[path = "shared/jobs.rs"]
mod jobs;
#[expect(dead_code, reason = "the suite `engine` uses the rest")]
#[path = "engine/playbooks.rs"]
mod playbooks;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use lab::Lab;

use crate::playbooks::Playbooks;

/// How long one playbook may take on a busy computer.
const PLAYBOOK_WITHIN: Duration = Duration::from_secs(1800);

/// Runs a playbook and prints how long it took, its goal in seconds, and its three slowest tasks.
async fn measure(playbooks: &mut Playbooks, what: &str, goal: Option<u64>, playbook: &str, arguments: &[&str]) {
    let started = Instant::now();
    let output = playbooks.output(playbook, arguments).await;
    let goal = goal.map_or_else(String::new, |goal| format!(" (goal {goal})"));
    println!("{what}: {:.1} s{goal}", started.elapsed().as_secs_f64());
    let mut tasks = tasks(&output);
    tasks.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
    for (task, took) in tasks.iter().take(3) {
        println!("    {:>5.1} s  {task}", took.as_secs_f64());
    }
}

/// The tasks in an output with timestamps, and how long each took.
fn tasks(output: &str) -> Vec<(&str, Duration)> {
    let mut tasks: Vec<(&str, Duration)> = Vec::new();
    let mut running: Option<(&str, Timestamp)> = None;
    for line in output.lines() {
        let Some((at, text)) = line.split_once(' ') else { continue };
        let header = ["TASK [", "RUNNING HANDLER [", "PLAY "].into_iter().find(|header| text.starts_with(header));
        let (Some(header), Ok(at)) = (header, at.parse::<Timestamp>()) else { continue };
        if let Some((task, since)) = running.take() {
            tasks.push((task, (at - since).try_into().unwrap_or_default()));
        }
        if header != "PLAY " {
            let name = text.strip_prefix(header).and_then(|rest| rest.split_once(']'));
            running = name.map(|(name, _)| (name, at));
        }
    }
    tasks
}

#[tokio::test]
#[ignore = "a benchmark"]
async fn engine() {
    let lab = Lab::shared(&["--machines", "6", "--releases=1.36,1.37"]).unwrap_or_else(|error| panic!("{error}"));
    let mut releases = lab.releases().to_vec();
    releases.sort();
    let [old, new]: [String; 2] = releases.try_into().expect("the lab serves two releases");
    for number in 1..=6 {
        let machine = lab.machine(&format!("m{number}")).unwrap();
        machine.reset().unwrap();
        machine.wait_reachable().unwrap();
    }

    let mut playbooks = Playbooks::at(&lab, &old).await;
    playbooks.timestamps = true;
    playbooks.workers(&["m2", "m3"]).await;
    measure(&mut playbooks, "create 1 + 2", Some(45), "cluster.yml", &[]).await;
    measure(&mut playbooks, "the same again, nothing to change", Some(15), "cluster.yml", &[]).await;
    let upgrade = format!("kube_version={new}");
    let what = format!("upgrade 1 + 2 from {old} to {new}");
    measure(&mut playbooks, &what, Some(150), "upgrade-cluster.yml", &["-e", &upgrade]).await;
    measure(&mut playbooks, "reset 3 machines", None, "reset.yml", &["-e", "reset_confirmation=yes"]).await;

    let mut playbooks = Playbooks::at(&lab, &new).await;
    playbooks.timestamps = true;
    let workers = ["m2", "m3", "m4", "m5", "m6"];
    playbooks.workers(&[]).await;
    measure(&mut playbooks, "create 1 + 0", None, "cluster.yml", &[]).await;
    for existing in 1..=workers.len() {
        playbooks.workers(&workers[..existing]).await;
        let limit = format!("--limit={}", workers[existing - 1]);
        measure(&mut playbooks, &format!("add a node to {existing}"), Some(15), "scale.yml", &[&limit]).await;
    }
    measure(&mut playbooks, "remove a node of 6", None, "remove-node.yml", &["-e", "node=m6"]).await;
    measure(&mut playbooks, "reset 6 machines", None, "reset.yml", &["-e", "reset_confirmation=yes"]).await;
}

#[test]
fn a_task_lasts_until_the_next_one_or_the_end_of_its_play() {
    let output = "2026-11-23T10:00:00.5Z PLAY [all] ***\n2026-11-23T10:00:01Z TASK [apt : Install] ***\n\
        2026-11-23T10:00:02Z ok: [m1]\n2026-11-23T10:00:03.25Z RUNNING HANDLER [Restart] ***\n\
        2026-11-23T10:00:04Z PLAY RECAP ***\n2026-11-23T10:00:09Z m1 : ok=2\n";
    let expected = [("apt : Install", Duration::from_millis(2250)), ("Restart", Duration::from_millis(750))];
    assert_eq!(tasks(output), expected);
}
