//! The lines of the log: in the server's HTML and in the first render those of the page, then a window over the whole log.
//!
//! All rows have the same height, so the position of a line is computed, not measured, also if lines are wrapped. Lines that are not in the browser yet
//! are loaded in blocks when they come near the screen ([`super::missing_lines`]).

use leptos::html;
use leptos::prelude::*;

use super::super::state::Run;
use super::row::log_row;
use super::scroll_position::ScrollPosition;
use super::store::LogStore;
use super::window;
use crate::ui::each;
use crate::words::count;

/// Width of number and time, in characters.
const GUTTER: usize = 22;

/// The container that scrolls, with the rows on screen.
#[component]
pub(super) fn Scroller(run: Run, scroll: ScrollPosition) -> impl IntoView {
    let start = run.detail.with_untracked(|detail| detail.row.started.unwrap_or(detail.row.submitted));
    // The key of a row says whether its line is here, so a row is rendered again only when its line arrives.
    let rows = move || {
        run.lines_added.track();
        let shown = scroll.window.get();
        run.log.with_value(|log| {
            let visible = (shown.first..shown.end).filter(|line| !log.rows().is_hidden(*line));
            visible.map(|line| ((line, log.get(line).is_some().into()), line)).collect()
        })
    };
    let row = move |line| run.log.with_value(|log| log_row(run, line, log.get(line), start)).into_any();
    let (content, block) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let width = Memo::new(move |_| {
        run.lines_added.track();
        if scroll.wraps.get() { 0 } else { run.log.with_value(LogStore::widest) + GUTTER }
    });
    // Set styles from here, and only after hydration: the content security policy allows no style attributes in HTML.
    Effect::new(move |_| {
        let (Some(content), Some(block)) = (content.get(), block.get()) else { return };
        let shown = scroll.window.get();
        if scroll.view.with(Option::is_none) {
            return;
        }
        // Runs without events have no plays to fold.
        let has_plays = run.progress.with(|progress| !progress.plays.is_empty());
        content.set_class_name(if has_plays { "log-content scrolls foldable" } else { "log-content scrolls" });
        let set = |node: &leptos::web_sys::HtmlElement, name, value: String| {
            let _ = leptos::web_sys::HtmlElement::style(node).set_property(name, &value);
        };
        set(&content, "height", window::px(shown.height));
        set(&content, "min-width", format!("max(100%, {}ch)", width.get()));
        set(&block, "transform", format!("translateY({})", window::px(shown.offset)));
    });
    let label = move || format!("Log, {}", count(run.total.get(), "line", "lines"));
    view! {
        <div
            class=if scroll.wraps.get_untracked() { "log wrap" } else { "log" }
            node_ref=scroll.node
            role="log"
            aria-live="off"
            aria-label=label
            tabindex="0"
            on:scroll=move |_| scroll.measure(run)
            on:keydown=move |event| {
                // Alt and the left arrow go back in the history.
                if event.alt_key() || event.meta_key() {
                    return;
                }
                match event.key().as_str() {
                    "End" => {
                        event.prevent_default();
                        scroll.to_end(run);
                    }
                    "Home" => scroll.scroll_pages(&event, f64::NEG_INFINITY),
                    "PageUp" => scroll.scroll_pages(&event, -1.0),
                    "PageDown" => scroll.scroll_pages(&event, 1.0),
                    "ArrowDown" => scroll.step(&event, true),
                    "ArrowUp" => {
                        scroll.leave_end();
                        scroll.step(&event, false);
                    }
                    "ArrowLeft" => ScrollPosition::fold_focused(run, &event, false),
                    "ArrowRight" => ScrollPosition::fold_focused(run, &event, true),
                    _ => {}
                }
            }
        >
            <i class="ruler" node_ref=scroll.ruler></i>
            <div class="log-content" node_ref=content>
                <div class="log-window" node_ref=block>
                    {each(rows, row)}
                </div>
            </div>
        </div>
    }
}
