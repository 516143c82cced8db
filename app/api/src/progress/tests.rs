use super::*;
use crate::progress::TaskState;
use crate::run::{HostResult, HostStats, StepRole};

/// Builds the events of a run. `n` and `at` are set automatically, `after` is passed.
#[derive(Default, Clone)]
struct Events(Vec<RunEvent>);

impl Events {
    fn then(mut self, after: u64, body: EventBody) -> Self {
        let n = self.0.len() as u64 + 1;
        self.0.push(RunEvent { n, at: 1000 * i64::try_from(n).unwrap(), after, body });
        self
    }

    fn task(self, after: u64, task: u32, name: &str) -> Self {
        self.then(
            after,
            EventBody::TaskStart { task, play: 1, name: name.into(), action: "ping".into(), handler: false },
        )
    }

    fn start(self, after: u64, task: u32, host: &str) -> Self {
        self.then(after, EventBody::HostStart { task, host: host.into() })
    }

    fn result(self, after: u64, task: u32, host: &str, result: HostResult) -> Self {
        self.full(after, task, host, result, None, false)
    }

    fn full(self, after: u64, task: u32, host: &str, result: HostResult, item: Option<&str>, ignored: bool) -> Self {
        let message = (result == HostResult::Failed).then(|| format!("{host} refused"));
        let item = item.map(Into::into);
        self.then(after, EventBody::HostResult { task, host: host.into(), result, ms: 5, message, item, ignored })
    }

    fn stats(self, after: u64, hosts: &[(&str, HostStats)]) -> Self {
        self.then(after, EventBody::Stats { hosts: hosts.iter().map(|(h, s)| ((*h).into(), *s)).collect() })
    }

    fn progress(&self) -> RunProgress {
        RunProgress::from_events(&self.0)
    }
}

fn started_run() -> Events {
    Events::default()
        .then(0, EventBody::StepStart { step: 1, role: StepRole::Main, title: "ping.yml".into() })
        .then(2, EventBody::PlayStart { play: 1, name: "All".into() })
        .task(4, 1, "Ping")
}

#[test]
fn results_are_counted_per_task_and_in_total() {
    let progress = started_run()
        .start(4, 1, "a")
        .start(4, 1, "b")
        .result(5, 1, "a", HostResult::Ok)
        .result(6, 1, "b", HostResult::Changed)
        .task(8, 2, "Then")
        .start(8, 2, "a")
        .progress();
    assert_eq!(progress.tasks[0].counts, super::super::Counts { ok: 1, changed: 1, ..Default::default() });
    assert_eq!(progress.tasks[0].state(), TaskState::Changed);
    assert_eq!(progress.tasks[0].ms(), 4000, "from its start to its last result");
    assert_eq!(progress.totals.all(), 2);
    let (task, hosts) = progress.running().unwrap();
    assert_eq!((task.name.as_str(), hosts), ("Then", vec!["a"]));
}

#[test]
fn an_event_that_is_applied_twice_counts_once() {
    let events = started_run().start(4, 1, "a").result(5, 1, "a", HostResult::Ok);
    let mut progress = events.progress();
    let once = progress.clone();
    for event in &events.0 {
        progress.apply(event);
    }
    assert_eq!(progress, once);
}

#[test]
fn progress_restored_from_json_accepts_further_events() {
    let events = started_run().start(4, 1, "a").start(4, 1, "b").result(5, 1, "b", HostResult::Ok).result(
        6,
        1,
        "a",
        HostResult::Ok,
    );
    let half = RunProgress::from_events(&events.0[..5]);
    let mut restored: RunProgress = serde_json::from_str(&serde_json::to_string(&half).unwrap()).unwrap();
    for event in &events.0 {
        restored.apply(event);
    }
    assert_eq!(restored, events.progress());
    assert_eq!(restored.hosts, ["a", "b"]);
}

#[test]
fn loop_items_are_not_counted_as_results() {
    let progress = started_run()
        .start(4, 1, "a")
        .full(5, 1, "a", HostResult::Ok, Some("x"), false)
        .full(6, 1, "a", HostResult::Failed, Some("y"), false)
        .result(7, 1, "a", HostResult::Failed)
        .progress();
    assert_eq!((progress.tasks[0].items, progress.totals.failed, progress.totals.ok), (2, 1, 0));
    assert_eq!(progress.failures.len(), 1);
}

#[test]
fn a_result_of_a_task_that_only_checks_is_no_change() {
    let run = started_run().start(4, 1, "a").result(5, 1, "a", HostResult::WouldChange).task(7, 2, "Next");
    let progress = run.progress();
    assert_eq!((progress.totals.changed, progress.totals.ok, progress.totals.would_change), (0, 0, 1));
    assert_eq!(progress.tasks[0].state(), TaskState::WouldChange);
    assert_eq!((progress.sums().changed, progress.sums().ok, progress.sums().would_change), (0, 1, 1));
    let stats = HostStats { ok: 2, would_change: 1, ..HostStats::default() };
    let end = EventBody::StepEnd { step: 1, rc: 0 };
    let recapped = run.stats(9, &[("a", stats), ("b", stats)]).then(9, end).progress();
    assert_eq!((recapped.sums().ok, recapped.sums().would_change), (4, 2));
}

