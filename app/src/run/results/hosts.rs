//! The result on each host: ansible's recap, or the results so far, and the task that it has come to.

use std::collections::BTreeMap;

use api::progress::{Cell, RunProgress};
use api::run::HostStats;
use leptos::prelude::*;

use super::super::selection::Selection;
use super::super::state::Run;
use super::super::tab::Tab;
use crate::ui::{Icon, Status, Tone, dynamic, each, key_of};

/// The columns of numbers.
fn numbers(check: bool) -> [&'static str; 7] {
    let changed = if check { "Would change" } else { "Changed" };
    ["Ok", changed, "Skipped", "Failed", "Unreachable", "Rescued", "Ignored"]
}

/// The row of a host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct HostRow {
    host: String,
    stats: HostStats,
    running: bool,
    /// The run was stopped in a task on this host.
    stopped: bool,
    newest: Option<NewestTask>,
}

/// The newest task that a host has started, and its lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct NewestTask {
    name: String,
    lines: (u64, u64),
}

fn newest(progress: &RunProgress, at: usize) -> Option<NewestTask> {
    let task = progress.tasks.iter().rev().find(|task| task.cells.get(at) != Cell::None)?;
    Some(NewestTask { name: task.name.clone(), lines: task.lines() })
}

/// The rows: hosts with failures first, both in the order of the inventory. Until all playbooks have ended, their recaps are incomplete, so
/// the results so far are counted instead, and the hosts are in the order of the run.
fn rows(progress: &RunProgress) -> Vec<HostRow> {
    let counted = if progress.is_recapped() { progress.recap() } else { counted(progress) };
    let mut rows: Vec<HostRow> = counted
        .into_iter()
        .map(|(host, stats)| {
            let at = progress.hosts.iter().position(|h| *h == host);
            let is_in =
                |cell| at.is_some_and(|at| progress.tasks.iter().rev().take(50).any(|task| task.cells.get(at) == cell));
            let (running, stopped) = (is_in(Cell::Running), is_in(Cell::Stopped));
            HostRow { host, stats, running, stopped, newest: at.and_then(|at| newest(progress, at)) }
        })
        .collect();
    let position = |row: &HostRow| progress.hosts.iter().position(|host| *host == row.host);
    rows.sort_by_cached_key(|row| (row.stats.failed + row.stats.unreachable == 0, row.stats.place, position(row)));
    rows
}

fn counted(progress: &RunProgress) -> BTreeMap<String, HostStats> {
    let mut counted: Vec<HostStats> = vec![HostStats::default(); progress.hosts.len()];
    for task in &progress.tasks {
        for (cell, from, length) in task.cells.runs() {
            for stats in counted.iter_mut().skip(from).take(length) {
                match cell {
                    Cell::Ok => stats.ok += 1,
                    // As in ansible's recap, a changed result also counts as ok.
                    Cell::Changed => (stats.ok, stats.changed) = (stats.ok + 1, stats.changed + 1),
                    Cell::Made => {
                        (stats.ok, stats.changed, stats.made) = (stats.ok + 1, stats.changed + 1, stats.made + 1);
                    }
                    Cell::WouldChange => {
                        (stats.ok, stats.would_change) = (stats.ok + 1, stats.would_change + 1);
                    }
                    Cell::Skipped => stats.skipped += 1,
                    Cell::Ignored => (stats.ok, stats.ignored) = (stats.ok + 1, stats.ignored + 1),
                    Cell::Rescued => stats.rescued += 1,
                    Cell::Failed => stats.failed += 1,
                    Cell::Unreachable => stats.unreachable += 1,
                    Cell::None | Cell::Running | Cell::Stopped => {}
                }
            }
        }
    }
    let mut counted: BTreeMap<String, HostStats> = progress.hosts.iter().cloned().zip(counted).collect();
    for host in &progress.left {
        counted.entry(host.clone()).or_default().left = true;
    }
    counted
}

/// The result on each host. A piece of the page.
#[component]
pub fn HostsTab() -> impl IntoView {
    let run = expect_context::<Run>();
    let rows = Memo::new(move |before: Option<&Vec<HostRow>>| {
        // Counting 600 tasks on 200 hosts takes time, so do it only while the tab is open.
        if run.tab.get() == Tab::Hosts || before.is_none() {
            run.progress.with(rows)
        } else {
            before.cloned().unwrap_or_default()
        }
    });
    let check = run.detail.with_untracked(|detail| detail.row.check);
    let complete = Memo::new(move |_| run.progress.with(RunProgress::is_recapped));
    dynamic(move || {
        if rows.with(Vec::is_empty) {
            return view! { <p class="muted tab-empty">"No host has reported yet."</p> }.into_any();
        }
        let lines = move || rows.get().into_iter().map(|row| (key_of(&row), row)).collect();
        let caption = if complete.get() { "Recap of every host" } else { "Results so far" };
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label=caption>
                <table class="rows">
                    <thead>
                        <tr>
                            <th scope="col">"Host"</th>
                            <th scope="col">"Result"</th>
                            <th scope="col">"Newest task"</th>
                            {numbers(check)
                                .map(|word| view! { <th scope="col" class="num">{word}</th> })
                                .into_iter()
                                .collect_view()}
                        </tr>
                    </thead>
                    <tbody>
                        {each(lines, move |row| view! { <HostLine run row/> }.into_any())}
                    </tbody>
                </table>
            </div>
        }
        .into_any()
    })
}

