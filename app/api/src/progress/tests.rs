use super::*;
use crate::progress::TaskState;
use crate::run::{HostResult, HostStats, StepRole};

/// Events numbered by themselves; `after` is given.
#[derive(Default)]
struct Story(Vec<RunEvent>);

impl Story {
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
        let message = (result == HostResult::Failed).then(|| format!("{host} said no"));
        let item = item.map(Into::into);
        self.then(after, EventBody::HostResult { task, host: host.into(), result, ms: 5, message, item, ignored })
    }

    fn stats(self, after: u64, hosts: &[(&str, HostStats)]) -> Self {
        self.then(after, EventBody::Stats { hosts: hosts.iter().map(|(h, s)| ((*h).into(), *s)).collect() })
    }

    fn told(&self) -> RunProgress {
        RunProgress::from_events(&self.0)
    }
}

fn begun() -> Story {
    Story::default()
        .then(0, EventBody::StepStart { step: 1, role: StepRole::Main, title: "ping.yml".into() })
        .then(2, EventBody::PlayStart { play: 1, name: "All".into() })
        .task(4, 1, "Ping")
}

#[test]
fn results_are_counted_per_task_and_over_all() {
    let told = begun()
        .start(4, 1, "a")
        .start(4, 1, "b")
        .result(5, 1, "a", HostResult::Ok)
        .result(6, 1, "b", HostResult::Changed)
        .task(8, 2, "Then")
        .start(8, 2, "a")
        .told();
    assert_eq!(told.tasks[0].counts, super::super::Counts { ok: 1, changed: 1, ..Default::default() });
    assert_eq!(told.tasks[0].state(), TaskState::Changed);
    assert_eq!(told.tasks[0].ms(), 4000, "from its start to its last result");
    assert_eq!(told.totals.all(), 2);
    let (task, hosts) = told.running().unwrap();
    assert_eq!((task.name.as_str(), hosts), ("Then", vec!["a"]));
}

#[test]
fn an_event_that_comes_twice_counts_once() {
    let story = begun().start(4, 1, "a").result(5, 1, "a", HostResult::Ok);
    let mut told = story.told();
    let once = told.clone();
    for event in &story.0 {
        told.apply(event);
    }
    assert_eq!(told, once);
}

#[test]
fn it_goes_on_after_it_travelled() {
    let story =
        begun().start(4, 1, "a").start(4, 1, "b").result(5, 1, "b", HostResult::Ok).result(6, 1, "a", HostResult::Ok);
    let half = RunProgress::from_events(&story.0[..5]);
    let mut arrived: RunProgress = serde_json::from_str(&serde_json::to_string(&half).unwrap()).unwrap();
    for event in &story.0 {
        arrived.apply(event);
    }
    assert_eq!(arrived, story.told());
    assert_eq!(arrived.hosts, ["a", "b"]);
}

#[test]
fn items_of_a_loop_are_no_results_of_their_own() {
    let told = begun()
        .start(4, 1, "a")
        .full(5, 1, "a", HostResult::Ok, Some("x"), false)
        .full(6, 1, "a", HostResult::Failed, Some("y"), false)
        .result(7, 1, "a", HostResult::Failed)
        .told();
    assert_eq!((told.tasks[0].items, told.totals.failed, told.totals.ok), (2, 1, 0));
    assert_eq!(told.failures.len(), 1);
}

#[test]
fn an_ignored_failure_is_no_failure() {
    let told = begun().start(4, 1, "a").full(5, 1, "a", HostResult::Failed, None, true).task(7, 2, "Next").told();
    assert_eq!((told.totals.failed, told.totals.ignored), (0, 1));
    assert_eq!(told.tasks[0].state(), TaskState::Ok);
    assert!(told.standing_failures().is_empty());
}

#[test]
fn a_failure_knows_the_lines_that_tell_of_it() {
    let told = begun()
        .start(4, 1, "a")
        .start(4, 1, "b")
        .result(5, 1, "b", HostResult::Ok)
        .result(9, 1, "a", HostResult::Failed)
        .told();
    assert_eq!(told.failures[0].lines, (6, 9));
    assert_eq!(told.failures[0].message, "a said no");
}

