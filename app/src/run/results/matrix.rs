//! The matrix: a row for each task, a column for each host, and in each cell the result, which leads to its line.
//!
//! Hosts beside each other with the same result share one wide cell. So 600 tasks on 200 hosts are some thousand cells, not
//! 120,000, and the server can render them.

use std::collections::HashMap;

use api::progress::{Cell, Counts, RunProgress, TaskProgress};
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::super::log::task_words::{changed, task_words};
use super::super::selection::Selection;
use super::super::state::Run;
use super::super::tab::Tab;
use crate::click::is_plain;
use crate::ui::{dynamic, each, key_of, optional};
use crate::words::{count, named, thousands};

/// Tasks on a page of the matrix.
const ROWS: usize = 100;
/// The most parts of a row. The hosts after them share one part.
const MOST_PARTS: usize = 64;
/// Up to so many hosts, each has its name above its column.
const MOST_NAMES: usize = 24;

/// Up to so many hosts, the names of the tasks get a third of the width.
const FEW_HOSTS: usize = 8;

/// Hosts beside each other with the same result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Part {
    /// Their number.
    length: usize,
    /// What a narrow cell shows, because colour alone doesn't tell a result.
    sign: &'static str,
    class: &'static str,
    /// `w1 and w2: ok`.
    title: String,
    /// First and last line; `None` if there is nothing to show.
    lines: Option<(u64, u64)>,
}

/// The row of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Row {
    number: u32,
    name: String,
    words: String,
    lines: (u64, u64),
    parts: Vec<Part>,
}

/// Sign and class of a result.
fn look(cell: Cell) -> (&'static str, &'static str) {
    match cell {
        Cell::None => ("", ""),
        Cell::Running => ("…", "m-running"),
        Cell::Ok => ("✓", "m-ok"),
        Cell::Changed => ("~", "m-changed"),
        Cell::Made => ("±", "m-changed"),
        Cell::WouldChange => ("◇", "m-changed"),
        Cell::Skipped => ("–", "m-skipped"),
        Cell::Ignored | Cell::Rescued => ("!", "m-ignored"),
        Cell::Failed => ("✗", "m-failed"),
        Cell::Unreachable => ("?", "m-failed"),
        Cell::Stopped => ("×", "m-skipped"),
    }
}

/// The lines of failures, by task and host.
type FailedAt<'a> = HashMap<(u32, &'a str), (u64, u64)>;

fn row(task: &TaskProgress, hosts: &[String], failed: &FailedAt<'_>, ended: bool, check: bool) -> Row {
    let mut parts = Vec::new();
    let mut runs = task.cells.runs().flat_map(|(cell, from, length)| {
        // Each failed host gets its own cell, because each failure is on other lines of the log.
        let step =
            if matches!(cell, Cell::Failed | Cell::Unreachable | Cell::Ignored | Cell::Rescued) { 1 } else { length };
        (from..from + length).step_by(step).map(move |from| (cell, from, step))
    });
    for (cell, from, length) in runs.by_ref().take(MOST_PARTS) {
        let on: Vec<&str> = hosts.iter().skip(from).take(length).map(String::as_str).collect();
        let (sign, class) = look(cell);
        let of_failure = || failed.get(&(task.number, *on.first()?)).copied();
        let lines = (cell != Cell::None).then(|| of_failure().unwrap_or_else(|| task.lines()));
        let word = if cell == Cell::Changed { changed(check) } else { cell.word() };
        let title = if cell == Cell::None { String::new() } else { format!("{}: {word}", named(&on)) };
        parts.push(Part { length, sign, class, title, lines });
    }
    parts.extend(rest(task, runs, hosts, check));
    Row {
        number: task.number,
        name: task.name.clone(),
        words: task_words(task, ended, check),
        lines: task.lines(),
        parts,
    }
}

/// The hosts after the last part in one part.
fn rest(
    task: &TaskProgress,
    runs: impl Iterator<Item = (Cell, usize, usize)>,
    hosts: &[String],
    check: bool,
) -> Option<Part> {
    let (mut first, mut length, mut counts) = (None, 0, Counts::default());
    for (cell, from, hosts) in runs {
        first.get_or_insert(from);
        length += hosts;
        counts.add(cell, hosts);
    }
    let on: Vec<&str> = hosts.iter().skip(first?).take(length).map(String::as_str).collect();
    let kinds = [
        (counts.failed, "failed"),
        (counts.unreachable, "unreachable"),
        (counts.changed, changed(check)),
        (counts.made, Cell::Made.word()),
        (counts.would_change, Cell::WouldChange.word()),
        (counts.ok, "ok"),
        (counts.ignored, "failed, ignored"),
        (counts.rescued, "failed, rescued"),
        (counts.skipped, "skipped"),
    ];
    let kinds: Vec<_> = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let class = if counts.failed + counts.unreachable > 0 { "m-failed" } else { "m-mixed" };
    let title = format!("{}: {}", named(&on), kinds.join(", "));
    Some(Part { length, sign: "≈", class, title, lines: Some(task.lines()) })
}

