//! The run page over a fake backend, as rendered without JavaScript.

mod fake;

use api::log::{Found, FoundLine, LogEnd, LogLine, LogPage};
use api::operation::{Phase, RunEnd, Usual};
use api::run::{EventBody, HostResult, HostStats, InFlight, RunEvent, StepRole, TaskFailure};
use api::watch::Watch;
use api::{Problem, Time};
use axum::http::StatusCode;
use fake::{Fake, NOW, Page, TOKEN, page, page_with, page_with_cookies, run, submit, watch};
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
        .shows("Go to line 4")
        .shows("A disk of the machine is full.")
        .shows("href=\"/operations/_new?again=grow-1&amp;failed=1\"")
        // The retry on failed hosts is the next step.
        .hides("Run it again…");
    let at = |text: &str| page.html.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    assert!(at("“Install” failed on w2") < at("class=\"panel totals\""));
    assert!(at("class=\"panel totals\"") < at("class=\"log\""));
}

/// A run of 1,000 lines, of which these match.
fn a_searched_run(found: Found) -> Fake {
    let mut fake = a_failed_run();
    fake.record.log = log(901, (901..=1_000).map(|n| line(&format!("line {n}"))).collect(), None);
    fake.found = Ok(found);
    fake
}

#[tokio::test]
async fn a_running_operation_shows_the_time_that_is_left() {
    let mut fake = Fake { run: Ok(run("grow-1", Phase::Running)), ..Fake::default() };
    page(&fake, "/operations/grow-1").await.shows("no estimate yet");
    let detail = fake.run.as_mut().unwrap();
    detail.row.started = Some(Time(NOW.0 - 60_000));
    detail.usual = Some(Usual { ms: 7 * 60_000, shortest: 7 * 60_000, longest: 7 * 60_000, runs: 5 });
    page(&fake, "/operations/grow-1").await.shows("about 6 min left, from the last 5 successful runs");
    fake.run.as_mut().unwrap().row.phase = Phase::Succeeded;
    page(&fake, "/operations/grow-1").await.hides("successful runs");
}

#[tokio::test]
async fn the_matrix_shows_each_result_with_its_line() {
    let page = page(&a_failed_run(), "/operations/grow-1?tab=matrix").await;
    page.shows("aria-label=\"w1: changed\"").shows("aria-label=\"w2: failed\"").shows("class=\"m-failed\"");
    let cell = page.html.split("aria-label=\"w2: failed\"").next().unwrap().rsplit("<a ").next().unwrap();
    assert!(cell.contains("href=\"/operations/grow-1#L4\""), "{cell}");
}

#[tokio::test]
async fn a_check_is_called_so_on_every_tab() {
    let mut fake = a_failed_run();
    let mut check = run("grow-1", Phase::Succeeded);
    (check.row.check, check.row.action) = (true, "grow.yml (check only)".into());
    fake.run = Ok(check);
    page(&fake, "/operations/grow-1").await.shows("grow.yml (check only) on").shows(" would change").hides(" changed<");
    page(&fake, "/operations/grow-1?tab=hosts").await.shows("Would change<!></th>").hides("Changed");
    page(&fake, "/operations/grow-1?tab=matrix")
        .await
        .shows("aria-label=\"w1: would change\"")
        .shows("would change · ± really changed<!> · – skipped");
}

#[tokio::test]
async fn a_task_that_only_checks_shows_what_would_change() {
    let mut fake = a_failed_run();
    fake.run = Ok(run("grow-1", Phase::Succeeded));
    let stats = HostStats { ok: 1, would_change: 1, ..HostStats::default() };
    fake.record.events = events(vec![
        (2, task(1, "Install")),
        (3, ends(1, "w1", HostResult::WouldChange, None)),
        (4, EventBody::Stats { hosts: [("w1".into(), stats)].into() }),
    ]);
    page(&fake, "/operations/grow-1").await.shows("0 changed<").shows("1 would change<").shows("1 ok<");
    page(&fake, "/operations/grow-1?tab=hosts").await.shows("Changed<!></th>").shows("Would change<");
    page(&fake, "/operations/grow-1?tab=matrix").await.shows("aria-label=\"w1: would change\"").shows("◇");
}

