//! Whether a run may be stopped now. The rules are per play of a playbook, and a test compares them with the playbooks.

use api::progress::{Cell, PlayProgress, RunProgress, TaskProgress, TaskState};
use api::watch::{StopAdvice, StopWhen};

/// What stopping during a play means. Plays of the same name, such as the batches of a rolling play, share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayStop {
    /// The name of the play.
    pub(crate) play: &'static str,
    pub(crate) rule: Rule,
    /// Names of tasks during which it must not be stopped, also if `rule` allows it, and of what they do.
    pub(crate) not_during: Option<(&'static [&'static str], &'static str)>,
}

/// When a run may be stopped. The texts are sentences about what stopping leaves; `{node}` stands for the node at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    Now(&'static str),
    AfterNode(&'static str),
    NotNow(&'static str),
}

const fn now(play: &'static str, why: &'static str) -> PlayStop {
    PlayStop { play, rule: Rule::Now(why), not_during: None }
}

const fn not_now(play: &'static str, why: &'static str) -> PlayStop {
    PlayStop { play, rule: Rule::NotNow(why), not_during: None }
}

const fn after_node(play: &'static str, why: &'static str) -> PlayStop {
    PlayStop { play, rule: Rule::AfterNode(why), not_during: None }
}

impl PlayStop {
    const fn but_not_during(self, tasks: &'static [&'static str], why: &'static str) -> Self {
        Self { not_during: Some((tasks, why)), ..self }
    }
}

const CHECKS: &str = "Only checks run. Nothing has changed.";
const PREPARES: &str = "What was installed stays, and the next run continues from there.";
const JOINS: &str = "Machines that have not joined yet join in the next run. Nodes of the cluster stay as they are.";
const UPGRADES: &str = "{node} is being upgraded. If the run stops now, it may stay drained and half upgraded until the upgrade is continued.";
const REPLACES: &str = "Programs of {node} are being replaced and restarted. If the run stops now, it may be out of order until the upgrade is continued.";

pub(crate) const UPGRADE: &[PlayStop] = &[
    now("Check the upgrade", CHECKS),
    now("Back up etcd", "A snapshot of etcd is being written. Nothing has changed."),
    now("Fetch kubeadm and the images", "Downloads run. No program was restarted."),
    now("Renew what connects the pods", "No node is being upgraded. The next run repeats this step."),
    after_node("Upgrade the control planes", UPGRADES).but_not_during(
        &[
            "Run kubeadm upgrade",
            "Wait until this machine's Kubernetes API answers",
            "Wait until a controller manager and a scheduler work",
            "Install containerd and runc",
            "Start containerd",
            "Restart the kubelet",
            "Wait until the kubelet reports its new version and is ready",
        ],
        REPLACES,
    ),
    after_node("Upgrade the workers", UPGRADES).but_not_during(
        &[
            "Install containerd and runc",
            "Start containerd",
            "Restart the kubelet",
            "Wait until the kubelet reports its new version and is ready",
        ],
        REPLACES,
    ),
    // The plays of kubespray that upgrade nodes.
    after_node("Handle upgrades to control plane components first to maintain backwards compat.", UPGRADES),
    after_node("Finally handle worker upgrades, based on given batch size", UPGRADES),
];

const CREATES: &str = "kubeadm creates the control plane or lets {node} join it. If the run stops now, etcd may have an unfinished member until the playbook runs again.";

pub(crate) const CREATE: &[PlayStop] = &[
    now("Check and prepare the machines", PREPARES),
    now("Create the control plane", PREPARES).but_not_during(&["Run kubeadm init"], CREATES),
    after_node(
        "Join the other control planes",
        "If the run stops now, {node} may not be a node yet. The next run continues.",
    )
    .but_not_during(&["Run kubeadm join"], CREATES),
    now("Join the workers", JOINS),
    now("Connect the pods", PREPARES),
    now("Make a kubeconfig", "The cluster exists. Only its kubeconfig is missing."),
];

pub(crate) const ADD_NODES: &[PlayStop] =
    &[now("Check and prepare the machines", PREPARES), now("Join the workers", JOINS)];

pub(crate) const JOIN: &[PlayStop] =
    &[now("Check and prepare the machines", PREPARES), now("Join the machines", JOINS)];

pub(crate) const REMOVE_NODES: &[PlayStop] = &[
    now(
        "Check the request and drain the nodes",
        "Drained nodes stay cordoned: they get no pods until you uncordon them, or until they are removed.",
    ),
    not_now(
        "Clean the machines",
        "Kubernetes is being removed from machines. One that is half cleaned is no node and can't join again, until the playbook has run again.",
    ),
    not_now("Delete the nodes", "The machines are clean. Only their nodes are still in the cluster."),
];