#[test]
fn what_a_rescue_recovered_from_does_not_stand() {
    let failed = HostStats { failed: 1, ..Default::default() };
    let told = begun()
        .result(5, 1, "a", HostResult::Failed)
        .result(6, 1, "b", HostResult::Failed)
        .task(7, 2, "Last")
        .result(8, 2, "b", HostResult::Failed)
        .stats(9, &[("a", HostStats { rescued: 1, ..Default::default() }), ("b", failed)])
        .told();
    let standing: Vec<_> = told.standing_failures().into_iter().map(|f| (f.host.as_str(), f.task)).collect();
    assert_eq!(standing, [("b", 2)]);
    assert_eq!(told.failure_of("b", "Last").unwrap().lines, (8, 8));
}

/// A pre-hook that ended well, then the action, in which a fails.
fn failed_after_a_hook() -> Story {
    let ok = HostStats { ok: 1, ..Default::default() };
    Story::default()
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
    let standing = |story: &Story| story.told().standing_failures().iter().map(|f| f.task).collect::<Vec<_>>();
    let killed = failed_after_a_hook();
    assert_eq!(standing(&killed), [2]);
    let rescued = failed_after_a_hook().stats(8, &[("a", HostStats { rescued: 1, ..Default::default() })]);
    assert!(standing(&rescued).is_empty());
}

#[test]
fn the_recaps_tell_all_when_every_playbook_has_left_one() {
    let ended = |story: Story| story.then(9, EventBody::StepEnd { step: 2, rc: 2 });
    let recap = |story: Story| story.stats(8, &[("a", HostStats { failed: 1, ..Default::default() })]);
    assert!(!failed_after_a_hook().told().is_recapped(), "the action runs");
    assert!(!ended(failed_after_a_hook()).told().is_recapped(), "the action was killed");
    assert!(!recap(failed_after_a_hook()).told().is_recapped(), "its step has not ended");
    assert!(ended(recap(failed_after_a_hook())).told().is_recapped());
}

#[test]
fn a_step_that_ends_stops_what_was_in_flight() {
    let told = begun().start(4, 1, "a").start(4, 1, "b").result(5, 1, "a", HostResult::Ok);
    let told = told.then(5, EventBody::StepEnd { step: 1, rc: 143 }).told();
    assert_eq!(told.tasks[0].state(), TaskState::Stopped);
    assert_eq!(told.tasks[0].hosts_at(Cell::Stopped, &told.hosts), ["b"]);
    assert_eq!((told.steps[0].rc, told.running().is_none()), (Some(143), true));
}

#[test]
fn recaps_add_up_and_outcomes_keep_the_newest() {
    let ok = |ok| HostStats { ok, ..Default::default() };
    let told = begun()
        .stats(9, &[("a", ok(2))])
        .stats(12, &[("a", ok(3)), ("b", ok(1))])
        .then(12, EventBody::Outcome { key: "facts".into(), value: 1.into() })
        .then(12, EventBody::Outcome { key: "facts".into(), value: 2.into() })
        .told();
    let recap = told.recap();
    assert_eq!((recap["a"].ok, recap["b"].ok), (5, 1));
    assert_eq!(told.outcomes, [("facts".to_owned(), serde_json::Value::from(2))]);
}

#[test]
fn a_result_of_a_task_nobody_announced_changes_no_count() {
    let told = begun().result(5, 77, "a", HostResult::Ok).told();
    assert_eq!(told.totals.all(), 0);
}

#[test]
fn a_large_run_travels_small() {
    let mut told = begun().told();
    let mut n = told.last_event;
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
            told.apply(&RunEvent { n, at: 0, after: n, body });
        }
    }
    assert_eq!(told.totals.all(), 599 * 200);
    let size = serde_json::to_vec(&told).unwrap().len();
    assert!(size < 200_000, "{size} bytes");
}
