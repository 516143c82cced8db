//! The list of plays and tasks with their results.

use api::duration;
use api::progress::{Cell, Counts, PlayProgress, TaskProgress, TaskState};
use api::run::StepRole;
use leptos::prelude::*;

use super::super::selection::Selection;
use super::super::state::Run;
use super::scroll_position::ScrollPosition;
use super::task_words::{state, task_words};
use crate::ui::{Icon, Key, Tone, each, icon, optional};
use crate::words::named;

/// What the row of a task shows.
#[derive(Clone, PartialEq)]
struct Row {
    name: String,
    handler: bool,
    state: TaskState,
    counts: Counts,
    running: u32,
    ms: i64,
    words: String,
    title: String,
}

impl Row {
    fn of(task: &TaskProgress, hosts: &[String], ended: bool, check: bool) -> Self {
        let words = task_words(task, ended, check);
        let on = task.hosts_at(Cell::Running, hosts);
        let on = if on.is_empty() || ended { String::new() } else { format!("\nrunning on {}", named(&on)) };
        Self {
            name: task.name.clone(),
            handler: task.handler,
            state: state(task, ended),
            counts: task.counts,
            running: task.running,
            ms: task.ms(),
            title: format!("{}\n{}\n{words}{on}", task.name, task.action),
            words,
        }
    }
}

/// The tone, icon and word of a state.
fn drawing_of(state: TaskState) -> (Tone, Icon, &'static str) {
    match state {
        TaskState::Running => (Tone::Run, Icon::Running, "running"),
        TaskState::Failed => (Tone::Err, Icon::Cross, "failed"),
        TaskState::Stopped => (Tone::Idle, Icon::Stop, "stopped"),
        TaskState::Ignored => (Tone::Warn, Icon::Warning, "failed, ignored"),
        TaskState::Rescued => (Tone::Warn, Icon::Warning, "failed, rescued"),
        TaskState::Changed => (Tone::Warn, Icon::Check, "changed"),
        TaskState::WouldChange => (Tone::Warn, Icon::Check, Cell::WouldChange.word()),
        TaskState::Ok => (Tone::Ok, Icon::Check, "ok"),
        TaskState::Skipped => (Tone::Idle, Icon::Skip, "skipped"),
        TaskState::Empty => (Tone::Idle, Icon::Minus, "no host"),
    }
}