/// The result in one word. `changed`: what it is called if something changed.
fn outcome(row: &HostRow, changed: &'static str) -> (Tone, &'static str) {
    let s = row.stats;
    match () {
        () if s.unreachable > 0 => (Tone::Err, "Unreachable"),
        () if s.failed > 0 => (Tone::Err, "Failed"),
        () if row.running => (Tone::Run, "Running"),
        () if row.stopped => (Tone::Warn, "Stopped"),
        () if s.left && s.has_results() => (Tone::Idle, "Not finished"),
        () if s.left || s.passed_over && !s.has_results() => (Tone::Idle, "Not reached"),
        () if s.out_of_reach && s.reached != Some(true) => (Tone::Warn, "Unreachable, ignored"),
        () if s.untouched && s.reached != Some(true) && s.succeeded() > 0 => (Tone::Idle, "Ok, not reached"),
        // An ignored failure counts as ok, too, and most modules say that they changed something.
        () if s.made > 0 && s.succeeded() > 0 => (Tone::Warn, "Really changed"),
        () if s.changed > 0 && s.succeeded() > 0 => (Tone::Warn, changed),
        () if s.would_change > 0 && s.succeeded() > 0 => (Tone::Warn, "Would change"),
        () if s.succeeded() > 0 => (Tone::Ok, "Ok"),
        () if s.ignored > 0 => (Tone::Warn, "Failed, ignored"),
        () if s.rescued > 0 => (Tone::Warn, "Failed, rescued"),
        () if s.skipped > 0 => (Tone::Idle, "Skipped"),
        () => (Tone::Idle, "No result"),
    }
}

