//! The Log tab of a run, put together: the task list, the lines, and the controls above and below them.

use api::log::LogEnd;
use api::operation::Phase;
use leptos::ev::{Event, FocusEvent};
use leptos::prelude::*;

use super::super::pieces::RunPiece;
use super::super::selection::Selection;
use super::super::state::Run;
use super::super::tab::Tab;
use super::pages::{NewerLines, OlderLines};
use super::scroll_position::ScrollPosition;
use super::scroller::Scroller;
use super::task_words::task_words;
use super::window;
use crate::ui::{Icon, icon, optional};
use crate::wasm_size::piece::Piece;
use crate::words::count;

/// Tasks on the left, lines on the right.
#[component]
pub(crate) fn LogPanel(run: Run) -> impl IntoView {
    let scroll = ScrollPosition::new(run);
    scroll.start(run);
    // The components of pieces take no props.
    provide_context(scroll);
    let active = Signal::derive(move || run.may_change());
    let shown = Signal::derive(move || run.tab.get() == Tab::Log);
    let selected = Signal::derive(move || run.selection.with(Option::is_some));
    let folds = Signal::derive(move || run.folds_ended.get() || run.folded_at.get() > 0);
    let used = RwSignal::new(false);
    // A list that opens must not be replaced, so the list of hosts loads the tool only when a host was chosen.
    let focused = move |event: FocusEvent| {
        if event_target::<leptos::web_sys::Element>(&event).id() != "find-host" {
            used.set(true);
        }
    };
    let changed = move |event: Event| {
        if event_target::<leptos::web_sys::Element>(&event).id() == "find-host" && !used.get_untracked() {
            run.chosen_host.set(Some(event_target_value(&event)));
            used.set(true);
        }
    };
    let finds = Signal::derive(move || used.get() || run.query.with(|query| !query.is_empty()));
    view! {
        <div class="runpane">
            <nav class="tree" aria-label="Tasks">
                <Piece piece=RunPiece::Tasks rendered=true shown active/>
            </nav>
            <div class="log-side">
                <div class="find" on:focusin=focused on:change=changed>
                    <Piece piece=RunPiece::Find rendered=true shown active=finds/>
                </div>
                <LogHead run task=scroll.task/>
                <OlderLines run/>
                <Scroller run scroll/>
                <EmptyLog run/>
                <ToEnd run scroll/>
                <NewerLines run/>
                <Piece piece=RunPiece::Folds rendered=false shown=folds active=true/>
                <Piece piece=RunPiece::Selected rendered=false shown=selected active=true/>
            </div>
        </div>
    }
}

/// The task that the lines on screen belong to.
#[component]
fn LogHead(run: Run, task: Memo<Option<u32>>) -> impl IntoView {
    let check = run.detail.with_untracked(|detail| detail.row.check);
    let words = Memo::new(move |_| {
        let number = task.get()?;
        run.progress.with(|progress| {
            let task = progress.task(number)?;
            let play = progress.plays.iter().find(|play| play.number == task.play).map(|play| play.name.clone());
            Some((
                task.name.clone(),
                play.unwrap_or_default(),
                task_words(task, run.phase.get().is_final(), check),
                task.lines(),
            ))
        })
    });
    let content = move || match words.get() {
        Some((name, play, words, (first, last))) => view! {
            <a rel="external" href=run.url_of(Selection::new(first, last))>{name}</a>
            <span class="muted">{play}</span>
            <small class="muted">{words}</small>
        }
        .into_any(),
        None => view! { <div class="muted">"Before the first task"</div> }.into_any(),
    };
    // It is there from the first task on, also above lines of no task: if it came and went while the log scrolls, rows would move under the
    // pointer, and a click would reach another row.
    let has_tasks = Memo::new(move |_| run.progress.with(|progress| !progress.tasks.is_empty()));
    optional(move || has_tasks.get().then(|| view! { <div class="log-head">{content}</div> }))
}

/// The text in place of a log without lines.
#[component]
fn EmptyLog(run: Run) -> impl IntoView {
    let words = move || {
        (run.total.get() == 0).then(|| match run.end.get() {
            None => "The log appears here as it is written.",
            Some(_) if run.phase.get() == Phase::Restored => "No log is kept with a restored record.",
            Some(LogEnd { missing: 0, .. }) => "Nothing was written.",
            Some(_) => "There is no log of this run.",
        })
    };
    optional(move || words().map(|words| view! { <p class="log-empty muted">{words}</p> }))
}

/// `37 new lines`: a button that scrolls to the end. Without a click, the log of a person who reads elsewhere doesn't move.
#[component]
fn ToEnd(run: Run, scroll: ScrollPosition) -> impl IntoView {
    let shows_end = move || {
        let rows = run.log.with_value(|log| log.rows().before(run.total.get() + 1));
        scroll.view.get().is_some_and(|(top, height)| window::at_end(rows, top, height))
    };
    let is_away = Memo::new(move |_| !scroll.sticks_to_end.get() && !shows_end());
    let words = move || match scroll.unseen.get() {
        0 if is_away.get() => Some("To the end".to_owned()),
        0 => None,
        n => Some(count(n, "new line", "new lines")),
    };
    view! {
        <div class="pill-place">
            {optional(move || {
                words()
                    .map(|words| {
                        view! {
                            <button type="button" class="pill" on:click=move |_| scroll.to_end(run)>
                                {icon(Icon::ArrowDown)}
                                {words}
                            </button>
                        }
                    })
            })}
        </div>
    }
}
