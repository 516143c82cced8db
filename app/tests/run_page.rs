//! The run page over a fake backend, as rendered without JavaScript.

mod fake;

use api::log::{LogEnd, LogLine, LogPage};
use api::operation::{Phase, RunEnd};
use api::run::{EventBody, HostResult, HostStats, InFlight, RunEvent, StepRole, TaskFailure};
use api::{Problem, Time};
use axum::http::StatusCode;
use fake::{Fake, NOW, TOKEN, page, page_with, run, submit};
use kubeonkube_app::FormReturn;
use leptos::prelude::provide_context;

fn line(text: &str) -> LogLine {
    LogLine { t: Time(NOW.0 - 890_000), s: text.into() }
}

fn log(first: u64, lines: Vec<LogLine>, end: Option<LogEnd>) -> LogPage {
    let total = first - 1 + lines.len() as u64;
    LogPage { first, lines, total, end }
}

fn events(bodies: Vec<(u64, EventBody)>) -> Vec<RunEvent> {
    let event =
        |(n, (after, body))| RunEvent { n, at: NOW.0 - 880_000 + i64::try_from(n).unwrap() * 1000, after, body };
    (1..).zip(bodies).map(event).collect()
}

fn task(task: u32, name: &str) -> EventBody {
    EventBody::TaskStart { task, play: 1, name: name.into(), action: "ansible.builtin.ping".into(), handler: false }
}

fn starts(task: u32, host: &str) -> EventBody {
    EventBody::HostStart { task, host: host.into() }
}

fn ends(task: u32, host: &str, result: HostResult, message: Option<&str>) -> EventBody {
    EventBody::HostResult {
        task,
        host: host.into(),
        result,
        ms: 5,
        message: message.map(Into::into),
        item: None,
        ignored: false,
    }
}

/// One play, one task on two hosts, the second of which failed.
fn a_failed_run() -> Fake {
    let mut fake = Fake { run: Ok(run("grow-1", Phase::Failed)), ..Fake::default() };
    let detail = fake.run.as_mut().unwrap();
    detail.row.message = "1 of 2 hosts failed.".into();
    let failure =
        Some(TaskFailure { host: "w2".into(), task: "Install".into(), message: "No space left on device".into() });
    detail.end = Some(RunEnd { failure, ..RunEnd::default() });
    let lines = vec![
        line("PLAY [Workers] ****"),
        line("TASK [Install] ****"),
        line("\u{1b}[0;33mchanged: [w1]\u{1b}[0m"),
        line("\u{1b}[0;31mfatal: [w2]: FAILED! => No space left on device\u{1b}[0m"),
    ];
    fake.record.log = log(1, lines, Some(LogEnd { lines: 4, missing: 0 }));
    let failed = HostStats { failed: 1, ..Default::default() };
    fake.record.events = events(vec![
        (0, EventBody::StepStart { step: 1, role: StepRole::Main, title: "scale.yml".into() }),
        (1, EventBody::PlayStart { play: 1, name: "Workers".into() }),
        (2, task(1, "Install")),
        (2, starts(1, "w1")),
        (2, starts(1, "w2")),
        (3, ends(1, "w1", HostResult::Changed, None)),
        (4, ends(1, "w2", HostResult::Failed, Some("No space left on device"))),
        (
            4,
            EventBody::Stats {
                hosts: [("w1".into(), HostStats { ok: 1, changed: 1, ..Default::default() }), ("w2".into(), failed)]
                    .into(),
            },
        ),
        (4, EventBody::StepEnd { step: 1, rc: 2 }),
    ]);
    fake
}

#[tokio::test]
async fn a_failed_run_shows_the_failed_task_first() {
    let page = page(&a_failed_run(), "/operations/grow-1").await;
    assert_eq!(page.status, StatusCode::OK);
    page.shows("“Install” failed on w2")
        .shows("No space left on device")
        .shows("1 of 2 hosts failed.")
        .shows("Go to line 4");
    let at = |text: &str| page.html.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    assert!(at("“Install” failed on w2") < at("class=\"panel totals\""));
    assert!(at("class=\"panel totals\"") < at("class=\"log\""));
}

