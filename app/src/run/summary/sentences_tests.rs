use api::Time;
use api::operation::{OperationRow, RunEnd};
use api::run::{EventBody, HostResult, InFlight, RunEvent, StepRole, TaskFailure};

use super::*;

fn detail(phase: Phase, message: &str) -> OperationDetail {
    OperationDetail {
        row: OperationRow {
            name: "grow-1".parse().unwrap(),
            cluster: "prod".into(),
            action: "scale.yml".into(),
            script: false,
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
        cancel: Ok(()),
        now: Time(0),
    }
}

fn progress(bodies: Vec<EventBody>) -> RunProgress {
    let events: Vec<_> = (1..).zip(bodies).map(|(n, body)| RunEvent { n, at: 0, after: n * 2, body }).collect();
    RunProgress::from_events(&events)
}

fn task(task: u32, name: &str) -> EventBody {
    EventBody::TaskStart { task, play: 1, name: name.into(), action: "ping".into(), handler: false }
}

fn starts(task: u32, host: &str) -> EventBody {
    EventBody::HostStart { task, host: host.into() }
}

fn ends(task: u32, host: &str, result: HostResult, message: &str) -> EventBody {
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
fn success_says_what_changed() {
    let reported = progress(vec![
        EventBody::StepStart { step: 1, role: StepRole::Main, title: "x".into() },
        task(1, "One"),
        ends(1, "a", HostResult::Changed, ""),
        ends(1, "b", HostResult::Ok, ""),
    ]);
    assert_eq!(sentence(&detail(Phase::Succeeded, ""), &reported, None, 9), "1 task on 2 hosts succeeded; 1 change.");
}

#[test]
fn a_cancelled_run_names_the_interrupted_task() {
    let mut cancelled = detail(Phase::Cancelled, "Cancelled by ada.");
    let running = Some(InFlight { task: "Drain".into(), hosts: vec!["w1".into()] });
    cancelled.end = Some(RunEnd { running, ..RunEnd::default() });
    let text = sentence(&cancelled, &RunProgress::default(), None, 9);
    assert_eq!(text, "Cancelled while “Drain” ran on w1. Changes already made remain.");
}

#[test]
fn the_reason_names_task_host_message_and_lines() {
    let reported = progress(vec![
        task(1, "Apply"),
        ends(1, "w1", HostResult::Ok, ""),
        ends(1, "w2", HostResult::Failed, "disk full"),
        ends(1, "w3", HostResult::Unreachable, "no route"),
    ]);
    let reason = reason(&detail(Phase::Failed, "2 of 3 hosts failed."), &reported).unwrap();
    assert_eq!(reason.title, "“Apply” failed on w2");
    assert_eq!((reason.text.as_str(), reason.quote.as_str()), ("2 of 3 hosts failed.", "disk full"));
    assert_eq!(reason.lines.unwrap().fragment(), "#L5-L6");
    assert_eq!(reason.others[0].0, "w3 was unreachable during “Apply”");
}

#[test]
fn without_events_the_report_gives_the_reason() {
    let mut failed = detail(Phase::Failed, "");
    let failure = Some(TaskFailure { host: "w2".into(), task: "Apply".into(), message: "disk full".into() });
    failed.end = Some(RunEnd { failure, ..RunEnd::default() });
    let text = reason(&failed, &RunProgress::default()).unwrap();
    assert_eq!((text.title.as_str(), text.lines), ("“Apply” failed on w2", None));
}

#[test]
fn a_run_that_never_started_says_why() {
    let mut failed = detail(Phase::Failed, "The run ended with exit code 2.");
    let message = "There is no playbook nope.yml; there are ping.yml and facts.yml.".into();
    failed.end = Some(RunEnd { message, ..RunEnd::default() });
    let text = reason(&failed, &RunProgress::default()).unwrap();
    assert_eq!(text.title, "The run ended with exit code 2.");
    assert_eq!(text.text, "There is no playbook nope.yml; there are ping.yml and facts.yml.");
    assert_eq!(reason(&detail(Phase::Succeeded, ""), &RunProgress::default()), None);
}

#[test]
fn the_log_state_says_whether_the_log_is_complete() {
    let end = |lines, missing| Some(LogEnd { lines, missing });
    assert_eq!(log_state(12_408, end(12_408, 0), Phase::Succeeded), "Log complete, 12,408 lines");
    assert_eq!(log_state(100, end(100, 14), Phase::Failed), "14 lines missing of 100");
    assert_eq!(log_state(1, None, Phase::Running), "Complete so far, 1 line");
    assert_eq!(log_state(0, None, Phase::Queued), "No lines yet");
}