/// The first task of the page that holds the task at `at`.
fn page_of(at: usize) -> usize {
    at / ROWS * ROWS
}

/// The rows from the task at `first` on.
fn rows(progress: &RunProgress, first: usize, ended: bool, check: bool) -> Vec<Row> {
    let failed: FailedAt<'_> =
        progress.failures.iter().map(|failure| ((failure.task, failure.host.as_str()), failure.lines)).collect();
    let tasks = progress.tasks.iter().skip(first).take(ROWS);
    tasks.map(|task| row(task, &progress.hosts, &failed, ended, check)).collect()
}

/// Tasks and hosts. A piece of the page.
#[component]
pub fn MatrixTab() -> impl IntoView {
    let run = expect_context::<Run>();
    let asked = use_query_map().with_untracked(|query| query.get("task").and_then(|task| task.parse::<usize>().ok()));
    // Until the user chooses a page: the newest tasks of a running operation, the first tasks of an ended one.
    let chosen = RwSignal::new(asked.map(|task| page_of(task.saturating_sub(1))));
    let total = Memo::new(move |_| run.progress.with(|progress| progress.tasks.len()));
    let first = Memo::new(move |_| {
        let newest = page_of(total.get().saturating_sub(1));
        let ended = run.phase.get().is_final();
        chosen.get().unwrap_or(if ended { 0 } else { newest }).min(newest)
    });
    let check = run.detail.with_untracked(|detail| detail.row.check);
    let rows = Memo::new(move |before: Option<&Vec<Row>>| {
        // Computing many rows takes time, so do it only while the tab is open.
        if run.tab.get() == Tab::Matrix || before.is_none() {
            let (first, ended) = (first.get(), run.phase.get().is_final());
            run.progress.with(|progress| rows(progress, first, ended, check))
        } else {
            before.cloned().unwrap_or_default()
        }
    });
    // Hosts are only appended, so their number tells when to read their names again.
    let columns = Memo::new(move |_| run.progress.with(|progress| progress.hosts.len()));
    // A memo, so that a new task doesn't render the whole table again.
    let is_empty = Memo::new(move |_| columns.get() == 0 || total.get() == 0);
    dynamic(move || {
        let columns = columns.get();
        if is_empty.get() {
            return view! { <p class="muted tab-empty">"No host has reported yet."</p> }.into_any();
        }
        let lines = move || rows.get().into_iter().map(|row| (key_of(&row), row)).collect();
        view! {
            <Pages run first total chosen/>
            <div class="scroll" tabindex="0" role="region" aria-label="Tasks and hosts">
                <table class=if columns <= FEW_HOSTS { "matrix few" } else { "matrix" }>
                    <colgroup>
                        <col class="m-name"/>
                        <col span=columns/>
                    </colgroup>
                    <thead>
                        <tr>
                            <th scope="col">"Task"</th>
                            {run.progress.with_untracked(|progress| heads(&progress.hosts))}
                        </tr>
                    </thead>
                    <tbody>{each(lines, move |row| view! { <Line run row columns/> }.into_any())}</tbody>
                </table>
            </div>
            <p class="m-key muted">
                "✓ ok · ~ " {if check { "would change · ± really changed" } else { "changed · ◇ would change" }} " · – skipped · ✗ failed · ? unreachable · ! failed, ignored or rescued · … running · × stopped · ≈ several results"
            </p>
        }
        .into_any()
    })
}

/// The names of the hosts, or the first and the last one of many.
fn heads(hosts: &[String]) -> AnyView {
    if hosts.len() <= MOST_NAMES {
        let head = |host: &String| {
            view! { <th scope="col" class="m-host" title=host.clone()><bdi dir="ltr">{host.clone()}</bdi></th> }
        };
        return hosts.iter().map(head).collect_view().into_any();
    }
    let words = match hosts {
        [first, .., last] => format!("{}, from {first} to {last}", count(hosts.len() as u64, "host", "hosts")),
        _ => String::new(),
    };
    view! { <th scope="colgroup" colspan=hosts.len()>{words}</th> }.into_any()
}