#[component]
fn HostLine(run: Run, row: HostRow) -> impl IntoView {
    let s = row.stats;
    let [ok, changed, skipped, failed, unreachable, rescued, ignored] =
        numbers(run.detail.with_untracked(|detail| detail.row.check));
    let (tone, word) = outcome(&row, changed);
    let drawing = if word == changed || word == "Would change" { Icon::Check } else { tone.icon() };
    let number = |word: &'static str, n: u32, tone: &'static str| {
        let class = if n == 0 { "num faint".to_owned() } else { format!("num {tone}") };
        view! { <td class=class data-label=word>{n}</td> }
    };
    let task = row.newest.map(|NewestTask { name, lines: (first, last) }| {
        let (lines, title) = (Selection::new(first, last), name.clone());
        view! {
            <a class="link cut" rel="external" title=title href=run.url_of(lines)>
                {name}
            </a>
        }
    });
    view! {
        <tr>
            <th scope="row"><span class="cut" title=row.host.clone()>{row.host.clone()}</span></th>
            <td><Status tone icon=drawing word=word/></td>
            <td class="wide" data-label="Newest task">{task}</td>
            {number(ok, s.succeeded(), "")} {number(changed, s.changed.saturating_sub(s.made), "text-warn")} {number(skipped, s.skipped, "")}
            {number(failed, s.failed, "text-err")} {number(unreachable, s.unreachable, "text-err")}
            {number(rescued, s.rescued, "")} {number(ignored, s.ignored, "")}
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use api::run::{EventBody, HostResult, RunEvent};

    use super::*;

    fn result(n: u64, task: u32, host: &str, result: HostResult) -> RunEvent {
        let body =
            EventBody::HostResult { task, host: host.into(), result, ms: 0, message: None, item: None, ignored: false };
        RunEvent { n, at: 0, after: n, body }
    }

    fn story() -> Vec<RunEvent> {
        let name = String::new();
        let start = |n, task| RunEvent {
            n,
            at: 0,
            after: n,
            body: EventBody::TaskStart { task, play: 1, name: name.clone(), action: name.clone(), handler: false },
        };
        vec![
            start(1, 1),
            result(2, 1, "a", HostResult::Ok),
            result(3, 1, "b", HostResult::Changed),
            start(4, 2),
            result(5, 2, "a", HostResult::Ok),
            result(6, 2, "b", HostResult::Failed),
        ]
    }

    #[test]
    fn what_a_host_did_is_told_by_its_own_results() {
        let of = |stats: HostStats, stopped| {
            outcome(&HostRow { host: String::new(), stats, running: false, stopped, newest: None }, "Changed").1
        };
        let ignored = HostStats { ok: 2, ignored: 1, ..HostStats::default() };
        assert_eq!(of(ignored, false), "Ok");
        assert_eq!(of(HostStats { ok: 1, changed: 1, ..ignored }, false), "Failed, ignored");
        let gone = HostStats { out_of_reach: true, reached: Some(false), ..ignored };
        assert_eq!(of(gone, false), "Unreachable, ignored", "a task on the controller went well");
        assert_eq!(of(HostStats { reached: Some(true), ..gone }, false), "Ok", "a later step reached it");
        let untouched = HostStats { ok: 2, changed: 1, untouched: true, reached: Some(false), ..HostStats::default() };
        assert_eq!(of(untouched, false), "Ok, not reached", "a delegated task went well");
        assert_eq!(of(HostStats { reached: Some(true), ..untouched }, false), "Changed", "a later step reached it");
        let passed_over = HostStats { passed_over: true, reached: Some(false), ..HostStats::default() };
        assert_eq!(of(passed_over, false), "Not reached");
        assert_eq!(of(HostStats { ok: 1, reached: Some(true), ..passed_over }, false), "Ok", "another step reached it");
        let skipped = HostStats { skipped: 2, untouched: true, reached: Some(false), ..HostStats::default() };
        assert_eq!(of(skipped, false), "Skipped");
        assert_eq!(of(HostStats { ok: 1, ignored: 1, ..skipped }, false), "Failed, ignored");
        assert_eq!(of(HostStats { ok: 3, ..HostStats::default() }, true), "Stopped");
        assert_eq!(of(HostStats { ok: 3, changed: 2, made: 1, ..HostStats::default() }, false), "Really changed");
        let would = HostStats { ok: 3, would_change: 1, ..HostStats::default() };
        assert_eq!(of(would, false), "Would change");
        assert_eq!(of(HostStats { changed: 1, ..would }, false), "Changed");
    }

    #[test]
    fn without_a_recap_the_results_so_far_are_counted() {
        let rows = rows(&RunProgress::from_events(&story()));
        assert_eq!(rows[0].host, "b");
        assert_eq!((rows[0].stats.ok, rows[0].stats.changed, rows[0].stats.failed), (1, 1, 1));
        assert_eq!(rows[1].stats.ok, 2);
    }

    #[test]
    fn a_recap_has_the_order_of_the_inventory() {
        let stats = |place| HostStats { ok: 1, place, ..HostStats::default() };
        let hosts = [("n1", 2), ("n10", 4), ("n2", 3), ("a", 5), ("b", 1)].map(|(name, at)| (name.into(), stats(at)));
        let mut events = story();
        events.push(RunEvent { n: 7, at: 0, after: 9, body: EventBody::Stats { hosts: hosts.into() } });
        let progress = RunProgress::from_events(&events);
        assert_eq!(progress.hosts, ["a", "b", "n1", "n2", "n10"]);
        let names: Vec<String> = rows(&progress).into_iter().map(|row| row.host).collect();
        assert_eq!(names, ["b", "n1", "n2", "n10", "a"]);
    }

    #[test]
    fn a_rescued_failure_counts_neither_as_ok_nor_as_failed() {
        let mut events = story();
        events.push(result(7, 2, "c", HostResult::Rescued));
        let rows = rows(&RunProgress::from_events(&events));
        let stats = rows.iter().find(|row| row.host == "c").unwrap().stats;
        assert_eq!((stats.rescued, stats.ok, stats.failed), (1, 0, 0));
    }

    #[test]
    fn each_host_names_the_newest_task_that_it_has_started() {
        let task = |n, task, name: &str| RunEvent {
            n,
            at: 0,
            after: n,
            body: EventBody::TaskStart { task, play: 1, name: name.into(), action: String::new(), handler: false },
        };
        let events = [
            task(1, 1, "first"),
            result(2, 1, "a", HostResult::Ok),
            result(3, 1, "b", HostResult::Ok),
            task(4, 2, "second"),
            result(5, 2, "a", HostResult::Ok),
        ];
        let rows = rows(&RunProgress::from_events(&events));
        let names = rows.iter().map(|row| row.newest.as_ref().unwrap().name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["second", "first"]);
    }

    #[test]
    fn the_recap_of_ansible_takes_precedence() {
        let mut events = story();
        let hosts = [("a".to_owned(), HostStats { ok: 7, ..Default::default() })].into();
        events.push(RunEvent { n: 7, at: 0, after: 9, body: EventBody::Stats { hosts } });
        let rows = rows(&RunProgress::from_events(&events));
        assert_eq!((rows.len(), rows[0].stats.ok), (1, 7));
    }
}