#[tokio::test]
async fn the_log_is_readable_without_javascript() {
    let page = page(&a_failed_run(), "/operations/grow-1").await;
    page.shows("id=\"L4\"")
        .shows("href=\"#L4\"")
        .shows("<span class=\"a-yellow\">changed: [w1]")
        .shows("ln-failed")
        .shows("Log complete, 4 lines")
        .shows("href=\"/operations/grow-1/log.txt\"")
        .shows("role=\"log\"");
}

#[tokio::test]
async fn tasks_show_their_results_and_link_to_their_line() {
    let page = page(&a_failed_run(), "/operations/grow-1").await;
    page.shows("href=\"/operations/grow-1#L2\"").shows("1 failed, 1 changed, ").shows("Workers");
}

#[tokio::test]
async fn the_recap_of_a_hook_is_not_the_result_of_the_action() {
    let mut fake = Fake { run: Ok(run("grow-1", Phase::Running)), ..Fake::default() };
    let ok = HostStats { ok: 1, ..Default::default() };
    fake.record.events = events(vec![
        (0, EventBody::StepStart { step: 1, role: StepRole::Pre, title: "ping.yml".into() }),
        (0, EventBody::Stats { hosts: [("w1".into(), ok), ("w2".into(), ok)].into() }),
        (0, EventBody::StepEnd { step: 1, rc: 0 }),
        (0, EventBody::StepStart { step: 2, role: StepRole::Main, title: "upgrade.yml".into() }),
        (0, EventBody::PlayStart { play: 1, name: "Workers".into() }),
        (0, task(1, "Install")),
        (0, starts(1, "w2")),
        (0, ends(1, "w2", HostResult::Failed, Some("No space left on device"))),
    ]);
    let page = page(&fake, "/operations/grow-1?tab=hosts").await;
    page.shows("Results so far").hides("Recap of every host");
    let hosts = &page.html[page.html.find("Results so far").unwrap()..];
    assert!(hosts.find("w2").unwrap() < hosts.find("w1").unwrap(), "w2 failed");
}

#[tokio::test]
async fn hosts_with_failures_come_first_in_the_recap() {
    let page = page(&a_failed_run(), "/operations/grow-1?tab=hosts").await;
    page.shows("Recap of every host");
    let recap = &page.html[page.html.find("Recap of every host").unwrap()..];
    assert!(recap.find("w2").unwrap() < recap.find("w1").unwrap());
}

#[tokio::test]
async fn older_lines_are_on_separate_pages() {
    let mut fake = a_failed_run();
    fake.record.log = log(1001, (0..200).map(|n| line(&format!("text {n}"))).collect(), None);
    fake.record.log.total = 5000;
    let page = page(&fake, "/operations/grow-1?from=1001").await;
    page.shows("id=\"L1001\"").shows("?from=801#L1000").shows("?from=1201#L1201");
    assert!(fake.calls.lock().unwrap().contains(&"record from 1001, 200 lines".to_owned()));
}

#[tokio::test]
async fn every_phase_is_explained_in_a_sentence() {
    for (phase, message, sentence) in [
        (Phase::Queued, "Waits for grow-0, which runs on prod-fra.", "Waits for grow-0, which runs on prod-fra."),
        (Phase::Running, "", "Starting; no output yet."),
        (Phase::Failed, "The process is gone.", "The process is gone."),
        (Phase::Cancelled, "Cancelled by ada.", "Cancelled by ada."),
        (Phase::Succeeded, "", "Finished, exit code 0."),
    ] {
        let mut detail = run("ping-1", phase);
        detail.row.message = message.into();
        let fake = Fake { run: Ok(detail), ..Fake::default() };
        page(&fake, "/operations/ping-1")
            .await
            .shows(sentence)
            .shows(&format!("<span class=\"word\">{}", phase.word()));
    }
}