#[component]
fn Line(run: Run, row: Row, columns: usize) -> impl IntoView {
    let link = move |(first, last): (u64, u64)| run.url_of(Selection::new(first, last));
    let shown: usize = row.parts.iter().map(|part| part.length).sum();
    let missing = columns.saturating_sub(shown);
    let cell = move |part: Part| {
        let content = part.lines.map(|lines| {
            view! {
                <a rel="external" href=link(lines) title=part.title.clone() aria-label=part.title.clone()>{part.sign}</a>
            }
        });
        view! { <td class=part.class colspan=part.length>{content}</td> }
    };
    let title = format!("{}: {}", row.name, row.words);
    view! {
        <tr>
            <th scope="row">
                <a rel="external" href=link(row.lines) title=title>{row.name.clone()}</a>
                <small class="muted">{row.words.clone()}</small>
            </th>
            {row.parts.into_iter().map(cell).collect_view()}
            {(missing > 0).then(|| view! { <td colspan=missing></td> })}
        </tr>
    }
}

/// Links to the other pages of the matrix.
#[component]
fn Pages(run: Run, first: Memo<usize>, total: Memo<usize>, chosen: RwSignal<Option<usize>>) -> impl IntoView {
    let link = move |page: usize, words: &'static str| {
        let href = format!("{}&task={}", run.url(Tab::Matrix), page + 1);
        let open = move |event: MouseEvent| {
            if is_plain(&event) {
                event.prevent_default();
                chosen.set(Some(page));
            }
        };
        view! { <a class="btn small" rel="external" href=href on:click=open>{words}</a> }
    };
    optional(move || {
        let (first, total) = (first.get(), total.get());
        let last = (first + ROWS).min(total);
        (total > ROWS).then(|| {
            let number = |n: usize| thousands(n as u64);
            view! {
                <p class="bar m-pages">
                    {format!("Tasks {}–{} of {}", number(first + 1), number(last), number(total))}
                    {(first > 0).then(|| link(first - ROWS, "Earlier tasks"))}
                    {(last < total).then(|| link(first + ROWS, "Later tasks"))}
                </p>
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use api::run::{EventBody, HostResult, RunEvent};

    use super::*;

    /// One task with these results on hosts w0, w1 …
    fn progress(results: &[HostResult]) -> RunProgress {
        let start =
            EventBody::TaskStart { task: 1, play: 1, name: "Copy".into(), action: "copy".into(), handler: false };
        let ends = results.iter().enumerate().map(|(n, result)| EventBody::HostResult {
            task: 1,
            host: format!("w{n}"),
            result: *result,
            ms: 1,
            message: None,
            item: None,
            ignored: false,
        });
        let events = (1..).zip([start].into_iter().chain(ends));
        RunProgress::from_events(
            &events.map(|(n, body)| RunEvent { n, at: 0, after: n * 10, body }).collect::<Vec<_>>(),
        )
    }

    fn parts(results: &[HostResult]) -> Vec<Part> {
        rows(&progress(results), 0, true, false).remove(0).parts
    }

    #[test]
    fn hosts_with_the_same_result_share_a_cell() {
        use HostResult::{Changed, Ok};
        let parts = parts(&[Ok, Ok, Ok, Changed, Changed]);
        let shown: Vec<_> = parts.iter().map(|part| (part.length, part.sign, part.title.as_str())).collect();
        assert_eq!(shown, [(3, "✓", "w0, w1 and w2: ok"), (2, "~", "w3 and w4: changed")]);
        assert_eq!(parts[0].lines, Some((10, 60)), "the lines of the task");
    }

    #[test]
    fn each_failure_leads_to_its_own_lines() {
        use HostResult::{Failed, Ok, Unreachable};
        let parts = parts(&[Ok, Failed, Failed, Unreachable]);
        let shown: Vec<_> = parts.iter().map(|part| (part.sign, part.lines.unwrap())).collect();
        assert_eq!(shown, [("✓", (10, 50)), ("✗", (21, 30)), ("✗", (31, 40)), ("?", (41, 50))]);
        assert_eq!(parts[1].title, "w1: failed");
    }

    #[test]
    fn a_row_has_a_limited_number_of_cells() {
        use HostResult::{Changed, Failed, Ok};
        let results: Vec<_> = (0..200).map(|n| if n % 2 == 0 { Ok } else { Changed }).collect();
        let mixed = parts(&results);
        assert_eq!((mixed.len(), mixed.iter().map(|part| part.length).sum::<usize>()), (MOST_PARTS + 1, 200));
        assert_eq!(mixed[MOST_PARTS].title, "w64, w65 and 134 others: 68 changed, 68 ok");
        let failed = parts(&[Failed; 100]);
        assert_eq!((failed[MOST_PARTS].class, failed[MOST_PARTS].length), ("m-failed", 36));
    }

    #[test]
    fn the_matrix_has_pages_of_tasks() {
        assert_eq!([0, 99, 100, 250].map(page_of), [0, 0, 100, 200]);
        assert_eq!(rows(&progress(&[HostResult::Ok]), 100, true, false), []);
    }
}