#[tokio::test]
async fn the_limit_is_beside_the_number_of_hosts() {
    let mut fake = a_failed_run();
    page(&fake, "/operations/grow-1").await.shows("2 hosts, limit w1 · ");
    fake.run.as_mut().unwrap().limited_from = Some(9);
    page(&fake, "/operations/grow-1").await.shows("2 of 9 hosts, limit w1 · ");
    fake.run.as_mut().unwrap().limit = String::new();
    page(&fake, "/operations/grow-1").await.shows("2 of 9 hosts · ").hides("limit w1");
}

#[tokio::test]
async fn an_ignored_failure_is_not_ok() {
    let mut fake = a_failed_run();
    fake.run = Ok(run("grow-1", Phase::Succeeded));
    let stats = HostStats { ok: 3, ignored: 2, ..HostStats::default() };
    fake.record.events = events(vec![
        (2, task(1, "Install")),
        (3, ends(1, "w1", HostResult::Ok, None)),
        (4, EventBody::Stats { hosts: [("w1".into(), stats)].into() }),
    ]);
    page(&fake, "/operations/grow-1").await.shows("1 ok<").shows("2 ignored<").hides("3 ok<");
    let hosts = page(&fake, "/operations/grow-1?tab=hosts").await;
    hosts.shows("data-label=\"Ok\" class=\"num\">1<").shows("data-label=\"Ignored\" class=\"num\">2<");
}

#[tokio::test]
async fn a_matrix_of_many_tasks_has_pages() {
    let mut fake = Fake { run: Ok(run("grow-1", Phase::Succeeded)), ..Fake::default() };
    let tasks = (1..=250).flat_map(|n| [(0, task(n, &format!("Step {n}."))), (0, ends(n, "w1", HostResult::Ok, None))]);
    fake.record.events = events(tasks.collect());
    let first = page(&fake, "/operations/grow-1?tab=matrix").await;
    first
        .shows("Tasks 1–100 of 250")
        .shows("href=\"/operations/grow-1?tab=matrix&amp;task=101\"")
        .hides("Earlier tasks");
    let last = page(&fake, "/operations/grow-1?tab=matrix&task=999").await;
    last.shows("Tasks 201–250 of 250")
        .shows("href=\"/operations/grow-1?tab=matrix&amp;task=101\"")
        .hides("Later tasks");
    let running = Fake { run: Ok(run("grow-1", Phase::Running)), ..fake };
    page(&running, "/operations/grow-1?tab=matrix").await.shows("Tasks 201–250 of 250");
}

#[tokio::test]
async fn a_search_shows_its_hits_without_javascript() {
    let found = Found { hits: vec![20, 905, 907], total: 3, ..Found::default() };
    let fake = a_searched_run(found);
    let page = page(&fake, "/operations/grow-1?q=a%26b&line=905").await;
    page.shows("value=\"a&amp;b\"")
        .shows("2 of 3 hits")
        .shows("href=\"/operations/grow-1?line=907&amp;q=a%26b#L907\"")
        .shows("href=\"/operations/grow-1?line=20&amp;q=a%26b#L20\"")
        .hides("aria-label=\"Lines of the host\"");
    let hit = |n: u64| {
        let row = page.html.split(&format!("id=\"L{n}\"")).nth(1).unwrap();
        row.split('>').next().unwrap().contains("hit")
    };
    assert_eq!((hit(905), hit(906), hit(907)), (true, false, true));
    let calls = fake.calls.lock().unwrap().clone();
    assert!(calls.iter().any(|call| call.starts_with("find LogQuery { text: \"a&b\", host: \"\"")), "{calls:?}");
    assert!(calls.contains(&"record from 900, 200 lines".to_owned()), "{calls:?}");
}

#[tokio::test]
async fn without_a_search_nothing_is_looked_for() {
    let fake = a_searched_run(Found { hits: vec![907], total: 1, ..Found::default() });
    page(&fake, "/operations/grow-1").await.shows("Find in the whole log").hides("1 hit");
    assert!(fake.calls.lock().unwrap().iter().all(|call| !call.starts_with("find")));
}

