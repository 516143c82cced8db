use api::Time;
use api::operation::{OperationRow, RunEnd, Usual};
use api::run::{EventBody, HostResult, InFlight, RunEvent};

use super::*;

pub(in super::super) fn detail(phase: Phase, message: &str) -> OperationDetail {
    OperationDetail {
        row: OperationRow {
            name: "grow-1".parse().unwrap(),
            cluster: "prod".into(),
            action: "scale.yml".into(),
            script: false,
            check: false,
            phase,
            cancelling: false,
            reason: String::new(),
            message: message.into(),
            by: "ada".into(),
            submitted: Time(0),
            started: None,
            ended: None,
        },
        source: "playbook".into(),
        action: "scale.yml".into(),
        image: "x".into(),
        ran_locally: false,
        extra_args: String::new(),
        pre_hooks: Vec::new(),
        post_hooks: Vec::new(),
        deadline: 0,
        job: None,
        end: None,
        inputs: None,
        limited_from: None,
        limit: String::new(),
        repeats_as_a_whole: false,
        restored_by: String::new(),
        cancel: Ok(()),
        cancelled_by: String::new(),
        result_ignored: false,
        usual: None,
        now: Time(0),
    }
}

pub(in super::super) fn progress(bodies: Vec<EventBody>) -> RunProgress {
    let events: Vec<_> = (1..).zip(bodies).map(|(n, body)| RunEvent { n, at: 0, after: n * 2, body }).collect();
    RunProgress::from_events(&events)
}

pub(in super::super) fn task(task: u32, name: &str) -> EventBody {
    EventBody::TaskStart { task, play: 1, name: name.into(), action: "ping".into(), handler: false }
}

fn starts(task: u32, host: &str) -> EventBody {
    EventBody::HostStart { task, host: host.into() }
}

pub(in super::super) fn ends(task: u32, host: &str, result: HostResult, message: &str) -> EventBody {
    let message = (!message.is_empty()).then(|| message.into());
    EventBody::HostResult { task, host: host.into(), result, ms: 0, message, item: None, ignored: false }
}

#[test]
fn every_phase_has_its_sentence() {
    let none = RunProgress::default();
    let say = |phase, message: &str| sentence(&detail(phase, message), &none, None, 0);
    assert_eq!(say(Phase::Queued, "Waits for grow-0 on prod."), "Waits for grow-0 on prod.");
    assert_eq!(say(Phase::Queued, ""), "Queued.");
    assert_eq!(say(Phase::Running, ""), "Starting; no output yet.");
    assert_eq!(say(Phase::Failed, "The pod was evicted."), "The pod was evicted.");
    assert_eq!(say(Phase::Cancelled, ""), "Cancelled.");
    assert_eq!(say(Phase::Succeeded, ""), "Finished, exit code 0.");
}

#[test]
fn a_running_run_names_its_task_and_hosts() {
    let reported =
        progress(vec![task(1, "Restart kubelet"), starts(1, "w1"), starts(1, "w2"), starts(1, "w3"), starts(1, "w4")]);
    let mut running = detail(Phase::Running, "");
    assert_eq!(sentence(&running, &reported, None, 9), "“Restart kubelet” runs on w1, w2 and 2 others.");
    running.row.cancelling = true;
    assert!(
        sentence(&running, &reported, None, 9)
            .starts_with("Stopping. No new task starts; “Restart kubelet” still runs")
    );
}

#[test]
fn a_note_says_why_there_is_no_log_yet() {
    let note = "ansible is being installed: 40 %.";
    assert_eq!(sentence(&detail(Phase::Running, ""), &RunProgress::default(), Some(note), 0), note);
}

#[test]
fn success_is_what_the_status_says() {
    let said = "x.yml: 2 hosts, 1 task ok, 1 changed, 1 failure ignored. Unreachable, which was ignored: b.";
    let reported = progress(vec![task(1, "One"), ends(1, "a", HostResult::Changed, "")]);
    assert_eq!(sentence(&detail(Phase::Succeeded, said), &reported, None, 9), said);
    assert_eq!(sentence(&detail(Phase::Succeeded, ""), &reported, None, 9), "Finished, exit code 0.");
    let script = sentence(&detail(Phase::Succeeded, "Script: exit code 0."), &progress(Vec::new()), Some("Done."), 9);
    assert_eq!(script, "Finished, exit code 0. Done.");
}

