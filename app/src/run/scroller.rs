//! The log's rows: on the server and in the first render those of the page, then a window over the whole log.
//!
//! Rows have one height, so where a line is needs no measuring. What is not here yet is asked for in blocks when it comes
//! near the screen ([`super::missing_lines`]); the scroll position never moves by itself, unless the reader is at the end and
//! follows.

use leptos::{ev, html, prelude::*};

use super::{
    log_row::log_row,
    selection::Selection,
    state::Run,
    window::{self, Window},
};
use crate::{ui::each, wait::after_render};

/// Width of number and time, in characters.
const GUTTER: usize = 22;

/// Where the reader is.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    /// The rows' container.
    pub(super) node: NodeRef<html::Div>,
    /// Scroll position and height of the view; None until the page is alive.
    pub(super) view: RwSignal<Option<(f64, f64)>>,
    /// Stays at the newest line.
    pub(super) follows: RwSignal<bool>,
    /// Lines that were there when the reader last was at the end.
    seen: RwSignal<u64>,
    pub(super) window: Memo<Window>,
    /// The newest task whose headline is at or above the first line on screen.
    pub(super) task: Memo<Option<u32>>,
    /// New lines below the screen.
    pub(super) unseen: Memo<u64>,
}

impl Reader {
    pub(super) fn new(run: Run) -> Self {
        let view = RwSignal::new(None);
        let follows = RwSignal::new(true);
        let seen = RwSignal::new(run.total.get_untracked());
        let window = Memo::new(move |_| match view.get() {
            Some((top, height)) => window::at(run.total.get(), top, height),
            None => Window { first: run.rendered.0, end: run.rendered.1, top: run.rendered.0, ..Window::default() },
        });
        let task = Memo::new(move |_| {
            let top = window.get().top + 1;
            run.progress
                .with(|progress| progress.tasks.iter().rev().find(|task| task.line <= top).map(|task| task.number))
        });
        let unseen = Memo::new(move |_| if follows.get() { 0 } else { run.total.get().saturating_sub(seen.get()) });
        Self { node: NodeRef::new(), view, follows, seen, window, task, unseen }
    }

    /// Takes over from the rendered page.
    pub(super) fn come_alive(self, run: Run) {
        Effect::new(move |_| {
            let Some(node) = self.node.get() else { return };
            let named = window().location().hash().ok().and_then(|hash| Selection::parse(&hash));
            run.selection.set(named);
            // Whatever gives or takes room: the window, the bar of selected lines, another part of the page.
            on_resize(&node, move || self.settle(run));
            self.measure(run);
            if named.is_some() {
                self.follows.set(false);
                run.jumps.update(|n| *n += 1);
            } else {
                self.to_end(run);
            }
        });
        let named = window_event_listener(ev::hashchange, move |_| {
            if let Some(lines) = window().location().hash().ok().and_then(|hash| Selection::parse(&hash)) {
                run.selection.set(Some(lines));
                run.jumps.update(|n| *n += 1);
            }
        });
        on_cleanup(move || named.remove());
        // Stay at the end while lines come.
        Effect::new(move |_| {
            run.total.track();
            if self.follows.get_untracked() && self.view.get_untracked().is_some() {
                self.to_end(run);
            }
        });
        // Who looks at a line doesn't want it to run away.
        Effect::new(move |_| {
            if run.selection.get().is_some() {
                self.follows.set(false);
                after_render(move || self.reveal_selection(run));
            }
        });
        Effect::new(move |before: Option<u64>| {
            let jumps = run.jumps.get();
            if before.unwrap_or(0) != jumps {
                self.follows.set(false);
                after_render(move || self.show_selection(run));
            }
            jumps
        });
        self.fill(run);
    }

    /// The scroll position or the size changed.
    pub(super) fn measure(self, run: Run) {
        let Some(node) = self.node.try_get_untracked().flatten() else { return };
        let (top, height) = (f64::from(node.scroll_top()), f64::from(node.client_height()));
        if height < 1.0 {
            return;
        }
        let before = self.view.get_untracked();
        let total = run.total.get_untracked();
        if window::at_end(total, top, height) {
            self.follows.set(true);
            self.seen.set(total);
        } else if before.is_some_and(|(before, _)| top < before - 1.0) {
            // Only a person scrolls up; lines that came since make the end run away by themselves.
            self.follows.set(false);
        }
        if before != Some((top, height)) {
            self.view.set(Some((top, height)));
        }
    }