#[tokio::test]
async fn the_lines_of_a_host_link_to_the_log() {
    let lines = vec![
        FoundLine { number: 3, line: line("TASK [Ping] ***") },
        FoundLine { number: 4, line: line("\u{1b}[0;32mok: [w2] <b>\u{1b}[0m") },
    ];
    let found = Found { hits: vec![4], total: 9, lines, next: 77, note: String::new() };
    let page = page(&a_searched_run(found), "/operations/grow-1?host=w2").await;
    page.shows("aria-label=\"Lines of the host\"")
        .shows("<option value=\"w2\" selected>w2")
        .shows("TASK [Ping] ***")
        .shows("ok: [w2] &lt;b&gt;")
        .shows("href=\"/operations/grow-1?line=4&amp;host=w2#L4\"")
        .shows("href=\"/operations/grow-1?from=77&amp;host=w2\"");
}

#[tokio::test]
async fn with_a_host_a_task_leads_to_its_line() {
    let fake = a_searched_run(Found { hits: vec![905], total: 1, ..Found::default() });
    let list = page(&fake, "/operations/grow-1?host=w2").await;
    list.shows("aria-label=\"Lines of the host\"").shows("href=\"/operations/grow-1?line=2&amp;host=w2#L2\"");
    fake.calls.lock().unwrap().clear();
    page(&fake, "/operations/grow-1?line=2&host=w2").await.hides("aria-label=\"Lines of the host\"");
    let calls = fake.calls.lock().unwrap().clone();
    assert!(calls.contains(&"record from 1, 200 lines".to_owned()), "{calls:?}");
}

#[tokio::test]
async fn a_failed_search_leaves_the_page_and_says_why() {
    let mut fake = a_searched_run(Found::default());
    fake.found = Err(Problem::Unavailable { message: "Too many searches are running.".into() });
    page(&fake, "/operations/grow-1?q=x").await.shows("Too many searches are running.").shows("line 1000");
}

#[tokio::test]
async fn an_unreadable_playbook_is_explained_from_the_log() {
    let mut fake = Fake { run: Ok(run("grow-1", Phase::Failed)), ..Fake::default() };
    fake.run.as_mut().unwrap().row.message = "site.yml ended with exit code 4.".into();
    let error = "\u{1b}[1;31mERROR! the role 'ntp' was not found in /opt/playbooks/roles\u{1b}[0m";
    fake.record.log = log(1, vec![line("hello"), line(error)], Some(LogEnd { lines: 2, missing: 0 }));
    let page = page(&fake, "/operations/grow-1").await;
    page.shows("site.yml ended with exit code 4.")
        .shows("The playbook uses a role that the image doesn't have.")
        .shows("Go to line 2")
        .shows("Run it again…");
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
    let plain = page(&fake, "/operations/grow-1?from=1001").await;
    plain.shows("id=\"L1001\"").shows("?from=801#L1000").shows("?from=1201#L1201");
    assert!(fake.calls.lock().unwrap().contains(&"record from 1001, 200 lines".to_owned()));
    let searched = page(&fake, "/operations/grow-1?from=1001&q=text").await;
    searched
        .shows("?from=801&amp;q=text#L1000")
        .shows("?from=1201&amp;q=text#L1201")
        .shows("href=\"/operations/grow-1?from=4801&amp;q=text\"");
}

#[tokio::test]
async fn a_page_for_a_line_marks_it_or_says_what_is_missing() {
    let mut fake = a_failed_run();
    fake.record.log = log(201, (201..=400).map(|n| line(&format!("text {n}"))).collect(), None);
    let there = page(&fake, "/operations/grow-1?line=206").await;
    there.shows("id=\"L206\" class=\"ln  sel\"").shows("value=\"206\"").hides("There is no line");
    let calls = fake.calls.lock().unwrap().clone();
    assert!(calls.iter().any(|call| call == "record from 201, 200 lines"), "{calls:?}");
    let beyond = page(&fake, "/operations/grow-1?line=123456").await;
    beyond.shows("There is no line 123,456: the log has 400 lines.").shows("max=\"400\"").hides("ln  sel");
}