pub(crate) const RESET: &[PlayStop] = &[
    now("Ask for the confirmation", CHECKS),
    not_now("Clean the workers", HALF_CLEAN),
    not_now("Clean the control plane", HALF_CLEAN),
    not_now(
        "Delete the nodes of the cleaned machines",
        "The machines are clean. Only their nodes are still in the cluster.",
    ),
];
const HALF_CLEAN: &str =
    "Kubernetes and its data are being removed. What is gone doesn't come back, and the rest needs another reset.";

pub(crate) const BACK_UP: &[PlayStop] =
    &[now("Back up etcd", "Then there is no new snapshot. Nothing else has changed.")];

const RESTORES: &str = "The control plane is stopped for the restore. If the run stops now, the Kubernetes API stays away until the restore has run again.";

pub(crate) const RESTORE: &[PlayStop] = &[
    now("Check the request", CHECKS),
    not_now("Stop the control plane", RESTORES),
    not_now("Restore the first member of etcd", RESTORES),
    not_now("Let the other members join again", RESTORES),
    not_now("Start the control plane", RESTORES),
    now(
        "Wait for the controllers",
        "The snapshot is restored. Don't restore it again: that would lose what has changed since.",
    ),
];

pub(crate) const RENEW_CERTIFICATES: &[PlayStop] = &[after_node(
    "Renew the certificates",
    "The certificates of {node} are being renewed. If the run stops now, some of them may be old. The next run renews them.",
)
.but_not_during(
    &["Run kubeadm certs renew", "Restart the programs of the control plane", "Wait until the Kubernetes API uses the new certificate"],
    "Certificates of {node} are being replaced and its programs restarted. If the run stops now, its Kubernetes API may be away until the playbook runs again.",
)];

/// What stopping a run of a playbook with these rules would leave now. `None` before its first play, and in a play without a rule.
#[must_use]
pub fn stop_advice(stops: &[PlayStop], progress: &RunProgress) -> Option<StopAdvice> {
    let play = progress.plays.last()?;
    let stop = stops.iter().find(|stop| stop.play == play.name)?;
    let nodes = nodes_at_work(progress, play);
    let said = |text: &str| text.replace("{node}", nodes.as_deref().unwrap_or("a node"));
    let is_running = |tasks: &[&str]| {
        let mut running = progress.tasks_of(play.number).filter(|task| task.state() == TaskState::Running);
        running.any(|task| tasks.contains(&task.own_name()))
    };
    if let Some((_, why)) = stop.not_during.filter(|(tasks, _)| is_running(tasks)) {
        return Some(StopAdvice { when: StopWhen::NotNow, why: said(why) });
    }
    let (when, why) = match stop.rule {
        Rule::Now(why) => (StopWhen::Now, said(why)),
        Rule::NotNow(why) => (StopWhen::NotNow, said(why)),
        Rule::AfterNode(why) => match &nodes {
            Some(nodes) => (StopWhen::AfterNode(nodes.clone()), said(why)),
            None => (StopWhen::Now, "No node is being changed.".to_owned()),
        },
    };
    Some(StopAdvice { when, why })
}