/// A heading of the list.
#[derive(Clone, PartialEq, Eq)]
enum Group {
    Step { number: u32, title: String, role: &'static str },
    Play { number: u32, name: String },
}

impl Group {
    fn key(&self) -> Key {
        match self {
            Self::Step { number, .. } => (0, (*number).into()),
            Self::Play { number, .. } => (1, (*number).into()),
        }
    }
}

/// Plays and their tasks. The task that the log shows is marked. A piece of the page.
#[component]
pub fn TaskList() -> impl IntoView {
    let (run, scroll) = (expect_context::<Run>(), expect_context::<ScrollPosition>());
    let at = scroll.marked;
    let groups = Memo::new(move |_| {
        run.progress.with(|progress| {
            let mut groups = Vec::new();
            // A single step needs no heading, because the page's title names it.
            let steps = if progress.steps.len() > 1 { progress.steps.as_slice() } else { &[] };
            let play = |play: &PlayProgress| Group::Play { number: play.number, name: play.name.clone() };
            groups.extend(
                progress.plays.iter().filter(|play| !steps.iter().any(|step| step.number == play.step)).map(play),
            );
            for step in steps {
                let role = match step.role {
                    StepRole::Pre => "before",
                    StepRole::Main => "",
                    StepRole::Post => "after",
                };
                groups.push(Group::Step { number: step.number, title: step.title.clone(), role });
                groups.extend(progress.plays.iter().filter(|play| play.step == step.number).map(play));
            }
            groups
        })
    });
    let heading = move |group| match group {
        Group::Step { title, role, number } => view! { <StepHead run number title role/> }.into_any(),
        Group::Play { number, name } => view! { <Play run number name at/> }.into_any(),
    };
    view! {
            {each(move || groups.get().into_iter().map(|group| (group.key(), group)).collect(), heading)}
            {optional(move || {
                groups
                    .with(Vec::is_empty)
                    .then(|| {
                        let words = if run.phase.get().is_final() { "No tasks reported." } else { "Tasks appear here as they start." };
                        view! { <p class="muted tree-empty">{words}</p> }
                    })
            })}
    }
}

#[component]
fn StepHead(run: Run, number: u32, title: String, role: &'static str) -> impl IntoView {
    let rc = Memo::new(move |_| {
        run.progress.with(|p| p.steps.iter().find(|step| step.number == number).and_then(|step| step.rc))
    });
    view! {
        <h2 class="step">
            {title} <small>{role}</small>
            {optional(move || rc.get().filter(|rc| *rc != 0).map(|rc| view! { <small class="st err">{format!("exit code {rc}")}</small> }))}
        </h2>
    }
}

#[component]
fn Play(run: Run, number: u32, name: String, at: Memo<Option<u32>>) -> impl IntoView {
    let tasks = move || {
        let of = |task: &TaskProgress| ((task.number.into(), task.line), (task.number, task.line));
        run.progress.with(|progress| progress.tasks_of(number).map(of).collect())
    };
    view! {
        // Folds without JavaScript. The browser keeps it folded while tasks are added.
        <details class="play" open=true>
            <summary>
                <h2>{name}</h2>
            </summary>
            <ul>{each(tasks, move |(number, line)| view! { <Task run number line at/> }.into_any())}</ul>
        </details>
    }
}

#[component]
fn Task(run: Run, number: u32, line: u64, at: Memo<Option<u32>>) -> impl IntoView {
    let check = run.detail.with_untracked(|detail| detail.row.check);
    let row = Memo::new(move |_| {
        let ended = run.phase.get().is_final();
        run.progress.with(|progress| progress.task(number).map(|task| Row::of(task, &progress.hosts, ended, check)))
    });
    view! {
        <li>
            <a
                rel="external"
                href=run.url_of(Selection::new(line, line))
                id=format!("T{number}")
                title=move || row.get().map(|row| row.title)
                class:todo=move || row.get().is_some_and(|row| matches!(row.state, TaskState::Skipped | TaskState::Empty))
                aria-current=move || (at.get() == Some(number)).then_some("true")
            >
                {optional(move || row.get().map(|row| view! { <TaskRow row/> }))}
            </a>
        </li>
    }
}

#[component]
fn TaskRow(row: Row) -> impl IntoView {
    let (tone, drawing, word) = drawing_of(row.state);
    let c = row.counts;
    // A single kind of result is shown by the icon alone. Several kinds each show their sign and number.
    // The signs are those of the matrix.
    let kinds = [
        (c.failed + c.unreachable, "err", '✗'),
        (c.ignored + c.rescued, "warn", '!'),
        (c.changed, "warn", '~'),
        (c.made, "warn", '±'),
        (c.would_change, "warn", '◇'),
        (c.ok, "ok", '✓'),
        (c.skipped, "idle", '–'),
    ];
    let kinds: Vec<_> = kinds.into_iter().filter(|(n, ..)| *n > 0).collect();
    let mixed = (kinds.len() > 1).then(|| {
        let number = |(n, tone, sign): (u32, &str, char)| view! { <i class=format!("st {tone}")>{sign}{n}</i> };
        kinds.into_iter().map(number).collect_view()
    });
    let end = if row.state == TaskState::Running && row.running > 0 {
        format!("{} running", row.running)
    } else if row.state == TaskState::Running {
        String::new()
    } else {
        duration(row.ms)
    };
    view! {
        <span class=format!("st {}", tone.class())>{icon(drawing)} <span class="sr">{word}</span></span>
        <span class="task-name">{row.handler.then_some("↪ ")} {row.name}</span>
        <small aria-hidden="true">{mixed} {end}</small>
        <span class="sr">{row.words}</span>
    }
}