#[test]
fn a_cancelled_run_names_the_interrupted_task() {
    let mut cancelled = detail(Phase::Cancelled, "");
    let running = Some(InFlight { task: "Drain".into(), hosts: vec!["w1".into()] });
    cancelled.end = Some(RunEnd { running, ..RunEnd::default() });
    let say = |cancelled: &OperationDetail| sentence(cancelled, &RunProgress::default(), None, 9);
    assert_eq!(say(&cancelled), "Cancelled while “Drain” ran on w1. Changes already made remain.");
    cancelled.cancelled_by = "ada".into();
    assert_eq!(say(&cancelled), "Cancelled by ada while “Drain” ran on w1. Changes already made remain.");
    cancelled.row.message = "The run was cancelled while task “Drain” was in flight on w1. Not reached: w2.".into();
    assert_eq!(
        say(&cancelled),
        format!("Cancelled by ada. {}", cancelled.row.message),
        "it names the hosts that are left"
    );
    (cancelled.end, cancelled.row.message) = (None, "Cancelled before it started.".into());
    assert_eq!(say(&cancelled), "Cancelled by ada. Cancelled before it started.");
}

#[test]
fn the_log_state_says_whether_the_log_is_complete() {
    let end = |lines, missing| Some(LogEnd { lines, missing });
    assert_eq!(log_state(12_408, end(12_408, 0), Phase::Succeeded, Connection::Live), "Log complete, 12,408 lines");
    assert_eq!(log_state(100, end(100, 14), Phase::Failed, Connection::Live), "14 lines missing of 100");
    assert_eq!(log_state(1, None, Phase::Running, Connection::Live), "Complete so far, 1 line");
    assert_eq!(log_state(1, None, Phase::Running, Connection::Connecting), "1 line so far");
    assert_eq!(log_state(6, None, Phase::Running, Connection::Lost), "6 lines so far, no live updates");
    assert_eq!(log_state(0, None, Phase::Queued, Connection::Live), "No lines yet");
    assert_eq!(log_state(0, end(0, 0), Phase::Failed, Connection::Live), "Log complete: nothing was written");
    assert_eq!(log_state(0, end(0, 1), Phase::Failed, Connection::Live), "No log");
    assert_eq!(log_state(0, end(0, 0), Phase::Restored, Connection::Live), "No log");
}

#[test]
fn the_time_left_names_the_runs_that_it_is_from() {
    let usual = |shortest: i64, ms: i64, longest: i64, runs| {
        let [shortest, ms, longest] = [shortest, ms, longest].map(|minutes| minutes * 60_000);
        Some(Usual { ms, shortest, longest, runs })
    };
    assert_eq!(left(usual(8, 10, 11, 5), 270_000), "about 4 to 7 min left, from the last 5 successful runs");
    assert_eq!(left(usual(10, 10, 10, 5), 270_000), "about 6 min left, from the last 5 successful runs");
    assert_eq!(left(usual(8, 10, 11, 5), 9 * 60_000), "at most 2 min left, from the last 5 successful runs");
    assert_eq!(left(usual(10, 10, 10, 1), 570_000), "less than 1 min left, from the last successful run");
    assert_eq!(
        left(usual(130, 200, 220, 2), 0),
        "about 2 h 10 min to 3 h 40 min left, from the last 2 successful runs"
    );
    assert_eq!(left(usual(90, 100, 220, 2), 0), "about 90 min to 3 h 40 min left, from the last 2 successful runs");
    assert_eq!(left(usual(8, 10, 11, 3), 11 * 60_000), "longer than usual, 10 min in the last 3 successful runs");
    assert_eq!(left(None, 0), "no estimate yet");
}