#[tokio::test]
async fn a_queued_run_says_what_it_waits_for_and_can_be_removed() {
    let mut detail = run("ping-1", Phase::Queued);
    (detail.row.message, detail.row.started) = ("Waits for grow-0, which runs on prod-fra.".into(), None);
    let page = page(&Fake { run: Ok(detail), ..Fake::default() }, "/operations/ping-1").await;
    page.shows("Waits for grow-0").shows("Remove from queue").shows("submitted ");
}

#[tokio::test]
async fn a_running_run_names_its_task_and_confirms_a_cancel() {
    let mut fake = Fake { run: Ok(run("ping-1", Phase::Running)), ..Fake::default() };
    fake.record.events = events(vec![
        (1, EventBody::PlayStart { play: 1, name: "All".into() }),
        (2, task(1, "Ping")),
        (2, starts(1, "w1")),
    ]);
    let page = page(&fake, "/operations/ping-1").await;
    page.shows("“Ping” runs on w1.")
        .shows("Stop this run?")
        .shows("name=\"form\" value=\"cancel_operation\"")
        .shows("1 running");
}

#[tokio::test]
async fn cancelling_calls_the_backend_and_redirects_to_the_run() {
    let fake = Fake { run: Ok(run("ping-1", Phase::Running)), ..Fake::default() };
    let answer = submit(&fake, "cancel_operation", "form=cancel_operation&name=ping-1").await;
    assert_eq!(answer.location.as_deref(), Some("/operations/ping-1"));
    assert_eq!(*fake.calls.lock().unwrap(), ["cancel ping-1"]);
}

#[tokio::test]
async fn a_disabled_cancel_says_why() {
    let mut detail = run("ping-1", Phase::Running);
    detail.cancel = Err("It is being cancelled: no new task starts, and running tasks are interrupted.".into());
    let page = page(&Fake { run: Ok(detail), ..Fake::default() }, "/operations/ping-1").await;
    page.shows("It is being cancelled: no new task starts, and running tasks are interrupted.")
        .shows("disabled")
        .hides("Stop this run?");
}

#[tokio::test]
async fn a_refused_cancel_stays_open_and_shows_the_reason() {
    let fake = Fake { run: Ok(run("ping-1", Phase::Running)), ..Fake::default() };
    let refused_form = || FormReturn {
        form: "cancel_operation".into(),
        values: vec![("name".into(), "ping-1".into())],
        problem: Problem::Forbidden { message: "You may not update clusteroperations.".into() },
    };
    let page = page_with(&fake, "/operations/ping-1", move || provide_context(refused_form())).await;
    page.shows("<details open class=\"confirm\"").shows("You may not update clusteroperations.").shows("Stop the run");
}

#[tokio::test]
async fn pieces_create_no_resources() {
    let pending = async |phase, tab| {
        let fake = Fake { run: Ok(run("ping-1", phase)), ..Fake::default() };
        let html = page(&fake, &format!("/operations/ping-1{tab}")).await.html;
        let ids = html.split("__PENDING_RESOURCES=[").nth(1).unwrap().split(']').next().unwrap();
        let mut ids: Vec<_> = ids.split(',').map(str::to_owned).collect();
        ids.sort();
        ids
    };
    // The only piece of this page is the task list.
    let plain = pending(Phase::Succeeded, "").await;
    for (phase, tab) in [
        (Phase::Failed, ""),
        (Phase::Running, ""),
        (Phase::Queued, ""),
        (Phase::Succeeded, "?tab=hosts"),
        (Phase::Succeeded, "?tab=results"),
        (Phase::Succeeded, "?tab=inputs"),
    ] {
        assert_eq!(pending(phase, tab).await, plain, "{phase:?} {tab}");
    }
}