#[test]
fn a_rescued_failure_is_neither_a_failure_nor_ignored() {
    let progress = started_run().start(4, 1, "a").result(5, 1, "a", HostResult::Rescued).task(7, 2, "Next").progress();
    assert_eq!((progress.totals.failed, progress.totals.ignored, progress.totals.rescued), (0, 0, 1));
    assert_eq!(progress.tasks[0].state(), TaskState::Rescued);
    assert!(progress.standing_failures().is_empty());
}

#[test]
fn an_ignored_failure_does_not_count_as_failed() {
    let progress =
        started_run().start(4, 1, "a").full(5, 1, "a", HostResult::Failed, None, true).task(7, 2, "Next").progress();
    assert_eq!((progress.totals.failed, progress.totals.ignored), (0, 1));
    assert_eq!(progress.tasks[0].state(), TaskState::Ignored);
    assert!(progress.standing_failures().is_empty());
}

#[test]
fn a_failure_has_the_line_numbers_of_its_output() {
    let progress = started_run()
        .start(4, 1, "a")
        .start(4, 1, "b")
        .result(5, 1, "b", HostResult::Ok)
        .result(9, 1, "a", HostResult::Failed)
        .progress();
    assert_eq!(progress.failures[0].lines, (6, 9));
    assert_eq!(progress.failures[0].message, "a refused");
}

#[test]
fn a_failure_recovered_by_a_rescue_is_left_out() {
    let failed = HostStats { failed: 1, ..Default::default() };
    let progress = started_run()
        .result(5, 1, "a", HostResult::Failed)
        .result(6, 1, "b", HostResult::Failed)
        .task(7, 2, "Last")
        .result(8, 2, "b", HostResult::Failed)
        .stats(9, &[("a", HostStats { rescued: 1, ..Default::default() }), ("b", failed)])
        .progress();
    let standing: Vec<_> = progress.standing_failures().into_iter().map(|f| (f.host.as_str(), f.task)).collect();
    assert_eq!(standing, [("b", 2)]);
    assert_eq!(progress.failure_of("b", "Last").unwrap().lines, (8, 8));
}

/// A pre-hook that succeeded, then the action, in which host `a` fails.
fn failed_after_a_hook() -> Events {
    let ok = HostStats { ok: 1, ..Default::default() };
    Events::default()
        .then(0, EventBody::StepStart { step: 1, role: StepRole::Pre, title: "ping.yml".into() })
        .then(1, EventBody::PlayStart { play: 1, name: "All".into() })
        .task(2, 1, "Ping")
        .result(3, 1, "a", HostResult::Ok)
        .stats(4, &[("a", ok)])
        .then(4, EventBody::StepEnd { step: 1, rc: 0 })
        .then(4, EventBody::StepStart { step: 2, role: StepRole::Main, title: "upgrade.yml".into() })
        .then(5, EventBody::PlayStart { play: 2, name: "All".into() })
        .task(6, 2, "Upgrade")
        .result(7, 2, "a", HostResult::Failed)
}

#[test]
fn the_recap_of_a_hook_does_not_hide_a_failed_action() {
    let standing = |events: &Events| events.progress().standing_failures().iter().map(|f| f.task).collect::<Vec<_>>();
    let killed = failed_after_a_hook();
    assert_eq!(standing(&killed), [2]);
    let rescued = failed_after_a_hook().stats(8, &[("a", HostStats { rescued: 1, ..Default::default() })]);
    assert!(standing(&rescued).is_empty());
}

#[test]
fn recaps_are_complete_once_every_playbook_has_one() {
    let ended = |events: Events| events.then(9, EventBody::StepEnd { step: 2, rc: 2 });
    let recap = |events: Events| events.stats(8, &[("a", HostStats { failed: 1, ..Default::default() })]);
    assert!(!failed_after_a_hook().progress().is_recapped(), "the action is running");
    assert!(!ended(failed_after_a_hook()).progress().is_recapped(), "the action was killed");
    assert!(!recap(failed_after_a_hook()).progress().is_recapped(), "its step has not ended");
    assert!(ended(recap(failed_after_a_hook())).progress().is_recapped());
}

