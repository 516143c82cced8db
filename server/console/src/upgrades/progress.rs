//! How far the upgrade of each node is, by the events of the run.

use api::cluster::NodeState;
use api::operation::Phase;
use api::progress::{Cell, RunProgress, TaskProgress};

/// The plays that upgrade nodes, of the built-in engine and of kubespray. Each batch of nodes starts such a play again.
const NODE_PLAYS: [&str; 4] = [
    "Upgrade the control planes",
    "Upgrade the workers",
    "Handle upgrades to control plane components first to maintain backwards compat.",
    "Finally handle worker upgrades, based on given batch size",
];

/// The part of a node in an upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) state: NodeState,
    pub(super) word: &'static str,
    pub(super) detail: String,
}

impl Step {
    pub(super) fn new(state: NodeState, word: &'static str, detail: impl Into<String>) -> Self {
        Self { state, word, detail: detail.into() }
    }
}

/// How far `host` is. `progress` of a run that has ended must have been ended, too.
pub(super) fn step(progress: &RunProgress, phase: Phase, host: &str) -> Step {
    let task_name = |number: u32| progress.task(number).map_or("", |task| task.name.as_str());
    if let Some(failure) = progress.standing_failures().into_iter().rev().find(|failure| failure.host == host) {
        let word = if failure.unreachable { "Unreachable" } else { "Failed" };
        let task = task_name(failure.task);
        let detail = if failure.message.is_empty() { task.to_owned() } else { format!("{task}: {}", failure.message) };
        return Step::new(NodeState::Failed, word, detail);
    }
    let at = progress.hosts.iter().position(|known| known == host);
    let cell = |task: &TaskProgress| at.map_or(Cell::None, |at| task.cells.get(at));
    let is_at = |task: &&TaskProgress| cell(task) != Cell::None;
    let node_plays = progress.plays.iter().filter(|play| NODE_PLAYS.contains(&play.name.as_str()));
    let own = node_plays.rev().map(|play| play.number).find(|play| progress.tasks_of(*play).any(|task| is_at(&task)));
    let last_task = |play: u32| progress.tasks_of(play).rfind(is_at).map_or("", |task| task.name.as_str());
    let Some(play) = own else {
        let running = progress.tasks.iter().rev().find(|task| cell(task) == Cell::Running);
        return match (phase, running) {
            (Phase::Running, Some(task)) => Step::new(NodeState::Waiting, "Preparing", &task.name),
            (Phase::Running | Phase::Queued, _) => Step::new(NodeState::Waiting, "Waiting", ""),
            (Phase::Succeeded, _) => Step::new(NodeState::Done, "Done", ""),
            _ => Step::new(NodeState::Stopped, "Not reached", ""),
        };
    };
    let is_newest = progress.plays.last().is_some_and(|newest| newest.number == play);
    match phase {
        Phase::Running | Phase::Queued if is_newest => Step::new(NodeState::Upgrading, "Upgrading", last_task(play)),
        Phase::Failed | Phase::Cancelled | Phase::Restored if is_newest => {
            Step::new(NodeState::Stopped, "Stopped", last_task(play))
        }
        _ => Step::new(NodeState::Done, "Done", ""),
    }
}

#[cfg(test)]
mod tests {
    use api::run::{EventBody, HostResult, HostStats, RunEvent};

    use super::*;

    /// A run in which `w1` fails or is at work, after `m1`.
    fn run(fails: bool) -> RunProgress {
        let play = |play, name: &str| EventBody::PlayStart { play, name: name.into() };
        let task = |task, play, name: &str| EventBody::TaskStart {
            task,
            play,
            name: name.into(),
            action: "command".into(),
            handler: false,
        };
        let start = |task, host: &str| EventBody::HostStart { task, host: host.into() };
        let end = |task, host: &str, result, message: Option<&str>| EventBody::HostResult {
            task,
            host: host.into(),
            result,
            ms: 1,
            message: message.map(str::to_owned),
            item: None,
            ignored: false,
        };
        let mut events = vec![play(1, "Check the upgrade"), task(1, 1, "Read the node")];
        events.extend(["m1", "w1", "w2"].map(|host| end(1, host, HostResult::Ok, None)));
        events.extend([play(2, NODE_PLAYS[0]), task(2, 2, "Upgrade kubeadm"), end(2, "m1", HostResult::Changed, None)]);
        events.extend([play(3, NODE_PLAYS[1]), task(3, 3, "Drain the node"), start(3, "w1")]);
        if fails {
            let stats = |failed| HostStats { ok: 1, failed, ..HostStats::default() };
            let hosts = [("m1", 0), ("w1", 1), ("w2", 0)].map(|(host, failed)| (host.to_owned(), stats(failed)));
            events.extend([
                end(3, "w1", HostResult::Failed, Some("web blocks it")),
                EventBody::Stats { hosts: hosts.into() },
            ]);
        }
        let events = events.into_iter().zip(1..).map(|(body, n)| RunEvent { n, at: 0, after: 0, body });
        RunProgress::from_events(&events.collect::<Vec<_>>())
    }

    fn shown(progress: &RunProgress, phase: Phase) -> Vec<String> {
        let words = |host| {
            let step = step(progress, phase, host);
            format!("{} {}", step.word, step.detail)
        };
        ["m1", "w1", "w2"].map(words).into()
    }

    #[test]
    fn one_node_upgrades_while_others_are_done_or_wait() {
        assert_eq!(shown(&run(false), Phase::Running), ["Done ", "Upgrading Drain the node", "Waiting "]);
        assert_eq!(shown(&run(false), Phase::Cancelled), ["Done ", "Stopped Drain the node", "Not reached "]);
        assert_eq!(shown(&RunProgress::default(), Phase::Queued), ["Waiting "; 3]);
    }

    #[test]
    fn a_failed_node_has_its_task_and_message() {
        let expected = ["Done ", "Failed Drain the node: web blocks it", "Not reached "];
        assert_eq!(shown(&run(true), Phase::Failed), expected);
    }

    #[test]
    fn the_playbook_upgrades_nodes_in_plays_of_these_names() {
        let playbook = include_str!("../../../../deploy/runner/playbooks/upgrade-cluster.yml");
        for name in &NODE_PLAYS[..2] {
            let play = playbook.split("- name: ").find(|play| play.lines().next() == Some(name)).unwrap();
            assert!(play.contains("\n  serial: 1\n"), "one node after the other: {play}");
        }
    }
}
