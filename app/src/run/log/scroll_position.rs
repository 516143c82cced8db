//! The scroll position of the log, and what is computed from it: the lines on screen, their task, and the number of new lines.
//!
//! The position changes without the user only while the user is at the end: then the log scrolls with new lines.

use leptos::prelude::*;
use leptos::{ev, html};

use super::super::selection::Selection;
use super::super::state::Run;
use super::window::{self, Window};
use crate::preferences::Wrapping;
use crate::wait::after_render;

/// The scroll position, and signals derived from it.
#[derive(Clone, Copy)]
pub(super) struct ScrollPosition {
    /// The container that scrolls.
    pub(super) node: NodeRef<html::Div>,
    /// An invisible element that measures the font: as wide as [`super::anchor::RULER`] characters, and as high as number and time are wide.
    pub(super) ruler: NodeRef<html::I>,
    /// Whether long lines are wrapped.
    pub(super) wraps: RwSignal<bool>,
    /// Scroll position and height of the container, in pixels; `None` until hydration.
    pub(super) view: RwSignal<Option<(f64, f64)>>,
    /// Whether the log scrolls with new lines. True at the end of the log, until the user scrolls up or selects a line.
    pub(super) sticks_to_end: RwSignal<bool>,
    /// Whether the log scrolls to the selection in the next frame.
    pub(super) is_jumping: RwSignal<bool>,
    /// The number of lines when the user was last at the end.
    seen: RwSignal<u64>,
    pub(super) window: Memo<Window>,
    /// The line that stays where it is ([`super::anchor`]), and the scroll position relative to it.
    pub(super) anchor: StoredValue<(u64, f64)>,
    /// The task of the selection if that is on screen, or of the line that the page opened at, otherwise of the first line on screen.
    pub(super) task: Memo<Option<u32>>,
    /// The task that the list marks: the newest one while the log sticks to the end of a running run, otherwise the task of the
    /// lines on screen.
    pub(super) marked: Memo<Option<u32>>,
    /// The number of lines that were added since the user was last at the end.
    pub(super) unseen: Memo<u64>,
}

impl ScrollPosition {
    pub(super) fn new(run: Run) -> Self {
        let view = RwSignal::new(None);
        let sticks_to_end = RwSignal::new(true);
        let seen = RwSignal::new(run.total.get_untracked());
        let window = Memo::new(move |_| match view.get() {
            Some((top, height)) => {
                run.lines_added.track();
                run.log.with_value(|log| window::at(log.total(), log.rows(), top, height))
            }
            None => Window { first: run.rendered.0, end: run.rendered.1, top: run.rendered.0, ..Window::default() },
        });
        let task = Memo::new(move |_| {
            // The last lines can't be scrolled to the top, so after a click on a late task the first line on screen belongs to
            // an earlier one.
            let is_shown = |line: &u64| {
                *line > 0
                    && view.get().is_none_or(|(top, height)| {
                        run.log.with_value(|log| window::reveal(log.total(), log.rows(), *line, top, height).is_none())
                    })
            };
            let named = [run.selection.get().map_or(0, Selection::first), run.opens_at].into_iter().find(is_shown);
            let line = named.unwrap_or_else(|| run.log.with_value(|log| log.visible_after(window.get().top)));
            run.progress
                .with(|progress| progress.tasks.iter().rev().find(|task| task.line <= line).map(|task| task.number))
        });
        let marked = Memo::new(move |_| {
            if sticks_to_end.get() && !run.phase.get().is_final() {
                run.progress.with(|progress| progress.tasks.last().map(|task| task.number))
            } else {
                task.get()
            }
        });
        let unseen =
            Memo::new(move |_| if sticks_to_end.get() { 0 } else { run.total.get().saturating_sub(seen.get()) });
        Self {
            node: NodeRef::new(),
            ruler: NodeRef::new(),
            wraps: expect_context::<Wrapping>().0,
            view,
            sticks_to_end,
            is_jumping: RwSignal::new(false),
            seen,
            window,
            anchor: StoredValue::new((1, 0.0)),
            task,
            marked,
            unseen,
        }
    }

