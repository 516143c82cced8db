//! The progress panel: the sentence of the phase, the results so far as a bar and as numbers, and the state of the log.

use api::progress::Counts;
use leptos::prelude::*;

use super::super::state::Run;
use super::sentences::{log_state, sentence};
use crate::ui::{Icon, Tone, all, dynamic, icon, optional};
use crate::words::{count, thousands};

/// The kinds of result: word, icon, tone, number.
fn kinds(counts: &Counts) -> [(&'static str, Icon, Tone, u32); 6] {
    [
        ("ok", Icon::Check, Tone::Ok, counts.ok),
        ("changed", Icon::Check, Tone::Warn, counts.changed),
        ("skipped", Icon::Skip, Tone::Idle, counts.skipped),
        ("ignored", Icon::Warning, Tone::Idle, counts.ignored),
        ("failed", Icon::Cross, Tone::Err, counts.failed),
        ("unreachable", Icon::Minus, Tone::Err, counts.unreachable),
    ]
}

#[component]
pub(crate) fn Totals(run: Run) -> impl IntoView {
    let words = Memo::new(move |_| {
        run.detail.with(|detail| {
            run.progress
                .with(|progress| run.note.with(|note| sentence(detail, progress, note.as_deref(), run.total.get())))
        })
    });
    // A failed run has its reason above this panel.
    let words = move || (run.phase.get() != api::operation::Phase::Failed).then(|| words.get());
    let counts = Memo::new(move |_| run.progress.with(|progress| progress.totals));
    let tasks = Memo::new(move |_| run.progress.with(|progress| progress.tasks.len() as u64));
    let log = Memo::new(move |_| log_state(run.total.get(), run.end.get(), run.phase.get()));
    let missing = Memo::new(move |_| run.end.get().is_some_and(|end| end.missing > 0));
    view! {
        <section class="panel totals" aria-label="Progress">
            <div class="bar">
                <p class="sentence">{optional(words)}</p>
                <span class="end muted">
                    {optional(move || (tasks.get() > 0).then(|| format!("{} · ", count(tasks.get(), "task", "tasks"))))}
                    <span class:st=move || missing.get() class:warn=move || missing.get()>{dynamic(move || log.get())}</span>
                </span>
            </div>
            {optional(move || (counts.get().all() > 0).then(|| view! { <ResultBar counts=counts.get()/> <Numbers counts=counts.get()/> }))}
            {optional(move || {
                run.refused
                    .get()
                    .map(|message| view! { <p class="st warn" role="alert">{icon(Icon::Warning)} {format!("Live updates have stopped: {message}")}</p> })
            })}
        </section>
    }
}

/// The results so far as a bar. It is an SVG because the content security policy allows no style attributes.
#[component]
fn ResultBar(counts: Counts) -> impl IntoView {
    let whole = counts.all().max(1);
    let mut from = 0;
    let bars = kinds(&counts).into_iter().filter(|kind| kind.3 > 0).map(|(word, _, _, n)| {
        let x = from;
        from += n;
        let class = match word {
            "ok" => "r-ok",
            "changed" => "r-changed",
            "failed" | "unreachable" => "r-failed",
            _ => "r-skipped",
        };
        view! { <rect class=class x=x y="0" width=n height="1"></rect> }
    });
    view! {
        <svg class="result-bar" viewBox=format!("0 0 {whole} 1") preserveAspectRatio="none" aria-hidden="true">
            {all(bars)}
        </svg>
    }
}

/// The results as numbers. Zeros are grey but shown: “0 failed” is information, too.
#[component]
fn Numbers(counts: Counts) -> impl IntoView {
    view! {
        <ul class="numbers">
            {all(kinds(&counts)
                .into_iter()
                .filter(|(word, .., n)| *n > 0 || *word != "ignored")
                .map(|(word, drawing, tone, n)| {
                    let tone = if n == 0 { Tone::Idle } else { tone };
                    view! {
                        <li class=format!("st {}", tone.class())>{icon(drawing)} {format!("{} {word}", thousands(n.into()))}</li>
                    }
                }))}
        </ul>
    }
}