#[tokio::test]
async fn a_cancelled_run_names_the_interrupted_task() {
    let mut detail = run("ping-1", Phase::Cancelled);
    let running = Some(InFlight { task: "Drain".into(), hosts: vec!["w1".into()] });
    detail.end = Some(RunEnd { running, ..RunEnd::default() });
    let page = page(&Fake { run: Ok(detail), ..Fake::default() }, "/operations/ping-1").await;
    page.shows("Cancelled while “Drain” ran on w1.").shows("Run again…").hides("Stop this run?");
}

#[tokio::test]
async fn hostile_text_is_escaped_everywhere() {
    const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
    let mut fake = a_failed_run();
    fake.record.log.lines.push(line(&format!("\u{1b}[31m{EVIL}\u{1b}[2J\u{1b}]8;;http://evil\u{7}")));
    fake.record.events.extend([
        RunEvent { n: 20, at: NOW.0, after: 5, body: task(2, EVIL) },
        RunEvent { n: 21, at: NOW.0, after: 5, body: ends(2, EVIL, HostResult::Failed, Some(EVIL)) },
        RunEvent {
            n: 22,
            at: NOW.0,
            after: 5,
            body: EventBody::Outcome { key: EVIL.into(), value: serde_json::json!({EVIL: {EVIL: EVIL}}) },
        },
    ]);
    let detail = fake.run.as_mut().unwrap();
    (detail.row.action, detail.row.cluster, detail.row.message, detail.extra_args) =
        (EVIL.into(), EVIL.into(), EVIL.into(), EVIL.into());
    for tab in ["", "?tab=hosts", "?tab=results", "?tab=inputs"] {
        let page = page(&fake, &format!("/operations/grow-1{tab}")).await;
        page.hides("<script>alert(1)").hides("<img src=x").hides("</script><script>alert").hides(TOKEN);
        assert!(!page.html.contains('\u{1b}'), "the page contains an escape character");
    }
}

#[tokio::test]
async fn facts_are_a_table_with_a_row_for_every_host() {
    let mut fake = a_failed_run();
    let value =
        serde_json::json!({"w1": {"os": "Debian 12", "cpus": 4, "memory_mb": 16384}, "w2": {"os": "Ubuntu 24.04"}});
    fake.record.events.push(RunEvent {
        n: 30,
        at: NOW.0,
        after: 4,
        body: EventBody::Outcome { key: "facts".into(), value },
    });
    let page = page(&fake, "/operations/grow-1?tab=results").await;
    page.shows("Results").shows("<h2>Facts").shows("Debian 12").shows("16.0 GiB").shows("Ubuntu 24.04");
}

#[tokio::test]
async fn the_inputs_say_that_the_local_ansible_ran_it() {
    let page = page(&a_failed_run(), "/operations/grow-1?tab=inputs").await;
    page.shows("not used: the run used the ansible on this machine")
        .shows("  hosts: {w1: {}}")
        .shows("5e1f")
        .shows("6 h 0 min");
}

#[tokio::test]
async fn missing_lines_are_reported() {
    let mut fake = a_failed_run();
    fake.record.log.end = Some(LogEnd { lines: 18, missing: 14 });
    page(&fake, "/operations/grow-1").await.shows("14 lines missing of 18");
}

#[tokio::test]
async fn a_note_is_shown_in_place_of_the_log() {
    let mut fake = Fake { run: Ok(run("ping-1", Phase::Running)), ..Fake::default() };
    fake.record.note = Some("The run hasn't started: pulling the image.".into());
    page(&fake, "/operations/ping-1").await.shows("The run hasn").shows("The log appears here as it is written.");
}

#[tokio::test]
async fn a_missing_run_is_404() {
    let gone = Problem::NotFound { what: "operation".into(), name: "nope".into() };
    let page = page(&Fake { run: Err(gone), ..Fake::default() }, "/operations/nope").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.shows("There is no operation called “nope”.").shows("<h1>Operation nope");
}