#[tokio::test]
async fn wrapping_is_taken_from_the_cookie() {
    let fake = a_failed_run();
    page(&fake, "/operations/grow-1").await.shows("class=\"log\"").shows("value=\"on\" aria-pressed=\"false\"");
    let wrapped = page_with_cookies(&fake, "/operations/grow-1", "theme=dark; wrap=on").await;
    wrapped.shows("class=\"log wrap\"").shows("value=\"off\" aria-pressed=\"true\"");
    let answer = submit(&fake, "set_wrap", "wrap=on&next=%2Foperations%2Fgrow-1").await;
    assert_eq!(answer.location.as_deref(), Some("/operations/grow-1"));
}

#[tokio::test]
async fn every_phase_is_explained_in_a_sentence() {
    for (phase, message, sentence) in [
        (Phase::Queued, "Waits for grow-0, which runs on prod-fra.", "Waits for grow-0, which runs on prod-fra."),
        (Phase::Running, "", "Starting; no output yet."),
        (Phase::Failed, "The process is gone.", "The process is gone."),
        (Phase::Cancelled, "Cancelled before it started.", "Cancelled before it started."),
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
        (Phase::Succeeded, "?tab=matrix"),
        (Phase::Succeeded, "?q=line&host=w1"),
    ] {
        assert_eq!(pending(phase, tab).await, plain, "{phase:?} {tab}");
    }
}

#[tokio::test]
async fn a_running_operation_says_whether_it_may_be_stopped() {
    let fake = Fake { run: Ok(run("upgrade-1", Phase::Running)), watch: watch(), ..Fake::default() };
    let page = page(&fake, "/operations/upgrade-1").await;
    page.shows("“Drain the node” on w3 takes 4 min 0 s by now.")
        .shows("Pod shop/db-0 is held by PodDisruptionBudget shop/db.")
        .shows("385 of 400 requests answered · 1 outage, 15 s")
        .shows("After 1 min 40 s, requests failed for 15 s. 10.0.0.7:6443 can't be reached.")
        .shows("400 of 400 requests answered")
        .shows("https://shop.example.com")
        .shows(">now<");
    assert_eq!(
        page.html.matches("Safe to stop after w3").count(),
        2,
        "in the panel and in the question before a cancel"
    );
    let question = page.html.split("<details").nth(1).unwrap().split("</details>").next().unwrap();
    assert!(question.contains("Safe to stop after w3"), "{question}");
    let strip = page.html.split("class=\"strip\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(strip.contains("x=\"25000\" y=\"0\" width=\"3750\" height=\"1\" class=\"r-failed\""), "{strip}");
}

#[tokio::test]
async fn an_ended_run_keeps_how_the_cluster_answered() {
    let over = Watch { is_running: false, stop: None, stall: None, ..watch() };
    let fake = Fake { run: Ok(run("upgrade-1", Phase::Succeeded)), watch: over, ..Fake::default() };
    page(&fake, "/operations/upgrade-1")
        .await
        .shows("385 of 400 requests answered")
        .shows(">end<")
        .hides("Safe to stop");
    let none = Fake { run: Ok(run("upgrade-1", Phase::Succeeded)), ..Fake::default() };
    page(&none, "/operations/upgrade-1").await.hides("class=\"panel watch\"");
}

#[tokio::test]
async fn a_cancelled_run_names_the_interrupted_task() {
    let mut detail = run("ping-1", Phase::Cancelled);
    let running = Some(InFlight { task: "Drain".into(), hosts: vec!["w1".into()] });
    detail.end = Some(RunEnd { running, ..RunEnd::default() });
    let page = page(&Fake { run: Ok(detail), ..Fake::default() }, "/operations/ping-1").await;
    page.shows("Cancelled by ada while “Drain” ran on w1.").shows("Run again…").hides("Stop this run?");
}

