//! The scroll position of the log, and what is computed from it: the lines on screen, their task, and the number of new lines.
//!
//! The position changes without the user only while the user is at the end: then the log scrolls with new lines.

use leptos::prelude::*;
use leptos::{ev, html};

use super::super::selection::Selection;
use super::super::state::Run;
use super::window::{self, Window};
use crate::wait::after_render;

/// The scroll position, and signals derived from it.
#[derive(Clone, Copy)]
pub(super) struct ScrollPosition {
    /// The container that scrolls.
    pub(super) node: NodeRef<html::Div>,
    /// Scroll position and height of the container, in pixels; `None` until hydration.
    pub(super) view: RwSignal<Option<(f64, f64)>>,
    /// Whether the log scrolls with new lines. True at the end of the log, until the user scrolls up or selects a line.
    pub(super) sticks_to_end: RwSignal<bool>,
    /// The number of lines when the user was last at the end.
    seen: RwSignal<u64>,
    pub(super) window: Memo<Window>,
    /// The last task that starts at or above the first line on screen.
    pub(super) task: Memo<Option<u32>>,
    /// The number of lines that were added since the user was last at the end.
    pub(super) unseen: Memo<u64>,
}

impl ScrollPosition {
    pub(super) fn new(run: Run) -> Self {
        let view = RwSignal::new(None);
        let sticks_to_end = RwSignal::new(true);
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
        let unseen =
            Memo::new(move |_| if sticks_to_end.get() { 0 } else { run.total.get().saturating_sub(seen.get()) });
        Self { node: NodeRef::new(), view, sticks_to_end, seen, window, task, unseen }
    }

    /// Starts to measure and scroll once the page is hydrated.
    pub(super) fn start(self, run: Run) {
        Effect::new(move |_| {
            let Some(node) = self.node.get() else { return };
            let named = window().location().hash().ok().and_then(|hash| Selection::parse(&hash));
            run.selection.set(named);
            // The size changes with the browser's window, the bar of selected lines, and other parts of the page.
            on_resize(&node, move || self.resized(run));
            self.measure(run);
            if named.is_some() {
                self.sticks_to_end.set(false);
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
        // Stay at the end while lines are added.
        Effect::new(move |_| {
            run.total.track();
            if self.sticks_to_end.get_untracked() && self.view.get_untracked().is_some() {
                self.to_end(run);
            }
        });
        // A user who has selected a line must not lose it when new lines come.
        Effect::new(move |_| {
            if run.selection.get().is_some() {
                self.sticks_to_end.set(false);
                after_render(move || self.reveal_selection(run));
            }
        });
        Effect::new(move |before: Option<u64>| {
            let jumps = run.jumps.get();
            if before.unwrap_or(0) != jumps {
                self.sticks_to_end.set(false);
                after_render(move || self.show_selection(run));
            }
            jumps
        });
        self.fill(run);
    }

    /// Reads the scroll position and the size.
    pub(super) fn measure(self, run: Run) {
        let Some(node) = self.node.try_get_untracked().flatten() else { return };
        let (top, height) = (f64::from(node.scroll_top()), f64::from(node.client_height()));
        if height < 1.0 {
            return;
        }
        let before = self.view.get_untracked();
        let total = run.total.get_untracked();
        if window::at_end(total, top, height) {
            self.sticks_to_end.set(true);
            self.seen.set(total);
        } else if before.is_some_and(|(before, _)| top < before - 1.0) {
            // Only the user scrolls up. New lines move the end down without changing the scroll position.
            self.sticks_to_end.set(false);
        }
        if before != Some((top, height)) {
            self.view.set(Some((top, height)));
        }
    }

    /// Scrolls to the newest line and stays at the end.
    pub(super) fn to_end(self, run: Run) {
        self.sticks_to_end.set(true);
        self.seen.set(run.total.get_untracked());
        after_render(move || {
            if let Some(node) = self.node.try_get_untracked().flatten() {
                node.set_scroll_top(node.scroll_height());
                self.measure(run);
            }
        });
    }

    /// The size has changed. A user at the end stays there.
    fn resized(self, run: Run) {
        if self.sticks_to_end.try_get_untracked() == Some(true) {
            self.to_end(run);
        } else {
            self.measure(run);
        }
    }

    /// Scrolls to the selection if it is hidden. The bar with the selected lines covers rows at the bottom, and the line that
    /// was just clicked may be one of them.
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

    /// Scrolls to the selection.
    fn show_selection(self, run: Run) {
        let (Some(Some(node)), Some(Some(lines))) = (self.node.try_get_untracked(), run.selection.try_get_untracked())
        else {
            return;
        };
        let height = f64::from(node.client_height());
        #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
        node.set_scroll_top(window::scroll_to(run.total.get_untracked(), lines.first(), height) as i32);
        self.measure(run);
        self.sticks_to_end.set(false);
        bring_into_view(&node);
    }
}

/// Calls `then` when the size of `node` changes, until the calling effect runs again or ends.
#[cfg(feature = "hydrate")]
fn on_resize(node: &leptos::web_sys::HtmlDivElement, then: impl Fn() + 'static) {
    use wasm_bindgen::{JsCast, closure::Closure};
    let closure = Closure::<dyn FnMut()>::new(then);
    let Ok(observer) = web_sys::ResizeObserver::new(closure.as_ref().unchecked_ref()) else { return };
    observer.observe(node);
    let kept = send_wrapper::SendWrapper::new((observer, closure));
    on_cleanup(move || kept.0.disconnect());
}

/// Does nothing on the server.
#[cfg(not(feature = "hydrate"))]
fn on_resize(_: &leptos::web_sys::HtmlDivElement, _: impl Fn() + 'static) {}

/// Scrolls the page as little as needed to show the log.
#[cfg(feature = "hydrate")]
fn bring_into_view(node: &leptos::web_sys::HtmlDivElement) {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    node.scroll_into_view_with_scroll_into_view_options(&options);
}

/// Does nothing on the server.
#[cfg(not(feature = "hydrate"))]
fn bring_into_view(_: &leptos::web_sys::HtmlDivElement) {}
