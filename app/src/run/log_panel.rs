//! Tasks at the left, the log at the right.

use leptos::{ev::MouseEvent, prelude::*};

use super::{
    functions::LINES_IN_PAGE,
    scroller::{Reader, Scroller},
    selection::Selection,
    state::{Run, is_plain},
    tabs::Tab,
    task_words::task_words,
};
use crate::{
    chunks::Page,
    piece::Piece,
    routes,
    ui::{Copy, Icon, icon, optional},
    words::{count, thousands},
};

#[component]
pub(super) fn LogPanel(run: Run) -> impl IntoView {
    let reader = Reader::new(run);
    reader.come_alive(run);
    // Pieces are split functions, which take no arguments.
    provide_context(reader);
    // Who reads elsewhere sees the task marked that is read.
    let tasks_live = Signal::derive(move || run.may_change() || !reader.follows.get());
    let shown = Signal::derive(move || run.tab.get() == Tab::Log);
    let alive = Memo::new(move |_| reader.window.with(|window| window.height > 0.0));
    view! {
        <div class="runpane">
            <nav class="tree" aria-label="Tasks">
                <Piece page=Page::RunTasks rendered=true shown lives=tasks_live/>
            </nav>
            <div class="log-side">
                <LogHead run task=reader.task/>
                <OlderLines run alive/>
                <Scroller run reader/>
                <NothingYet run/>
                <Pill run reader/>
                <NewerLines run alive/>
                <SelectionBar run/>
            </div>
        </div>
    }
}

/// The task that the lines on screen belong to.
#[component]
fn LogHead(run: Run, task: Memo<Option<u32>>) -> impl IntoView {
    let words = Memo::new(move |_| {
        let number = task.get()?;
        run.progress.with(|progress| {
            let task = progress.task(number)?;
            let play = progress.plays.iter().find(|play| play.number == task.play).map(|play| play.name.clone());
            Some((task.name.clone(), play.unwrap_or_default(), task_words(task, run.phase.get().is_final()), task.line))
        })
    });
    optional(move || {
        words.get().map(|(name, play, words, line)| {
            let lines = Selection::new(line, line);
            let go = move |event: MouseEvent| super::reason::go(&event, run, lines);
            view! {
                <div class="log-head">
                    <a href=run.url_of(lines) on:click=go>{name}</a>
                    <span class="muted">{play}</span>
                    <small class="muted">{words}</small>
                </div>
            }
        })
    })
}

/// Pages of older lines, for readers without JavaScript; a living log scrolls there by itself.
#[component]
fn OlderLines(run: Run, alive: Memo<bool>) -> impl IntoView {
    let (first, _) = run.rendered;
    let path = run.name.with_value(|name| routes::operation(name));
    let before = first.saturating_sub(u64::from(LINES_IN_PAGE)).max(1);
    (first > 1).then(|| {
        view! {
            <div class="log-pages" hidden=move || alive.get()>
                <a class="link" href=format!("{path}?from={before}#L{}", first - 1)>
                    {format!("{} to {}", thousands(before), count(first - 1, "line", "lines"))}
                </a>
            </div>
        }
        .into_any()
    })
}

/// The other way.
#[component]
fn NewerLines(run: Run, alive: Memo<bool>) -> impl IntoView {
    let (_, end) = run.rendered;
    let path = run.name.with_value(|name| routes::operation(name));
    (end <= run.total.get_untracked()).then(|| {
        view! {
            <div class="log-pages" hidden=move || alive.get()>
                <a class="link" href=format!("{path}?from={end}#L{end}")>{format!("Lines from {}", thousands(end))}</a>
                " "
                <a class="link" href=path>"The newest lines"</a>
            </div>
        }
        .into_any()
    })
}

#[component]
fn NothingYet(run: Run) -> impl IntoView {
    let words = move || {
        (run.total.get() == 0).then(|| match (run.end.get().is_some(), run.phase.get().is_final()) {
            (true, _) => "Nothing was written.",
            (false, true) => "There is no log of this run.",
            (false, false) => "The log appears here as it is written.",
        })
    };
    optional(move || words().map(|words| view! { <p class="log-empty muted">{words}</p> }))
}

/// `37 new lines`: a way to the end that doesn't take the reader there unasked.
#[component]
fn Pill(run: Run, reader: Reader) -> impl IntoView {
    let words = move || {
        let away = !reader.follows.get();
        match reader.unseen.get() {
            0 if away => Some("To the end".to_owned()),
            0 => None,
            n => Some(count(n, "new line", "new lines")),
        }
    };
    view! {
        <div class="pill-place">
            {optional(move || {
                words()
                    .map(|words| {
                        view! {
                            <button type="button" class="pill" on:click=move |_| reader.to_end(run)>
                                {icon(Icon::ArrowDown)}
                                {words}
                            </button>
                        }
                    })
            })}
        </div>
    }
}

/// The lines that the URL names: in full, however long they are, and to copy.
#[component]
fn SelectionBar(run: Run) -> impl IntoView {
    let text = Memo::new(move |_| {
        let lines = run.selection.get()?;
        run.lines_came.track();
        let last = lines.last().min(lines.first() + 999);
        let text = run.log.with_value(|log| {
            let text = (lines.first()..=last).filter_map(|line| log.get(line)).map(|line| super::ansi::plain(&line.s));
            text.collect::<Vec<_>>().join("\n")
        });
        Some((lines, text))
    });
    let clear = move |event: MouseEvent| {
        if is_plain(&event) {
            event.prevent_default();
            run.selection.set(None);
            super::state::replace_url(&run.url(run.tab.get_untracked()));
        }
    };
    optional(move || {
        text.get().map(|(lines, text)| {
            let words = if lines.first() == lines.last() {
                format!("Line {}", thousands(lines.first()))
            } else {
                format!("Lines {} to {}", thousands(lines.first()), thousands(lines.last()))
            };
            view! {
                <div class="selection" role="region" aria-label="Selected lines">
                    <div class="bar">
                        <b>{words}</b>
                        <span class="end">
                            <Copy text=text.clone() label="Copy text"/>
                            <Copy text=absolute(&format!("{}{}", run.url(super::tabs::Tab::Log), lines.fragment())) label="Copy link"/>
                            <a class="btn small" href=run.url(super::tabs::Tab::Log) on:click=clear>{icon(Icon::Close)} "Clear"</a>
                        </span>
                    </div>
                    <pre tabindex="0">{text}</pre>
                </div>
            }
        })
    })
}

/// Only the browser shows a selection, so it knows the origin.
fn absolute(path: &str) -> String {
    format!("{}{path}", window().location().origin().unwrap_or_default())
}