#[tokio::test]
async fn a_cancelled_run_offers_the_hosts_that_are_left() {
    let mut fake = Fake { run: Ok(run("ping-1", Phase::Cancelled)), ..Fake::default() };
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let ended = |left: &[&str]| {
        events(vec![
            (0, task(1, "Ping")),
            (1, ends(1, "w1", HostResult::Ok, None)),
            (2, ends(1, "w2", HostResult::Unreachable, None)),
            (2, EventBody::GivenUp { left: names(left), failed: names(&["w2"]) }),
        ])
    };
    fake.record.events = ended(&["w3", "w4"]);
    let href = "href=\"/operations/_new?again=ping-1&amp;failed=1\"";
    page(&fake, "/operations/ping-1").await.shows(href).shows("Run again on 3 remaining hosts…");
    page(&fake, "/operations/ping-1?tab=hosts").await.shows("Not reached");
    fake.record.events = ended(&["w1"]);
    page(&fake, "/operations/ping-1").await.hides(href).shows("Run again…");
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
    for tab in ["", "?tab=hosts", "?tab=matrix", "?tab=results", "?tab=inputs"] {
        let page = page(&fake, &format!("/operations/grow-1{tab}")).await;
        page.hides("<script>alert(1)").hides("<img src=x").hides("</script><script>alert").hides(TOKEN);
        assert!(!page.html.contains('\u{1b}'), "the page contains an escape character");
    }
}

/// The run published `value` as its result `key`.
fn published(fake: &mut Fake, key: &str, value: serde_json::Value) {
    fake.record.events.push(RunEvent {
        n: 30,
        at: NOW.0,
        after: 4,
        body: EventBody::Outcome { key: key.into(), value },
    });
}

#[tokio::test]
async fn a_snapshot_leads_to_the_playbook_that_restores_it() {
    let snapshot = serde_json::json!({"machine": "m1", "file": "/var/backups/etcd-1.db", "bytes": 12, "sha256": "ab"});
    let shown = async |restored_by: &str| {
        let mut fake = a_failed_run();
        published(&mut fake, "snapshot", snapshot.clone());
        let detail = fake.run.as_mut().unwrap();
        (detail.row.cluster, detail.restored_by) = ("prod".into(), restored_by.into());
        page(&fake, "/operations/grow-1?tab=results").await
    };
    let link = "/operations/_new?cluster=prod&amp;action=restore.yml&amp;snapshot=%2Fvar%2Fbackups%2Fetcd-1.db";
    shown("restore.yml").await.shows("Restore this snapshot…").shows(link).shows("<dd>/var/backups/etcd-1.db<");
    shown("").await.hides("Restore this snapshot…").shows("<dd>/var/backups/etcd-1.db<");
}

#[tokio::test]
async fn lists_in_a_result_are_tables_below_its_values() {
    let mut fake = a_failed_run();
    let members = serde_json::json!([{"name": "m1", "leader": true, "alarms": []}]);
    let value = serde_json::json!({"version": "v1.36.4", "message": "", "nodes": [{"name": "m1", "ready": false}],
        "apis": [], "etcd": {"healthy": true, "members": members}});
    published(&mut fake, "cluster", value);
    let page = page(&fake, "/operations/grow-1?tab=results").await;
    page.shows("<h2>Cluster").shows("<h3>Nodes").shows("<h3>Etcd").shows("<h4>Members").shows("<dd>v1.36.4");
    page.shows("aria-label=\"Etcd: Members\"")
        .shows("<th scope=\"row\">m1")
        .hides("<dd>{")
        .hides("Apis")
        .hides("Message");
}

#[tokio::test]
async fn a_result_of_any_depth_is_shown() {
    let mut fake = a_failed_run();
    let mut value = serde_json::json!("the innermost");
    for _ in 0..100 {
        value = serde_json::json!({"part": value, "is_last": false});
    }
    published(&mut fake, "deep", value);
    page(&fake, "/operations/grow-1?tab=results").await.shows("<h4>Part").shows("the innermost");
}