/// The hosts of the newest task of a play that has started on one, in words: `w1`, `w1 and 4 more`. A task that is only
/// announced leaves the play at the nodes of the task before it. `None` before the first task has started on a host.
fn nodes_at_work(progress: &RunProgress, play: &PlayProgress) -> Option<String> {
    let hosts_of = |task: &TaskProgress| -> Vec<usize> {
        let spans = task.cells.runs().filter(|(cell, ..)| *cell != Cell::None);
        spans.flat_map(|(_, start, count)| start..start + count).collect()
    };
    let hosts = progress.tasks_of(play.number).rev().map(hosts_of).find(|hosts| !hosts.is_empty())?;
    let first = progress.hosts.get(hosts[0])?;
    match hosts.len() - 1 {
        0 => Some(first.clone()),
        more => Some(format!("{first} and {more} more")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use api::operation::Effect;
    use api::run::{EventBody, HostResult, RunEvent};
    use crd::Engine;

    use super::*;
    use crate::ACTIONS;

    fn playbooks() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/runner/playbooks")
    }

    /// The names that `- name: ` gives in a file, at any depth or only at the left.
    fn names(file: &Path, only_plays: bool) -> BTreeSet<String> {
        let text = std::fs::read_to_string(file).unwrap();
        let named = |line: &str| {
            let line = if only_plays { line } else { line.trim_start() };
            line.strip_prefix("- name: ").map(str::to_owned)
        };
        text.lines().filter_map(named).collect()
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_play_that_changes_something_has_a_rule() {
        for action in ACTIONS.iter().filter(|action| action.engines.contains(&Engine::Kubeonkube)) {
            let plays = names(&playbooks().join(action.playbook), true);
            let ruled = |play: &String| action.stops.iter().any(|stop| stop.play == play);
            if action.effect == Effect::Reads {
                assert!(action.stops.is_empty(), "{} changes nothing, so it can be stopped always", action.playbook);
            } else {
                assert!(plays.iter().all(ruled), "{}: {plays:?}", action.playbook);
            }
            let known = |play: &str| plays.contains(play) || KUBESPRAY.contains(&play);
            assert!(action.stops.iter().all(|stop| known(stop.play)), "{}: {plays:?}", action.playbook);
        }
    }

    const KUBESPRAY: [&str; 2] = [
        "Handle upgrades to control plane components first to maintain backwards compat.",
        "Finally handle worker upgrades, based on given batch size",
    ];

    #[test]
    fn tasks_that_must_not_be_stopped_are_in_a_role() {
        let yaml =
            files(&playbooks().join("roles")).into_iter().filter(|file| file.extension().is_some_and(|e| e == "yml"));
        let tasks: BTreeSet<String> = yaml.flat_map(|file| names(&file, false)).collect();
        let critical = ACTIONS.iter().flat_map(|action| action.stops).filter_map(|stop| stop.not_during);
        for task in critical.flat_map(|(tasks, _)| tasks) {
            assert!(tasks.contains(*task), "no role has the task {task}");
        }
    }

    /// The advice after these events: `>` starts a play, `host:task` a task on a host, `:task` announces one, and `host.` ends
    /// the newest on a host.
    fn advice(stops: &[PlayStop], events: &[&str]) -> Option<(StopWhen, String)> {
        let (mut play, mut task) = (0, 0);
        let bodies = events.iter().flat_map(|event| match (event.strip_prefix('>'), event.split_once(':')) {
            (Some(name), _) => {
                play += 1;
                vec![EventBody::PlayStart { play, name: name.into() }]
            }
            (None, Some((host, name))) => {
                task += 1;
                let (name, action) = (name.into(), "command".into());
                let start = EventBody::TaskStart { task, play, name, action, handler: false };
                let host = (!host.is_empty()).then(|| EventBody::HostStart { task, host: host.into() });
                std::iter::once(start).chain(host).collect()
            }
            (None, None) => vec![EventBody::HostResult {
                task,
                host: event.trim_end_matches('.').into(),
                result: HostResult::Ok,
                ms: 1,
                message: None,
                item: None,
                ignored: false,
            }],
        });
        let events: Vec<_> = bodies.zip(1..).map(|(body, n)| RunEvent { n, at: 0, after: 0, body }).collect();
        stop_advice(stops, &RunProgress::from_events(&events)).map(|advice| (advice.when, advice.why))
    }

    #[test]
    fn an_upgrade_can_be_stopped_between_nodes() {
        let after = |node: &str| Some(StopWhen::AfterNode(node.into()));
        let when = |events: &[&str]| advice(UPGRADE, events).map(|(when, _)| when);
        assert_eq!(when(&[]), None);
        assert_eq!(when(&[">Check the upgrade", "m1:Read the cluster"]), Some(StopWhen::Now));
        let workers = ">Upgrade the workers";
        assert_eq!(when(&[workers]), Some(StopWhen::Now), "no node has started");
        assert_eq!(when(&[workers, "w1:Drain the node"]), after("w1"));
        assert_eq!(when(&[workers, "w1:upgrade : Restart the kubelet"]), Some(StopWhen::NotNow));
        assert_eq!(when(&[workers, "w1:Restart the kubelet", "w1.", "w1:Record the end"]), after("w1"));
        let between = [workers, "w1:Drain the node", "w1.", ":Stop the kubelet"];
        assert_eq!(when(&between), after("w1"), "the next task has started on no machine yet");
        assert_eq!(when(&[workers, "w1:Record the end", "w1.", workers, ":Drain the node"]), Some(StopWhen::Now));
        assert_eq!(when(&[workers, "w1:Record the end", "w1.", workers, "w2:Drain the node"]), after("w2"));
        assert_eq!(when(&[">Another play", "m1:Sleep"]), None);
    }

    #[test]
    fn the_reason_names_the_node() {
        let (_, why) = advice(UPGRADE, &[">Upgrade the control planes", "m1:upgrade : Run kubeadm upgrade"]).unwrap();
        assert!(why.starts_with("Programs of m1 are being replaced"), "{why}");
    }
}
