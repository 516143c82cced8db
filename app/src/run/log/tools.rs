//! The controls of the log: a field that leads to a line, and the switches that fold tasks and wrap long lines.

use leptos::ev::SubmitEvent;
use leptos::html;
use leptos::prelude::*;

use super::super::selection::Selection;
use super::super::state::Run;
use crate::form::endpoint;
use crate::preferences::{PreferenceForm, SetWrap, Wrapping, keep_in_browser};
use crate::routes;
use crate::ui::dynamic;

/// Leads to a line. The browser refuses numbers out of range and says which is the last one. Without JavaScript, the server renders
/// the page around the line.
#[component]
pub(crate) fn GoToLine(run: Run) -> impl IntoView {
    let field = NodeRef::<html::Input>::new();
    let go = move |event: SubmitEvent| {
        event.prevent_default();
        if let Some(line) = field.get_untracked().and_then(|field| field.value().parse().ok()) {
            run.jump(Selection::new(line, line));
        }
    };
    view! {
        <form class="go-to-line" action=run.name.with_value(|name| routes::operation(name)) on:submit=go>
            <input
                node_ref=field
                type="number"
                name="line"
                min="1"
                max=move || run.total.get()
                value=(run.asked > 0).then_some(run.asked)
                placeholder="Go to line"
                aria-label="Go to line"
            />
        </form>
    }
}

/// Folds all tasks that have ended without a failure, also those that end later. The style sheet shows it once the log can be folded.
#[component]
pub(crate) fn FoldSwitch(run: Run) -> impl IntoView {
    let pressed = move || if run.folds_ended.get() { "true" } else { "false" };
    view! {
        <button
            type="button"
            class="btn small fold-tasks"
            aria-pressed=pressed
            on:click=move |_| run.folds_ended.update(|on| *on = !*on)
        >
            "Fold tasks"
        </button>
    }
}

/// Switches the wrapping of long lines, here and in the cookie.
#[component]
pub(crate) fn WrapSwitch() -> impl IntoView {
    let wraps = expect_context::<Wrapping>().0;
    let apply = move |event: SubmitEvent| {
        event.prevent_default();
        let wrap = !wraps.get_untracked();
        keep_in_browser("wrap", if wrap { "on" } else { "off" });
        wraps.set(wrap);
    };
    let button = move || {
        let (next, pressed) = if wraps.get() { ("off", "true") } else { ("on", "false") };
        view! { <button class="btn small" name="wrap" value=next aria-pressed=pressed>"Wrap lines"</button> }
    };
    view! {
        <PreferenceForm function={endpoint::<SetWrap>()} apply=Callback::new(apply)>
            {dynamic(button)}
        </PreferenceForm>
    }
}