#[tokio::test]
async fn facts_are_a_table_with_a_row_for_every_host() {
    let mut fake = a_failed_run();
    let value =
        serde_json::json!({"w1": {"os": "Debian 12", "cpus": 4, "memory_mb": 16384}, "w2": {"os": "Ubuntu 24.04"}});
    published(&mut fake, "facts", value);
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
async fn a_run_says_that_a_foreign_result_is_ignored() {
    let ignored = "The controller ignores a result that another client wrote on this operation.";
    for phase in [Phase::Queued, Phase::Running, Phase::Succeeded, Phase::Failed, Phase::Cancelled] {
        let mut fake = Fake { run: Ok(run("ping-1", phase)), ..Fake::default() };
        page(&fake, "/operations/ping-1").await.hides(ignored);
        fake.run.as_mut().unwrap().result_ignored = true;
        let page = page(&fake, "/operations/ping-1").await;
        assert_eq!(page.html.matches(ignored).count(), 1, "{phase:?}");
    }
}

/// The page of a run whose only host `w1` gives this result and message.
async fn explained(result: HostResult, message: &str) -> Page {
    let mut fake = Fake { run: Ok(run("grow-1", Phase::Failed)), ..Fake::default() };
    fake.record.events = events(vec![(1, task(1, "Ping")), (1, ends(1, "w1", result, Some(message)))]);
    page(&fake, "/operations/grow-1").await
}

#[tokio::test]
async fn a_host_that_was_not_reached_is_explained() {
    let fix = |document: &str| format!("href=\"/clusters/prod-fra/configuration{document}\"");
    for (message, sentence, next) in [
        (
            "Failed to connect to the host via ssh: ssh: connect to host 10.0.0.5 port 22: Connection timed out",
            "The machine doesn't answer. Check its address, and whether it is running.",
            fix(""),
        ),
        (
            "Failed to connect to the host via ssh: ssh: Could not resolve hostname cp1: Name or service not known",
            "The machine's name can't be resolved.",
            fix(""),
        ),
    ] {
        let page = explained(HostResult::Unreachable, message).await;
        page.shows("w1 was unreachable during “Ping”").shows(sentence).shows(&next);
    }
}

#[tokio::test]
async fn a_host_without_python_or_sudo_password_is_explained() {
    let again = "href=\"/operations/_new?again=grow-1\"";
    let variables = "href=\"/clusters/prod-fra/configuration?show=variables\"";
    for (message, sentence, next) in [
        (
            "The module interpreter '/usr/bin/python3' was not found.",
            "Python is missing on the machine. Install python3.",
            again,
        ),
        (
            "Missing sudo password",
            "sudo asks for a password on the machine. Set ansible_become_password, or allow the user sudo without a password.",
            variables,
        ),
        ("Incorrect sudo password", "sudo refuses the password. Correct ansible_become_password.", variables),
    ] {
        explained(HostResult::Failed, message).await.shows("“Ping” failed on w1").shows(sentence).shows(next);
    }
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
async fn without_a_script_a_page_reloads_or_stays_on_its_tab() {
    let fake = Fake { run: Ok(run("ping-1", Phase::Running)), ..Fake::default() };
    page(&fake, "/operations/ping-1?tab=matrix")
        .await
        .shows("http-equiv=\"refresh\"")
        .shows("href=\"?tab=matrix&amp;reload=no\"");
    page(&fake, "/operations/ping-1?tab=matrix&reload=no")
        .await
        .hides("http-equiv=\"refresh\"")
        .shows("href=\"?tab=matrix\"");
}

#[tokio::test]
async fn a_restored_record_says_that_it_has_no_log() {
    let mut fake = Fake { run: Ok(run("old-1", Phase::Restored)), ..Fake::default() };
    fake.record.log = log(1, vec![], Some(LogEnd { lines: 0, missing: 0 }));
    let page = page(&fake, "/operations/old-1").await;
    page.shows("No log is kept with a restored record.")
        .hides("reloads every")
        .hides("No lines yet")
        .hides("nothing was");
}

#[tokio::test]
async fn a_missing_run_is_404() {
    let gone = Problem::NotFound { what: "operation".into(), name: "nope".into() };
    let page = page(&Fake { run: Err(gone), ..Fake::default() }, "/operations/nope").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.shows("There is no operation called “nope”.").shows("<h1>Operation nope");
}