    /// To the newest line, and stays there.
    pub(super) fn to_end(self, run: Run) {
        self.follows.set(true);
        self.seen.set(run.total.get_untracked());
        after_render(move || {
            if let Some(node) = self.node.try_get_untracked().flatten() {
                node.set_scroll_top(node.scroll_height());
                self.measure(run);
            }
        });
    }

    /// The view has another height: who was at the end stays there.
    fn settle(self, run: Run) {
        if self.follows.try_get_untracked() == Some(true) {
            self.to_end(run);
        } else {
            self.measure(run);
        }
    }

    /// The bar with the selected lines takes room at the bottom, where the line may be that was just clicked.
    fn reveal_selection(self, run: Run) {
        let (Some(Some(node)), Some(Some(lines))) = (self.node.try_get_untracked(), run.selection.try_get_untracked())
        else {
            return;
        };
        let (top, height) = (f64::from(node.scroll_top()), f64::from(node.client_height()));
        #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
        if let Some(to) = window::reveal(run.total.get_untracked(), lines.first(), top, height) {
            node.set_scroll_top(to as i32);
        }
        self.measure(run);
    }

    fn show_selection(self, run: Run) {
        let (Some(Some(node)), Some(Some(lines))) = (self.node.try_get_untracked(), run.selection.try_get_untracked())
        else {
            return;
        };
        let height = f64::from(node.client_height());
        #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
        node.set_scroll_top(window::scroll_to(run.total.get_untracked(), lines.first(), height) as i32);
        self.measure(run);
        self.follows.set(false);
        bring_into_view(&node);
    }
}

/// Calls `then` when `node` has another size, as long as the effect that asks stands.
#[cfg(feature = "hydrate")]
fn on_resize(node: &leptos::web_sys::HtmlDivElement, then: impl Fn() + 'static) {
    use wasm_bindgen::{JsCast, closure::Closure};
    let closure = Closure::<dyn FnMut()>::new(then);
    let Ok(observer) = web_sys::ResizeObserver::new(closure.as_ref().unchecked_ref()) else { return };
    observer.observe(node);
    let kept = send_wrapper::SendWrapper::new((observer, closure));
    on_cleanup(move || kept.0.disconnect());
}

/// Nothing has a size on the server.
#[cfg(not(feature = "hydrate"))]
fn on_resize(_: &leptos::web_sys::HtmlDivElement, _: impl Fn() + 'static) {}

/// Moves the page no farther than needed to have the log on screen.
#[cfg(feature = "hydrate")]
fn bring_into_view(node: &leptos::web_sys::HtmlDivElement) {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    node.scroll_into_view_with_scroll_into_view_options(&options);
}

/// Nothing scrolls on the server.
#[cfg(not(feature = "hydrate"))]
fn bring_into_view(_: &leptos::web_sys::HtmlDivElement) {}

/// The rows.
#[component]
pub(super) fn Scroller(run: Run, reader: Reader) -> impl IntoView {
    let start = run.detail.with_untracked(|detail| detail.row.started.unwrap_or(detail.row.submitted));
    // A row is made anew when its line arrives, and never otherwise: its key says whether it is here.
    let rows = move || {
        run.lines_came.track();
        let shown = reader.window.get();
        run.log.with_value(|log| {
            (shown.first..shown.end).map(|line| ((line, log.get(line).is_some().into()), line)).collect()
        })
    };
    let row = move |line| run.log.with_value(|log| log_row(run, line, log.get(line), start)).into_any();
    let (content, block) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let width = Memo::new(move |_| {
        run.lines_came.track();
        run.log.with_value(super::log_store::LogStore::widest) + GUTTER
    });
    // By hand, and only in the living page: style attributes in the server's HTML would need a hole in the page's policy.
    Effect::new(move |_| {
        let (Some(content), Some(block)) = (content.get(), block.get()) else { return };
        let shown = reader.window.get();
        if reader.view.with(Option::is_none) {
            return;
        }
        let set = |node: &leptos::web_sys::HtmlElement, name, value: String| {
            let _ = leptos::web_sys::HtmlElement::style(node).set_property(name, &value);
        };
        set(&content, "height", window::px(shown.height));
        set(&content, "min-width", format!("{}ch", width.get()));
        set(&block, "transform", format!("translateY({})", window::px(shown.offset)));
    });
    let label = move || format!("Log, {}", crate::words::count(run.total.get(), "line", "lines"));
    view! {
        <div
            class="log"
            node_ref=reader.node
            role="log"
            aria-live="off"
            aria-label=label
            tabindex="0"
            on:scroll=move |_| reader.measure(run)
        >
            <div class="log-content" node_ref=content>
                <div class="log-window" node_ref=block>
                    {each(rows, row)}
                </div>
            </div>
        </div>
    }
}
