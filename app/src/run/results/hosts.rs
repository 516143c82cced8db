//! The result on each host: ansible's recap, or the results so far.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use api::progress::{Cell, RunProgress};
use api::run::HostStats;
use leptos::prelude::*;

use super::super::state::Run;
use super::super::tab::Tab;
use crate::ui::{Icon, Key, Status, Tone, dynamic, each};

/// The row of a host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct HostRow {
    host: String,
    stats: HostStats,
    running: bool,
}

impl HostRow {
    /// A hash of the whole row, so that every change of it renders it again.
    fn key(&self) -> Key {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        (hasher.finish(), 0)
    }
}

/// The rows: hosts with failures first, then by name. Until all playbooks have ended, their recaps are incomplete, so the
/// results so far are counted instead.
fn rows(progress: &RunProgress) -> Vec<HostRow> {
    let counted = if progress.is_recapped() { progress.recap() } else { counted(progress) };
    let mut rows: Vec<HostRow> = counted
        .into_iter()
        .map(|(host, stats)| {
            let at = progress.hosts.iter().position(|h| *h == host);
            let running = at
                .is_some_and(|at| progress.tasks.iter().rev().take(50).any(|task| task.cells.get(at) == Cell::Running));
            HostRow { host, stats, running }
        })
        .collect();
    rows.sort_by_key(|row| (row.stats.failed + row.stats.unreachable == 0, row.host.clone()));
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
                    Cell::Skipped => stats.skipped += 1,
                    Cell::Ignored => (stats.ok, stats.ignored) = (stats.ok + 1, stats.ignored + 1),
                    Cell::Failed => stats.failed += 1,
                    Cell::Unreachable => stats.unreachable += 1,
                    Cell::None | Cell::Running | Cell::Stopped => {}
                }
            }
        }
    }
    progress.hosts.iter().cloned().zip(counted).collect()
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
    let complete = Memo::new(move |_| run.progress.with(RunProgress::is_recapped));
    dynamic(move || {
        if rows.with(Vec::is_empty) {
            return view! { <p class="muted tab-empty">"No host has reported yet."</p> }.into_any();
        }
        let lines = move || rows.get().into_iter().map(|row| (row.key(), row)).collect();
        let caption = if complete.get() { "Recap of every host" } else { "Results so far" };
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label=caption>
                <table class="rows">
                    <thead>
                        <tr>
                            <th scope="col">"Host"</th>
                            <th scope="col">"Result"</th>
                            {["Ok", "Changed", "Skipped", "Failed", "Unreachable", "Rescued", "Ignored"]
                                .map(|word| view! { <th scope="col" class="num">{word}</th> })
                                .into_iter()
                                .collect_view()}
                        </tr>
                    </thead>
                    <tbody>
                        {each(lines, |row| view! { <HostLine row/> }.into_any())}
                    </tbody>
                </table>
            </div>
        }
        .into_any()
    })
}

#[component]
fn HostLine(row: HostRow) -> impl IntoView {
    let s = row.stats;
    let (tone, word) = match () {
        () if s.unreachable > 0 => (Tone::Err, "Unreachable"),
        () if s.failed > 0 => (Tone::Err, "Failed"),
        () if row.running => (Tone::Run, "Running"),
        () if s.changed > 0 => (Tone::Warn, "Changed"),
        () => (Tone::Ok, "Ok"),
    };
    let drawing = if word == "Changed" { Icon::Check } else { tone.icon() };
    let number = |n: u32, tone: &'static str| {
        let class = if n == 0 { "num faint".to_owned() } else { format!("num {tone}") };
        view! { <td class=class>{n}</td> }
    };
    view! {
        <tr>
            <th scope="row">{row.host}</th>
            <td><Status tone icon=drawing word=word/></td>
            {number(s.ok, "")} {number(s.changed, "text-warn")} {number(s.skipped, "")} {number(s.failed, "text-err")}
            {number(s.unreachable, "text-err")} {number(s.rescued, "")} {number(s.ignored, "")}
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
    fn without_a_recap_the_results_so_far_are_counted() {
        let rows = rows(&RunProgress::from_events(&story()));
        assert_eq!(rows[0].host, "b");
        assert_eq!((rows[0].stats.ok, rows[0].stats.changed, rows[0].stats.failed), (1, 1, 1));
        assert_eq!(rows[1].stats.ok, 2);
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