#[test]
fn a_run_is_partial_if_the_action_is_done_with_a_machine() {
    let failed = |failed| HostStats { ok: 1, failed, ..Default::default() };
    let recap = |first, second| [("localhost", failed(0)), ("a", failed(first)), ("b", failed(second))];
    let is_partial = |first, second| started_run().stats(8, &recap(first, second)).progress().is_partial();
    assert!(is_partial(0, 1));
    assert!(!is_partial(0, 0), "it succeeded");
    assert!(!is_partial(1, 1), "on all machines");
    for role in [StepRole::Pre, StepRole::Post] {
        let hook = EventBody::StepStart { step: 2, role, title: "facts.yml".into() };
        let progress = started_run().stats(8, &recap(0, 0)).then(9, hook).stats(12, &recap(0, 1)).progress();
        assert!(!progress.is_partial(), "a limit is for the action, and its hooks run on other machines");
    }
}

#[test]
fn a_playbook_without_a_recap_says_which_hosts_are_left() {
    let stopped = started_run().result(5, 1, "a", HostResult::Ok).result(6, 1, "b", HostResult::Failed);
    let ended = |events: Events| events.then(7, EventBody::StepEnd { step: 1, rc: 143 }).progress();
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let given_up = |left, failed| EventBody::GivenUp { left: names(left), failed: names(failed) };
    let progress = ended(stopped.clone().then(7, given_up(&["c", "d"], &["b"])));
    assert_eq!((progress.open_hosts(), progress.left_hosts()), (vec!["b", "c", "d"], vec!["c", "d"]));
    assert!(progress.is_partial() && !progress.is_recapped());
    assert!(!ended(stopped.clone().then(7, given_up(&["a"], &["b"]))).is_partial(), "on all machines");
    assert!(!ended(stopped).is_partial(), "a run of an earlier version has no such event");
}

#[test]
fn tasks_still_running_at_the_end_of_a_step_are_stopped() {
    let progress = started_run().start(4, 1, "a").start(4, 1, "b").result(5, 1, "a", HostResult::Ok);
    let progress = progress.then(5, EventBody::StepEnd { step: 1, rc: 143 }).progress();
    assert_eq!(progress.tasks[0].state(), TaskState::Stopped);
    assert_eq!(progress.tasks[0].hosts_at(Cell::Stopped, &progress.hosts), ["b"]);
    assert_eq!((progress.steps[0].rc, progress.running().is_none()), (Some(143), true));
}

#[test]
fn recaps_are_summed_and_the_newest_outcome_is_kept() {
    let ok = |ok| HostStats { ok, ..Default::default() };
    let progress = started_run()
        .stats(9, &[("a", ok(2))])
        .stats(12, &[("a", ok(3)), ("b", ok(1))])
        .then(12, EventBody::Outcome { key: "facts".into(), value: 1.into() })
        .then(12, EventBody::Outcome { key: "facts".into(), value: 2.into() })
        .progress();
    let recap = progress.recap();
    assert_eq!((recap["a"].ok, recap["b"].ok), (5, 1));
    assert_eq!(progress.outcomes, [("facts".to_owned(), serde_json::Value::from(2))]);
}

#[test]
fn a_run_with_too_many_hosts_still_has_a_progress() {
    let mut events = started_run();
    let hosts = (0..=super::MAX_HOSTS).map(|n| (format!("m{n}"), HostStats::default())).collect();
    events = events.then(5, EventBody::Stats { hosts }).result(6, 1, "one-more", HostResult::Ok);
    let mut progress = events.progress();
    assert_eq!((progress.hosts.len(), progress.totals.ok), (super::MAX_HOSTS, 0));
    progress.tasks[0].cells.set(super::MAX_HOSTS - 1, Cell::Ok);
    let sent = serde_json::to_string(&progress).unwrap();
    assert_eq!(serde_json::from_str::<RunProgress>(&sent).unwrap().hosts.len(), super::MAX_HOSTS);
}

#[test]
fn a_result_of_an_unknown_task_is_not_counted() {
    let progress = started_run().result(5, 77, "a", HostResult::Ok).progress();
    assert_eq!(progress.totals.all(), 0);
}

#[test]
fn the_progress_of_a_large_run_is_below_200_kb() {
    let mut progress = started_run().progress();
    let mut n = progress.last_event;
    for task in 2..=600 {
        for host in 0..=200 {
            n += 1;
            let body = if host == 0 {
                EventBody::TaskStart {
                    task,
                    play: 1,
                    name: format!("Task {task}"),
                    action: "command".into(),
                    handler: false,
                }
            } else {
                let result = if host % 50 == 0 { HostResult::Changed } else { HostResult::Ok };
                EventBody::HostResult {
                    task,
                    host: format!("node{host}"),
                    result,
                    ms: 1,
                    message: None,
                    item: None,
                    ignored: false,
                }
            };
            progress.apply(&RunEvent { n, at: 0, after: n, body });
        }
    }
    assert_eq!(progress.totals.all(), 599 * 200);
    let size = serde_json::to_vec(&progress).unwrap().len();
    assert!(size < 200_000, "{size} bytes");
}