    /// Starts to measure and scroll once the page is hydrated.
    pub(super) fn start(self, run: Run) {
        Effect::new(move |_| {
            let Some(node) = self.node.get() else { return };
            let named = window().location().hash().ok().and_then(|hash| Selection::parse(&hash));
            let named = named.or(run.selection.get_untracked());
            run.selection.set(named);
            // The size changes with the browser's window, the bar of selected lines, and other parts of the page.
            on_resize(&node, move || self.resized(run));
            self.measure(run);
            if named.is_some() {
                self.sticks_to_end.set(false);
                run.jumps.update(|n| *n += 1);
            } else if run.opens_at > 0 {
                self.open_at(run, run.opens_at);
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
        // Stay at the end while lines are added, and elsewhere at the same line.
        Effect::new(move |_| {
            run.lines_added.track();
            match (self.view.get_untracked(), self.sticks_to_end.get_untracked()) {
                (None, _) => {}
                (Some(_), true) => self.to_end(run),
                (Some(_), false) => self.stay(run),
            }
        });
        Effect::new(move |_| {
            let wraps = self.wraps.get();
            if let Some(node) = self.node.get() {
                let _ = node.class_list().toggle_with_force("wrap", wraps);
                self.measure(run);
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
                self.is_jumping.set(true);
                after_render(move || {
                    self.show_selection(run);
                    self.is_jumping.try_set(false);
                });
            }
            jumps
        });
        self.fill(run);
        self.keep_tab_stop(run);
        self.keep_task_in_view(run);
    }

    /// Reads the scroll position and the size.
    pub(super) fn measure(self, run: Run) {
        let Some(node) = self.node.try_get_untracked().flatten() else { return };
        let (top, height) = (f64::from(node.scroll_top()), f64::from(node.client_height()));
        if height < 1.0 {
            return;
        }
        let columns = if self.wraps.get_untracked() { self.columns(f64::from(node.client_width())) } else { 0 };
        if run.log.try_update_value(|log| log.wrap(columns)) == Some(true) {
            if columns > 0 {
                let style = leptos::web_sys::HtmlElement::style(&node);
                let _ = style.set_property("--columns", &columns.to_string());
            }
            // The lines are elsewhere now. The effect above measures again once they are.
            run.lines_added.try_update(|n| *n += 1);
            if self.view.get_untracked().is_some() {
                return;
            }
        }
        let before = self.view.get_untracked();
        let total = run.total.get_untracked();
        let rows = run.log.with_value(|log| log.rows().before(total + 1));
        let is_bottom = top + height + 1.0 >= f64::from(node.scroll_height());
        if before.is_some_and(|(before, as_high)| top < before && height == as_high) && !is_bottom {
            // Only the user scrolls up. New lines move the end down without changing the scroll position, and a log that becomes
            // shorter when lines are no longer wrapped stays at its bottom. Check this first: the wheel starts with a few pixels,
            // and a new line must not scroll back to the end.
            self.sticks_to_end.set(false);
        } else if window::at_end(rows, top, height)
            && (before != Some((top, height)) || self.sticks_to_end.get_untracked())
        {
            // Not if nothing has moved: the scroll event of earlier lines may come after Page Up was pressed.
            self.sticks_to_end.set(true);
            self.seen.set(total);
        }
        if before != Some((top, height)) {
            self.view.set(Some((top, height)));
        }
        self.drop_anchor(run);
    }

    /// Scrolls to the newest line and stays at the end.
    pub(super) fn to_end(self, run: Run) {
        self.sticks_to_end.set(true);
        self.seen.set(run.total.get_untracked());
        after_render(move || {
            // The user may have scrolled up since.
            if self.sticks_to_end.try_get_untracked() == Some(true)
                && let Some(node) = self.node.try_get_untracked().flatten()
            {
                node.set_scroll_top(node.scroll_height());
                self.measure(run);
            }
        });
    }

    /// Begins with this line at the top. On another tab the log has no height, and begins there when it gets one.
    fn open_at(self, run: Run, line: u64) {
        self.sticks_to_end.set(false);
        self.is_jumping.set(true);
        after_render(move || {
            if let Some(node) = self.node.try_get_untracked().flatten().filter(|node| node.client_height() > 0) {
                let height = f64::from(node.client_height());
                let to = run.log.with_value(|log| {
                    let rows = log.rows();
                    window::scroll_of(rows.before(log.total() + 1), rows.before(line), height)
                });
                #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
                node.set_scroll_top(to as i32);
                self.measure(run);
            }
            self.is_jumping.try_set(false);
        });
    }

    /// The user starts to scroll up. Must not wait for the first scroll event: lines that arrive before it would scroll to the end
    /// again.
    pub(super) fn leave_end(self) {
        let height = self.view.get_untracked().map_or(0.0, |(_, height)| height);
        if self.window.get_untracked().height > height {
            self.sticks_to_end.set(false);
        }
    }

    /// The size has changed. A user at the end stays there, and a selection that was on screen stays on screen.
    fn resized(self, run: Run) {
        let selection_is_shown = self.shows_selection(run);
        let has_opened = self.view.try_get_untracked().flatten().is_some();
        if self.sticks_to_end.try_get_untracked() == Some(true) {
            self.to_end(run);
        } else {
            self.measure(run);
            if !has_opened && run.opens_at > 0 && run.selection.try_with_untracked(Option::is_none) == Some(true) {
                self.open_at(run, run.opens_at);
            }
        }
        if selection_is_shown {
            self.reveal_selection(run);
        }
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
