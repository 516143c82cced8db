//! The progress panel: the sentence of the phase, the results so far as a bar and as numbers, and the state of the log.

use api::operation::Phase;
use api::progress::{Cell, Counts, RunProgress, TaskState};
use api::run::HostStats;
use leptos::prelude::*;

use super::super::log::task_words::changed;
use super::super::state::Run;
use super::sentences::{hosts, left, log_state, sentence};
use crate::live;
use crate::ui::{Icon, Tone, all, clock, dynamic, icon, optional};
use crate::words::{count, thousands};

/// The results as numbers: word, icon, tone, number, and whether a zero is shown, too. They are counted as in ansible's recap, which the
/// log shows below, but `ok` leaves out failures that were ignored.
fn numbers(sums: &HostStats, check: bool) -> [(&'static str, Icon, Tone, u32, bool); 9] {
    let others = sums.changed.saturating_sub(sums.made);
    // A check may have hooks that are none.
    let (changes, would) =
        if check { (others.saturating_add(sums.would_change), 0) } else { (others, sums.would_change) };
    [
        ("ok", Icon::Check, Tone::Ok, sums.succeeded(), true),
        (changed(check), Icon::Check, Tone::Warn, changes, true),
        (Cell::Made.word(), Icon::Check, Tone::Warn, sums.made, false),
        (Cell::WouldChange.word(), Icon::Check, Tone::Warn, would, false),
        ("skipped", Icon::Skip, Tone::Idle, sums.skipped, true),
        ("rescued", Icon::Warning, Tone::Warn, sums.rescued, false),
        ("ignored", Icon::Warning, Tone::Warn, sums.ignored, false),
        ("failed", Icon::Cross, Tone::Err, sums.failed, true),
        ("unreachable", Icon::Minus, Tone::Err, sums.unreachable, true),
    ]
}

const IGNORED: &str = "The controller ignores a result that another client wrote on this operation.";

#[component]
pub(crate) fn Totals(run: Run) -> impl IntoView {
    let words = Memo::new(move |_| {
        run.detail.with(|detail| {
            run.progress
                .with(|progress| run.note.with(|note| sentence(detail, progress, note.as_deref(), run.total.get())))
        })
    });
    // A failed run has its reason above this panel.
    let words = move || (run.phase.get() != Phase::Failed).then(|| words.get());
    let results = Memo::new(move |_| run.progress.with(|progress| (progress.totals, progress.sums())));
    let extent = Memo::new(move |_| {
        let is_final = run.phase.get().is_final();
        run.detail
            .with(|detail| run.progress.with(|progress| extent(progress, is_final, detail.limited_from, &detail.limit)))
    });
    // A bar that is green from the first result would look like a success.
    let neutral = Memo::new(move |_| !matches!(run.phase.get(), Phase::Succeeded | Phase::Failed));
    let connection = live::connection();
    let log = Memo::new(move |_| log_state(run.total.get(), run.end.get(), run.phase.get(), connection.get()));
    let check = run.detail.with_untracked(|detail| detail.row.check);
    let ignored = Memo::new(move |_| run.detail.with(|detail| detail.result_ignored));
    let missing = Memo::new(move |_| run.end.get().is_some_and(|end| end.missing > 0));
    view! {
        <section class="panel totals" aria-label="Progress">
            <div class="bar">
                <p class="sentence">{optional(words)}</p>
                <span class="end muted">
                    <TimeLeft run/>
                    {dynamic(move || extent.get())}
                    <span class:st=move || missing.get() class:warn=move || missing.get()>{dynamic(move || log.get())}</span>
                </span>
            </div>
            {optional(move || {
                let (counts, sums) = results.get();
                (counts.all() > 0).then(|| view! { <ResultBar counts neutral=neutral.get()/> <Numbers sums check/> })
            })}
            {optional(move || ignored.get().then(|| view! { <p class="st warn">{icon(Icon::Warning)} {IGNORED}</p> }))}
            {optional(move || {
                run.no_updates
                    .get()
                    .map(|message| view! { <p class="st warn" role="alert">{icon(Icon::Warning)} {format!("Live updates have stopped: {message}")}</p> })
            })}
        </section>
    }
}

/// How long the run will probably take, while it runs.
#[component]
fn TimeLeft(run: Run) -> impl IntoView {
    // No memo: each type of memo adds code to the page, and the detail changes a few times in a run.
    optional(move || {
        run.detail.with(|detail| {
            let runs = detail.row.phase == Phase::Running && !detail.row.cancelling;
            let (started, usual) = (detail.row.started.filter(|_| runs)?, detail.usual);
            let now = clock::now(detail.now);
            Some(view! {
                {dynamic(move || left(usual, now.get().0 - started.0))}
                " · "
            })
        })
    })
}

/// How many tasks and hosts there are: `3 tasks done · 5 hosts · ` during the run, `4 tasks · 2 of 5 hosts, limit web · ` when it has
/// ended. Empty before the first task. `limited_from`: how many hosts there are, if the run has a limit.
fn extent(progress: &RunProgress, is_final: bool, limited_from: Option<u32>, limit: &str) -> String {
    let tasks = progress.tasks.len() as u64;
    if tasks == 0 {
        return String::new();
    }
    let tasks = if is_final {
        count(tasks, "task", "tasks")
    } else {
        let running = progress.tasks.iter().filter(|task| task.state() == TaskState::Running).count() as u64;
        format!("{} done", count(tasks - running, "task", "tasks"))
    };
    // Until it has ended, more hosts may come.
    let limit = if limit.is_empty() { String::new() } else { format!(", limit {limit}") };
    format!("{tasks} · {}{limit} · ", hosts(progress, limited_from.filter(|_| is_final)))
}

/// The results so far as a bar. It is an SVG because the content security policy allows no style attributes.
#[component]
fn ResultBar(counts: Counts, neutral: bool) -> impl IntoView {
    let whole = counts.all().max(1);
    let mut from = 0;
    let parts = [
        ("r-ok", counts.ok),
        ("r-changed", counts.changed + counts.made + counts.would_change),
        ("r-skipped", counts.skipped),
        ("r-ignored", counts.ignored + counts.rescued),
        ("r-failed", counts.failed + counts.unreachable),
    ];
    let bars = parts.into_iter().filter(|(_, n)| *n > 0).map(|(class, n)| {
        let x = from;
        from += n;
        view! { <rect class=class x=x y="0" width=n height="1"></rect> }
    });
    view! {
        <svg class="result-bar" class:neutral=neutral viewBox=format!("0 0 {whole} 1") preserveAspectRatio="none" aria-hidden="true">
            {all(bars)}
        </svg>
    }
}

/// The results as numbers. Most zeros are grey but shown: “0 failed” is information, too.
#[component]
fn Numbers(sums: HostStats, check: bool) -> impl IntoView {
    view! {
        <ul class="numbers">
            {all(numbers(&sums, check)
                .into_iter()
                .filter(|(.., n, always)| *n > 0 || *always)
                .map(|(word, drawing, tone, n, _)| {
                    let tone = if n == 0 { Tone::Idle } else { tone };
                    view! {
                        <li class=format!("st {}", tone.class())>{icon(drawing)} {format!("{} {word}", thousands(n.into()))}</li>
                    }
                }))}
        </ul>
    }
}
