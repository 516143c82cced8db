//! One line of the log.

use api::Time;
use api::log::LogLine;
use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::super::selection::Selection;
use super::super::state::Run;
use super::ansi;
use super::mark::Mark;
use crate::click::is_plain;
use crate::ui::{Icon, icon};

/// A line with its number as a link, its time since `start`, and its colours.
pub(super) fn log_row(run: Run, line: u64, text: Option<&LogLine>, start: Time) -> impl IntoView + use<> {
    let here = Selection::new(line, line);
    let click = move |event: MouseEvent| {
        if event.button() == 0 && event.shift_key() || is_plain(&event) {
            event.prevent_default();
            run.select(Selection::clicked(run.selection.get_untracked(), line, event.shift_key()));
        }
    };
    let mark = text.and_then(|text| Mark::of(&text.s));
    let folds = mark.is_some_and(Mark::folds).then(|| fold_button(run, line).into_any());
    let mark = mark.map_or("", Mark::class);
    let time = text.map(|text| view! { <time title=text.t.utc()>{clock(text.t, start)}</time> }.into_any());
    let spans = text.map(|text| {
        let span = |span: ansi::Span<'_>| match span.style.classes() {
            Some(classes) => view! { <span class=classes>{span.text.to_owned()}</span> }.into_any(),
            None => span.text.to_owned().into_any(),
        };
        ansi::spans(&text.s).into_iter().map(span).collect_view()
    });
    view! {
        <div
            class=format!("ln {mark}")
            id=format!("L{line}")
            class:sel=move || run.selection.get().is_some_and(|s| s.holds(line))
            class:hit=move || run.found.with(|found| found.hits.binary_search(&line).is_ok())
        >
            <a href=here.fragment() tabindex="-1" on:click=click>{line}</a>
            {time}
            {folds}
            <span class="tx">{spans}</span>
        </div>
    }
}

/// Folds and unfolds below the headline of a play or task. The style sheet shows it once the log can be folded.
fn fold_button(run: Run, line: u64) -> impl IntoView {
    let folded = move || {
        run.lines_added.track();
        run.log.with_value(|log| log.rows().is_hidden(line + 1))
    };
    view! {
        // By keyboard: the arrow keys at the line's number.
        <button
            type="button"
            class="fold"
            tabindex="-1"
            aria-label="Lines below"
            aria-expanded=move || if folded() { "false" } else { "true" }
            on:click=move |_| run.folded_at.set(line)
        >
            {icon(Icon::ChevronRight)}
        </button>
    }
}

/// `4:05` or `1:04:05` since the start.
fn clock(at: Time, start: Time) -> String {
    let seconds = (at.0 - start.0).max(0) / 1000;
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_the_start_and_never_negative() {
        let at = |ms| clock(Time(ms), Time(1_000));
        assert_eq!(at(246_000), "4:05");
        assert_eq!(at(3_846_000), "1:04:05");
        assert_eq!(at(0), "0:00", "the pod's clock may be a little behind");
    }
}
